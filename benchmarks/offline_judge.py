"""How well the offline judge keeps what matters and drops what does not.

    python -m benchmarks.offline_judge --locomo DIR [--curve 0,0.2,0.4,0.67]

DIR holds workspaces, each a folder NAME beside `NAME.gold.json`, and beside DIR itself the raw
`DIR.json` for the turns (`--turns FILE` names another). The data (LoCoMo, CC BY-NC 4.0) is read
from there and never copied. Everything here runs the program as a person does, on real git.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import noise, turns
from benchmarks.measure import answer_of
from benchmarks.recall import (
    Place,
    gold_bullets,
    places,
    questions,
    raw_memories,
    recall_at,
    workspaces,
)
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.read.dates import is_date_heading
from memrepo.purify.sources import SourceRules, kind_of
from memrepo.purify.units import Unit, scan

DEPTH = 10
LONGEST = 400
FIRST, SECOND = "2026-03-01T09:00:00Z", "2026-03-02T09:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One workspace at one share of noise: injected lines over the units of the clean workspace.

    `injected` and `alive` count noise lines by kind, and those of them that an active memory of
    their own stands for. `mixed` are memories whose evidence lies under different subjects.
    """

    name: str
    share: float
    units: int
    memories: int
    recall: float
    raw: float
    raw_clean: float
    injected: Mapping[str, int] = field(default_factory=dict)
    alive: Mapping[str, int] = field(default_factory=dict)
    too_long: int = 0
    mixed: int = 0
    merged: int = 0
    bullets: int = 0
    kept: int = 0
    leaks: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """Return recall over memories divided by recall over the clean raw units."""
        return self.recall / self.raw_clean if self.raw_clean else 1.0

    @property
    def gone(self) -> float:
        """Return the share of the injected noise that is not active."""
        total = sum(self.injected.values())
        return 1 - sum(self.alive.values()) / total if total else 1.0


def measure(
    workspace: Path, qa: Sequence[Mapping[str, Any]], share: float, seed: int = 7
) -> Measured:
    """Take one workspace in, with noise, and ask its questions."""
    with tempfile.TemporaryDirectory(prefix="memrepo-judge-") as folder:
        copy = Path(folder) / "workspace"
        shutil.copytree(workspace, copy)
        clean = _units(copy)
        asked = questions(qa, gold_bullets(copy).values())
        raw_clean = recall_at(DEPTH, raw_memories(clean, headings=True), asked, gold_bullets(copy))
        added = noise.inject(copy, round(len(clean) * share), seed)
        repo = Path(folder) / "repo"
        answer_of("init", str(repo), "--from", str(copy), "--tz", "Asia/Manila", now=FIRST)
        answer_of("-C", str(repo), "run", now=FIRST)
        if added.later:
            (copy / noise.LATER).parent.mkdir(exist_ok=True)
            (copy / noise.LATER).write_text(added.later + "\n", encoding="utf-8")
            answer_of("-C", str(repo), "run", now=SECOND)
        return _figures(workspace.name, share, copy, repo, asked, added, raw_clean)


def _figures(
    name: str,
    share: float,
    copy: Path,
    repo: Path,
    asked: Sequence[Any],
    added: noise.Noise,
    raw_clean: float,
) -> Measured:
    bullets, units = gold_bullets(copy), _units(copy)
    active = [m for m in _memories(repo) if m.status == "active" and not m.is_note]
    alive = _alive(active, added)
    subjects = _subjects(units)
    long = [m for m in active if len(m.body) > LONGEST]
    kept = {bullets[p] for m in active for p in places(m) if p in bullets}
    behind = [{subjects[p] for p in places(m) if subjects.get(p)} for m in active]
    texts = {(Layout().source(u.resource), u.lines[0]): u.text for u in units}
    return Measured(
        name=name,
        share=share,
        units=len(units),
        memories=len(active),
        recall=recall_at(DEPTH, active, asked, bullets),
        raw=recall_at(DEPTH, raw_memories(units, headings=True), asked, bullets),
        raw_clean=raw_clean,
        injected=Counter(added.lines.values()),
        alive=Counter(added.lines[p] for p in alive),
        too_long=len(long),
        mixed=sum(len(b) > 1 for b in behind),
        merged=sum(len({texts[p] for p in places(m) if p in texts}) > 1 for m in active),
        bullets=len(set(bullets.values())),
        kept=len(kept),
        leaks=tuple(
            f"{added.lines[n, at]}: {texts.get((Layout().source(n), at), '')}"
            for n, at in sorted(alive)
        ),
    )


