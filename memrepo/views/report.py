"""Report a run as telemetry events, as the operator's report and as a chat message.

Codes that programs record as reasons are translated here. Files, commits and JSON retain the codes.
Lineage: memory-purifier, reporting surfaces. Deliberate differences: failed, pending and locked-out
runs are reported too. Times are in the configured zone. The token block contains actual counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import msgspec

from memrepo import __version__
from memrepo.core.ids import visible
from memrepo.core.messages import counted_as
from memrepo.core.patterns import regex
from memrepo.core.times import format_time

Event = Literal["run_started", "run_completed", "run_skipped", "run_failed"]

WORDS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
EVENTS: Mapping[str, Event] = WORDS["events"]
COUNTS: Mapping[str, tuple[str, str]] = WORDS["counts"]
MAX_ISSUES = 20


def counts_in_words(counts: Mapping[str, int]) -> list[str]:
    """Return the counts of a run as short phrases for one line, such as a commit subject."""
    return [
        counted_as(counts[key], short)
        for key, (short, _) in COUNTS.items()
        if short and counts.get(key)
    ]


def count_lines(counts: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return the counts of a run as (count, phrase) pairs for separate lines."""
    kept = sum(counts.get(key, 0) for key in ("promoted", "merged", "compressed"))
    every = {**counts, "kept": kept}
    return [
        (every[key], counted_as(every[key], words).partition(" ")[2])
        for key, (_, words) in COUNTS.items()
        if every.get(key)
    ]


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is recorded of one run: its events, its report and its chat message follow from it.

    `run_id` is the time of its start and joins its events. The id of the landed run begins with it.
    """

    run_id: str
    component: str
    agent: str
    profile: str
    mode: str
    zone: str
    started: datetime
    finished: datetime
    status: str
    run: str = ""
    """The id of the landed or pending run."""
    branch: str = ""
    why: str = ""
    """Why the run is pending, was skipped or failed."""
    fix: str = ""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    tokens: Mapping[str, int | str] = msgspec.field(default_factory=dict)
    cost_usd: float | None = None
    warnings: tuple[str, ...] = ()
    quarantined: int = 0
    """How many answers of the judge could not be used."""
    views: tuple[str, ...] = ()
    """The changed pages."""
    landed: bool = False
    """Whether a chain of decisions was committed."""
    claims_total: int | None = None
    next_schedule: Mapping[str, str] | None = None
    """When the next run is due, for a run that was skipped."""

    @property
    def event(self) -> Event:
        """Return the name of the telemetry event for the run's end, which depends on the status."""
        return EVENTS.get(self.status, "run_failed")


# -- events ----------------------------------------------------------------------------------------


def event_of(run: RunRecord) -> dict[str, object]:
    """Return the telemetry event for the start of a run, or for its end."""
    is_started = run.status == "started"
    details: dict[str, object] = {"package_version": __version__}
    if not is_started:
        details = {
            "run": run.run,
            "claims_new": run.counts.get("memories_new", 0),
            "claims_total": run.claims_total,
            "contradiction_count": run.counts.get("contested", 0),
            "supersession_count": run.counts.get("superseded", 0),
            "rendered_views": list(run.views),
            "warnings_count": len(run.warnings),
            "partial_failures_count": run.quarantined,
            "downstream_wiki_ingest_suggested": run.landed,
            "cost_usd": run.cost_usd,
            "duration_s": int((run.finished - run.started).total_seconds()),
            **({"reason": run.why} if run.why else {}),
            **({"next_schedule": run.next_schedule} if run.event == "run_skipped" else {}),
        }
    return {
        "timestamp": run.finished.astimezone(ZoneInfo(run.zone)).isoformat(),
        "timestamp_utc": format_time(run.finished),
        "timezone": run.zone,
        "domain": "memory",
        "component": run.component,
        "event": run.event,
        "run_id": run.run_id,
        "status": run.status,
        "agent": run.agent,
        "profile": run.profile,
        "mode": run.mode,
        "token_usage": _tokens(run.tokens, None if is_started else 0),
        "details": details,
    }


def _tokens(tokens: Mapping[str, int | str], none: int | None) -> dict[str, object]:
    return {
        "prompt_tokens": tokens.get("prompt", none),
        "completion_tokens": tokens.get("completion", none),
        "total_tokens": tokens.get("total", none),
        "source": tokens.get("source", "unavailable"),
    }


# -- the operator's report -------------------------------------------------------------------------


def last_run(run: RunRecord) -> str:
    """Return `last-run.md`. Equal runs give equal bytes, and no text comes from a model."""
    warnings = [_line(found) for found in run.warnings[:MAX_ISSUES]]
    if len(run.warnings) > MAX_ISSUES:
        warnings.append(f"{len(run.warnings) - MAX_ISSUES} more")
    if run.quarantined:
        warnings.append(quarantined(run.quarantined).removeprefix("; "))
    due = run.next_schedule if run.event == "run_skipped" else None
    sections = (
        ("Run", _run_lines(run)),
        ("Memories", _count_lines(run)),
        ("Views", [_line(view) for view in run.views]),
        ("Issues", warnings),
        ("Tokens", _token_lines(run)),
        ("Next", [f"{due['when']}, {due['name']}"] if due else []),
    )
    text = [f"# Last run: {run.status}"]
    for heading, lines in sections:
        if lines:
            text += ["", f"## {heading}", "", *(f"- {line}" for line in lines)]
    return "\n".join(text) + "\n"


