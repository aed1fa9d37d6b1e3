"""Changes as the web page shows them.

Memory text is data: it is escaped, and what is hidden in it is spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from memrepo.core.ids import normal_claim
from memrepo.views.html import shown, side
from memrepo.views.review import (
    SUMMARIES,
    TELLTALES,
    UNTOLD,
    Change,
    Evidence,
    headline,
    place_of,
    spelled,
)
from memrepo.views.worddiff import Span, word_diff
from memrepo.views.wording import in_words, judged_in_words

_HEAD = 110
_SHORT = 64
_LONG = 20_000


def cards_of(changes: Iterable[Change]) -> list[dict[str, object]]:
    """Return what the template of one change (`_change.html.j2`) shows of each."""
    return [_card(change) for change in changes]


def _card(change: Change) -> dict[str, object]:
    found, memory = change.difference, change.difference.memory
    head = " ".join(headline(memory).split())
    # A text is shown once: a pair stands where the old one gives way, a short one is its heading.
    told = found.kind == "added" and bool(change.replaces)
    single = "reworded" not in found.kinds and not change.successors and not change.against
    texts = (
        [] if told or (single and head == memory.body and len(head) <= _HEAD) else _texts(change)
    )
    return {
        "id": memory.id,
        "ids": " ".join(change.ids),
        "head": shown(_cut(head, _HEAD if single else _SHORT)),
        "type": memory.type,
        "layer": shown(memory.layer if memory.layer != memory.type else ""),
        "path": shown(memory.path),
        "texts": texts,
        "replaces": change.replaces if told else (),
        "also": [SUMMARIES[kind][0].lower() for kind in found.kinds[1:]],
        "rows": _rows(change),
        "why": _whys(change),
        "judged": shown(judged_in_words(change.judged)),
        "evidence": [_evidence(e, _bodies(change)) for e in change.evidence if not told],
    }


def _texts(change: Change) -> list[dict[str, object]]:
    """Return the wordings of a card: label, tone, text, and the id of another memory, if any.

    Of a contradiction both sides stand on one card.
    """
    against = (_text("against", "plain", shown(_long(m.body)), id_=m.id) for m in change.against)
    return [*_wordings(change), *against]


def _wordings(change: Change) -> list[dict[str, object]]:
    found, memory = change.difference, change.difference.memory
    if found.kind == "superseded" and change.successors:
        return _succession(change)
    if found.kind == "added":
        return [_text("", "after", shown(_long(memory.body)))]
    if found.kind == "removed":
        return [_text("was", "before", shown(_long(memory.body)))]
    if "reworded" in found.kinds and found.before:
        spans = word_diff(_long(found.before.body), _long(memory.body))
        return _pair(spans, "before", "after")
    return [_text("", "plain", shown(_long(memory.body)))]


def _succession(change: Change) -> list[dict[str, object]]:
    memory, after = change.difference.memory, change.successors
    old = change.difference.before or memory
    if len(after) == 1:
        return _pair(
            word_diff(_long(old.body), _long(after[0].body)),
            "until now",
            "from now on",
            id_=after[0].id,
        )
    rows = [_text("until now", "before", shown(_long(old.body)))]
    return rows + [_text("from now on", "after", shown(_long(m.body)), id_=m.id) for m in after]


def _pair(spans: Sequence[Span], was: str, now: str, id_: str = "") -> list[dict[str, object]]:
    return [
        _text(was, "before", side(spans, "old")),
        _text(now, "after", side(spans, "new"), id_=id_),
    ]


def _text(label: str, tone: str, text: Markup, id_: str = "") -> dict[str, object]:
    return {"label": label, "tone": tone, "text": text, "id": id_}


def _rows(change: Change) -> list[dict[str, Any]]:
    found = change.difference
    if found.before is None or found.after is None:
        return []
    rows = []
    for name in found.fields:
        if name in UNTOLD or (found.kind in ("superseded", "retired") and name in TELLTALES):
            continue
        old, new = spelled(found, name)
        rows.append({"name": name, "old": shown(_cut(old, 500)), "new": shown(_cut(new, 500))})
    if found.before.path != found.after.path:
        old, new = found.before.path, found.after.path
        rows.append({"name": "path", "old": shown(old), "new": shown(new)})
    return rows


def _whys(change: Change) -> list[dict[str, object]]:
    """Return the reasons of a change, its own first; a commit that gives none is still named."""
    rows: Iterable[tuple[str, str, str, str]] = (
        (d.op, d.reason, d.actor, d.commit[:10]) for d in change.decisions
    )
    own = change.why
    if own and not any(own in d.reason for d in change.decisions):
        rows = [("", own, "", ""), *rows]
    return [
        {"op": op, "reason": shown(in_words(reason)), "actor": shown(actor), "commit": commit}
        for op, reason, actor, commit in rows
    ]


def _bodies(change: Change) -> frozenset[str]:
    """Return what a card says anyway: evidence that repeats it need not be quoted."""
    found = change.difference
    shown_too = (m for m in (found.before, found.after, *change.successors) if m)
    return frozenset(normal_claim(m.body) for m in shown_too)


def _evidence(found: Evidence, bodies: frozenset[str]) -> dict[str, object]:
    text = "\n".join(line for _, line in found.text)
    same = bool(text) and normal_claim(text) in bodies
    captured = found.source.captured[:10]
    return {
        "mark": found.mark,
        "place": shown(place_of(found.source)),
        "captured": shown(captured),
        "same": same,
        "blob": found.source.blob[:10],
        "lines": [] if same else [(n, shown(_cut(line, 600))) for n, line in found.text],
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _long(text: str) -> str:
    """Return a text as a page holds it: what is longer than a chapter is cut, and says so."""
    if len(text) <= _LONG:
        return text
    return f"{text[:_LONG]}\n[{len(text) - _LONG} more characters are in the file]"
