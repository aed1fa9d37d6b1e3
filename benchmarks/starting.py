"""What a hook waits for: one start of the program, against one start of the interpreter."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import memories
from memrepo.core import codec


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Start the bare interpreter, `--version` and `check FILE` by turns."""
    machine = Machine(folder)
    (memory,) = memories(1)
    path = folder / Path(memory.path).name
    path.write_bytes(codec.encode(memory))
    found = medians_s(
        sizes.starts,
        bare=lambda: timed(lambda: machine.python("pass", where=folder)),
        version=lambda: timed(lambda: machine.memrepo("--version", where=folder)),
        check=lambda: timed(lambda: machine.memrepo("check", path.name, where=folder)),
    )
    return [
        Ratio(
            name="memrepo --version / python -c pass",
            ratio=found["version"] / found["bare"],
            bound=4,
            count=1,
            turns=sizes.starts,
        ),
        Ratio(
            name="memrepo check FILE / python -c pass",
            ratio=found["check"] / found["bare"],
            bound=6,
            count=1,
            turns=sizes.starts,
        ),
    ]
