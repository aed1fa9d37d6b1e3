"""Describe runs and reviews in words and HTML: counts, reasons, and the memories that changed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from markupsafe import Markup

from memrepo.core.ids import visible
from memrepo.core.memory import Memory, Node, Source, bare, node_of, span
from memrepo.core.messages import counted, counted_as, fold
from memrepo.core.patterns import read_table, regex
from memrepo.core.state import KINDS, ChangeKind, Difference

WORDS: dict[str, Any] = read_table(Path(__file__).with_name("words.toml"))
COUNTS: Mapping[str, tuple[str, str]] = WORDS["counts"]
LEFT_OUT: frozenset[str] = frozenset(WORDS["warnings"]["left_out"])
"""The rules whose warnings say that a text was not read, or only in part."""


def counts_in_words(counts: Mapping[str, int]) -> list[str]:
    """Return the counts of a run as short phrases for one line, such as a commit subject."""
    return [
        counted_as(counts[key], short)
        for key, (short, _) in COUNTS.items()
        if short and counts.get(key)
    ]


def count_lines(counts: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return the counts of a run as (count, phrase) pairs for separate lines."""
    every = {**counts}
    if every.get("units", 0) <= every.get("candidates", 0):
        every.pop("candidates", None)  # all are new, or are notes: there is no "of them"
    return [
        (every[key], counted_as(every[key], words).partition(" ")[2])
        for key, (_, words) in COUNTS.items()
        if every.get(key)
    ]


