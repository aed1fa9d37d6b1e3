"""The five views: what a person reads on a forge. Pure functions of the tree, byte for byte.

Lineage: memory-purifier, views. Deliberate differences: no clock, each memory is one line under its
subject with the beginning of its id, and no active claim is invisible: what fits no section stands
under "Other".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from memrepo.assets import asset
from memrepo.core.changes import Change, Delete, Write
from memrepo.core.ids import digest, normalise, slugify, visible
from memrepo.core.layout import below, stamped
from memrepo.core.memory import Cells, Memory, each, each_once, grouped, only, picked
from memrepo.core.patterns import regex
from memrepo.core.plain import plain
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.lexicon import Topic, lexicon, topics_of
from memrepo.policies.rules import PageRules

if TYPE_CHECKING:
    from jinja2 import Template

TOPICS = "TOPICS.md"
_USUAL = PageRules()
LIMIT = 500
"""Claims in one view file; above, the view is split by first tag."""
FEW = 5
"""Claims of a tag that make a page where a view is split."""
_TEXT = 500
_LINE = 78
_MARKUP = regex(r"(\\*)([<`\[\]])")
_TAG = regex(r"(\\*)<(?=[A-Za-z/!?])")
_START = regex(
    r"^(\d{1,9})(?=[.)](?:\s|$))"
    r"|^(?=#{1,6}(?:\s|$)|>|```|~~~|[-+*](?:\s|$)|\[[^\]]*\]:|(?:[-*_][ \t]*){3,}$)"
)
"""Where a line would begin a heading, a list, a quote, code, a rule or the target of a link."""
_DATED = ("commitment", "decision", "episode", "milestone", "open_question")
"""Types of which a page says the day: it is half of what they say."""
_FENCE = regex(r"(`{3,}|~{3,})[^`]*")
_MARKS = (b"memrepo writes this page from the files", b"more than one page holds; they are split")
_HEAD_LINES = 8
"""By these sentences of the templates, in its first lines, a page is known as ours."""
_HIDDEN_STANDINGS = ("stale", "retire_candidate")


def _by_place(memories: Sequence[Memory]) -> list[tuple[object, ...]]:
    """Order by subject, and the parts of one text as they stand in it."""
    spelled = each(memories, "subject")
    folded = {subject: normalise(subject) for subject in {*spelled}}
    subjects = map(folded.__getitem__, spelled)
    first, paths = each(memories, "first"), each(memories, "path")
    return [*zip(subjects, _days(memories), first, paths, strict=True)]


def _days(memories: Sequence[Memory]) -> list[int]:
    return [_day(captured[:10]) for captured in each(memories, "captured")]


@lru_cache(maxsize=1 << 12)
def _day(captured: str) -> int:
    """Return a number for a day: a later one is smaller."""
    return -int(captured.replace("-", "") or 0)


def _by_newest(memories: Sequence[Memory]) -> list[tuple[object, ...]]:
    return [*zip(_days(memories), each(memories, "path"), strict=True)]


def _by_oldest(memories: Sequence[Memory]) -> list[tuple[object, ...]]:
    return [(-day, path) for day, path in zip(_days(memories), each(memories, "path"), strict=True)]


def _sorted(
    memories: Sequence[Memory], order: Callable[[Sequence[Memory]], list[tuple[object, ...]]]
) -> Sequence[Memory]:
    keys: Cells = order(memories)
    return picked(memories, sorted(range(len(keys)), key=keys.__getitem__))


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One heading of a view: which types it holds, in which order, with which standings."""

    heading: str
    types: tuple[str, ...]
    order: Callable[[Sequence[Memory]], list[tuple[object, ...]]]
    standings: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One view: file name, title and sections; `by_tag` groups by first tag instead."""

    name: str
    title: str
    sections: tuple[Section, ...] = ()
    by_tag: bool = False
    personal: bool = False


_EMERGING = ("unresolved", "contested")
VIEWS: tuple[View, ...] = (
    View(
        name="LTMEMORY.md",
        title="Long-term memory",
        sections=(
            Section(heading="Facts", types=("fact",), order=_by_place),
            Section(heading="Preferences", types=("preference",), order=_by_place),
            Section(heading="Constraints", types=("constraint",), order=_by_place),
            Section(heading="Commitments", types=("commitment",), order=_by_newest),
            Section(heading="Lessons", types=("lesson",), order=_by_newest),
            Section(heading="Decisions", types=("decision",), order=_by_newest),
            Section(heading="Identity", types=("identity",), order=_by_place),
            Section(heading="Relationships", types=("relationship",), order=_by_place),
            Section(heading="Open questions", types=("open_question",), order=_by_newest),
        ),
    ),
    View(name="PLAYBOOKS.md", title="Playbooks", by_tag=True),
    View(
        name="EPISODES.md",
        title="Episodes",
        sections=(Section(heading="Episodes", types=("episode",), order=_by_newest),),
    ),
    View(
        name="HISTORY.md",
        title="History",
        personal=True,
        sections=(Section(heading="Milestones", types=("milestone",), order=_by_oldest),),
    ),
    View(
        name="WISHES.md",
        title="Wishes",
        personal=True,
        sections=(
            Section(
                heading="Standing wishes",
                types=("aspiration",),
                order=_by_newest,
                standings=("resolved", "probable_duplicate"),
            ),
            Section(
                heading="Emerging", types=("aspiration",), order=_by_newest, standings=_EMERGING
            ),
        ),
    ),
)


Known = MutableMapping[str, str]
"""The digest of a page that was rendered before, by the print of all that it was rendered from.

