"""Make the rows that the model is trained on, from texts and labels that stay where they are.

    python -m benchmarks.judge.rows --workspaces DIR --statements FILE... --labels FILE...

DIR has one folder per workspace, named OWNER+NAME. A statement is a JSON object with `id`, `ws`
(the folder), `file`, `lines` and `text`; a label has `id`, `keep`, `type` and, where the labeller
gave one, `worth` from 0 to 3.

A row has hashes and no text. Even so a short hash can be guessed: whoever hashes a word learns
whether some row has it. So only words that occur in at least three workspaces are written at all,
as are the hashes of template lines (at least three owners). What is left says that a statement of
some numbered workspace has common words; no word, name or number of one workspace can be confirmed.
Rows are shuffled within their workspace's number, and the numbers are not the order of the folders.
"""

from __future__ import annotations

import argparse
import json
import lzma
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from memrepo.read import learned
from memrepo.read.kinds import file_kind, section_kind, signs_of
from memrepo.read.thoughts import Unit, scan

ROWS = Path(__file__).with_name("rows.xz")
MIN_WORKSPACES = 3
TYPES = {"milestone": "fact", "aspiration": "fact", "open_question": "fact", "episode": "fact"}
OLD_WEIGHT = 0.5
"""A label without a worth counts half: what lasts is not always worth keeping."""


class Row(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One statement with its labels: whether an editor keeps it, its type, what they count."""

    workspace: int
    keep: bool
    weight: float
    type: str
    features: learned.Features


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """All statements, and the hashes of the lines that many workspaces share."""

    rows: tuple[Row, ...]
    templates: tuple[int, ...]


def load() -> Rows:
    """Load the rows of the repository."""
    return msgspec.json.decode(lzma.decompress(ROWS.read_bytes()), type=Rows)


def template_lines(folders: Iterable[Path]) -> frozenset[int]:
    """Return the hashes of the lines that workspaces of three owners have."""
    owners: dict[int, set[str]] = defaultdict(set)
    for folder in folders:
        for path in folder.rglob("*.md"):
            for line in path.read_text("utf-8", "replace").splitlines():
                owners[learned.line_hash(line)].add(_owner(folder.name))
    return frozenset(one for one, who in owners.items() if one and len(who) >= MIN_WORKSPACES)


def _owner(folder: str) -> str:
    return folder.partition("+")[0].lower()


def thought_at(root: Path, statement: Mapping[str, Any]) -> tuple[Unit, str]:
    """Return the thought that best covers a statement's lines, and the kind of its file."""
    name, (first, last) = statement["file"], statement["lines"]
    data = (root / name).read_bytes()
    units = scan(name, data).units
    kind = file_kind(name, data.decode("utf-8", "replace"), units).kind.name
    best, share = None, 0.0
    for unit in units:
        common = min(last, unit.lines[1]) - max(first, unit.lines[0]) + 1
        both = common / (max(last, unit.lines[1]) - min(first, unit.lines[0]) + 1)
        if both > share:
            best, share = unit, both
    if best is None or share < 0.5:
        heads = best.headings if best else tuple(statement.get("heads", ()))
        text = statement["text"]
        best = Unit(resource=name, kind="item", text=text, lines=(first, last), headings=heads)
    return best, kind


def _objects(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        text = path.read_text("utf-8")
        yield from json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())


def make(folders: Sequence[Path], statements: Sequence[Path], labels: Sequence[Path]) -> Rows:
    """Return the rows of some labelled statements."""
    roots = {folder.name: folder for folder in folders}
    given = {label["id"]: label for label in _objects(labels)}
    templates = template_lines(folders)
    found: list[tuple[str, dict[str, Any], learned.Features]] = []
    for statement in _objects(statements):
        label = given.get(statement["id"])
        if label is None:
            continue
        folder = statement["ws"]
        unit, kind = thought_at(roots[folder], statement)
        section = section_kind(unit.headings)
        signs = signs_of(unit) - {"template"}
        if learned.is_template(unit.text, templates):
            signs |= {"template"}
        found.append((folder, label, learned.features(unit, kind, section, signs)))
    seen: dict[int, set[str]] = defaultdict(set)
    for folder, _, seen_of in found:
        for one in (*seen_of.text, *seen_of.context):
            seen[one].add(_owner(folder))
    common = {one for one, where in seen.items() if len(where) >= MIN_WORKSPACES}
    order = sorted({folder for folder, _, _ in found}, key=lambda name: zlib.crc32(name.encode()))
    numbers = {folder: number for number, folder in enumerate(order)}
    rows = []
    for folder, label, of in found:
        worth, kind = label.get("worth"), label["type"]
        rows.append(
            Row(
                workspace=numbers[folder],
                keep=label["keep"] == "durable" if worth is None else worth >= 2,
                weight=OLD_WEIGHT if worth is None else 1.0,
                type=TYPES.get(kind, kind) if label["keep"] == "durable" else "",
                features=msgspec.structs.replace(
                    of, text=of.text & common, context=of.context & common
                ),
            )
        )
    rows.sort(
        key=lambda row: (
            row.workspace,
            *map(sorted, (row.features.text, row.features.context, row.features.form)),
        )
    )
    return Rows(rows=tuple(rows), templates=tuple(sorted(templates)))


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description="Make the rows that the model is trained on.")
    parser.add_argument("--workspaces", type=Path, nargs="+", required=True)
    parser.add_argument("--statements", type=Path, nargs="+", required=True)
    parser.add_argument("--labels", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    folders = [one for top in given.workspaces for one in sorted(top.iterdir()) if one.is_dir()]
    rows = make(folders, given.statements, given.labels)
    ROWS.write_bytes(lzma.compress(msgspec.json.encode(rows, order="deterministic"), preset=9))
    print(f"{len(rows.rows)} rows, {len(rows.templates)} template lines")


if __name__ == "__main__":
    main()
