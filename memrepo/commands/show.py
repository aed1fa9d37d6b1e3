"""`memrepo show`: one memory, its fields, and the source lines it rests on."""

from __future__ import annotations

import argparse
from typing import Any

from memrepo.commands.finding import find
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.touching import touch, touch_arguments
from memrepo.core.ids import visible
from memrepo.core.memory import Memory, Source
from memrepo.core.schema import FIELDS
from memrepo.store.tree import read_blob

HELP = "show one memory and the source lines it rests on"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="id, unique prefix of one, or slug")
    touch_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Show a memory as it is at HEAD."""
    with opened(session) as desk:
        state = desk.tree.state()
        memory = find(state, options.id)
        evidence = [_evidence(desk, source) for source in memory.sources]
        touch(desk, session, options, [memory.id])
    data = {"memory": as_json(memory), "evidence": evidence, "commit": desk.tree.commit}
    return Answer(data=data, text=_text(memory, evidence))


def as_json(memory: Memory) -> dict[str, Any]:
    """Return a memory's path, fields and body for JSON."""
    fields = {
        f.name: _plain(f.kind.write(memory.fields[f.name]))
        for f in FIELDS
        if f.name in memory.fields
    }
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if isinstance(node, dict):
        return {key: _plain(part) for key, part in node.items()}
    return str(node)


def _evidence(desk: Desk, source: Source) -> dict[str, Any]:
    """Quote the recorded lines from the recorded blob: they can be shown for ever."""
    found: dict[str, Any] = {
        "resource": source.resource, "lines": list(source.lines), "captured": source.captured,
        "captured_from": source.captured_from, "quote": "", "resolved": "lost",
    }  # fmt: skip
    if not source.blob:
        return found
    try:
        data = read_blob(desk.store.repo, source.blob)
    except (ValueError, desk.store.git_error):
        return found
    first, last = source.lines
    lines = data.decode("utf-8", "replace").splitlines()
    quote = "\n".join(lines[first - 1 : last]) if first else "\n".join(lines)
    now = desk.tree.blobs.get(source.resource)
    return {**found, "quote": quote, "resolved": "exact" if now == source.blob else "recorded"}


def _text(memory: Memory, evidence: list[dict[str, Any]]) -> str:
    head = [f"{memory.id}  {memory.type}, {memory.status}, {memory.standing}", memory.path, ""]
    head += [visible(line) for line in memory.body.split("\n")]
    head.append("")
    for name in ("title", "subject", "predicate", "object", "home", "duplicate_of", "run"):
        if memory.text(name):
            head.append(f"{name + ':':<15}{visible(memory.text(name))}")
    for name in ("supersedes", "superseded_by", "tags"):
        if memory.texts(name):
            head.append(f"{name + ':':<15}{', '.join(memory.texts(name))}")
    created = memory.time("created")
    if created:
        head.append(f"{'created:':<15}{created:%Y-%m-%d %H:%M} UTC")
    return "\n".join(head + _evidence_lines(evidence))


def _evidence_lines(evidence: list[dict[str, Any]]) -> list[str]:
    lines = []
    for found in evidence:
        first, last = found["lines"]
        span = f":{first}" + (f"-{last}" if last > first else "") if first else ""
        when = f", captured {found['captured']} (from the {found['captured_from']})"
        lines.append(
            f"{'evidence:':<15}{found['resource']}{span}{when if found['captured'] else ''}"
        )
        quoted = found["quote"].split("\n")
        lines += [f"    | {visible(line)}" for line in quoted[:5]]
        if len(quoted) > 5:
            lines.append(f"    | ... {len(quoted) - 5} more lines")
    return lines