And which pages claims of one kind make, by the print of all these claims.
"""


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page that is due: its path, the print of what it shows, and how it is rendered."""

    path: str
    of: str
    render: Callable[[], bytes]

    def stands(self, there: bytes | None, known: Known) -> bool | None:
        """Tell without rendering whether a file is this page; None where that is not known."""
        digest = known.get(self.of)
        return None if digest is None else there is not None and digest == _digest(there)

    def rendered(self, known: Known) -> bytes:
        """Return the page, which is known from then on."""
        data = self.render()
        known[self.of] = _digest(data)
        return data


def render_views(
    state: State, rules: PageRules = _USUAL, known: Known | None = None
) -> list[Change]:
    """Return the writes and deletions that make the views agree with the memories.

    A view whose bytes are the same is not written; one that is no longer due is deleted. Where
    there are no memories there are no views: a run that found nothing has nothing to show. A page
    that is `known` to be what stands there is not rendered; what is rendered is known then.
    """
    known = {} if known is None else known
    changes: list[Change] = []
    for page in (due := _due(state, known, rules)):
        there = state.files.get(page.path)
        if not page.stands(there, known) and (data := page.rendered(known)) != there:
            changes.append(Write(path=page.path, data=data))
    return changes + [Delete(path=path) for path in _left_over(state, due)]


def stale_views(state: State, rules: PageRules, known: Known) -> list[str]:
    """Return the views that do not agree with the memories; what is `known` is not rendered."""
    due = _due(state, known, rules)
    stale = _left_over(state, due)
    for page in due:
        there = state.files.get(page.path)
        stands = page.stands(there, known)
        if stands is None:
            stands = page.rendered(known) == there
        if not stands:
            stale.append(page.path)
    return sorted(stale)


def _due(state: State, known: Known, rules: PageRules) -> list[_Page]:
    pages = _pages(state, known, rules) if state.memories else ()
    return sorted(pages, key=lambda page: page.path)


def _left_over(state: State, due: Sequence[_Page]) -> list[str]:
    """Return the pages that were written here and are no longer due."""
    area, wanted = state.layout.area("views"), {page.path for page in due}
    return sorted(
        path
        for path in below(state.files, area)
        if path not in wanted and _is_ours(path, state.files)
    )


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _said(state: State, memories: Sequence[Memory]) -> list[str]:
    """Return of each memory the print of what it says, of where it stands and of its rivals.

    No page tells which run wrote it, and a run draws the pages before it has its id.
    """
    told = zip(each(memories, "path"), each_once(memories, "print", _print), strict=True)
    said = [f"{path} {print_}" for path, print_ in told]
    for at in (at for at, keys in enumerate(each(memories, "keys")) if "links" in keys):
        said[at] += "".join(
            f"{m.path} {m.once('print', partial(_print, m))}" for m in _rivals(state, memories[at])
        )
    return said


