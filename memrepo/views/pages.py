"""Generate the five views for people who read on a forge. Equal trees give equal bytes.

Lineage: memory-purifier, views. Deliberate differences: there is no clock, and each memory is one
line under its subject with the beginning of its id. Every active claim is visible, and those that
fit no section are under "Other".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.core.errors import UsageError
from memrepo.core.ids import digest, normalise, slugify, visible
from memrepo.core.layout import asset, below, own_text, stamped
from memrepo.core.memory import Memory
from memrepo.core.patterns import read_table, regex
from memrepo.core.secrets import has_clean_body, without_secrets
from memrepo.core.state import Change, Delete, State, Write
from memrepo.policies.importance import Topic, lexicon, topics_of
from memrepo.views.hot import escaped

if TYPE_CHECKING:
    from jinja2 import Template

TOPICS = "TOPICS.md"
MAX_TEXT, MAX_LINE = 500, 78
"""Maximum characters of a memory's text on a page, and of a text in a heading."""
_TAG = regex(r"(\\*)<(?=[A-Za-z/!?])")
_START = regex(
    r"^(\d{1,9})(?=[.)](?:\s|$))"
    r"|^(?=#{1,6}(?:\s|$)|>|```|~~~|[-+*](?:\s|$)|\[[^\]]*\]:|(?:[-*_][ \t]*){3,}$)"
)
"""A line that would begin a heading, list, quote, code, rule or link target."""
_DATED = ("commitment", "decision", "episode", "milestone", "open_question")
"""Types shown with their date, because the date is essential."""
_FENCE = regex(r"(`{3,}|~{3,})[^`]*")
_MARK = b"memrepo writes this page from the files"
_HEAD_LINES = 8
"""The first lines, in which a sentence identifies a page as written by memrepo."""
_HIDDEN_STANDINGS = ("stale", "retire_candidate")


_Key = tuple[object, ...]


def _by_place(memory: Memory) -> _Key:
    """Return a memory's sort key: subject, newest first, then the order in the source."""
    return (normalise(memory.subject), -_day(memory), memory.first, memory.path)


def _by_newest(memory: Memory) -> _Key:
    return (-_day(memory), memory.path)


def _day(memory: Memory) -> int:
    return int(memory.captured[:10].replace("-", "") or 0)


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A heading of a view, with the types, order and standings of its memories."""

    heading: str
    types: tuple[str, ...]
    order: Literal["place", "newest", "oldest"]
    standings: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A view: its file name, title and sections. With `by_tag`, its claims are grouped by tag."""

    name: str
    title: str
    sections: tuple[Section, ...] = ()
    by_tag: bool = False
    personal: bool = False


_ORDERS: Mapping[str, Callable[[Memory], _Key]] = {
    "place": _by_place,
    "newest": _by_newest,
    "oldest": lambda memory: (_day(memory), memory.path),
}
_TABLE = read_table(Path(__file__).with_name("pages.toml"))
VIEWS = msgspec.convert(_TABLE["view"], tuple[View, ...])


def render_views(state: State, personal: bool = True) -> list[Change]:
    """Return the changes that update all views. Unchanged views are not written."""
    due = dict(sorted(_pages(state, personal))) if state.memories else {}
    written = (Write(path=path, data=data) for path, data in due.items())
    left_over = sorted(
        path
        for path in below(state.files, state.layout.area("views"))
        if path not in due and _is_ours(path, state.files)
    )
    changed = [page for page in written if page.data != state.files.get(page.path)]
    return [*changed, *(Delete(path=path) for path in left_over)]


def _is_ours(path: str, files: Mapping[str, bytes]) -> bool:
    """Return whether memrepo wrote a page, judging by the file name and the first lines."""
    name = path.rsplit("/", 1)[-1]
    stems = tuple(name.removesuffix(".md") for name in (*(view.name for view in VIEWS), TOPICS))
    if not (name.endswith(".md") and name.startswith(stems)):
        return False
    head = files[path].split(b"\n", _HEAD_LINES)[:_HEAD_LINES]
    return any(_MARK in line for line in head)


