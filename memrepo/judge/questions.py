"""Compose the questions to a model from documents, memories and operations.

All data is between marks that contain its hash, so no text can close its fence. Secrets,
control characters and marks inside of texts are removed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import msgspec

from memrepo.core.ids import strip_deceptive
from memrepo.core.memory import Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed, harmless, without_secrets
from memrepo.judge.checks import Cited, evidence_of, later_lines
from memrepo.judge.documents import DAY, Batch, is_heading
from memrepo.judge.interface import Change, Operation, Question
from memrepo.text.words import content_words

LINES_PER_MEMORY = 6
"""Typical number of shown lines that give one memory."""
MAX_NEAR = 2
"""Maximum neighbouring lines shown with one item of a verification, nearest first."""
AROUND = 6
"""Lines of a section shown around those of a refused operation, and around those of its reason."""
DUE_DAYS = 30
"""Days before its end from which a memory is due."""
LOADED = ("AGENTS.md", "CLAUDE.md", "SOUL.md")
"""Files of a workspace that every session of its agent loads, whatever the first page has."""
_MEMORY = regex(r"\bm\d+\b")
_LINE = regex(r"\b(F\d+):(\d+)\b")
# Escape characters that could look like the end of a fence or tag, as JSON allows.
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>\x7f\x85\u2028\u2029"})


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """An operation with the lines it cites, and the memory it names.

    `batch` is the question that it answers. `refused` is why its wording was refused. In that case
    its text quotes the lines.
    """

    id: str
    op: Operation
    cited: Cited
    batch: Batch | None = None
    old: Memory | None = None
    refused: str = ""


def fence(text: str) -> str:
    """Return a text without secrets, in marks that contain its hash."""
    return _mark(without_secrets(harmless(strip_deceptive(text))))


def _mark(text: str) -> str:
    body = text.replace("<<<data", "< data").replace("data>>>", "data >")
    mark = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"<<<data {mark}\n{body}\n{mark} data>>>"


def memory_row(id_: str, memory: Memory) -> str:
    """Return a memory as one line of a question."""
    dated = (s.captured[:10] for s in memory.sources if s.captured_from not in ("", "commit"))
    days = [max(dated, default=""), *((f"until {end}",) if (end := memory.valid_until) else ())]
    cells = (id_, memory.type, memory.subject, " ".join(days), memory.body)
    return " | ".join(" ".join(cell.split()) for cell in cells)


def read_question(batch: Batch, known: Mapping[str, Memory], names: Sequence[str]) -> Question:
    """Return the question that reads some documents."""
    parts = _named(names)
    if known:
        parts += ["known memories:", *(memory_row(id_, m) for id_, m in known.items()), ""]
    lines = sum(map(len, batch.shown.values()))
    items = max(1, lines // LINES_PER_MEMORY)
    return Question(kind="read", data=fence("\n".join((*parts, batch.text))), items=items)


def _named(names: Sequence[str]) -> list[str]:
    return [f"names: {', '.join(names)}"] if names else []


def again_question(
    refused: Sequence[tuple[Proposed, Sequence[str]]],
    batch: Batch,
    known: Mapping[str, Memory],
    names: Sequence[str],
) -> Question:
    """Return the question that asks for refused operations once more, with the reasons.

    `batch` is the question that they answered. Its documents and lines keep their numbers, and so
    do `known`, the memories that it showed.
    """
    text = _named(names)
    ids = {document.resource: id_ for id_, document in batch.files.items()}
    wanted: dict[str, set[int]] = defaultdict(set)
    for one, reasons in refused:
        fields = {**msgspec.to_builtins(one.op), "type": one.op.type}
        given = json.dumps(fields, ensure_ascii=False)
        why = "; ".join(reasons[:4])
        text += [f"refused: {given}", f"reason: {why}"]
        named = dict.fromkeys((one.op.id, *_MEMORY.findall(why)))
        text += (f"memory: {memory_row(id_, known[id_])}" for id_ in named if id_ in known)
        places = [(ids[p.document.resource], p.first, p.last) for p in one.cited.places]
        found = ((id_, int(line)) for id_, line in _LINE.findall(why))
        places += [(id_, n, n) for id_, n in found if n in batch.shown.get(id_, ())]
        for id_, first, last in places:
            wanted[id_].update(_section(batch.files[id_].lines, first, last))
    data = fence("\n".join((*text, "", batch.excerpt(wanted))))
    return Question(kind="again", data=data, items=len(refused))


def _section(lines: Sequence[str], first: int, last: int) -> range:
    """Return the lines around some lines, up to the next headings."""
    start, end = first, last
    while start > max(1, first - AROUND) and not is_heading(lines[start - 1]):
        start -= 1
    while end < min(len(lines), last + AROUND) and not is_heading(lines[end]):
        end += 1
    return range(start, end + 1)


def verify_question(items: Sequence[Proposed], names: Sequence[str]) -> Question:
    """Return the question whether the lines state what some operations state."""
    rows = []
    for one in items:
        row: dict[str, object] = {
            "id": one.id,
            "lines": list(evidence_of(one.op, one.cited, one.old)),
            "under": list(one.cited.under),
            "files": list(dict.fromkeys(p.document.name for p in one.cited.places)),
            "near": _near(one, names),
            "later": later_lines(one.op, one.cited, one.batch) if one.batch is not None else [],
            "day": max((p.document.day or p.document.as_of for p in one.cited.places), default=""),
            "text": one.op.text,
            "subject": one.op.subject,
            "still": one.op.still,
        }
        if one.old is not None and one.op.op != "same":
            row["closes" if one.op.op == "close" else "replaces"] = one.old.body
        rows.append(row)
    if names:
        rows.append({"names": list(names)})
    return Question(kind="verify", data=fence_rows("items", rows), items=len(items))


def _near(one: Proposed, names: Sequence[str]) -> list[str]:
    """Return the neighbouring lines with a day, or with words of a text that its lines lack."""
    files = (place.document.name for place in one.cited.places)
    shown = "\n".join((*evidence_of(one.op, one.cited, one.old), *one.cited.under, *files, *names))
    new = content_words(f"{one.op.subject} {one.op.text} {one.op.still}") - content_words(shown)
    lines = (line for line in one.cited.near.values() if not is_heading(line))
    return [x for x in lines if new & content_words(x) or DAY.search(x)][:MAX_NEAR]


def shelf_question(
    memories: Mapping[str, Memory],
    new: frozenset[str],
    names: Sequence[str],
    today: str,
    refused: Sequence[tuple[Change, Sequence[str]]] = (),
) -> Question:
    """Return the question that arranges the shelf. `new` are the ids of new memories.

    `today` is an ISO date. Memories that end soon, and those from files that each session loads,
    are listed by their ids. `refused` are changes of the first answer that are asked for once more,
    with the reasons.
    """
    again: list[str] = []
    for change, reasons in refused:
        given = json.dumps(msgspec.to_builtins(change), ensure_ascii=False)
        again += [f"refused: {given}", f"reason: {'; '.join(reasons)}"]
    rows = (f"{'+ ' if id_ in new else ''}{memory_row(id_, m)}" for id_, m in memories.items())
    due = sorted((m.valid_until, id_) for id_, m in memories.items() if is_due(m, today))
    listed = {
        "due": [f"{id_} {day}" for day, id_ in due],
        "loaded": [
            id_ for id_, m in memories.items() if m.sources and all(map(_is_loaded, m.sources))
        ],
    }
    lists = (f"{name}: {', '.join(ids)}" for name, ids in listed.items() if ids)
    data = fence("\n".join((*_named(names), f"today: {today}", *lists, *again, *rows)))
    return Question(kind="shelf", data=data, items=len(refused) or len(memories) // 2)


def is_due(memory: Memory, today: str) -> bool:
    """Return whether a memory ends on an ISO date or soon after it."""
    last = date.fromisoformat(today) + timedelta(days=DUE_DAYS)
    return today <= memory.valid_until <= last.isoformat()


def _is_loaded(source: Source) -> bool:
    return source.resource.startswith("sources/") and source.resource[len("sources/") :] in LOADED


def fence_rows(key: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Encode rows as JSON, one per line and without empty values, and enclose them in marks.

    Secrets are looked for in each value: JSON puts quotes and colons behind words of secrecy.
    """
    lean = [{k: v for k, v in row.items() if v not in ("", [], ())} for row in concealed([*rows])]
    spelled = (json.dumps(row, ensure_ascii=False).translate(_ESCAPES) for row in lean)
    return _mark(harmless(strip_deceptive(f'{{"{key}": [\n' + ",\n".join(spelled) + "\n]}")))
