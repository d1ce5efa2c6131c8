"""Looks at many models, in several processes where that pays."""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from merge_runner.errors import ProblemsError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from types import FrameType

_WORTH = 150
"""From so many models on a second process is sooner done than the first one alone; each further one has as many."""
_LARGEST_CHUNK = 40
_MOST_KEPT = 1000
"""After so many models a process forgets what it knows of them: others that read them are rarely far away."""
_MOST_CHUNKS = 1000
"""Their numbers are written into a pipe before anything reads it, and fit into the smallest one."""
_GARBAGE = 60_000
"""So many new objects are worth a collection: those of some 150 models."""

Chunks = Sequence[Sequence[str]]
"""Ids of models; a process looks at those of one chunk, and then takes the next."""
_NUMBER = struct.Struct("=I")

_Outcome = TypeVar("_Outcome")
_Made_co = TypeVar("_Made_co", covariant=True)


class Linter(Protocol[_Made_co]):
    """What looks at the models of a project, each when it is asked for."""

    def check(self, unique_id: str) -> _Made_co:
        """Return the outcome for a model."""

    def arranged(self, unique_ids: Sequence[str]) -> Sequence[str]:
        """Return the models in an order in which those that look at the same tables are next to each other."""

    def forget(self) -> None:
        """Leave what can be made again, after many models."""

    def answers(self) -> Any:
        """Return what is known now, and has to be known besides the outcomes."""

    def learn(self, learned: Any) -> None:
        """Take what `answers` returned in another process."""


def check_all(linter: Linter[_Outcome], unique_ids: Sequence[str], processes: int | None = None) -> list[_Outcome]:
    """Return the outcome for each model, in their order; `processes` None: as many processes as pay."""
    if processes is None:
        processes = processes_for(len(unique_ids))
    if processes == 1:
        return [linter.check(unique_id) for unique_id in unique_ids]
    first, *rest = linter.arranged(unique_ids)
    done = {first: linter.check(first)}  # loads what all checks need, for the processes to inherit
    size = max(1, min(_LARGEST_CHUNK, -(-len(rest) // (4 * processes))), len(rest) // _MOST_CHUNKS)
    chunks = [rest[start : start + size] for start in range(0, len(rest), size)]
    for number, outcomes in _in_processes(linter, chunks, processes).items():
        done.update(zip(chunks[number], outcomes, strict=True))
    return [done[unique_id] for unique_id in unique_ids]


def processes_for(models: int) -> int:
    """Return how many processes pay for work on so many models: forks, where no other thread could hold a lock."""
    if models < _WORTH or not sys.platform.startswith("linux") or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), -(-models // _WORTH) + 1)


def _in_processes(linter: Linter[_Outcome], chunks: Chunks, processes: int) -> dict[int, list[_Outcome]]:
    """The outcome of each chunk. No process outlives this, whatever ends it.

    They take the numbers of chunks from one pipe, and each writes into one of its own: where this process is killed,
    the others end by what they cannot write.
    """
    done: dict[int, list[_Outcome]] = {}
    workers: dict[Connection, ForkProcess] = {}
    left, filled = os.pipe()
    os.write(filled, b"".join(map(_NUMBER.pack, range(len(chunks)))))
    os.close(filled)
    gc.collect()
    gc.freeze()  # a collection in a child would touch, and so copy, every page that it inherited
    before = _one_interrupt()
    try:
        # Ctrl-C waits until each process that has been started is known, and can be ended.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for _ in range(processes):
                receiver, process = _start(linter, chunks, left)
                workers[receiver] = process
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        waiting = list(workers)
        while waiting:
            ready = set(wait(waiting))
            finished = [receiver for receiver in waiting if receiver in ready and not _take(receiver, linter, done)]
            waiting = [receiver for receiver in waiting if receiver not in finished]
        return done
    finally:
        gc.unfreeze()
        os.close(left)
        for receiver, process in workers.items():
            receiver.close()
            process.kill()
            process.join()
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _one_interrupt() -> Callable[[int, FrameType | None], Any] | None:
    """Have the first Ctrl-C count, and none after it: a second one would end what ends the processes.

    Return the handler to set again afterwards; None where Ctrl-C is ignored anyway.
    """
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        return None

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        before(number, frame)

    signal.signal(signal.SIGINT, interrupted)
    return before


def _start(linter: Linter[Any], chunks: Chunks, left: int) -> tuple[Connection, ForkProcess]:
    """A process that looks at chunks whose numbers are left in a pipe, and where it reports the outcome."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(linter, chunks, left, receiver, sender), daemon=True)
    process.start()
    sender.close()
    return receiver, process


def _take(receiver: Connection, linter: Linter[_Outcome], done: dict[int, list[_Outcome]]) -> bool:
    """Takes what a process says; False where that was its last word. Raises what the process ran into."""
    try:
        message = receiver.recv()
    except EOFError:
        raise RuntimeError("a process that linted a part of the models was ended from outside") from None
    match message:
        case int(number), list(outcomes):
            done[number] = outcomes
            return True
        case ProblemsError.__name__, tuple(problems):
            raise ProblemsError(problems)
        case str(error), str(trace):
            raise RuntimeError(error) from RuntimeError(f"in a process of lint:\n{trace}")
        case None, learned:
            linter.learn(learned)
    return False


def _work(linter: Linter[Any], chunks: Chunks, left: int, receiver: Connection, sender: Connection) -> None:
    """What a process does: reports the outcome of each chunk, and what was learned."""
    receiver.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all processes: the first one reports it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    gc.disable()  # trees know their parents, so only a collection frees them: one between chunks is enough
    try:
        checks_since_forget = 0
        try:
            while number := os.read(left, _NUMBER.size):
                (place,) = _NUMBER.unpack(number)
                if checks_since_forget >= _MOST_KEPT:
                    linter.forget()
                    gc.collect()
                    checks_since_forget = 0
                checks_since_forget += len(chunks[place])
                if gc.get_count()[0] > _GARBAGE:
                    gc.collect(0)  # what has survived one collection stays until it is forgotten
                sender.send((place, [linter.check(unique_id) for unique_id in chunks[place]]))
            sender.send((None, linter.answers()))
        except ProblemsError as error:
            sender.send((ProblemsError.__name__, error.problems))
        except BrokenPipeError:
            raise
        except Exception as error:
            sender.send((f"{type(error).__name__}: {error}", traceback.format_exc()))
    except BrokenPipeError:
        return  # no process waits for it any longer
