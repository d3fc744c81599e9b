"""`python -m tests.stories.ray_store INPUT OUTPUT MANIFEST`: a dataset of a store, marked by Ray.

Its machines find the store's credentials for themselves: a task brings none, as Ray would log them.
"""

import os
import sys

from ray.cluster_utils import Cluster

import puzzlemark as pm


def main(source: str, output: str, manifest: str) -> None:
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        done = pm.embed(source, output, manifest, mark="U1", engine="ray", workers=2)
    finally:
        cluster.shutdown()
    print(done.marked)


if __name__ == "__main__":
    main(*sys.argv[1:])