def _alive(active: Sequence[Memory], added: noise.Noise) -> set[tuple[str, int]]:
    """Return the injected lines that have an active memory resting on injected lines alone."""
    injected = {(Layout().source(name), at): (name, at) for name, at in added.lines}
    return {
        injected[place]
        for memory in active
        if (behind := places(memory)) and behind <= injected.keys()
        for place in behind
    }


def _subjects(units: Sequence[Unit]) -> dict[Place, str]:
    """Return the innermost heading that is no date, by place of a unit."""
    found = {}
    for unit in units:
        under = [h for h in unit.headings[1:] or unit.headings if not is_date_heading(h)]
        titled = under and under[-1] == unit.headings[0]
        if under and (not titled or unit.resource.startswith("inbox/")):
            found[Layout().source(unit.resource), unit.lines[0]] = under[-1]
    return found


def _units(workspace: Path) -> list[Unit]:
    found: list[Unit] = []
    for path in sorted(workspace.rglob("*.md")):
        name = path.relative_to(workspace).as_posix()
        if kind_of(name, SourceRules()) == "claims":
            found += scan(name, path.read_bytes()).units
    return found


def _memories(repo: Path) -> list[Memory]:
    found = []
    for path in sorted((repo / "memories").rglob("*.md")):
        memory, _ = codec.decode(path.relative_to(repo).as_posix(), path.read_bytes())
        if memory is not None:
            found.append(memory)
    return found


def report(found: Sequence[Measured]) -> str:
    """Render the figures of one share of noise, a row a workspace and their mean."""
    head = (
        "workspace      units  memories  kept bullets   R@10   raw  ratio  noise gone  >400  mixed"
    )
    rows = [
        f"{m.name:13} {m.units:6} {m.memories:9} {m.kept:7}/{m.bullets:<5}"
        f" {m.recall:6.3f} {m.raw_clean:5.3f} {m.ratio:6.3f} {m.gone:11.3f} {m.too_long:5}"
        f" {m.mixed:6}"
        for m in found
    ]
    last = f"{'mean':57} {mean(m.ratio for m in found):6.3f} {mean(m.gone for m in found):11.3f}"
    injected, alive = Counter[str](), Counter[str]()
    for m in found:
        injected.update(m.injected)
        alive.update(m.alive)
    kinds = [
        f"  {kind}: {injected[kind] - alive[kind]} of {injected[kind]} not active"
        for kind in noise.KINDS
        if injected[kind]
    ]
    return "\n".join([f"noise {found[0].share:g}", head, *rows, last, *kinds])


def curve(found: Sequence[Sequence[Measured]]) -> str:
    """Render the compression curve: what goes in, what stands, and what can still be found."""
    rows = ["noise  units  memories  memories/unit  R@10 ratio  over noisy raw  noise gone"]
    for level in found:
        units, made = sum(m.units for m in level), sum(m.memories for m in level)
        noisy = mean(m.recall / m.raw if m.raw else 1.0 for m in level)
        rows.append(
            f"{level[0].share:5g} {units:6} {made:9} {made / units:14.3f}"
            f" {mean(m.ratio for m in level):11.3f} {noisy:15.3f}"
            f" {mean(m.gone for m in level):11.3f}"
        )
    return "\n".join(rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure every workspace of a folder, and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.offline_judge",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--locomo", type=Path, required=True, metavar="DIR")
    parser.add_argument("--turns", type=Path, metavar="FILE", help="raw dialogues (DIR.json)")
    parser.add_argument("--curve", default="0,0.2,0.4,0.67", metavar="SHARES")
    parser.add_argument("--seed", type=int, default=7, help="of the noise")
    parser.add_argument("--leaks", action="store_true", help="print the noise that stays active")
    options = parser.parse_args(argv)
    talks = workspaces(options.locomo)
    if not talks:
        parser.error(f"no workspaces in {options.locomo}")
    levels = []
    for share in map(float, options.curve.split(",")):
        level = []
        for workspace, qa in talks.items():
            level.append(measure(workspace, qa, share, options.seed))
        levels.append(level)
        print(report(level), end="\n\n", flush=True)
        if options.leaks:
            print(*(leak for m in level for leak in m.leaks), sep="\n")
    print(curve(levels), end="\n\n")
    raw = options.turns or options.locomo.with_name(f"{options.locomo.name}.json")
    if raw.exists():
        print(turns.report(turns.read(raw)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