_GONE = regex(r"(text_removed|source_removed|all_sources_removed): ([^;,\n]{1,400}?)(?=[;,\n]|$)")
_CODE = regex(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def in_words(reason: str) -> str:
    """Translate the codes in a reason. A reason by a person or a model remains unchanged."""
    if reason in WORDS["reasons"]:
        return str(WORDS["reasons"][reason])
    return _GONE.sub(
        lambda m: f"{m[2]} {'no longer says so' if m[1] == 'text_removed' else 'is gone'}", reason
    )


def judged_in_words(judged: str) -> str:
    """Translate the codes in a judge's disposition or reason. Unknown codes are left out."""
    known = WORDS["dispositions"] | WORDS["reasons"]
    parts = (known.get(part, "" if _is_code(part) else part) for part in judged.split(", "))
    return ", ".join(filter(None, parts))


def _is_code(text: str) -> bool:
    return "_" in text and all(map(_CODE.fullmatch, text.split(",")))


_JOINERS = "\u200c\u200d"
_BLANKS = "\n\t "
_MANY = 4


def shown(text: str) -> Markup:
    """Escape a text for a page, and show hidden characters by number and name."""
    if text.isprintable() and not any(_hidden(ch) for ch in text if ord(ch) > 0xFDFF):
        return Markup(escape(text, quote=True))  # noqa: S704 - it was escaped this moment
    parts = []
    clear = [(_unseen(text, n), ch) for n, ch in enumerate(text)]
    for unseen, group in groupby(clear, key=lambda pair: pair[0]):
        run = "".join(ch for _, ch in group)
        parts.append(_named(run) if unseen else escape(run, quote=True))
    return Markup("".join(parts))  # noqa: S704 - every part was escaped or is a number


@cache
def _markdown() -> Callable[[str], str]:
    """Return a renderer whose output has no links, no images and no raw HTML."""
    import mistune

    class Renderer(mistune.HTMLRenderer):
        """Renders the marks of a text. Addresses stay text, since anybody may have written them."""

        def text(self, text: str) -> str:
            return str(shown(text))

        def heading(self, text: str, level: int, **_: object) -> str:
            return f"<h{min(level + 2, 6)}>{text}</h{min(level + 2, 6)}>\n"

        def link(self, text: str, url: str, title: str | None = None) -> str:  # noqa: ARG002
            return text if text == url else f"{text} ({shown(url)})"

        image = link

        def codespan(self, text: str) -> str:
            return f"<code>{shown(text)}</code>"

        def block_code(self, code: str, info: str | None = None) -> str:  # noqa: ARG002
            return f"<pre>{shown(code)}</pre>\n"

        def block_html(self, html: str) -> str:
            return f"<p>{shown(html.strip())}</p>\n"

        def inline_html(self, html: str) -> str:
            return str(shown(html))

    render = mistune.create_markdown(renderer=Renderer(), hard_wrap=True)
    return lambda text: str(render(text))


def rendered(text: str) -> Markup:
    """Return a markdown text as HTML. Raw HTML, images and addresses are shown as text."""
    return Markup(_markdown()(text))  # noqa: S704 - the renderer escapes every text


def rendered_line(text: str) -> Markup:
    """Return one line of markdown as HTML without a paragraph around it."""
    return Markup(rendered(text).strip().removeprefix("<p>").removesuffix("</p>"))  # noqa: S704


def side(spans: Iterable[Span], which: Mark) -> Markup:
    """Return one side of a word comparison as HTML, with its unique words marked."""
    tag = "del" if which == "old" else "ins"
    parts = [
        Markup("<{0}>{1}</{0}>").format(Markup(tag), shown(s.text))  # noqa: S704 - del or ins
        if s.mark == which
        else shown(s.text)
        for s in spans
        if s.mark in ("same", which)
    ]
    return Markup("").join(parts)


def _unseen(text: str, n: int) -> bool:
    ch = text[n]
    if ch in _JOINERS:
        # They shape scripts and emoji. Between plain letters they are only hidden.
        around = text[max(n - 1, 0) : n] + text[n + 1 : n + 2]
        return len(around) < 2 or around.isascii() or any(map(_hidden, around))
    return _hidden(ch)


def _hidden(ch: str) -> bool:
    code = ord(ch)
    if ch in _BLANKS or code == 0xFE0F:
        return False
    if 0xFE00 <= code <= 0xFE0E or 0xE0100 <= code <= 0xE01EF or ch in "\u115f\u1160\u3164\uffa0":
        return True
    return unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _named(run: str) -> str:
    """Render hidden characters visibly, a long run by its first character and its length."""
    first = run if len(run) <= _MANY else run[:1]
    marks = [
        f'<span class="hid" title="{escape(unicodedata.name(ch, "a character without a name"))}">'
        f"U+{ord(ch):04X}</span>"
        for ch in first
    ]
    if len(run) > _MANY:
        marks.append(f'<span class="hid">and {len(run) - 1} more that are not seen</span>')
    return "".join(marks)


Mark = Literal["same", "old", "new"]
_MIN_SHARED = 0.3
"""Minimum share of common words. Texts with less are shown whole, as marked words would confuse."""
_MAX_WORDS = 3000
"""Longer texts are compared by line, because comparing words takes quadratic time."""
_WIDE = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts written without blanks. Each of their characters counts as a word."""
_WORD = regex(rf"\s+|[{_WIDE}]|(?:(?![{_WIDE}])[\w'’]|(?<=\w)[\u0300-\u036f])+|.", re.DOTALL)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that is in both wordings or in only one of them."""

    mark: Mark
    text: str


def words(text: str) -> list[str]:
    """Split a text into words, runs of blanks and individual other characters."""
    return _WORD.findall(text)


def word_diff(old: str, new: str) -> tuple[Span, ...]:
    """Return the spans of both texts in reading order, with old spans before new ones.

    Joining all spans except the `new` ones gives the old text. Joining all except the `old` ones
    gives the new text.
    """
    first: Sequence[str] = words(old)
    second: Sequence[str] = words(new)
    if len(first) > _MAX_WORDS or len(second) > _MAX_WORDS:
        first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    shared = sum(len("".join(first[b.a : b.a + b.size]).split()) for b in blocks)
    if shared < _MIN_SHARED * max(len(old.split()), len(new.split())):
        blocks = blocks[-1:]
    spans: list[tuple[str, str, str]] = []  # triples of old, new and common text
    i = j = 0
    for block in blocks:
        same = "".join(first[block.a : block.a + block.size])
        gone, come = "".join(first[i : block.a]), "".join(second[j : block.b])
        i, j = block.a + block.size, block.b + block.size
        # Blanks and punctuation between two changes belong to both sides.
        if spans and not any(ch.isalnum() for ch in spans[-1][2]) and (gone or come):
            before = spans.pop()
            gone, come = before[0] + before[2] + gone, before[1] + before[2] + come
        spans.append((gone, come, same))
    marks: tuple[Mark, ...] = ("old", "new", "same")
    texts = ((mark, text) for span in spans for mark, text in zip(marks, span, strict=True))
    return tuple(Span(mark=mark, text=text) for mark, text in texts if text)


Stage = Literal["waits", "landed", "commit", "range"]
"""The subject of a review: a pending run, a landed run, one commit, or a range of commits."""
SUMMARIES: Mapping[ChangeKind, tuple[str, str]] = WORDS["changes"]
"""Heading and explanation of each kind of change."""
UNTOLD = ("sources", "superseded_by", "superseded_at", "retired")
"""Fields shown in other ways: as evidence, as a pair, or as a reason."""
MAX_SOURCES = 5
"""Maximum sources that are shown of a change."""
TELLTALES = ("status", "standing", "archived_at")
"""Fields that only repeat that a memory is superseded or retired."""


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit that changed a memory: its operation, reason, actor and id."""

    op: str
    reason: str
    actor: str
    commit: str


_PLACES = frozenset(("promote", "demote", "tier", "link"))
"""Operations that change a memory's place and not its content."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change to one memory, with its causes.

    `successors` replaced this memory. `replaces` are the ids of memories it replaced in the same
    range. `against` are memories that contradict it since then.
    """

    difference: Difference
    decisions: tuple[Reason, ...] = ()
    successors: tuple[Memory, ...] = ()
    replaces: tuple[str, ...] = ()
    against: tuple[Memory, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        """Return the main kind of change."""
        return self.difference.kind

    @property
    def new_sources(self) -> tuple[Source, ...]:
        """Return the sources that the memory, or one that replaced it, did not have before."""
        old = self.difference.before.sources if self.difference.before else ()
        found = (*self.difference.memory.sources, *(s for m in self.successors for s in m.sources))
        return tuple(s for s in found if s not in old)

    @property
    def lost_sources(self) -> tuple[Source, ...]:
        """Return the sources that the memory had before and has no more."""
        before, after = self.difference.before, self.difference.after
        return (
            tuple(s for s in before.sources if s not in after.sources) if before and after else ()
        )

    @property
    def why(self) -> str:
        """Return the last reason given for the change, or why a run retired the memory."""
        retired = self.difference.memory.retired
        if self.difference.kind in ("retired", "marked") and retired:
            return str(retired[-1].reason)
        own = [d for d in self.decisions if d.op not in _PLACES] or self.decisions
        given = [d.reason for d in own if d.reason]
        return given[-1] if given else ""

    @property
    def addition(self) -> str:
        """Return the lines that a memory got below its others; empty if it changed otherwise."""
        found = self.difference.before, self.difference.after
        # A log of one item has no mark before it, and gets one with the second item.
        old, new = (memory.body.strip().lstrip("-*+ ") if memory else "" for memory in found)
        return new[len(old) :].strip() if old and new.startswith(f"{old}\n") else ""

    def record(self) -> dict[str, object]:
        """Return the change as a record for programs.

        `op` is the main kind of change, `before` and `after` are the texts, and `values` are the
        (before, after) values of the changed fields, as written in a file.
        """
        found, memory = self.difference, self.difference.memory
        return {
            "op": found.kind,
            "id": memory.id,
            "path": memory.path,
            "type": memory.type,
            "before": found.before.body if found.before else None,
            "after": found.after.body if found.after else None,
            "reason": self.why,
            "fields": found.fields,
            "values": {name: _values(found, name) for name in found.fields},
            "superseded_by": [m.id for m in self.successors],
            "supersedes": self.replaces,
            "against": [m.id for m in self.against],
            "decisions": self.decisions,
        }


def _values(found: Difference, name: str) -> tuple[Node | None, Node | None]:
    old, new = (None if v in (None, ()) else bare(node_of(v)) for v in found.value(name))
    return old, new


class ReviewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Changes under one heading. If `is_card` is true, one line shows each of them."""

    heading: str
    changes: tuple[Change, ...]
    is_card: bool = False
    is_by_cause: bool = False
    """Whether the heading is the reason of all changes."""


LEAVING = ("retired", "removed", "forgotten", "archived")
"""Kinds of change by which a memory leaves recall without a replacement."""
_STATED = ("superseded", "restored", "reworded", "added")
"""Kinds of change to a memory's statement."""
_BY_CAUSE = 2
"""The rank of the groups of memories that leave recall, or are marked for it."""
_CAUSED = ("marked", *LEAVING)
_HIDDEN = regex(r"(text|source)_removed: (?:.*?sources/)?([^;\n]+)")


def _place_in_review(change: Change) -> tuple[int, str]:
    """Return the rank and heading of the group to which a change belongs."""
    kind = change.kind
    if kind in _CAUSED:
        gone = _HIDDEN.match(change.why)
        if gone is None:
            why = in_words(change.why) or "no reason was given"
            return _BY_CAUSE, f"{SUMMARIES[kind][0]}: {why}"
        how = "which is gone" if gone[1] == "source" else "which no longer states it"
        return _BY_CAUSE, f"{SUMMARIES[kind][0]}, from {gone[2]}, {how}"
    if kind == "added" and not change.against:
        file = change.difference.memory.first[0].rpartition("sources/")[2]
        return 1, f"New, from {file}" if file else "New, written by hand"
    if kind in _STATED or change.against:
        return 0, "Replaced, reworded or contradicted"
    heading, meaning = SUMMARIES[kind]
    return 3 + KINDS.index(kind), f"{heading}: {meaning}"


class Review(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The complete content of a review. Equal histories give equal reviews.

    `title` is a run id or the requested revision. `files` counts other changed files by folder.
    """

    title: str
    state: Stage
    base: str
    tip: str
    run: str = ""
    reason: str = ""
    when: str = ""
    files: Mapping[str, int] = msgspec.field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    @cached_property
    def groups(self) -> tuple[ReviewGroup, ...]:
        """Return the changes in groups, in the order that every user interface uses.

        Replaced memories come first, each with its replacement, then new memories by file, memories
        that leave recall by cause, and bookkeeping.
        """
        found: dict[tuple[int, str], list[Change]] = {}
        for change in self.changes:
            if not change.replaces:  # the memory that it replaces shows it
                found.setdefault(_place_in_review(change), []).append(change)
        return tuple(
            ReviewGroup(
                heading=heading,
                changes=tuple(changes),
                is_card=rank >= _BY_CAUSE and len(changes) > 1,
                is_by_cause=rank == _BY_CAUSE,
            )
            for (rank, heading), changes in sorted(found.items(), key=lambda item: item[0])
        )

    @cached_property
    def totals(self) -> dict[ChangeKind, int]:
        """Return the number of changed memories by their main kind of change."""
        counts = Counter(change.difference.kind for change in self.changes)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}


def headline(memory: Memory) -> str:
    """Return a memory's heading on one line: its title, its triple or its first line."""
    subject, predicate = memory.subject, memory.predicate
    if memory.title:
        return memory.title
    if subject and predicate:
        return f"{subject} — {predicate} {memory.object}".strip()
    return next((line for line in memory.body.split("\n") if line.strip()), memory.slug)


class Line(NamedTuple):
    """A line that shows a change: `-` for what was, `+` for what is, or neither sign."""

    sign: Literal["-", "+", ""]
    spans: tuple[Span, ...]


def change_lines(change: Change) -> Iterator[Line]:
    """Yield the lines that show a change on a terminal, in a comment and on a web page."""
    found, body = change.difference, change.difference.memory.body
    old = found.before.body if found.before else ""
    match found.kind:
        case "superseded" | "removed" if len(change.successors) == 1:
            yield from _two(body, change.successors[0].body)
        case "superseded" | "removed":
            yield Line("-", (Span(mark="old", text=body),))
            yield from (Line("+", (Span(mark="new", text=m.body),)) for m in change.successors)
        case "added":
            yield Line("+", (Span(mark="new", text=body),))
        case _ if change.addition:
            yield _plain(f"added below: {fold(old.rstrip().splitlines()[-1], 60)}")
            yield Line("+", (Span(mark="new", text=change.addition),))
        case _ if old and old != body:
            yield from _two(old, body)
        case _:
            yield _plain(" ".join(body.split()))
    yield from (_plain(f"by {heir.id}  {heir.path}") for heir in change.successors)
    for other in change.against:
        yield _plain(f"contradicts {other.id}, which says: {other.body}")
    yield from _fields(found)
    yield from _sources(change)


def _plain(text: str) -> Line:
    return Line("", (Span(mark="same", text=text),))


def _two(old: str, new: str) -> tuple[Line, Line]:
    spans = word_diff(visible(old), visible(new))
    was = tuple(span for span in spans if span.mark != "new")
    return Line("-", was), Line("+", tuple(span for span in spans if span.mark != "old"))


def _fields(found: Difference) -> Iterator[Line]:
    """Yield the changed fields of a memory that are not shown in other ways."""
    if found.before is None or found.after is None:
        return
    for name in found.fields:
        if name in UNTOLD or (found.kind in ("superseded", *_CAUSED) and name in TELLTALES):
            continue
        yield _plain(field_in_words(name, *_spelled(found, name)))


def field_in_words(name: str, old: str, new: str) -> str:
    """Return what changed in a field as a phrase. The table has phrases for (set, removed)."""
    if name == "hot" and old.startswith("until") and not new:
        return "may be on the first page again"
    if name == "hot" and new.startswith("until"):  # the time of leaving the first page
        old, new = new, ""
    if name in WORDS["fields"]:
        is_set, removed = WORDS["fields"][name]
        return str(is_set if new else removed).format(new or old)
    label = name.replace("_", " ")
    if not new:
        return f"{label} removed: {old}"
    return f"{label} changed from {old} to {new}" if old else f"{label}: {new}"


def _sources(change: Change) -> Iterator[Line]:
    if change.kind == "added":
        return  # its heading names the file
    gone, new = (
        dict.fromkeys(f"{s.resource}{span(s.lines)}" for s in sources)
        for sources in (change.lost_sources, change.new_sources)
    )
    # A line that was edited in place has the same location before and after.
    places = [f"+ evidence {at}" for at in new if at not in gone]
    places += [f"- evidence {at}" for at in gone if at not in new]
    yield from map(_plain, places[:MAX_SOURCES])
    if (more := len(places) - MAX_SOURCES) > 0:
        yield _plain(f"and {counted(more, 'more source', 'more sources')}")


def _spelled(found: Difference, name: str) -> tuple[str, str]:
    """Return a field's old and new values on one line each, without common elements of sets."""
    old, new = found.value(name)
    if isinstance(old, tuple) and isinstance(new, tuple) and old and new:
        old, new = (tuple(v for v in x if v not in y) for x, y in ((old, new), (new, old)))
    before, after = ("" if v in (None, ()) else flat(node_of(v)) for v in (old, new))
    return before, after


def flat(node: Node) -> str:
    """Return a header value on one line."""
    if isinstance(node, list):
        return "; ".join(flat(item) for item in node)
    if isinstance(node, dict):
        return ", ".join(f"{key} {flat(value)}" for key, value in node.items())
    return str(node)
