"""Read documents with a model: ask, check, ask again, verify, and settle every operation.

Questions are composed from documents, memories and operations. All data is between marks that
contain its hash, so no text can close its fence. Secrets, control characters and marks inside of
texts are removed.

Questions are asked in order, and each sees the memories that the earlier ones made. Operations are
settled in groups. A refused operation is asked for once more with the reasons, then its lines are
quoted, unless a later line overtakes them. A file counts as read when the group of its last
question is settled, so a run that stops loses no file, and the next one asks the same questions.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import MemrepoError
from memrepo.core.ids import strip_deceptive
from memrepo.core.judge import BadReply, BudgetReached, JudgeFailed
from memrepo.core.layout import in_workspace
from memrepo.core.memory import Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed, harmless, without_secrets
from memrepo.judge.ask import CutOff, Desk
from memrepo.judge.checks import (
    Cited,
    check,
    cite,
    evidence_of,
    later_lines,
    leftovers,
    needs_second_question,
    verbatim,
    with_days,
    with_near_lines,
)
from memrepo.judge.documents import DAY, OPEN_TYPES, Batch, day_of, is_heading, related
from memrepo.judge.interface import Assessment, Fault, Operation, Question
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
DAY_TYPES = ("fact", "milestone", "episode")
"""Types of memories that may report one day only."""
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
    created, seen, day = memory.created, memory.captured[:10], day_of(memory)
    if created is not None and not day and "" < seen < f"{created:%Y-%m-%d}":
        day = f"changed {seen}"  # the time of a file, not of its first copy
    days = [day, *((f"until {end}",) if (end := memory.valid_until) else ())]
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
    heads = (line for place in one.cited.places for line in place.document.head)
    lines = (x for x in dict.fromkeys((*one.cited.near.values(), *heads)) if not is_heading(x))
    return [x for x in lines if new & content_words(x) or DAY.search(x)][:MAX_NEAR]


def shelf_question(
    memories: Mapping[str, Memory],
    new: frozenset[str],
    names: Sequence[str],
    today: str,
    *,
    alike: Sequence[tuple[str, str]] = (),
    page: Sequence[str] = (),
) -> Question:
    """Return the question that arranges the shelf. `new` are the ids of new memories.

    `today` is an ISO date. Listed by their ids are memories that end soon, those from files that
    each session loads, open ends, what reports a day, the pairs `alike`, and the `page` that
    earlier questions chose.
    """
    rows = (f"{'+ ' if id_ in new else ''}{memory_row(id_, m)}" for id_, m in memories.items())
    due = sorted((m.valid_until, id_) for id_, m in memories.items() if is_due(m, today))
    open_ends = sorted(
        (day_of(m), id_)
        for id_, m in memories.items()
        if m.type in OPEN_TYPES and not m.valid_until > today
    )
    days = {id_: m for id_, m in memories.items() if m.type in DAY_TYPES and DAY.search(m.body)}
    listed = {
        "newest": [max(map(day_of, memories.values()), default="")],
        "due": [f"{id_} {day}" for day, id_ in due],
        "loaded": [
            id_ for id_, m in memories.items() if m.sources and all(map(_is_loaded, m.sources))
        ],
        "open": [id_ for _, id_ in open_ends],
        "dated": [*days],
        "alike": [" ".join(pair) for pair in alike],
        "page so far": page,
    }
    lists = (f"{name}: {', '.join(ids)}" for name, ids in listed.items() if any(ids))
    data = fence("\n".join((*_named(names), f"today: {today}", *lists, *rows)))
    return Question(kind="shelf", data=data, items=len(memories) // 2)


def is_due(memory: Memory, today: str) -> bool:
    """Return whether a memory ends on an ISO date or soon after it."""
    last = date.fromisoformat(today) + timedelta(days=DUE_DAYS)
    return today <= memory.valid_until <= last.isoformat()


def _is_loaded(source: Source) -> bool:
    return in_workspace(source.resource) in LOADED


def fence_rows(key: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Encode rows as JSON, one per line and without empty values, and enclose them in marks.

    Secrets are looked for in each value: JSON puts quotes and colons behind words of secrecy.
    """
    lean = [{k: v for k, v in row.items() if v not in ("", [], ())} for row in concealed([*rows])]
    spelled = (json.dumps(row, ensure_ascii=False).translate(_ESCAPES) for row in lean)
    return _mark(harmless(strip_deceptive(f'{{"{key}": [\n' + ",\n".join(spelled) + "\n]}")))


