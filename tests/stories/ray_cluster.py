"""`python -m tests.stories.ray_cluster INPUT OUTPUT MANIFEST SECRET`: embed on three machines.

They are three nodes of a real cluster on this computer. One is killed after the first batches were
measured, with tasks in flight.
"""

import os
import sys
from pathlib import Path

from ray.cluster_utils import Cluster

import puzzlemark as pm

KILLED = "killed a machine"


def main(source: str, output: str, manifest: str, secret: str) -> None:
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    doomed, _ = (cluster.add_node(num_cpus=1) for _ in range(2))
    os.environ["RAY_ADDRESS"] = cluster.address
    alive = [doomed]

    def kill_one(stage: str, done: int, total: int | None) -> None:
        if stage == "measuring" and done and alive:
            cluster.remove_node(alive.pop(), allow_graceful=False)
            print(KILLED, flush=True)

    summary = pm.embed(
        source,
        output,
        manifest,
        secret_file=Path(secret),
        engine="ray",
        workers=3,
        progress=kill_one,
    )
    cluster.shutdown()
    print(summary.marked)


if __name__ == "__main__":
    main(*sys.argv[1:])
