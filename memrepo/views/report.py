"""Report a run as telemetry events, as the operator's report and as a chat message.

Codes that programs record as reasons are translated here. Files, commits and JSON retain the codes.
Lineage: memory-purifier, reporting surfaces. Deliberate differences: failed, pending and locked-out
runs are reported too. Times are in the configured zone. The token block contains actual counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import msgspec

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


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The data reported about one run.

    `run_id` is the time of its start and joins its events. The id of the landed run begins with it.
    `data` is the JSON answer of `run`. `context` contains the total of claims, the next schedule
    and the recall surface, if requested. `error` and `fix` are those of a stopped run.
    """

    run_id: str
    component: str
    agent: str
    profile: str
    mode: str
    zone: ZoneInfo
    started: datetime
    finished: datetime
    status: str
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    context: Mapping[str, Any] = msgspec.field(default_factory=dict)
    error: str = ""
    fix: str = ""

    @property
    def event(self) -> Event:
        """Return the name of the telemetry event for the run's end, which depends on the status."""
        return EVENTS.get(self.status, "run_failed")

    @property
    def run(self) -> str:
        """Return the id of the landed or pending run, or an empty string."""
        return str(self.data.get("run", ""))

    @property
    def why(self) -> str:
        """Return why the run is pending, was skipped or failed."""
        return _line(self.error or self.data.get("why") or self.data.get("partial") or "")

    def count(self, name: str) -> int:
        """Return one of the run's counts, by name."""
        return int(self.data.get("counts", {}).get(name, 0))

    def as_json(self) -> dict[str, object]:
        """Return the content of `last-run.json`, which `from_json` can parse."""
        return {
            **msgspec.structs.asdict(self),
            "zone": self.zone.key,
            "started": format_time(self.started),
            "finished": format_time(self.finished),
            "data": {key: self.data[key] for key in _STORED if key in self.data},
        }


_STORED = (
    *("run", "branch", "why", "partial", "counts", "tokens", "cost_usd", "warnings"),
    *("quarantined", "views", "downstream"),
)
"""Keys of the answer of `run` that are stored."""


def from_json(record: Mapping[str, Any]) -> RunSummary | None:
    """Parse the result of `as_json`. Return None for any other data."""
    try:
        return RunSummary(
            **{
                **{key: record[key] for key in RunSummary.__struct_fields__},
                "zone": ZoneInfo(record["zone"]),
                "started": datetime.fromisoformat(record["started"]),
                "finished": datetime.fromisoformat(record["finished"]),
                "data": dict(record["data"]),
            }
        )
    except (KeyError, ValueError, TypeError):
        return None


# -- events ----------------------------------------------------------------------------------------


def started_event(run: RunSummary) -> dict[str, object]:
    """Return the telemetry event for the start of a run, without token counts."""
    return _event(run, run.started, "run_started", "started") | {
        "token_usage": _tokens({}, None),
        "details": {"package_version": run.context.get("package_version", "")},
    }


def ended_event(run: RunSummary) -> dict[str, object]:
    """Return the telemetry event for the end of a run."""
    source = run.data.get("tokens", {})
    details: dict[str, object] = {
        "run": run.run,
        "claims_new": run.count("memories_new"),
        "claims_total": run.context.get("claims_total"),
        "contradiction_count": run.count("contested"),
        "supersession_count": run.count("superseded"),
        "rendered_views": list(run.data.get("views", ())),
        "warnings_count": len(run.data.get("warnings", ())),
        "partial_failures_count": len(run.data.get("quarantined", ())),
        "downstream_wiki_ingest_suggested": bool(run.data.get("downstream")),
        "cost_usd": run.data.get("cost_usd"),
        "duration_s": int((run.finished - run.started).total_seconds()),
    }
    if run.why:
        details["reason"] = run.why
    if run.event == "run_skipped":
        details |= {k: run.context.get(k) for k in ("next_schedule", "recall_surface")}
    return _event(run, run.finished, run.event, run.status) | {
        "token_usage": _tokens(source, 0),
        "details": details,
    }


def _event(run: RunSummary, when: datetime, event: Event, status: str) -> dict[str, object]:
    return {
        "timestamp": when.astimezone(run.zone).isoformat(),
        "timestamp_utc": format_time(when),
        "timezone": run.zone.key,
        "domain": "memory",
        "component": run.component,
        "event": event,
        "run_id": run.run_id,
        "status": status,
        "agent": run.agent,
        "profile": run.profile,
        "mode": run.mode,
    }


def _tokens(tokens: Mapping[str, object], none: int | None) -> dict[str, object]:
    return {
        "prompt_tokens": tokens.get("prompt", none),
        "completion_tokens": tokens.get("completion", none),
        "total_tokens": tokens.get("total", none),
        "source": tokens.get("source", "unavailable"),
    }


# -- the operator's report -------------------------------------------------------------------------


def last_run(run: RunSummary) -> str:
    """Return `last-run.md`. Equal runs give equal bytes, and no text comes from a model."""
    sections = (
        ("Run", _run_lines(run)),
        ("Memories", list(_count_lines(run))),
        ("Views", [_line(view) for view in run.data.get("views", ())]),
        ("Issues", list(_issue_lines(run))),
        ("Tokens", _token_lines(run)),
        ("Downstream", _downstream_lines(run)),
        ("While there was nothing to do", list(_context_lines(run))),
    )
    text = [f"# Last run: {run.status}"]
    for heading, lines in sections:
        if lines:
            text += ["", f"## {heading}", "", *(f"- {line}" for line in lines)]
    return "\n".join(text) + "\n"


