"""Noise such as real workspaces hold, put between the lines of a clean one.

Four kinds in equal parts: repeats (a fact stated again, word for word), paraphrases (the same with
parts moved, other words and another verb form), chatter (thanks, heartbeats, log lines) and
superseded values of a `**Key:** value` line. The words are this module's own; the judge's lists
are not read. The same seed gives the same noise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("repeat", "paraphrase", "chatter", "superseded")
FACTS = "MEMORY.md"
UPDATES, LATER, INBOX = "inbox/updates.md", "inbox/later.md", "inbox/seen-again.md"

_BULLET = re.compile(r"- (?:\[(?P<day>\d{4}-\d\d-\d\d)\] )?(?P<text>.{40,})")
_TAG = re.compile(r"\s*\([A-Z]\d+:\d+[^)]*\)$")
_TAIL = re.compile(
    r"^(?P<head>[^,]{15,}?),? (?P<tail>(?:because|when|while|after|before|during|since|although"
    r"|as part of|in order to|thanks to|for the past|on weekends|in (?:the )?[A-Z0-9]|at the|last"
    r"|every)\b"
    r"(?:(?! (?:and|but|who|which|that|so) )[^,.])*)(?P<end>\.?)$"
)
_VERB_FORMS = (
    (r"\bis planning to\b", "plans to"),
    (r"\bplans to\b", "is planning to"),
    (r"\bis considering\b", "considers"),
    (r"\bis hoping to\b", "hopes to"),
    (r"\bhopes to\b", "is hoping to"),
    (r"\bis thinking about\b", "thinks about"),
    (r"\bdoes not\b", "doesn't"),
    (r"\bcannot\b", "can't"),
    (r"\b(is|are) (?=(?:working|learning|running|writing|looking|reading)\b)", r"\1 currently "),
)
_OTHER_WORDS = (
    ("attended", "went to"),
    ("enjoys", "likes"),
    ("enjoy", "like"),
    ("started", "began"),
    ("bought", "purchased"),
    ("children", "kids"),
    ("kids", "children"),
    ("mother", "mom"),
    ("mom", "mother"),
    ("important", "essential"),
    ("believes", "thinks"),
    ("happy", "glad"),
    ("wants to", "would like to"),
    ("difficult", "hard"),
    ("tough", "difficult"),
    ("helped", "supported"),
    ("received", "got"),
    ("created", "made"),
    ("recently", "lately"),
    ("job", "position"),
    ("big", "large"),
    ("various", "different"),
    ("beautiful", "lovely"),
    ("participated in", "took part in"),
    ("excited", "thrilled"),
    ("thankful", "grateful"),
    ("grateful", "thankful"),
    ("often", "frequently"),
    ("many", "a lot of"),
    ("finished", "completed"),
    ("discussed", "talked about"),
    ("visited", "paid a visit to"),
    ("loves", "adores"),
    ("planning", "intending"),
    ("inspired", "motivated"),
    ("is interested in", "has an interest in"),
    ("values", "treasures"),
    ("feels", "is feeling"),
    ("proud of", "very proud of"),
    ("nature", "the outdoors"),
    ("friends", "close friends"),
    ("passionate", "enthusiastic"),
    ("trip", "journey"),
    ("movie", "film"),
    ("photo", "picture"),
    ("house", "home"),
    ("about", "regarding"),
    ("because", "since"),
    ("finds it", "considers it"),
)
_CHATTER = (
    "ok, will do",
    "Got it, thanks!",
    "Sounds good to me.",
    "Sure thing, on it.",
    "Noted.",
    "👍",
    "Perfect, thank you so much!",
    "Haha yes",
    "That's awesome, {name}!",
    "Wow, nice!",
    "Thanks, {name}, talk soon!",
    "Great, let me know how it goes!",
    "No worries at all.",
    "Good morning {name}, how are you today?",
    "See you later!",
    "Done.",
    "Yes, exactly.",
    "Glad to hear that, {name}!",
    "You're welcome, anytime.",
    "Let me check that for you.",
    "Working on it now...",
    "Shall I continue with the next one?",
    "One moment please",
    "HEARTBEAT_OK",
    "Heartbeat {clock}: nothing to report",
    "Heartbeat check {n}: all good",
    "No new messages since the last check.",
    "Nothing new today.",
    "NO_REPLY",
    "Checked the inbox at {clock}, nothing urgent.",
    "No updates.",
    "Still running, no change.",
    "2023-05-08T{clock}:31Z INFO: sync finished in {n} ms",
    "[WARN] retry 2/5 for GET /v1/items",
    "{clock}:07 DEBUG worker-3 picked job {n}",
    "ERROR: connection reset by peer (attempt 3)",
    "session id: 7f3a{n}",
    "Session saved to memory/2023-05-08.md",
    "Auto-saved at {clock}",
    "Compaction finished, {n} messages kept",
    "tokens used: {n} in / 902 out",
    "exit code 0",
    "Traceback (most recent call last):",
    'File "/srv/app/main.py", line {n}, in run',
    '127.0.0.1 - - [08/May/2023:{clock}:01 +0000] "GET /health HTTP/1.1" 200 2',
    "npm WARN deprecated request@2.{n}.0",
    "Build #{n} passed in 41s",
    "{clock}",
    "user: can you look at this",
    "assistant: sure, looking into it",
)
_VALUES = (
    ("Timezone", ("America/New_York", "Europe/Lisbon", "Asia/Tokyo", "Australia/Perth")),
    ("Phone", ("+1 555 0100", "+1 555 0144", "+1 555 0171", "+1 555 0190")),
    ("City", ("Portland", "Bristol", "Lyon", "Graz")),
    ("Email", ("a@example.org", "b@example.org", "c@example.org", "d@example.org")),
    ("Job", ("barista", "librarian", "bookkeeper", "surveyor")),
    ("Address", ("4 Mill Lane", "18 Harbour Street", "2 Chapel Row", "71 Station Road")),
    ("Status", ("on leave", "part time", "full time", "freelance")),
    ("Employer", ("Northwind", "Acme Tools", "Blue Heron Press", "Fenwick & Co")),
    ("Language", ("English", "Portuguese", "Japanese", "German")),
    ("Owner", ("Ann Reed", "Bo Lind", "Cy Marsh", "Di Frost")),
    ("Version", ("1.2.0", "1.3.0", "2.0.0", "2.1.4")),
    ("Deadline", ("the 3rd of May", "the 9th of June", "the 1st of July", "the 20th of August")),
)
_DAYS = ("2022-02-01", "2022-06-01", "2022-10-01", "2023-02-01")


@dataclass(slots=True)
class Noise:
    """The kind of each injected line by (workspace file, one-based line), and what comes later.

    `later` holds the text of `inbox/later.md`, which arrives with the second run.
    """

    lines: dict[tuple[str, int], str] = field(default_factory=dict)
    later: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    kind: str = ""


def inject(workspace: Path, count: int, seed: int = 7) -> Noise:
    """Put `count` lines of noise into a workspace in place, as far as MEMORY.md has the matter."""
    rng = random.Random(seed)
    rows = (workspace / FACTS).read_text(encoding="utf-8").splitlines()
    sections = list(_sections(rows))
    bullets = [at for at, row in enumerate(rows) if _BULLET.match(row)]
    each = max(round(count / len(KINDS)), 1) if count else 0
    chatter = rng.sample(_CHATTER, len(_CHATTER))
    into: dict[int, list[_Line]] = {}
    again: dict[str, list[_Line]] = {}
    for number, at in enumerate(rng.sample(bullets, min(each, len(bullets)))):
        line = _Line(rows[at], "repeat")
        if number % 2:
            again.setdefault(_section_of(sections, at), []).append(line)
        else:
            into.setdefault(_end_of(sections, at), []).append(line)
    fit = [(at, said) for at in bullets if (said := paraphrase(rows[at], rng))]
    for at, said in rng.sample(fit, min(each, len(fit))):
        into.setdefault(_end_of(sections, at), []).append(_Line(said, "paraphrase"))
    names = [name for name, _ in sections] or ["Ann"]
    for number in range(each):
        text = chatter[number % len(chatter)].format(
            name=rng.choice(names), clock=f"{number % 24:02}:{number % 60:02}", n=100 + number
        )
        into.setdefault(rng.choice(bullets), []).append(_Line(f"- {text}", "chatter"))
    updates, later = _succeed(sections, each, into)
    return _write(workspace, rows, into, {INBOX: again, UPDATES: updates}, later)


def paraphrase(row: str, rng: random.Random) -> str:
    """Say a bullet in other words and another order; empty where this module knows no way."""
    match = _BULLET.match(row)
    if match is None:
        return ""
    text, changed = _TAG.sub("", match["text"]), 0
    for pattern, other in _VERB_FORMS:
        text, count = re.subn(pattern, other, text, count=1)
        changed += bool(count)
        if count:
            break
    for word, other in rng.sample(_OTHER_WORDS, len(_OTHER_WORDS)):
        if changed < 2 and re.search(rf"\b{word}\b", text):
            text = re.sub(rf"\b{word}\b", other, text, count=1)
            changed += 1
    if moved := _TAIL.match(text):
        tail = moved["tail"]
        text = f"{tail[0].upper()}{tail[1:]}, {moved['head']}{moved['end']}"
        changed += 1
    day = f"[{match['day']}] " if match["day"] else ""
    return f"- {day}{text}" if changed else ""


def _succeed(
    sections: Sequence[tuple[str, tuple[int, int]]], each: int, into: dict[int, list[_Line]]
) -> tuple[dict[str, list[_Line]], dict[str, list[_Line]]]:
    """Add dated older values; return the lines of the inbox files that hold the newest ones.

    By turns the newest value comes with the first run and with the second.
    """
    now: dict[str, list[_Line]] = {}
    later: dict[str, list[_Line]] = {}
    made = 0
    for round_, (key, values) in enumerate(_VALUES):
        for name, (_, end) in sections:
            older = min(1 + round_ % 3, each - made)
            if older <= 0:
                return now, later
            for day, value in zip(_DAYS[:older], values, strict=False):
                line = _Line(f"- [{day}] **{key}:** {value}", "superseded")
                into.setdefault(end, []).append(line)
            made += older
            newest = _Line(f"- [{_DAYS[older]}] **{key}:** {values[older]}")
            (later if round_ % 2 else now).setdefault(name, []).append(newest)
    return now, later


def _sections(rows: Sequence[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    heads = [at for at, row in enumerate(rows) if row.startswith("## ")]
    for at, after in zip(heads, [*heads[1:], len(rows)], strict=False):
        last = max((n for n in range(at, after) if rows[n].strip()), default=at)
        yield rows[at][3:].strip(), (at, last)


def _section_of(sections: Iterable[tuple[str, tuple[int, int]]], at: int) -> str:
    return next((name for name, (a, b) in sections if a <= at <= b), "Seen again")


def _end_of(sections: Iterable[tuple[str, tuple[int, int]]], at: int) -> int:
    return next((b for _, (a, b) in sections if a <= at <= b), at)


def _write(
    workspace: Path,
    rows: Sequence[str],
    into: dict[int, list[_Line]],
    files: dict[str, dict[str, list[_Line]]],
    later: dict[str, list[_Line]],
) -> Noise:
    noise = Noise()
    merged: list[_Line] = []
    for at, row in enumerate(rows):
        merged += [_Line(row), *into.get(at, ())]
    for name, lines in ((FACTS, merged), *((n, _under(under)) for n, under in files.items())):
        if any(line.text for line in lines):
            path = workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(line.text for line in lines) + "\n", encoding="utf-8")
            noise.lines |= {(name, n): x.kind for n, x in enumerate(lines, start=1) if x.kind}
    noise.later = "\n".join(line.text for line in _under(later))
    return noise


def _under(sections: dict[str, list[_Line]]) -> list[_Line]:
    made: list[_Line] = []
    for name, lines in sections.items():
        made += [_Line(f"## {name}"), _Line(""), *lines, _Line("")]
    return made