def _print(memory: Memory) -> str:
    fields, body = plain(memory)
    return digest([sorted(fields.items()), body])[:32]


def _is_ours(path: str, files: Mapping[str, bytes]) -> bool:
    """Tell a page that was written here, by name and frame, from a file that a person put there."""
    name = path.rsplit("/", 1)[-1]
    stems = tuple(name.removesuffix(".md") for name in (*(view.name for view in VIEWS), TOPICS))
    if not (name.endswith(".md") and name.startswith(stems)):
        return False
    head = files[path].split(b"\n", _HEAD_LINES)[:_HEAD_LINES]
    return any(mark in line for line in head for mark in _MARKS)


def _shown(active: Sequence[Memory]) -> Sequence[Memory]:
    """Return what views print of active memories: claims, neither stale nor about to be retired."""
    told = zip(each(active, "type"), each(active, "standing"), strict=True)
    return only(active, [t != "note" and s not in _HIDDEN_STANDINGS for t, s in told])


def _pages(state: State, known: Known, rules: PageRules) -> Iterable[_Page]:
    """Yield the pages of the whole repository, and below `scopes/` those of each scope alone."""
    active = state.active
    scopes = {"": active[:0], **grouped(active, each(active, "scope"))}
    for scope, found in sorted(scopes.items(), key=itemgetter(0)):
        yield from _pages_of(state, found, _folder(scope), known, rules)


def _folder(scope: str) -> str:
    """Return where the pages of a scope lie: two scopes are two folders, however they are cut."""
    return f"scopes/{slugify(scope)}-{digest([scope])[:6]}/" if scope else ""


def _pages_of(
    state: State, active: Sequence[Memory], folder: str, known: Known, rules: PageRules
) -> Iterable[_Page]:
    shown = _shown(active)
    homes = grouped(shown, each(shown, "home"))
    for view in VIEWS:
        mine = homes.get(view.name, [])
        if (view.personal and not rules.personal) or (folder and not mine):
            continue
        if len(mine) <= LIMIT:
            yield _page(state, view, view.title, mine, folder + view.name)
        else:
            yield from _split(state, view, mine, folder, known)
    # Words of the configuration may differ between clones; pages follow from the tree alone.
    words, most = lexicon(), rules.topics
    if most and any(topics_of([memory], words) for memory in active):
        how = [f"at most {most}"] if most != _USUAL.topics else []
        yield _Page(
            path=state.layout.view(folder + TOPICS),
            of=_print_of(state, VIEWS[0], folder + TOPICS, [*_said(state, active), *how]),
            render=lambda: _rendered(
                f"{TOPICS}.j2", topics=_rounded(topics_of(active, words, most))
            ),
        )


def _rounded(topics: Iterable[Topic]) -> list[tuple[str, int]]:
    """Return the words with how often they stand, the frequent ones first.

    Counts are rounded down to 1, 2, 3 or 5 times a power of ten, and equal ones stand in the order
    of the alphabet: a page that tells each word of a night anew is written anew each night.
    """
    found = []
    for topic in topics:
        power = 10 ** (len(str(topic.count)) - 1)
        step = max(n for n in (1, 2, 3, 5) if n * power <= topic.count)
        found.append((topic.term, step * power))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _split(
    state: State, view: View, claims: Sequence[Memory], folder: str, known: Known
) -> Iterable[_Page]:
    """Split a large view by first tag, else by section, then by count; the view lists the parts.

    What a few share is no page of its own.
    """
    tags = each_once(claims, "tag", _first_tag)
    counts = Counter(tags)
    shared = {t: slugify(t) for t, count in counts.items() if t and count >= min(FEW, LIMIT)}
    types, standings = each(claims, "type"), each(claims, "standing")
    rest = {one: slugify(_heading(view, *one)) for one in {*zip(types, standings, strict=True)}}
    told = zip(tags, types, standings, strict=True)
    groups = grouped(claims, [shared.get(tag) or rest[type_, st] for tag, type_, st in told])
    parts: list[Mapping[str, object]] = []
    for tag in sorted(groups):
        group = _Group(state=state, view=view, tag=tag, claims=groups[tag], folder=folder)
        for turn, (name, title, size, of) in enumerate(group.parts(known)):
            parts.append({"name": name, "title": title, "count": size})
            yield _Page(
                path=state.layout.view(folder + name), of=of, render=partial(group.rendered, turn)
            )
    shown = {"title": view.title, "parts": parts, "count": len(claims)}
    yield _Page(
        path=state.layout.view(folder + view.name),
        of=digest([folder + view.name, shown]),
        render=lambda: _rendered("_parts.md.j2", **shown),
    )


