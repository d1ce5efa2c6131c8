"""The ready queue: a node starts as soon as its parents are done, the most urgent first, a few at a time.

It knows nothing of Spark: what a node does is a callable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from merge_runner.run.scheduling.ready_queue import ReadyQueue

_INTERRUPT_SECONDS = 0.2


@dataclass(frozen=True)
class Job:
    """What is to be done: parents by node (only nodes of this run), and what each node does.

    `work(node)` returns whether the children may run; what it raises counts as a failure, and is raised again at the
    end. `skip(node, cause)` is called for each node that will not run, with the failed node that is to blame (None: the
    run was stopped). `writes` gives the table that a node writes: two nodes with the same one never run concurrently.
    Smaller priorities start first.
    """

    parents: Mapping[str, Collection[str]]
    work: Callable[[str], bool]
    skip: Callable[[str, str | None], None]
    priority: Mapping[str, Any] = field(default_factory=dict)
    writes: Mapping[str, Hashable] = field(default_factory=dict)


class EndedAtOnceError(KeyboardInterrupt):
    """A second interrupt: workers are still running, and are not waited for."""


def run_jobs(job: Job, threads: int, fail_fast: bool = False, cancel: Callable[[], None] = lambda: None) -> None:
    """Runs all nodes of the job in at most `threads` threads; returns when nothing runs any more.

    After a failure the node's descendants are skipped and all others still run; with `fail_fast`, `cancel` is called to
    stop what runs, and nothing else starts. KeyboardInterrupt does the same as a failure under `fail_fast`, and is
    raised again when the workers have ended; a second one raises EndedAtOnceError, while they may still be running.
    """
    run = _Run(job, threads, fail_fast, cancel)
    interrupt: KeyboardInterrupt | None = None
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="model")
    while True:
        try:
            if interrupt is not None:
                run.stop()
            run.start(pool)
            # A loop inside `try`: an interrupt may come where a loop goes back to its beginning. After one, the count
            # may be wrong by the node that it came between; the workers know better.
            while run.running if interrupt is None else run.working:
                try:
                    # Without a timeout, an interrupt that comes just before the wait would be seen only after it.
                    outcome = run.done.get(timeout=_INTERRUPT_SECONDS)
                except Empty:
                    continue
                run.finish(*outcome)
                run.start(pool)
            break
        except (KeyboardInterrupt, RuntimeError) as error:
            if not _is_interrupt(error):
                raise
            if interrupt is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                raise EndedAtOnceError from None
            interrupt = KeyboardInterrupt()
    pool.shutdown()
    run.finish_ended()
    for node in list(run.queue.open):
        job.skip(node, None)
    if interrupt is not None:
        raise interrupt
    if run.crash is not None:
        raise run.crash


class _Run:
    """What has started of a job, and what has ended."""

    def __init__(self, job: Job, threads: int, fail_fast: bool, cancel: Callable[[], None]) -> None:
        self.job = job
        self.threads = threads
        self.fail_fast = fail_fast
        self.cancel = cancel
        self.queue = ReadyQueue(job.parents, job.priority, job.writes)
        self.running = 0
        """How many nodes have been started and not finished, as the main thread counts them."""
        self.working: set[str] = set()
        """The nodes that run, as the workers note them: no interrupt comes between in their threads."""
        self.stopped = False
        self.crash: BaseException | None = None
        self.done: SimpleQueue[tuple[str, bool | None]] = SimpleQueue()
        """The nodes that ended, with whether their children may run; None: the run was stopped before it began."""

    def start(self, pool: ThreadPoolExecutor) -> None:
        while self.running < self.threads and not self.stopped:
            node = self.queue.start()
            if node is None:
                return
            self.running += 1
            pool.submit(self._work, node)

    def _work(self, node: str) -> None:
        # In this order without a lock: who stops the run either sees the node working, or it sees the run stopped.
        self.working.add(node)
        begins, is_passed = not self.stopped, False
        try:
            is_passed = begins and self.job.work(node)
        except BaseException as error:  # raised when no node runs any longer
            self.crash = self.crash or error
        finally:
            self.done.put((node, is_passed if begins else None))
            self.working.discard(node)

    def finish(self, node: str, is_passed: bool | None) -> None:
        self.running -= 1
        if is_passed is None:
            self.job.skip(node, None)
            return
        for skip in self.queue.finish(node, is_passed):
            self.job.skip(skip.node, skip.cause)
        if self.fail_fast and not is_passed:
            self.stop()

    def finish_ended(self) -> None:
        """Finish the nodes that ended while the main thread did not wait for them."""
        with suppress(Empty):
            while True:
                self.finish(*self.done.get_nowait())

    def stop(self) -> None:
        if not self.stopped:
            self.stopped = True
            self.cancel()


def _is_interrupt(error: BaseException) -> bool:
    """Whether it is one, or was caused by one: Python's locks do not survive an interrupt while they wait.

    A condition that is interrupted just before it has its lock again ends with "release unlocked lock" (CPython 3.11).
    """
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
