"""`memrepo status`: where the repository stands, what waits, and what is wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle.lifecycle import derived_files, hot_rules
from memrepo.actions.review.disputes import disputes
from memrepo.actions.review.waiting import all_waiting, requests_waiting
from memrepo.actions.run.ingest import passed_over, unmatched_json, unmatched_text
from memrepo.actions.run.proposal import texts_at
from memrepo.actions.setup.budgets import budgets
from memrepo.actions.setup.timetable import Timetable, said, timetable
from memrepo.actions.sync.settling import announced, unsettled, validated
from memrepo.actions.sync.unseen import broken_rules
from memrepo.actions.work import Answer, Work
from memrepo.assets import asset
from memrepo.core.changes import Delete, Write
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge import closure
from memrepo.policies.doubt import counted_as
from memrepo.purify.intake import Reader, take_in
from memrepo.purify.manifest import read_manifests
from memrepo.purify.scope import cursors
from memrepo.store import history, hooks, settings, trust
from memrepo.store.kept import broken_runs
from memrepo.store.tree import read_blob
from memrepo.views.hot import hot_path


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `status`."""

    # TODO del parser


def do(work: Work, request: Request) -> Answer:
    """Gather what a person wants to know first."""
    del request
    state = work.tree.state()
    data, problems = _gather(work, state)
    times = timetable(work, work.call.now)
    data["schedule"] = times.as_json()
    stale = _stale_views(work, state)
    data["stale_views"] = stale
    unread = passed_over(work)
    data["unmatched"] = unmatched_json(unread)
    zone = work.config.zone
    plan = unsettled(work)
    broken = (replace(p, severity="warning") for p in closure.closure(state))
    told = (
        *announced(plan),
        *(p for p in broken if p.rule != "memory-same-id"),
        *broken_rules(work, state, validated(work)),
    )
    data |= {
        "unsettled": [one.as_json() for one in plan.found],
        "problems": [*data["problems"], *(p.as_json() for p in told)],
    }
    problems += told
    runs = list(history.runs(work.store.repo, work.tree.commit))
    last = (
        f"{runs[0].when.astimezone(zone):%Y-%m-%d %H:%M}, {visible(runs[0].subject)}"
        if runs
        else ""
    )
    notes = [f"not read   {unmatched_text(unread)}"] if unread else []
    if asked := requests_waiting(work):
        data["requests"] = asked
        notes += [
            f"asked      {visible(str(w.get('path')))}:{w.get('line')} "
            f"{visible(str(w.get('message')))} (fix: {visible(str(w.get('fix')))})"
            for w in asked
        ]
    data["budgets"], lines = budgets(work, state, work.call.now)
    notes += lines
    if moved := _moved_cache(work, state):
        data["hot_cache"] = moved
        notes.append(f"hot cache  in {moved}: the {work.config.rules.hot.path} there is not ours")
    if wrong := hooks.wrong(work.store.repo, asset("hooks", "shim")):
        notes.append(f"hooks      {wrong}")
    if why := trust.untrusted(work.store.repo):
        notes.append(f"trust      {why}")
    data |= {"hooks": wrong, "trust": why}
    if stale:
        behind = counted(len(stale), "page is", "pages are")
        notes.append(f"views      {behind} behind the memories: the next run renders them")
    text = _text(data, last, [*notes, *_schedule(times, zone.key)])
    return Answer(data=data, text=text, problems=problems)


def _schedule(times: Timetable, zone: str) -> list[str]:
    if times.by and times.next:
        lines = [f"schedule   next run {said(times.next, zone)}"]
    else:
        lines = ["schedule   no run is scheduled (`memrepo schedule install`)"]
    return [*lines, *(f"           {visible(text)}" for text in times.complaints)]


def _moved_cache(work: Work, state: State) -> str:
    """Return where the hot cache stands when somebody else's file has its place, else nothing."""
    path = hot_path(state, hot_rules(work))
    return "" if path == work.tree.layout.prefix + work.config.rules.hot.path else path