class _Group(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The claims of one tag, or of one section, of a view that is split."""

    state: State
    view: View
    tag: str
    claims: Sequence[Memory]
    folder: str

    def parts(self, known: Known) -> list[tuple[str, str, int, str]]:
        """Return name, title, count of claims and print of each page.

        Of claims that are known they are known too, and nothing is put in order.
        """
        state, view, claims = self.state, self.view, self.claims
        said = _said(state, claims)
        key = _print_of(state, view, f"parts {self.folder} {self.tag}", said)
        if key not in known:
            prints = dict(zip(each(claims, "path"), said, strict=True))
            made = []
            for name, title, part in self._pages:
                mine = map(prints.__getitem__, each(part, "path"))
                made.append((name, title, len(part), _print_of(state, view, title, mine)))
            known[key] = msgspec.json.encode(made).decode()
        return msgspec.json.decode(known[key], type=list[tuple[str, str, int, str]])

    def rendered(self, turn: int) -> bytes:
        """Return a page."""
        _, title, part = self._pages[turn]
        return _claims_page(self.state, self.view, title, part)

    @cached_property
    def _pages(self) -> list[tuple[str, str, Sequence[Memory]]]:
        sections = [members for _, members in _sections(self.view, self.claims) if members]
        ordered = sections[0] if len(sections) == 1 else [m for one in sections for m in one]
        found, stem = [], f"{self.view.name.removesuffix('.md')}-{self.tag}"
        for turn, part in enumerate(_cut_up(ordered), start=1):
            tail = f".{turn}" if len(ordered) > LIMIT else ""
            title = f"{self.view.title}: {self.tag}{f', part {turn}' if tail else ''}"
            found.append((f"{stem}{tail}.md", title, part))
        return found


def _cut_up(claims: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    """Yield the parts of what is too much for one page, in order.

    A part is half full at least, and ends where an id says so: a new claim makes another page of
    the part that it stands in, and not of all that follow.
    """
    if len(claims) <= LIMIT:
        yield claims
        return
    first = 0
    for at, id_ in enumerate(each(claims, "id"), start=1):
        size = at - first
        if size == LIMIT or at == len(claims) or (size >= LIMIT // 2 and _ends_part(id_)):
            yield claims[first:at]
            first = at


def _ends_part(id_: str) -> bool:
    """Tell whether a part that is half full ends with a claim: one in some sixty, by its id."""
    return crc32(id_.encode("utf-8", "surrogatepass")) % max(2, LIMIT // 8) == 0


def _first_tag(memory: Memory) -> str:
    tags = memory.texts("tags")
    return next((t for t in tags if not t.endswith(".md")), "") if tags else ""


def _page(state: State, view: View, title: str, claims: Sequence[Memory], name: str) -> _Page:
    return _Page(
        path=state.layout.view(name),
        of=_print_of(state, view, title, _said(state, claims)),
        render=lambda: _claims_page(state, view, title, claims),
    )


def _print_of(state: State, view: View, title: str, said: Iterable[str]) -> str:
    """Return the print of what a page shows: of the prints of its claims in their order."""
    shown = _digest("\n".join(said).encode("utf-8", "surrogatepass"))
    return digest([view.name, title, state.layout.prefix, shown])


def _claims_page(state: State, view: View, title: str, claims: Sequence[Memory]) -> bytes:
    sections = _tag_sections(claims) if view.by_tag else _sections(view, claims)
    return _rendered(
        f"{view.name}.j2",
        title=title,
        sections=[
            {"heading": heading, "groups": _grouped(state, members)}
            for heading, members in sections
            if members
        ],
    )


def _grouped(state: State, members: Sequence[Memory]) -> list[Mapping[str, object]]:
    """Return the lines of a section, those of one context under it; what has none comes first."""
    subjects: dict[str, list[Memory]] = {}
    for memory in members:
        subjects.setdefault(normalise(_under(memory)), []).append(memory)
    alone = [m for m in members if not _is_grouped(m, subjects)]
    several = [same for same in subjects.values() if _is_grouped(same[0], subjects)]
    groups = [{"heading": "", "lines": [_line(state, m, m.body) for m in alone]}] if alone else []
    return [
        *groups,
        *(
            {
                "heading": _one_line(_under(same[0])),
                "lines": [_line(state, m, m.said) for m in same],
            }
            for same in several
        ),
    ]


def _under(memory: Memory) -> str:
    """Return what a line need not say below its heading: its context, else its subject."""
    return memory.text("context") or memory.text("lead") or memory.text("subject")


def _is_grouped(memory: Memory, subjects: Mapping[str, Sequence[Memory]]) -> bool:
    """Tell whether a line is printed below a heading: its context, or a subject of several."""
    if memory.text("context"):
        return True
    return bool(_under(memory)) and len(subjects[normalise(_under(memory))]) > 1


def _rendered(template: str, **shown: object) -> bytes:
    return stamped("view", _template(template).render(**shown))


_OTHER = "Other"


def _heading(view: View, type_: str, standing: str) -> str:
    """Return under which section a claim stands."""
    for section in view.sections:
        if type_ in section.types and standing in (section.standings or (standing,)):
            return section.heading
    return _OTHER


def _sections(view: View, claims: Sequence[Memory]) -> list[tuple[str, Sequence[Memory]]]:
    told = zip(each(claims, "type"), each(claims, "standing"), strict=True)
    of = grouped(claims, [_heading(view, type_, standing) for type_, standing in told])
    orders = {section.heading: section.order for section in view.sections} | {_OTHER: _by_newest}
    return [(name, _sorted(of.get(name, ()), order)) for name, order in orders.items()]


def _tag_sections(claims: Sequence[Memory]) -> list[tuple[str, list[Memory]]]:
    groups: dict[str, list[Memory]] = {}
    for memory in _sorted(claims, _by_place):
        groups.setdefault(_one_line(_first_tag(memory)), []).append(memory)
    named = sorted((tag for tag in groups if tag), key=lambda tag: (tag.casefold(), tag))
    return [(tag, groups[tag]) for tag in named] + [("Uncategorized", groups.get("", []))]


def _line(state: State, memory: Memory, text: str) -> Mapping[str, object]:
    return {
        "text": _quoted(_cut(text)),
        "id": _short(memory),
        "captured": memory.captured[:10] if memory.type in _DATED else "",
        "rivals": [{"id": _short(m), "text": _one_line(m.body)} for m in _rivals(state, memory)],
    }


def _short(memory: Memory) -> str:
    """Return the beginning of an id, as it ends the file's name; every command takes it."""
    return memory.id.removeprefix("mem-")[:6]


def _rivals(state: State, memory: Memory) -> list[Memory]:
    """Return the memories that contradict one, and that its page may show."""
    if not memory.has("links"):  # as most, and runs ask for all
        return []
    found = (
        state.memories.get(link.target)
        for link in memory.fields.get("links", ())
        if link.type == "contradicts"
    )
    return [m for m in found if m is not None and m.text("scope") in ("", memory.text("scope"))]


def _one_line(text: str) -> str:
    """Put text on one bounded line in which nothing is markup of the page."""
    line = " ".join(visible(without_secrets(text)).split())
    # On one line a text may look like a secret that it was not.
    return without_secrets(_plain(line if len(line) <= _LINE else line[: _LINE - 1].rstrip() + "…"))


def _plain(line: str) -> str:
    """Escape what would start HTML, code or a link, whatever backslashes stand before it."""
    return _MARKUP.sub(r"\1\1\\\2", line)


def _cut(text: str) -> str:
    text = without_secrets(text)
    return text if len(text) <= _TEXT else text[: _TEXT - 1].rstrip() + "…"


def _quoted(text: str) -> str:
    """Put a memory's text on a line of a list: whatever it holds, it begins nothing of the page.

    HTML is escaped, or an open comment would hide the rest of the page; not so in fenced code,
    which people copy. A text of several lines is a quote below its mark.
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
def _template(name: str) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(asset("templates", "views")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - the output is markdown; texts are quoted line by line
    )
    return environment.get_template(name)
