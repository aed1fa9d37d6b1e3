"""`memrepo blame`: who set each field of a memory, and who wrote each line of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from itertools import groupby
from typing import Annotated, Any

import msgspec

from memrepo.actions.past.history import brief, value_of
from memrepo.actions.past.timeline import find_present, landings, who
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.request import At, option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.times import parse_time
from memrepo.policies.authorship import Authors, Point, Setter, authors
from memrepo.store.history import Entry
from memrepo.store.trace import Version, trace

BACK = ("revert", "restore", "unreject")
"""Operations that bring back what was there before: whose it was is told too."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `blame`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    at: At = ""


def do(work: Work, request: Request) -> Answer:
    """Tell for each field which commit set it, who decided so, and why."""
    there = work_at(work, request.at)
    memory = find_present(there, there.tree.state(), request.id, work)
    versions = trace(there.store.repo, there.tree.commit, there.tree.layout, memory.id, memory.path)
    merges = landings(there, (v.entry.run for v in versions))
    head, zone = heading(there, request.at), there.config.zone
    found = authors(
        [
            Point(
                commit=v.entry.commit, parents=v.parents, memory=v.memory, back=v.entry.op in BACK
            )
            for v in versions
        ]
    )
    order = {v.entry.commit: n for n, v in enumerate(versions)}
    told = _Told(versions={v.entry.commit: v for v in versions}, merges=merges)
    data = {
        "id": memory.id,
        "path": memory.path,
        "commit": there.tree.commit,
        "fields": dict(_fields(told, memory, found)),
        "lines": list(_lines(told, memory, found)),
    }
    return Answer(data=data, text="\n".join([*head, memory.id, *_text(data, order, zone)]))


class _Told:
    """What is said of a commit that set something."""

    def __init__(self, versions: Mapping[str, Version], merges: Mapping[str, Entry]) -> None:
        self.versions = versions
        self.merges = merges

    def of(self, setter: Setter) -> dict[str, Any]:
        """Return who set a value, when, in which commit and run, and why."""
        found = self._commit(setter.commit)
        restores = self._commit(setter.restores) if setter.restores else None
        return {**found, "restores": restores}

    def _commit(self, commit: str) -> dict[str, Any]:
        version = self.versions[commit]
        entry = version.entry
        merge = self.merges.get(entry.run)
        return {
            "by": who(entry),
            "when": entry.as_json()["when"],
            "op": entry.op,
            "commit": commit,
            "run": entry.run,
            "accepted": merge.commit if merge else commit,
            "reason": entry.trailer("Reason") or entry.subject,
            "cut": version.cut,
        }


def _fields(told: _Told, memory: Memory, found: Authors) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "path", {"value": memory.path, **told.of(found.path)}
    for name, setter in found.fields.items():
        value = value_of(name, memory)
        row: dict[str, Any] = {"value": value, **told.of(setter)}
        if name in found.elements:
            parts = zip(value, found.elements[name], strict=True)
            row["elements"] = [{"value": part, **told.of(one)} for part, one in parts]
        yield name, row


def _lines(told: _Told, memory: Memory, found: Authors) -> Iterator[dict[str, Any]]:
    """Yield the text in stretches of one author, with their one-based lines."""
    rows = zip(memory.body.split("\n"), found.lines, strict=True)
    numbered = list(enumerate(rows, start=1))
    for setter, group in groupby(numbered, key=lambda item: item[1][1]):
        stretch = list(group)
        yield {
            "lines": [stretch[0][0], stretch[-1][0]],
            "text": "\n".join(text for _, (text, _) in stretch),
            **told.of(setter),
        }


def _text(data: Mapping[str, Any], order: Mapping[str, int], zone: tzinfo) -> Iterator[str]:
    """Spell what each commit set, newest first: fields and elements, then lines of the text."""
    groups: dict[tuple[str, str], list[str]] = {}
    said: dict[tuple[str, str], Mapping[str, Any]] = {}
    for label, row in _set(data):
        key = (row["commit"], (row["restores"] or {"commit": ""})["commit"])
        groups.setdefault(key, []).append(label)
        said[key] = row
    for key in sorted(groups, key=lambda k: order[k[0]]):
        yield ""
        yield from _said(said[key], zone, "")
        yield from (f"    {label}" for label in groups[key])


def _set(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield everything that somebody set, with the words for it."""
    for name, row in data["fields"].items():
        parts = row.get("elements", ())
        if len({part["commit"] for part in parts}) < 2:
            yield f"{name:<14} {brief(row['value'])}", row
        else:
            yield from ((f"{name:<14} {brief(part['value'])}", part) for part in parts)
    for stretch in data["lines"]:
        first, last = stretch["lines"]
        name = f"text {first}" + (f"-{last}" if last > first else "")
        for line in stretch["text"].split("\n"):
            yield f"{name:<14} {visible(line)}".rstrip(), stretch
            name = ""


def _said(row: Mapping[str, Any], zone: tzinfo, indent: str) -> Iterator[str]:
    when = f"{parse_time(row['when']).astimezone(zone):%Y-%m-%d %H:%M}"
    run = f", run {visible(row['run'])}" if row["run"] else ""
    yield f"{indent}{when}  {row['commit'][:10]}  {row['op']} by {visible(row['by'])}{run}"
    yield f"{indent}  {visible(row['reason'])}"
    if row["cut"]:
        yield f"{indent}  or set before: this shallow clone ends here"
    if row.get("restores"):
        yield f"{indent}  which brought back what this had set:"
        yield from _said({**row["restores"], "restores": None}, zone, indent + "    ")