def _run_lines(run: RunSummary) -> list[str]:
    shown = [
        ("id", run.run or "none"),
        ("mode", run.mode),
        ("profile", run.profile),
        ("started", _when(run, run.started)),
        ("finished", _when(run, run.finished)),
        ("why", run.why),
        ("try", _line(run.fix)),
        ("branch", _line(run.data.get("branch", ""))),
    ]
    return [f"{name}: {value}" for name, value in shown if value]


def _when(run: RunSummary, moment: datetime) -> str:
    return f"{moment.astimezone(run.zone):%Y-%m-%d %H:%M:%S} {run.zone.key}"


def _count_lines(run: RunSummary) -> Iterator[str]:
    for count, words in count_lines(run.data.get("counts", {})):
        yield f"{count} {words}"
    if (total := run.context.get("claims_total")) is not None:
        yield f"{total} active claims in all"


def _issue_lines(run: RunSummary) -> Iterator[str]:
    warnings = run.data.get("warnings", ())
    for found in warnings[:MAX_ISSUES]:
        yield _line(f"{found.get('path', '')}: {found.get('rule', '')} {found.get('message', '')}")
    if len(warnings) > MAX_ISSUES:
        yield f"{len(warnings) - MAX_ISSUES} more"
    if count := len(run.data.get("quarantined", ())):
        yield quarantined(count).removeprefix("; ")


def quarantined(count: int) -> str:
    """Return a note on quarantined answers for the end of a summary, or an empty string."""
    return f"; {count} quarantined (see the manifest)" if count else ""


def _token_lines(run: RunSummary) -> list[str]:
    tokens = run.data.get("tokens", {})
    if tokens.get("source", "unavailable") == "unavailable":
        return []
    cost = run.data.get("cost_usd")
    counts = f"{tokens['prompt']} in, {tokens['completion']} out, {tokens['total']} in all"
    price = "price unknown" if cost is None else f"{cost:.4f} USD"
    return [f"{counts} ({tokens['source']})", price]


def _downstream_lines(run: RunSummary) -> list[str]:
    down = run.data.get("downstream") or {}
    if not down:
        return []
    outcomes = {"": "no command is set", "done": "told", "failed": _line(down.get("said", ""))}
    return [f"manifest: {down.get('manifest', '')}", outcomes[down.get("result", "")]]


def _context_lines(run: RunSummary) -> Iterator[str]:
    if run.event != "run_skipped":
        return
    if due := run.context.get("next_schedule"):
        yield f"next run: {due['when']}, {due['name']}"
    if open_ := run.context.get("recall_surface"):
        yield f"open: {_line(open_['text'])} ({open_['id']}, {open_['standing']})"


# -- chat ------------------------------------------------------------------------------------------


def chat(run: RunSummary, *, enabled: bool, mode: str) -> str:
    """Return the message about a run that an agent may pass on to a chat.

    The message is empty if chat is disabled or the run was skipped. A failed run, or one waiting
    for review, gets two lines in either mode. Otherwise `summary` is one line. `full` is a list,
    with a token block if tokens were counted.
    """
    if not enabled or mode == "silent" or run.event == "run_skipped":
        return ""
    if run.event == "run_failed" or run.status == "held":
        return f"{one_line(run)}\n{_next_step(run)}"
    if mode == "summary":
        return one_line(run)
    lines = [one_line(run), *(f"- {line}" for line in _count_lines(run))]
    lines += [f"- wiki: {line}" for line in _downstream_lines(run)[1:]]
    if tokens := _token_lines(run):
        lines += ["Token usage", *(f"- {line}" for line in tokens)]
    return "\n".join(lines)


def summary(run: RunSummary) -> str:
    """Return the result of a run in a few words."""
    counts = ", ".join(counts_in_words(run.data.get("counts", {})))
    match run.status:
        case "ok":
            return (counts or "no new memory") + quarantined(len(run.data.get("quarantined", ())))
        case "partial":
            return f"{counts or 'nothing'} landed, the rest waits: {run.why}"
        case "held":
            return f"waits for review: {run.why}"
        case "skipped":
            return "nothing new"
        case "skipped_superseded" | "locked":
            return f"skipped: {run.why}"
        case "upgrade_required":
            return f"the run was refused: {run.why}"
        case _:
            return f"the run failed: {run.why}"


def one_line(run: RunSummary) -> str:
    """Return the program's name and the result of a run on one line."""
    name = f" run {run.run}" if run.run else " run"
    match run.status:
        case "ok" | "partial":
            return f"memrepo{name}: {summary(run)}"
        case "held":
            return f"memrepo: a run {summary(run)}"
        case _:
            return f"memrepo: {summary(run)}"


def _next_step(run: RunSummary) -> str:
    if run.status == "held":
        return "`memrepo diff` shows it, `memrepo accept` or `memrepo discard` decides"
    return _line(run.fix) or "`memrepo doctor` shows why"


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
_ROUTES = ("strong", "acceptable", "suspicious", "impossible")


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
    """Translate a judge's rationale: the disposition, and the reason if it is a sentence."""
    found = []
    for part in judged.split(", "):
        if part in WORDS["dispositions"]:
            found.append(WORDS["dispositions"][part])
        elif part in WORDS["reasons"]:
            found.append(WORDS["reasons"][part])
        elif part not in _ROUTES and not is_code(part):
            found.append(part)
    return ", ".join(found)


def is_code(text: str) -> bool:
    """Return whether a text consists only of codes, such as `type_default,shape_1`."""
    return "_" in text and all(map(_CODE.fullmatch, text.split(",")))
