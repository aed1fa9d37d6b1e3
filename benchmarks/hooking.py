"""What a commit waits for: the pre-commit hook's process with one staged file, few files or many.

Git's own time is left out of the comparison of sizes: what counts is the processor time of the
hook's own process.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed

_CODE = """
import io, resource, sys
from contextlib import redirect_stdout
from memrepo.faces.cli import main
with redirect_stdout(io.StringIO()):
    assert main(["hooks", "run", "pre-commit"]) == 0
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""
_RUN = """
import sys
from memrepo.faces.cli import main
sys.exit(main(["hooks", "run", "pre-commit"]))
"""
_MEMORY = """\
---
id: mem-{number:06x}4ef334c94f
type: fact
created: 2026-03-02T04:03:00Z
links:
  - {{target: mem-0000004ef334c94f, type: related}}
---

Editor number {number}: vim
"""


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Commit few and many memories, stage one more in each, and run the hook by turns."""
    machine = Machine(folder)
    few, many = folder / "few", folder / "many"
    for place, count in ((few, sizes.hooked[0]), (many, sizes.hooked[1])):
        _repository(machine, place, count)
    took = medians_s(
        sizes.turns,
        few=lambda: float(machine.out(_CODE, where=few)),
        many=lambda: float(machine.out(_CODE, where=many)),
    )
    machine.memrepo("search", "editor", where=many)
    indexed = medians_s(
        sizes.turns,
        few=lambda: float(machine.out(_CODE, where=few)),
        many=lambda: float(machine.out(_CODE, where=many)),
    )
    wall = medians_s(
        sizes.starts,
        bare=lambda: timed(lambda: machine.python("pass", where=few)),
        hook=lambda: timed(lambda: machine.python(_RUN, where=few)),
    )
    size, turns = sizes.hooked[1], sizes.turns
    return [
        Ratio(
            name="hook's process on 31,000 files / on 100, no index",
            ratio=took["many"] / took["few"],
            bound=1.5,
            count=size,
            turns=turns,
        ),
        Ratio(
            name="hook's process on 31,000 files / on 100, with an index",
            ratio=indexed["many"] / indexed["few"],
            bound=1.5,
            count=size,
            turns=turns,
        ),
        Ratio(
            name="hook with one staged file / python -c pass",
            ratio=wall["hook"] / wall["bare"],
            bound=8,
            count=1,
            turns=sizes.starts,
        ),
    ]


def _repository(machine: Machine, place: Path, count: int) -> None:
    place.mkdir()
    machine.memrepo("init", ".", where=place)
    for number in range(count):
        _write(place, number)
    machine.run("git", "add", "-A", where=place)
    machine.run("git", "commit", "-q", "--no-verify", "-m", "many", where=place)
    _write(place, count)
    machine.run("git", "add", "-A", where=place)


def _write(place: Path, number: int) -> None:
    path = place / f"memories/knowledge/undated/{number % 256:02x}/editor-{number:06x}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_MEMORY.format(number=number), encoding="utf-8")