def _run_lines(run: RunRecord) -> list[str]:
    shown = [
        ("id", run.run or "none"),
        ("mode", run.mode),
        ("profile", run.profile),
        ("started", _when(run, run.started)),
        ("finished", _when(run, run.finished)),
        ("why", _line(run.why)),
        ("try", _line(run.fix)),
        ("branch", _line(run.branch)),
    ]
    return [f"{name}: {value}" for name, value in shown if value]


def _when(run: RunRecord, moment: datetime) -> str:
    return f"{moment.astimezone(ZoneInfo(run.zone)):%Y-%m-%d %H:%M:%S} {run.zone}"


def _count_lines(run: RunRecord) -> list[str]:
    lines = [f"{count} {words}" for count, words in count_lines(run.counts)]
    if run.claims_total is not None:
        lines.append(f"{run.claims_total} active claims in all")
    return lines


def quarantined(count: int) -> str:
    """Return a note on quarantined answers for the end of a summary, or an empty string."""
    return f"; {count} quarantined (see the manifest)" if count else ""


def _token_lines(run: RunRecord) -> list[str]:
    tokens = run.tokens
    if tokens.get("source", "unavailable") == "unavailable":
        return []
    counts = f"{tokens['prompt']} in, {tokens['completion']} out, {tokens['total']} in all"
    price = "price unknown" if run.cost_usd is None else f"{run.cost_usd:.4f} USD"
    return [f"{counts} ({tokens['source']})", price]


# -- chat ------------------------------------------------------------------------------------------


def chat(run: RunRecord, *, enabled: bool, mode: str) -> str:
    """Return the message about a run that an agent may pass on to a chat.

    The message is empty if chat is disabled or the run was skipped. A failed run, or one waiting
    for review, gets two lines in either mode. Otherwise `summary` is one line. `full` is a list,
    with a token block if tokens were counted.
    """
    if not enabled or mode == "silent" or run.event == "run_skipped":
        return ""
    lines = [one_line(run)]
    if run.status == "held":
        lines.append("`memrepo diff` shows it, `memrepo accept` or `memrepo discard` decides")
    elif run.event == "run_failed":
        lines.append(_line(run.fix) or "`memrepo doctor` shows why")
    elif mode == "full":
        lines += [f"- {line}" for line in _count_lines(run)]
        if tokens := _token_lines(run):
            lines += ["Token usage", *(f"- {line}" for line in tokens)]
    return "\n".join(lines)


def summary(run: RunRecord) -> str:
    """Return the result of a run in a few words."""
    counts, why = ", ".join(counts_in_words(run.counts)), _line(run.why)
    match run.status:
        case "ok":
            return (counts or "no new memory") + quarantined(run.quarantined)
        case "partial":
            return f"{counts or 'nothing'} landed, the rest waits: {why}"
        case "held":
            return f"waits for review: {why}"
        case "skipped":
            return "nothing new"
        case "skipped_superseded" | "locked":
            return f"skipped: {why}"
        case "upgrade_required":
            return f"the run was refused: {why}"
        case _:
            return f"the run failed: {why}"


def one_line(run: RunRecord) -> str:
    """Return the program's name and the result of a run on one line."""
    if run.status in ("ok", "partial"):
        return f"memrepo run{run.run and f' {run.run}'}: {summary(run)}"
    return f"memrepo: {'a run ' if run.status == 'held' else ''}{summary(run)}"


def _line(text: object) -> str:
    """Return a text on one line without invisible characters, since others may have written it."""
    return " ".join(visible(str(text)).split())


_GONE = regex(
    r"(text_removed|source_removed|all_sources_removed): ([^\s;,]{1,400})"
    r"(?: no longer holds what they rested on)?"
)
_CODES = regex(r"\(([a-z0-9_,]{1,200}); ([01])\.(\d\d) sure\)")
_SURE = regex(r"\(([01])\.(\d\d) sure\)")
_CODE = regex(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def in_words(reason: str) -> str:
    """Translate the codes in a reason. A reason by a person or a model remains unchanged."""
    if reason in WORDS["reasons"]:
        return str(WORDS["reasons"][reason])
    text = _GONE.sub(
        lambda m: f"{m[2]} {'no longer says so' if m[1] == 'text_removed' else 'is gone'}", reason
    )
    text = _CODES.sub(lambda m: f"({_percent(m[2], m[3])} sure)" if "_" in m[1] else m[0], text)
    return _SURE.sub(lambda m: f"({_percent(m[1], m[2])} sure)", text)


def _percent(whole: str, part: str) -> str:
    return f"{100 * int(whole) + int(part)} %"


def judged_in_words(judged: str) -> str:
    """Translate the codes in a judge's disposition or reason. Unknown codes are left out."""
    known = WORDS["dispositions"] | WORDS["reasons"]
    parts = (known.get(part, "" if _is_code(part) else part) for part in judged.split(", "))
    return ", ".join(filter(None, parts))


def _is_code(text: str) -> bool:
    return "_" in text and all(map(_CODE.fullmatch, text.split(",")))
