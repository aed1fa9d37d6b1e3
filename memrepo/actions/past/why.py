"""`memrepo why`: the lines a memory rests on, the judgements that made it, and what replaced it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from memrepo.actions.past.timeline import find_present, landings, who
from memrepo.actions.recall.quotes import evidence, evidence_lines
from memrepo.actions.recall.show import plain
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.request import At, option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import PREFIX, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.succession import after, before
from memrepo.store import history
from memrepo.views.artifacts_runs import RunRecord, read_runs

TEXT = 100
_SAID = ("disposition", "reason", "rationale", "route", "freshness", "confidence")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `why`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    at: At = ""


def do(work: Work, request: Request) -> Answer:
    """Tell why a memory is there and is as it is."""
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id, work)
    runs, problems = read_runs(there.tree.files, there.tree.layout)
    found = {
        "id": memory.id,
        "path": memory.path,
        "type": memory.type,
        "status": memory.status,
        "standing": memory.standing,
        "text": memory.body,
        "commit": there.tree.commit,
        "evidence": evidence(there, memory),
        "decisions": _decisions(there, memory),
        "judgements": _judgements(there, memory, runs),
        "scores": plain("scores", memory) or {},
        "supersession": _supersession(state, memory),
        "duplicates": _duplicates(state, memory),
        "contested": _contested(state, memory),
        "retired": plain("retired", memory) or [],
        "corrections": _corrections(there, memory),
    }
    head = heading(there, request.at)
    return Answer(data=found, text="\n".join([*head, *_text(found)]), problems=problems)


def _decisions(work: Work, memory: Memory) -> list[dict[str, Any]]:
    """Return the commits that name the memory, newest first, each with the merge it landed by."""
    grep = f"--grep=^{PREFIX}Memory: {memory.id}$"
    named = list(history.entries(work.store.repo, grep, work.tree.commit))
    merges = landings(work, (e.run for e in named))
    return [
        {
            "commit": e.commit,
            "op": e.op,
            "run": e.run,
            "by": who(e),
            "when": e.as_json()["when"],
            "reason": e.trailer("Reason"),
            "accepted": merges[e.run].commit if e.run in merges else e.commit,
        }
        for e in named
    ]


def _judgements(work: Work, memory: Memory, runs: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return what each run said of the memory, oldest first, and the commit that accepted it."""
    judged = [r for r in runs if r.judgements.get(memory.id)]
    merges = landings(work, (r.run for r in judged))
    found = []
    for record in judged:
        entries = record.judgements[memory.id]
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                merge = merges.get(record.run)
                found.append(
                    {
                        "run": record.run,
                        "mode": record.mode,
                        "judge": str(record.record.get("judge", "")),
                        "accepted": merge.commit if merge else "",
                        **{key: _clean(entry.get(key)) for key in _SAID},
                        "verdicts": list(_verdicts(entry)),
                        "relations": _relations(entry),
                    }
                )
    return found