def _stale_views(work: Work, state: State) -> list[str]:
    """Return the views that single writes left behind; none before a run has made the first."""
    area = work.tree.layout.area("views")
    if not any(path.startswith(area) for path in work.tree.blobs):
        return []
    changes = derived_files(work, state)
    return sorted(c.path for c in changes if isinstance(c, Write | Delete))


def _gather(work: Work, state: State) -> tuple[dict[str, Any], tuple[Any, ...]]:
    manifests, damaged = read_manifests(state.files, work.tree.layout)
    cursor = cursors(manifests)
    texts = texts_at(work, cursor)
    reader = Reader(texts, lambda blob: read_blob(work.store.repo, blob))
    unread = {entry.resource for entry in take_in(texts, cursor, reader, whole=False).consumed}
    open_ = [t.name for t in texts if t.resource in unread]
    statuses = Counter(map(counted_as, state.memories.values()))
    waits = all_waiting(work)
    claims = Counter(m.type for m in state.active if not m.is_note)
    tiers = Counter(m.text("tier") or "hot" for m in state.active if m.is_note)
    workspace = settings.workspace(work.store.repo)
    uncommitted = [p for p in work.store.work.dirty() if work.tree.layout.owns(p)]
    last = next(history.runs(work.store.repo, work.tree.commit), None)
    data = {
        "path": str(work.store.root),
        "branch": work.store.branch_or_none.removeprefix("refs/heads/"),
        "commit": work.tree.commit,
        "profile": work.config.profile,
        "workspace": str(workspace) if workspace else "",
        "memories": dict(sorted(statuses.items())),
        "types": dict(sorted(claims.items())),
        "tiers": dict(sorted(tiers.items())),
        "unread": open_,
        "sources": sum(bool(t.blob) for t in texts),
        "waiting": [w.branch for w in waits],
        "held": [removal for w in waits for removal in w.removals(work)],
        "broken_off": [b.run for b in broken_runs(work.store.folder)],
        "uncommitted": sorted(uncommitted),
        "runs": len(manifests),
        "last_run": {"run": last.run, "when": format_time(last.when)} if last else None,
    }
    open_cases, cases = disputes(state)
    data["contradictions"] = sum(c.status == "open" for c in open_cases)
    problems = (*state.problems, *damaged, *cases.problems)
    return {**data, "problems": [p.as_json() for p in problems]}, problems


def _text(data: dict[str, Any], last: str, schedule: list[str]) -> str:
    active = data["memories"].get("active", 0)
    notes = sum(data["tiers"].values())
    rest = ", ".join(f"{n} {s}" for s, n in data["memories"].items() if s != "active")
    lines = [
        f"{data['path']} on {data['branch']}, profile {data['profile']}",
        f"memories   {active - notes} active{', ' + rest if rest else ''}",
    ]
    if data["types"]:
        types = ", ".join(f"{n} {t}" for t, n in data["types"].items())
        lines.append(f"           {types}")
    if notes:
        lines.append("notes      " + ", ".join(f"{n} {t}" for t, n in data["tiers"].items()))
    lines.append(f"sources    {data['sources']} files, {len(data['unread'])} not yet taken in")
    lines.append(f"last run   {last or 'none yet: `memrepo run` makes one'}")
    if count := data["contradictions"]:
        said = counted(count, "contradiction is", "contradictions are")
        lines.append(f"contested  {said} open (`memrepo resolve`)")
    lines += schedule
    held = counted(len(data["held"]), "removal", "removals") + ", " if data["held"] else ""
    lines += [
        f"waiting    {branch} ({held}`memrepo diff`, then `memrepo accept` or `memrepo discard`)"
        for branch in data["waiting"]
    ]
    lines += [
        f"broken off {run} left answers that are not asked for again (`memrepo run --resume`)"
        for run in data["broken_off"]
    ]
    if data["uncommitted"]:
        lines.append(f"uncommitted {', '.join(visible(p) for p in data['uncommitted'][:5])}")
    return "\n".join(lines)