MAX_GROUP = 60
"""Number of operations from which they are settled before the next question."""
NOT_VERIFIED = "it was not verified"
_OVER = regex(r"(?:text: )?F\d+:\d+\b|(?:id|text): m\d+ |text: an earlier operation")
"""A reason that names a later line or a memory by which the lines are over, or need no quoting."""
_LOSS = regex(r"still: m\d+ also states ")
"""A reason that names what a replacement loses."""
Refused = list[tuple[Proposed, Sequence[str]]]


class ReadResult(msgspec.Struct, kw_only=True):
    """What became of some questions: settled operations, and the files that are still to read.

    `refused` has the operations that were left out with their reasons, by place. `stopped` is the
    error after which no further question was asked.
    """

    settled: list[Proposed] = msgspec.field(default_factory=list)
    waiting: set[str] = msgspec.field(default_factory=set)
    refused: dict[str, str] = msgspec.field(default_factory=dict)
    stopped: MemrepoError | None = None
    done: int = 0
    left: int = 0

    def leave(self, batches: Iterable[Batch]) -> None:
        """Leave the files of some questions to the next run."""
        for batch in batches:
            self.waiting.update(batch.resources)
            self.left += 1


class Reading:
    """The reading of some questions.

    `memories` are the active memories by id. `sources_of` returns the evidence of some lines.
    `citing` returns the memories that cite lines which a question shows as removed.
    """

    def __init__(
        self,
        desk: Desk,
        memories: Mapping[str, Memory],
        names: Sequence[str],
        now: datetime,
        sources_of: Callable[[Cited, Operation], tuple[Source, ...]],
        citing: Callable[[Batch], Collection[str]] = lambda _: (),
    ) -> None:
        self._desk = desk
        self._view, self._settled_view = dict(memories), dict(memories)
        self._names = names
        self._sources_of = sources_of
        self._citing = citing
        self._now = now
        self._count = 0
        self._spoken: list[str] = []
        self._good: list[Proposed] = []
        self._bad: Refused = []
        self._known: dict[int, dict[str, Memory]] = {}
        self._found = ReadResult()

    def read(self, batches: Sequence[Batch]) -> ReadResult:
        """Ask every question and settle the operations, as long as the judge answers."""
        found, group = self._found, list[Batch]()
        for number, batch in enumerate(batches):
            try:
                self._take(batch)
                group.append(batch)
            except BadReply as error:
                found.leave([batch])
                found.refused[", ".join(batch.resources)] = error.message
            except (JudgeFailed, BudgetReached) as error:
                found.stopped = error
                found.leave(batches[number:])
            is_last = found.stopped is not None or number == len(batches) - 1
            if not is_last and len(self._good) + len(self._bad) < MAX_GROUP:
                continue
            try:
                found.settled += self._settle() if group else ()
                found.done += len(group)
            except (JudgeFailed, BudgetReached) as error:
                found.leave((*group, *(() if found.stopped else batches[number + 1 :])))
                found.stopped = found.stopped or error
            if found.stopped is not None:
                break
            group = []
        # A file of several questions is read with its last one, or not at all.
        found.settled = [
            one
            for one in found.settled
            if found.waiting.isdisjoint(p.document.resource for p in one.cited.places)
        ]
        return found

    def _take(self, batch: Batch) -> None:
        """Ask a question, and sort the operations of its answer into good and bad ones."""
        known = related(self._view.values(), batch, self._citing(batch), self._names)
        try:
            answer = self._desk.ask(read_question(batch, known, self._names))
        except CutOff:
            halves = batch.halves()
            if not halves:
                raise
            for half in halves:
                self._take(half)
            return
        self._known[id(batch)] = known
        named: set[str] = set()
        for item in answer.items:
            op, faults = _operation(item)
            if op is None:
                self._found.refused[f"{batch.resources[0]}"] = "; ".join(faults)
                continue
            one = self._proposed(op, batch, known)
            named.add(op.id)
            faults = faults or check(op, one.cited, known, self._accepted, self._spoken)
            if not faults:
                self._good.append(one)
                self._spoken += [op.text] if op.text else []
                self._learn(one)
            elif one.cited.fault and not one.cited.places:
                self._refuse(op, one.cited.fault)
            else:
                self._bad.append((one, faults))
        for id_, value, line in leftovers(batch, known, named):
            op = Operation(op="close", id=id_, lines=line)
            why = f"the memory still states {value}, which an edit removed: replace or close it"
            self._bad.append((self._proposed(op, batch, known), (why,)))

    @property
    def _accepted(self) -> tuple[str, ...]:
        """Return the names that any wording may use: of owner and agents, and accepted subjects."""
        subjects = (memory.subject for memory in self._view.values())
        return (*self._names, *dict.fromkeys(filter(None, subjects)))

    def _proposed(self, op: Operation, batch: Batch, known: Mapping[str, Memory]) -> Proposed:
        self._count += 1
        id_, old = f"op-{self._count}", known.get(op.id)
        op, cited = with_near_lines(op, batch, old, self._accepted)
        return Proposed(id=id_, op=op, cited=cited, batch=batch, old=old)

    def _learn(self, one: Proposed) -> None:
        """Let later questions see what an operation makes of the memory."""
        op, old = one.op, one.old
        if old is not None and old.id in self._view:
            if op.op in ("replace", "close") and not op.still:
                del self._view[old.id]
            elif body := op.text if op.op == "same" else op.still:
                self._view[old.id] = self._view[old.id].with_fields({}, body)
        if op.op in ("add", "replace"):
            self._view[one.id] = self._provisional(one)

    def _provisional(self, one: Proposed) -> Memory:
        """Return the memory that an operation would make, as later questions show it."""
        sources = self._sources_of(one.cited, one.op)
        fields: dict[str, object] = {"id": one.id, "type": one.op.type, "subject": one.op.subject}
        fields |= {"sources": sources, "created": self._now}
        return Memory.of("", {k: v for k, v in fields.items() if v}, body=one.op.text)

    # -- settling ----------------------------------------------------------------------------

    def _settle(self) -> list[Proposed]:
        """Verify operations, ask once more for the refused ones, and quote the rest."""
        good, bad, settled = self._good, self._bad, list[Proposed]()
        self._good, self._bad = [], []
        for attempt in (1, 2):
            denied = dict(self._verify(good))
            settled += (one for one in good if one.id not in denied)
            refused = {one.op.text for one in good if one.id in denied}
            self._spoken = [text for text in self._spoken if text not in refused]
            bad = [*bad, *((one, (denied[one.id],)) for one in good if one.id in denied)]
            if attempt == 2 or not bad:
                break
            good, bad = self._again(bad)
        for one, reasons in bad:
            is_over = any(map(_OVER.match, reasons))
            op = verbatim(one.op, one.cited, reasons) if not (one.cited.fault or is_over) else None
            if op is None or (op.op == "same" and one.old is None):
                self._refuse(one.op, "; ".join(reasons))
            else:
                end = f"its lines are quoted ({op.text})" if op.text else "the memory stays"
                self._refuse(one.op, "; ".join(reasons), end)
                settled.append(replace(one, op=op, refused="; ".join(reasons)))
        settled.sort(key=lambda one: int(one.id.partition("-")[2].partition(".")[0]))
        self._view = dict(self._settled_view)
        for one in settled:
            self._learn(one)
        self._settled_view = dict(self._view)
        return settled

    def _verify(self, proposed: Sequence[Proposed]) -> Iterator[tuple[str, str]]:
        """Yield (id, reason) for each operation that the lines do not state, as a model finds."""
        asked = [
            one for one in proposed if needs_second_question(one.op, one.cited, one.old, one.batch)
        ]
        for start in range(0, len(asked), MAX_GROUP):
            items = asked[start : start + MAX_GROUP]
            answer = self._desk.ask(verify_question(items, self._names))
            given = {a.id: a for a in answer.items if isinstance(a, Assessment)}
            for one in items:
                verdict = given.get(one.id)
                if verdict is None or not verdict.stated:
                    reason = verdict.reason if verdict is not None else NOT_VERIFIED
                    yield one.id, f"{reason or 'not what the lines state'} (text: {one.op.text})"

    def _again(self, refused: Refused) -> tuple[list[Proposed], Refused]:
        """Ask once more for refused operations. Return those that are accepted, and the others."""
        good: list[Proposed] = []
        bad: Refused = []
        for batch in {id(one.batch): one.batch for one, _ in refused}.values():
            if batch is not None:
                mine = [(one, why) for one, why in refused if one.batch is batch]
                accepted, others = self._ask_again(mine, batch)
                good, bad = [*good, *accepted], [*bad, *others]
        return good, bad

    def _ask_again(self, refused: Refused, batch: Batch) -> tuple[list[Proposed], Refused]:
        """Ask once more for the refused operations of one question."""
        known = self._known[id(batch)]
        good: list[Proposed] = []
        left = dict(enumerate(refused))
        bad: Refused = []
        try:
            items = self._desk.ask(again_question(refused, batch, known, self._names)).items
        except BadReply:
            return [], refused
        for item in items:
            op, faults = _operation(item)
            cited = cite(op.lines, batch) if op is not None else Cited(fault="no lines")
            owner = _owner(cited, refused, left)
            if op is None or owner < 0 or (cited.fault and not cited.places):
                continue
            first, reasons = refused[owner]
            number = "" if owner in left else f".{len(good) + len(bad)}"
            op, cited = with_near_lines(op, batch, known.get(op.id), self._accepted)
            one = replace(first, id=f"{first.id}{number}", op=op, cited=cited, old=known.get(op.id))
            faults = faults or check(op, cited, known, self._accepted, self._spoken)
            if any(map(_LOSS.match, reasons)) and all(map(_LOSS.match, faults)):
                faults = []  # the answer was told once what it loses, and decided
            left.pop(owner, None)
            if faults:
                bad.append((replace(first, id=one.id) if cited.fault else one, faults))
            else:
                self._spoken.append(op.text)
                good.append(one)
        for first, reasons in left.values():
            self._found.refused[first.op.lines[:80]] = f"left out: {'; '.join(reasons)}"
        return good, bad

    def _refuse(self, op: Operation, reason: str, end: str = "left out") -> None:
        """Record why an operation is not taken as it was worded, and let the judge know."""
        if end == "left out":
            self._found.refused[op.lines[:80]] = f"{reason} ({op.text[:80]})"
        self._desk.refusals.append(f"{op.lines}: {end}: {reason} (text: {op.text})")


def _owner(cited: Cited, refused: Refused, left: Collection[int]) -> int:
    """Return the number of the refused operation whose lines an answer cites, or -1.

    Of several that cite the same lines, the first without an answer is taken.
    """
    lines = _lines(cited)
    shared = [(len(lines & _lines(one.cited)), n in left, -n) for n, (one, _) in enumerate(refused)]
    most, _, number = max(shared, default=(0, False, 0))
    return -number if most else -1


def _lines(cited: Cited) -> frozenset[tuple[str, int]]:
    places = ((p.document.resource, n) for p in cited.places for n in range(p.first, p.last + 1))
    return frozenset(places)


def _operation(item: object) -> tuple[Operation | None, list[str]]:
    """Return an element of an answer as an operation, with its faults if it is malformed."""
    if isinstance(item, Operation):
        return with_days(item), []
    if isinstance(item, Fault) and isinstance(item.given.get("lines"), str):
        text = item.given.get("text")
        op = Operation(
            op="add", lines=item.given["lines"], text=text if isinstance(text, str) else ""
        )
        return op, [item.reason]
    return None, [item.reason if isinstance(item, Fault) else "no operation"]
