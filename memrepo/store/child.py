"""Work on many items of which a child process does a part, where there is a processor for it.

What the child makes goes through a file without a name: at a pipe it would wait for its reader. A
child that dies leaves its rest to its parent, and one whose parent died ends with its next batch.
"""

from __future__ import annotations

import marshal
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

T = TypeVar("T")
Row = tuple[str | int | float | None, ...]
Work = Callable[[Sequence[T]], Iterable[Row]]
BATCH = 1000
"""So many items at most are worked on before what was made of them is handed over."""
WORTH_IT = 4000
"""Below so many items a child takes longer to come than it saves."""
_SIZE = 8


def rows(work: Work[T], items: Sequence[T]) -> Iterator[Row]:
    """Yield what `work` makes of items, in order; it must depend on nothing that changes meanwhile.

    The child does more than the half: whoever takes the rows has work with them.
    A program of several threads gets no child: it would have one of them, and the locks of all.
    """
    here = len(items) * 2 // 5 if len(items) >= WORTH_IT and _has_room() else len(items)
    if here == len(items):
        yield from work(items)
        return
    import tempfile

    with tempfile.TemporaryFile() as made:
        told, tell = os.pipe()
        try:
            child = os.fork()
        except OSError:  # one process too many
            os.close(told)
            os.close(tell)
            yield from work(items)
            return
        if not child:
            os.close(told)  # who holds it open would never learn that nobody reads
            _be_the_child(work, items[here:], made, tell)
        os.close(tell)
        try:
            yield from work(items[:here])
            yield from _from_child(work, items[here:], made, told)
        finally:
            os.close(told)
            with suppress(ProcessLookupError, ChildProcessError):  # where nobody waits for children
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _has_room() -> bool:
    """Tell whether a child can be had, and could run beside us."""
    try:
        return _threads() == 1 and len(os.sched_getaffinity(0)) > 1
    except (OSError, AttributeError):
        return False


def _threads() -> int:
    """Count the threads of this program, those of other languages too."""
    return len(list(Path("/proc/self/task").iterdir()))


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut items into parts of nearly one size."""
    size = -(-len(items) // -(-len(items) // BATCH))
    return (items[start : start + size] for start in range(0, len(items), size))


def _be_the_child(work: Work[T], items: Sequence[T], made: IO[bytes], tell: int) -> None:
    """Write what is made of each batch, tell its size, and end without a trace of the parent."""
    try:
        for batch in _batches(items):
            data = marshal.dumps(list(work(batch)))
            made.write(data)
            made.flush()
            os.write(tell, len(data).to_bytes(_SIZE, "big"))
    finally:
        os._exit(0)


def _from_child(work: Work[T], items: Sequence[T], made: IO[bytes], told: int) -> Iterator[Row]:
    at = 0
    for batch in _batches(items):
        size = int.from_bytes(os.read(told, _SIZE), "big")
        if not size:
            yield from work(batch)
            continue
        yield from marshal.loads(os.pread(made.fileno(), size, at))  # noqa: S302 - our own child's
        at += size
