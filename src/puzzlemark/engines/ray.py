"""Tasks of a Ray cluster: many machines, or this one.

    RAY_ADDRESS=head:6379 puzzlemark embed shards/ -o marked/ --engine ray --workers 64

Machines must see the same paths. Ours is sent to them (a runtime environment), and what it needs
(`pip install puzzlemark`) must be there. Without an address a cluster is started on this machine,
and ended again.
"""

import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from puzzlemark.engines._deaths import explain_death
from puzzlemark.engines.base import Batch, Result
from puzzlemark.errors import PuzzleMarkError, UsageError

_AHEAD = 2  # tasks in flight for each worker: one at work, one to go on with
_OURS = str(Path(__file__).parents[1])


class Ray:
    """A connection to a cluster that lives as long as the engine, unless it was there before.

    `workers` is how many batches are worked on at a time. A task asks for a part of a core
    (`cpus`): with whole ones two tasks on a small machine leave none for Ray itself. A task whose
    machine dies is done again elsewhere, up to `retries` times.
    """

    def __init__(
        self,
        workers: int,
        cpus: float = 0.5,
        retries: int = 5,
        ships: bool = True,
    ) -> None:
        if cpus <= 0 or retries < 0:
            raise UsageError("engine ray: cpus must be above 0, and retries 0 or more")
        self.workers, self._cpus, self._retries = workers, cpus, retries
        self._ray = _import()
        self._owns = not self._ray.is_initialized()
        if self._owns:
            self._connect(ships=ships)
        self._task = self._ray.remote(_call)

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield results in order, with a bounded number of tasks in flight."""
        # sent to the cluster once, not with every task
        shared = self._ray.put(function)
        waiting: deque[tuple[Batch, Any]] = deque()
        try:
            for batch in batches:
                waiting.append((batch, self._submit(shared, batch, self._retries)))
                if len(waiting) > _AHEAD * self.workers:
                    yield self._result(shared, waiting)
            while waiting:
                yield self._result(shared, waiting)
        finally:
            self._end(reference for _, reference in waiting)

    def close(self) -> None:
        """Leave the cluster; one that was started for this engine ends."""
        if self._owns:
            self._ray.shutdown()

    def _connect(self, *, ships: bool) -> None:
        address = os.environ.get("RAY_ADDRESS")
        here = {} if address else {"num_cpus": self.workers, "include_dashboard": False}
        environment = {"py_modules": [_OURS], "excludes": ["__pycache__"]} if ships else None
        try:
            if address:
                _knock(address)
            self._ray.init(
                # without "local" Ray would join whatever cluster this machine runs already
                address=address or "local",
                runtime_env=environment,
                log_to_driver=False,
                logging_level="error",
                **here,
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as exc:
            where = f"the cluster at RAY_ADDRESS={address}" if address else "a cluster here"
            raise PuzzleMarkError(f"engine ray: cannot reach {where}: {exc}") from exc

    def _submit(self, function: Any, batch: Batch, retries: int) -> Any:
        options = {"num_cpus": self._cpus, "max_retries": retries}
        return self._task.options(**options).remote(function, batch)

    def _result(self, function: Any, waiting: deque[tuple[Batch, Any]]) -> Any:
        """The result of the first task in flight, which is then no longer among them."""
        errors = self._ray.exceptions
        try:
            value = self._ray.get(waiting[0][1])
        except errors.RayTaskError as exc:
            # as it was raised there, not in Ray's wrapping
            raise exc.cause from None
        except errors.RayError as exc:  # the machine or its worker, more often than is retried

            def dies(part: Batch) -> bool:
                try:
                    self._ray.get(self._submit(function, part, 0))
                except errors.RayTaskError:
                    return False
                except errors.RayError:
                    return True
                return False

            raise PuzzleMarkError(explain_death([waiting[0][0]], dies)) from exc
        waiting.popleft()
        return value

    def _end(self, references: Iterable[Any]) -> None:
        """Wait until nothing runs any more: nobody clears up before what may write has ended.

        Tasks are not cancelled. In Ray 2.60 a task that is cancelled while its result is on the
        way ends the whole program ("Tried to complete task that was not pending").
        """
        left = list(references)
        if left:
            self._ray.wait(left, num_returns=len(left), fetch_local=False)


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would go on trying for minutes."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if port.isdecimal():  # not "auto"
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _call(function: Callable[[Batch], Result], batch: Batch) -> Result:
    return function(batch)


def _import() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray says beforehand what a later version will do about GPUs; there are none in our tasks
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as exc:
        raise PuzzleMarkError(
            "engine ray: ray is not installed; pip install 'puzzlemark[ray]'"
        ) from exc
    return ray


PLUGIN = Ray