def _verdicts(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    verdicts = entry.get("verdicts")
    for verdict in verdicts if isinstance(verdicts, list) else ():
        if isinstance(verdict, dict):
            strength = verdict.get("strength")
            yield {
                "candidate": _clean(verdict.get("candidate")),
                "verdict": _clean(verdict.get("verdict")),
                "strength": strength if isinstance(strength, int | float) else None,
                "rationale": _clean(verdict.get("rationale")),
            }


def _relations(entry: Mapping[str, Any]) -> dict[str, str]:
    relations = entry.get("relations")
    return {str(k): _clean(v) for k, v in relations.items()} if isinstance(relations, dict) else {}


def _clean(value: object) -> str:
    """Return what a judge said, without secrets: a manifest is only as clean as its judge."""
    return without_secrets(str(value or ""))


def _supersession(state: State, memory: Memory) -> dict[str, list[dict[str, Any]]]:
    """Return what the memory replaced and what replaced it, nearest first."""
    return {
        "before": [_brief(other) for other in before(memory, state.memories)],
        "after": [_brief(other) for other in after(memory, state.memories)],
    }


def _brief(memory: Memory) -> dict[str, Any]:
    if not memory.path:
        return {"id": memory.id, "gone": True, "status": "", "text": "", "superseded_at": None}
    return {
        "id": memory.id,
        "gone": False,
        "status": memory.status,
        "text": memory.body,
        "superseded_at": plain("superseded_at", memory),
    }


def _duplicates(state: State, memory: Memory) -> dict[str, Any]:
    """Return what it probably repeats, and what probably repeats it."""
    twins = [m for m in state.memories.values() if m.text("duplicate_of") == memory.id]
    return {
        "of": memory.text("duplicate_of"),
        "by": [_brief(m) for m in sorted(twins, key=lambda m: m.path)],
    }


def _contested(state: State, memory: Memory) -> list[dict[str, Any]]:
    """Return the memories that it contradicts, or that contradict it."""
    ids = {link.target for link in memory.fields.get("links", ()) if link.type == "contradicts"}
    ids |= {
        m.id
        for m in state.memories.values()
        if any(k.target == memory.id and k.type == "contradicts" for k in m.fields.get("links", ()))
    }
    return [_brief(state.memories[id_]) for id_ in sorted(ids) if id_ in state.memories]


def _corrections(work: Work, memory: Memory) -> list[dict[str, str]]:
    """Return the files under corrections/ that name the memory, whatever form they have."""
    area = work.tree.layout.area("corrections")
    found = []
    for path in sorted(p for p in work.tree.blobs if p.startswith(area)):
        text = work.tree.files[path].decode("utf-8", "replace")
        if memory.id in text:
            found.append({"path": path, "title": fold(_title(text), TEXT)})
    return found


def _title(text: str) -> str:
    """Return the first words of a markdown file below its header."""
    body = text.partition("\n---")[2].partition("\n")[2] if text.startswith("---") else text
    lines = (line.strip("# \t") for line in body.split("\n"))
    return next((line for line in lines if line), "")


# -- for a person --------------------------------------------------------------------------------


def _text(found: Mapping[str, Any]) -> list[str]:
    standing = f"{found['type']}, {found['status']}, {found['standing']}"
    lines = [f"{found['id']}  {standing}", f"  {_short(found['text'])}", ""]
    lines += evidence_lines(found["evidence"]) or ["evidence:      none on record"]
    for judged in found["judgements"]:
        lines += _judged(judged)
    if found["scores"]:
        said = ", ".join(f"{key.replace('_', ' ')} {n}" for key, n in found["scores"].items())
        lines.append(f"scores:        {said}")
    for decided in found["decisions"]:
        lines += _decided(decided)
    for word, key in (("replaced:", "before"), ("replaced by:", "after")):
        lines += [f"{word:<15}{_other(other)}" for other in found["supersession"][key]]
    if found["duplicates"]["of"]:
        lines.append(f"{'repeats:':<15}{found['duplicates']['of']}")
    lines += [f"{'repeated by:':<15}{_other(other)}" for other in found["duplicates"]["by"]]
    lines += [f"{'contradicts:':<15}{_other(other)}" for other in found["contested"]]
    lines += [
        f"{'retired:':<15}{visible(gone['reason'])} (run {visible(gone['run'])})"
        for gone in found["retired"]
    ]
    for file in found["corrections"]:
        lines.append(f"{'correction:':<15}{visible(file['path'])}  {file['title']}")
    return lines


def _judged(judged: Mapping[str, Any]) -> list[str]:
    where = f"run {judged['run']}" + (
        f", in {judged['accepted'][:10]}" if judged["accepted"] else ""
    )
    lines = [
        f"judged:        {visible(judged['disposition'])} ({visible(judged['reason'])}), {where}"
    ]
    for verdict in judged["verdicts"]:
        strength = "" if verdict["strength"] is None else f" {verdict['strength']}"
        lines.append(f"  {visible(verdict['verdict'])}{strength}: {_short(verdict['rationale'])}")
    if judged["rationale"]:
        lines.append(f"  {_short(judged['rationale'])}")
    return lines


def _decided(decided: Mapping[str, Any]) -> list[str]:
    when = decided["when"].replace("T", " ").removesuffix(":00Z").removesuffix("Z")
    landed = ""
    if decided["accepted"] != decided["commit"]:
        landed = f", accepted in {decided['accepted'][:10]}"
    head = f"decided:       {decided['op']} in {decided['commit'][:10]} by {visible(decided['by'])}"
    lines = [f"{head}, {when} UTC{landed}"]
    return [*lines, f"  {_short(decided['reason'])}"] if decided["reason"] else lines


def _other(other: Mapping[str, Any]) -> str:
    if other["gone"]:
        return f"{other['id']}  (not there any more; `memrepo history {other['id']}`)"
    when = f" {other['superseded_at']}" if other["superseded_at"] else ""
    return f"{other['id']}  {_short(other['text'])} ({other['status']}{when})"


def _short(text: str) -> str:
    return fold(text, TEXT)