def _pages(state: State, personal: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the path and bytes of each page, for the whole repository and for each scope."""
    scopes: dict[str, list[Memory]] = defaultdict(list, {"": []})
    for memory in state.active:
        scopes[memory.scope].append(memory)
    for scope, found in sorted(scopes.items()):
        folder = _folder(scope)
        for name, data in _pages_of(state, found, folder, personal):
            yield state.layout.view(folder + name), data


def _folder(scope: str) -> str:
    """Return the folder of a scope's pages. Two scopes with one short name need two folders."""
    return f"scopes/{slugify(scope)}-{digest([scope])[:6]}/" if scope else ""


def _pages_of(
    state: State, active: Sequence[Memory], folder: str, personal: bool
) -> Iterator[tuple[str, bytes]]:
    homes: dict[str, list[Memory]] = defaultdict(list)
    for memory in active:
        if memory.type != "note" and memory.standing not in _HIDDEN_STANDINGS:
            homes[memory.home].append(memory)
    for view in VIEWS:
        mine = homes[view.name]
        if (view.personal and not personal) or (folder and not mine):
            continue
        yield view.name, _claims_page(state, view, mine)
    words = lexicon()
    if any(topics_of([memory], words) for memory in active):
        topics = _rounded(topics_of(active, words))
        yield TOPICS, _rendered(state, f"{TOPICS}.j2", topics=topics)


def _rounded(topics: Iterable[Topic]) -> list[tuple[str, int]]:
    """Return words with rounded counts, most frequent first.

    Counts are rounded down to 1, 2, 3 or 5 times a power of ten. Equal counts are ordered
    alphabetically, so that the page does not change every night.
    """
    found = []
    for topic in topics:
        power = 10 ** (len(str(topic.count)) - 1)
        step = max(n for n in (1, 2, 3, 5) if n * power <= topic.count)
        found.append((topic.term, step * power))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _first_tag(memory: Memory) -> str:
    return next((tag for tag in memory.tags if not tag.endswith(".md")), "")


def _claims_page(state: State, view: View, claims: Sequence[Memory]) -> bytes:
    sections = _tag_sections(claims) if view.by_tag else _sections(view, claims)
    return _rendered(
        state,
        f"{view.name}.j2",
        title=view.title,
        sections=[
            {"heading": heading, "groups": _grouped(state, members)}
            for heading, members in sections
            if members
        ],
    )


def _grouped(state: State, members: Sequence[Memory]) -> list[Mapping[str, object]]:
    """Return a section's lines, grouped by context. Lines without context come first."""
    subjects: dict[str, list[Memory]] = defaultdict(list)
    for memory in members:
        subjects[normalise(_under(memory))].append(memory)
    alone: list[Memory] = []
    groups: list[Mapping[str, object]] = []
    for memory in members:
        under = _under(memory)
        same = subjects[normalise(under)]
        if not (memory.context or (under and len(same) > 1)):
            alone.append(memory)
    for same in subjects.values():
        under = _under(same[0])
        if same[0].context or (under and len(same) > 1):
            lines = [_line(state, memory) for memory in same]
            groups.append({"heading": _one_line(under), "lines": lines})
    first = {"heading": "", "lines": [_line(state, memory) for memory in alone]}
    return [first, *groups] if alone else groups


def _under(memory: Memory) -> str:
    """Return the heading above a memory's line: its context, or else its subject."""
    return memory.context or memory.subject


def _rendered(state: State, template: str, **shown: object) -> bytes:
    from jinja2 import TemplateError

    folder = asset("templates", "views")
    found = (
        (name, own_text(state.files, state.layout.prefix, "templates", name))
        for name in sorted(path.name for path in folder.iterdir())
    )
    own = tuple((name, f"{text}\n") for name, text in found if text)
    try:
        return stamped("view", _template(template, own).render(**shown))
    except TemplateError as error:
        place = f"templates/{getattr(error, 'name', None) or template}"
        line = getattr(error, "lineno", None)
        raise UsageError(
            f"{place}:{line}: {error}" if line else f"{place}: {error}",
            fix="correct the template, or delete the file to use the one that is shipped",
        ) from error


_OTHER = "Other"


def _heading(view: View, memory: Memory) -> str:
    """Return the heading of the section that contains a claim."""
    for section in view.sections:
        standings = section.standings or (memory.standing,)
        if memory.type in section.types and memory.standing in standings:
            return section.heading
    return _OTHER


def _sections(view: View, claims: Sequence[Memory]) -> list[tuple[str, list[Memory]]]:
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory in claims:
        found[_heading(view, memory)].append(memory)
    orders = {section.heading: _ORDERS[section.order] for section in view.sections} | {
        _OTHER: _by_newest
    }
    return [(name, sorted(found[name], key=order)) for name, order in orders.items()]


def _tag_sections(claims: Sequence[Memory]) -> list[tuple[str, list[Memory]]]:
    groups: dict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(claims, key=_by_place):
        groups[_one_line(_first_tag(memory))].append(memory)
    rest = groups.pop("", [])
    named = sorted(groups, key=lambda tag: (tag.casefold(), tag))
    return [*((tag, groups[tag]) for tag in named), ("Uncategorized", rest)]


def _line(state: State, memory: Memory) -> Mapping[str, object]:
    text = memory.body if has_clean_body(memory) else without_secrets(memory.body)
    links = memory.links
    rivals = (state.memories.get(k.target) for k in links if k.type == "contradicts")
    return {
        "text": _quoted(text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"),
        "id": _short(memory),
        "captured": memory.captured[:10] if memory.type in _DATED else "",
        "rivals": [
            {"id": _short(rival), "text": _one_line(rival.body)}
            for rival in rivals
            if rival is not None and rival.scope in ("", memory.scope)
        ],
    }


def _short(memory: Memory) -> str:
    """Return the beginning of a memory's id, as in its file name. All commands accept it."""
    return memory.id.removeprefix("mem-")[:6]


def _one_line(text: str) -> str:
    """Return a text on one line, shortened and with its markup escaped."""
    line = " ".join(visible(without_secrets(text)).split())
    line = line if len(line) <= MAX_LINE else line[: MAX_LINE - 1].rstrip() + "…"
    # On one line and escaped, harmless text may look like a secret.
    return without_secrets(escaped(line))


def _quoted(text: str) -> str:
    """Escape a memory's text for a list item, so that none of it acts as markup of the page.

    HTML is escaped, because an open comment would hide the rest of the page. Fenced code is not
    escaped, since people copy it. A text of several lines becomes a quote below the list mark.
    """
    lines = visible(text).strip("\n").split("\n")
    fenced = _fenced(lines)
    shown = [x if n in fenced else _TAG.sub(r"\1\1\\<", x) for n, x in enumerate(lines)]
    if len(shown) == 1:
        return _START.sub(r"\1\\", " ".join(shown[0].split()))
    return "\n".join(["", *(f"  > {line}".rstrip() for line in shown)])


def _fenced(lines: Sequence[str]) -> set[int]:
    found: set[int] = set()
    first, mark = 0, ""
    for n, line in enumerate(lines):
        if not mark and (opening := _FENCE.fullmatch(line)):
            first, mark = n, opening[1]
        elif mark and set(line.rstrip()) == {mark[0]} and len(line.rstrip()) >= len(mark):
            found.update(range(first, n + 1))
            mark = ""
    return found


@cache
def _template(name: str, own: tuple[tuple[str, str], ...]) -> Template:
    """Return a template. `own` are the names and texts of the repository's own templates.

    These may use values and filters, but reach no object of the program.
    """
    from jinja2 import ChoiceLoader, DictLoader, FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    shipped = FileSystemLoader(asset("templates", "views"))
    environment = SandboxedEnvironment(
        loader=ChoiceLoader([DictLoader(dict(own)), shipped]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    return environment.get_template(name)
