"""Generate `MEMORY.md`, the hot cache for agents, and pack the context of an agent's session.

The bytes of the page depend only on the tree. Each bullet is one condensed memory with its tag
`↑date(reason)←path[pin]`, or in its short form `←id[pin]`. The first line has a hash of the rest.
A page edited by hand can therefore be distinguished from an outdated one. A context fits a budget
and is fenced as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile

import msgspec

from memrepo.core.ids import visible
from memrepo.core.layout import CLONES, HOT_NAMES, home_of, hot_path, stamped, standing_of
from memrepo.core.memory import Hot, Memory, having
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import Change, Delete, State, Write
from memrepo.policies.first_page import (
    HOME_FILES,
    MIN_NAME_WORDS,
    SEPARATOR,
    TOPIC_KINDS,
    WHOLE_LENGTH,
    agent_of,
    before_code,
    due_of,
    gives_name,
    has_content,
    has_only_fields,
    is_about_person,
    is_head,
    is_of_contact,
    order_of,
    owner_of,
    part_of,
)
from memrepo.policies.gists import clipped, gist_of
from memrepo.policies.hotcache import (
    CRITICAL,
    REQUEST,
    SYNC,
    hot_of,
    is_exempt,
    place_of,
    synced_at,
)
from memrepo.policies.latest import latest
from memrepo.policies.rules import HotRules
from memrepo.read.kinds import (
    PERSONS,
    is_of_note,
    is_of_owner,
    path_kind,
    section_kind,
    title_of,
)
from memrepo.read.marks import FENCE, NOTICE
from memrepo.read.thoughts import COLONS, FIELD_LENGTH, explains, field_of, width
from memrepo.text.dates import date_of_path, find_clock, is_date_heading
from memrepo.text.sentences import token_count
from memrepo.text.words import patterns

_ORDER = (
    *(
        "stored",
        "rules",
        "due",
        "promises",
        "user",
        "identity",
        "projects",
        "people",
        "lately",
        "preferences",
    ),
    *("decisions", "knowledge", "skills", "context"),
)
_INTRO = (
    "# Memory",
    "",
    "memrepo writes this page from the memories it names. Edit those (`memrepo edit`), not this.",
)
_EMPTY = "Nothing is on it now: `memrepo promote ID` puts a memory here, and so does frequent use."
_SECTIONS: Mapping[str, str] = {
    "stored": "stored",
    "agent": "identity",
    "person": "user",
    "rule": "rules",
    "preference": "preferences",
    "decision": "decisions",
    "project": "projects",
    "contact": "people",
    "promise": "promises",
}
"""Headings of the parts of the first page."""
_SECTIONS_OF_TYPES: Mapping[str, str] = {
    "constraint": "rules",
    "preference": "preferences",
    "decision": "decisions",
    "commitment": "promises",
    "open_question": "open questions",
}
"""Headings of memories without a part, which a judge or a person put on the page."""
_OF_PEOPLE = ("rules", "due", "promises", "user", "lately", "preferences")
"""The sections with what concerns one person, and not a thing."""
_WIKILINK = r"(?<![\\!\[])\[\[[^\[\]()<>`\\:]+\]\](?![(\[:])"
"""A link between notes: no link to a page of the web, and no directive, which has a colon."""
_NAMED = regex(r"(?<![\\!\[])\[\[(?:[^\[\]()<>`\\:|]+\|)?([^\[\]()<>`\\:|]+)\]\](?=:)")
"""A link before a colon, which together would be a directive: the page has its name."""
_MARKUP = regex(rf"(?P<kept>`[^`]+`|{_WIKILINK})|(\\*)([<`\[\]])")
_ESCAPED = regex(r"(?P<kept>(?<!\\)`[^`]+`)|(\\*)\\([<`\[\]])")
_LEFT_OUT = "## Left out"
_REASON = regex(rf"[0-9]+ sessions|{REQUEST}|{CRITICAL}|{SYNC}")
"""The four reasons in a tag. A reason from an import or an older version is shown as the last."""


def hot_page(state: State, rules: HotRules) -> bytes | None:
    """Return the hot page for a state, or None if no memory was ever on the first page.

    The page has at most `rules.budget` bullets. Memories beyond the budget or the host's limits are
    listed by folder. If the last bullet is removed, the page remains with a notice. Everybody who
    works here reads the page. If memories belong to several scopes, only memories without a scope
    are shown.
    """
    marked = having(state.every, ("hot",))
    if not marked:
        return None
    found = sorted((m for m in marked if hot_of(m) is not None), key=_first_to_stay)
    notes = [m for m in state.active if m.is_note] if rules.composed else []
    kept = found[: rules.budget]
    lately = latest(state, notes, kept, rules.budget - len(kept))
    apart = of_projects([*found, *lately])
    if apart:
        apart = [m for m in found if m.scope]
        found = [m for m in found if not m.scope]
        kept = found[: rules.budget]
        lately = latest(state, [m for m in notes if not m.scope], kept, rules.budget - len(kept))
    people = people_of(state)
    while True:
        page = _page([*kept, *lately], [*found[len(kept) :], *apart], rules, people)
        if not kept or (len(page) <= rules.max_bytes and page.count(b"\n") <= rules.max_lines):
            return page
        (lately or kept).pop()


def of_projects(found: Sequence[Memory]) -> list[Memory]:
    """Return the memories that only sessions of their projects show, if there are several."""
    scoped = [memory for memory in found if memory.scope]
    return scoped if len({memory.scope for memory in scoped}) > 1 else []


def hot_changes(state: State, rules: HotRules) -> list[Change]:
    """Return the changes that update the hot page. A foreign file is never overwritten."""
    path = hot_path(state.files, state.layout, rules.path)
    page, there = hot_page(state, rules), state.files.get(path)
    others = [
        Delete(path=p)
        for p in (state.layout.prefix + name for name in HOT_NAMES)
        if p != path and p in state.files and standing_of("hot", state.files[p]) != "foreign"
    ]
    if page is None:
        ours = there is not None and standing_of("hot", there) != "foreign"
        return [*others, *([Delete(path=path)] if ours else [])]
    return [*others, *([Write(path=path, data=page)] if there != page else [])]


def plain(memory: Memory) -> str:
    """Return a memory on one line as the page has it, but without the escapes of markdown."""
    return unescaped(condensed(memory))


def unescaped(text: str) -> str:
    """Return the text of a bullet without the backslashes that escape markup."""
    return _ESCAPED.sub(lambda m: m["kept"] or m[2][: len(m[2]) // 2] + m[3], text)


def escaped(text: str) -> str:
    """Return a text whose markup is escaped, but for code spans and the links of notes."""
    return _MARKUP.sub(lambda m: m["kept"] or f"{m[2]}{m[2]}\\{m[3]}", text)


def _first_to_stay(memory: Memory) -> tuple[object, ...]:
    """Return a memory's sort key: critical and pinned ones, those a model placed, the newest."""
    hot = hot_of(memory)
    since = hot.since.timestamp() if hot and hot.since else 0.0
    is_critical = memory.critical or (hot is not None and hot.reason == CRITICAL)
    place = 0 if is_exempt(memory) else place_of(memory)
    return (not (is_critical or place), not is_exempt(memory), place, -since, *order_of(memory))


def people_of(state: State) -> Mapping[str, str]:
    """Return the names of the people whose workspaces were read, by folder, if they are several.

    A name is the one in a person's profile, or that of the folder of the clone.
    """
    found: dict[str, str] = {}
    for memory in state.active:
        if file := memory.first[0]:
            home = home_of(file)
            folder = home.rpartition(CLONES)[2].rpartition("-")[0] if CLONES in home else ""
            known = owner_of(memory) if file.rpartition("/")[2] in PERSONS else ""
            found[home] = known or found.get(home) or folder.replace("-", " ").title()
    return found if len(found) > 1 else {}


def named(memory: Memory, people: Mapping[str, str]) -> str:
    """Return a memory on one line, after the name of the person that it is about."""
    text = condensed(memory)
    name = people.get(home_of(memory.first[0]), "")
    is_shared = len({home_of(file) for file in memory.files}) != 1
    if not name or is_shared or _section(memory, stored=True) not in _OF_PEOPLE:
        return text
    return text if _says(text, name) else f"{name}: {text}"


def _page(
    kept: Sequence[Memory], out: Sequence[Memory], rules: HotRules, people: Mapping[str, str]
) -> bytes:
    short = rules.composed
    lines = [*_INTRO, *(() if kept or out else ("", _EMPTY))]
    for layer, mine in sections(kept, short=short):
        lines += ["", f"## {layer.capitalize()}", *(bullet(m, people, short=short) for m in mine)]
        if not short:
            folders = sorted({_folder(m) for m in mine})
            lines.append(f"→ Full version: {', '.join(f'`{folder}`' for folder in folders)}")
    if out:
        lines += ["", _LEFT_OUT, f"{len(out)} more are in:"]
        lines += [f"- {folder}" for folder in sorted({_folder(m) for m in out})]
    return stamped("hot", "".join(f"{line}\n" for line in lines))


def sections(kept: Sequence[Memory], *, short: bool) -> Iterator[tuple[str, list[Memory]]]:
    """Yield the sections of the page in order, each with its memories in order."""
    agents = {memory.subject for memory in kept if part_of(memory) == "agent"} - {""}
    found: dict[str, list[Memory]] = {}
    for memory in kept:
        section = _section(memory, stored=short)
        if agents and section == "identity" and memory.subject not in agents | {""}:
            section = "user"  # a log says who the person is
        found.setdefault(section, []).append(memory)
    layers = [*_ORDER, *sorted(found.keys() - {*_ORDER})]
    first = {
        layer: min(filter(None, map(place_of, mine)), default=99) for layer, mine in found.items()
    }
    layers[1:] = sorted(layers[1:], key=lambda layer: first.get(layer, 99))
    for layer in layers:
        if mine := found.get(layer):
            by_day = layer in ("due", "lately")
            yield layer, sorted(mine, key=due_of if by_day else _first_to_stay)


def in_page_order(memories: Sequence[Memory], rules: HotRules) -> list[Memory]:
    """Return memories in the order of the page."""
    return [m for _, mine in sections(memories, short=rules.composed) for m in mine]


def _section(memory: Memory, *, stored: bool) -> str:
    """Return the section for a memory, determined by its part of the page or its layer."""
    if memory.is_note and hot_of(memory) is None:
        return "due" if memory.valid_until else "lately"
    part = part_of(memory)
    if part == "promise" and due_of(memory):
        return "due"
    if part == "stored" and not stored:
        return memory.layer
    if part == "stored" and memory.origin == "promotion":
        part = ""  # nobody stored it: its type says where
    if part == "person" and not is_about_person(memory):
        return memory.layer if memory.layer in _ORDER[:2] else "user"
    return _SECTIONS.get(part) or _SECTIONS_OF_TYPES.get(memory.type) or memory.layer


def _folder(memory: Memory) -> str:
    """Return the folder of a memory's layer, with a trailing slash."""
    parts = memory.path.split("/")
    known = parts.index("memories") + 2 if "memories" in parts[:-1] else len(parts) - 1
    return "/".join(parts[:known]) + "/"


def bullet(memory: Memory, people: Mapping[str, str], *, short: bool = False) -> str:
    """Return a memory's bullet, consisting of its text, named if it concerns one, and its tag.

    A `short` tag has the id only. Another needs a memory on the first page, or raises ValueError.
    """
    if short:
        return f"- {named(memory, people)} ←{memory.id}{_pin(memory)}"
    hot = hot_of(memory)
    if hot is None:
        raise ValueError(f"{memory.path}: is not on the first page")
    return f"- {named(memory, people)} {tag(memory, hot)}"


def tag(memory: Memory, hot: Hot) -> str:
    """Return the tag of a bullet, with the reason SYNC if the memory changed since promotion."""
    since, reason = hot.since, hot.reason if _REASON.fullmatch(hot.reason) else SYNC
    if (synced := synced_at(memory)) is not None:
        since, reason = synced, SYNC
    day = f"{since:%Y-%m-%d}" if since else ""
    return f"↑{day}({reason})←{memory.path}{_pin(memory)}"


def _pin(memory: Memory) -> str:
    return "[pin]" if memory.pinned else ""


def condensed(memory: Memory) -> str:
    """Return a memory on one line without markup, shortened unless it is a list or a rule.

    List items are joined, unfilled fields are omitted, and necessary context comes first. A
    statement of a daily log and a dated decision end with their day. The arrows used in tags are
    replaced, so a memory cannot forge a tag. Secrets are always replaced by a placeholder, since
    agents read the page.
    """
    clean = without_secrets(before_code(memory.body))
    head, _, body = clean.partition("\n\n")
    if is_head(memory):  # a short description is a title, and needs what is stated below
        below = takewhile(lambda line: not explains(line), body.split("\n"))
        clean = head if width(head) > FIELD_LENGTH else "\n".join((f"# {head}", *below))
    stated = [line for line in clean.split("\n") if any(map(str.isalnum, line))]
    lines = _with_content(clean.split("\n")) or stated
    text = unmarked(lines[0]) if lines else without_secrets(memory.title) or memory.slug
    for before, line in pairwise(lines):
        text += _between(before, line) + unmarked(line)
    about = _about(memory, text)
    text = visible(f"{about}: {text}" if about else text)
    text = _NAMED.sub(r"\1", " ".join(text.replace("↑", "^").replace("←", "<-").split()))
    # On one line and escaped, harmless text may look like a secret.
    is_whole = memory.type == "constraint" or (len(lines) > 1 and not has_only_fields(memory))
    text = _cut(text, WHOLE_LENGTH if is_whole else LINE_LENGTH)
    is_of_log = memory.is_note or date_of_path(memory.first[0])
    is_dated = is_of_log or memory.type == "decision"
    sources = (s for s in memory.sources if is_of_log or s.captured_from in ("unit", "heading"))
    days = (date_of_path(s.resource) or s.captured[:10] for s in sources)
    day = max(days, default="") if is_dated else ""
    last, ends = memory.valid_until[:10], "due" if memory.is_note else "until"
    marks = [day if day and day not in text else "", f"{ends} {last}" if last not in text else ""]
    if any(marks):  # it may be newer than a line of a page beside it, and end soon
        text = f"{text} ({', '.join(filter(None, marks))})"
    return without_secrets(escaped(text))


def _with_content(lines: Sequence[str]) -> list[str]:
    """Return the lines that state something or introduce the item below."""
    below = [*lines[1:], ""]
    return [
        line
        for line, after in zip(lines, below, strict=True)
        if has_content(line) or (line.rstrip("*_ ").endswith((":", "：")) and _is_item(after))
    ]


def _between(before: str, line: str) -> str:
    """Return the separator between two lines that are joined into one."""
    end = before.rstrip("*_ ")
    if before.startswith("#"):
        return " " if end.endswith((":", "：")) else ": "
    if field_of(before)[0] and field_of(line)[0]:
        return " · "
    if not (_is_item(before) or _is_item(line)) and _is_title_line(end, line):
        return ": "
    if end.endswith((":", "：")) or not (_is_item(before) or _is_item(line)):
        return " "
    return " · " if _is_item(before) or end.endswith(_STOPS) else ": "


def _is_title_line(end: str, line: str) -> bool:
    """Return whether a short line is the title of the text below it, as in a callout."""
    is_open = end.endswith((*_STOPS, *COLONS, ",", ";", "，", "；"))
    return len(end) <= LABEL_LENGTH and not is_open and not line[:1].islower()


def _is_item(line: str) -> bool:
    return line.startswith("|") or _MARKS.sub("", line.lstrip()) != line.lstrip()


def unmarked(line: str) -> str:
    """Return a line without list marks, heading marks and bold marks."""
    line = _MARKS.sub("", _BOLD.sub(r"\1", line.strip()))
    if line.startswith("|"):
        line = ", ".join(filter(None, map(str.strip, line.split("|"))))
    return line


def _cut(text: str, length: int) -> str:
    """Shorten a long text, ending it after a sentence or, with an ellipsis, between two words."""
    if len(text) <= length:
        return text
    text = text[: length - 1]
    ends = [match.end(1) for match in _END.finditer(text)]
    if ends and ends[-1] > length // 2:
        return text[: ends[-1]].rstrip()
    head, space, _ = text.rpartition(" ")
    return f"{(head if space and len(head) > length // 2 else text).rstrip(' ·,;')}…"


def _about(memory: Memory, text: str) -> str:
    """Return whose fact a text is, or the thing or project that it is about but does not name."""
    context = memory.context
    if not context or not memory.sources or gives_name(memory):
        return ""
    is_worded = memory.own_hash not in {s.text_hash for s in memory.sources}
    if memory.subject and is_worded and not is_of_note(memory):
        return ""  # a judge worded it, to be understood alone
    if has_only_fields(memory):
        return _label(memory.subject)  # a path in a field does not name the note
    parts = context.split(SEPARATOR)
    last = parts[-1].rstrip(":：* ")
    first = _FIRST.match(text)
    is_ban = first and patterns().sentences["ban"].search(first[0]) and "\n" not in memory.body
    is_complete = memory.body.startswith("#") or last.lower() in text.lower()
    is_negative = section_kind([last]) == "ban" and not is_ban
    if not is_complete and (is_negative or patterns().headings["allowed"].search(last)):
        return last[:LABEL_LENGTH]  # without it, the text would read as a wish, or as a duty
    owner, name = owner_of(memory), memory.first[0].rpartition("/")[2].removesuffix(".md")
    owner = owner or agent_of(memory.first[0].rpartition("/")[0])
    title = title_of(memory.first[0])
    above = title if title in parts else name
    headings = parts[parts.index(above) + 1 :] if above in parts else parts
    if memory.body.startswith("#"):
        headings = headings[:-1]  # the text begins with it
    names = _names(memory, headings, name, owner)
    if is_of_contact(memory):
        names = [memory.subject]  # whatever the headings of the note are
    elif is_of_note(memory):
        names = [] if _says(text, memory.subject) else [memory.subject, *names]
    elif is_of_owner(memory.first[0]) and not owner:
        names = []
    elif title != name and above == title and not owner:
        names.insert(0, title)
    labels = [label for label in dict.fromkeys(map(_label, names)) if not _says(text, label)]
    if labels and not owner:
        whole = SEPARATOR.join((labels[0], *labels[1:][-1:]))
        return whole if len(whole) <= FIELD_LENGTH else labels[0]
    return labels[-1] if labels else "" if names or _shares_word(owner, text) else owner


def _names(memory: Memory, headings: Sequence[str], name: str, owner: str) -> list[str]:
    """Return the headings above a memory that name a thing, outermost first, each short enough.

    The title of the agent's own file, or of a log, names nothing. Of files about a person or an
    agent, and of instructions, only the nearest heading counts. Without one, the file of one person
    or project has its name.
    """
    path, kind = memory.first[0], path_kind(memory.first[0])
    if part_of(memory) == "project" and kind == "project":
        headings = headings[:1] or [name]
    is_titled = bool(headings) and _is_title(headings, name)
    is_own = owner or path.rpartition("/")[2] in HOME_FILES or date_of_path(path)
    found = [
        heading
        for at, heading in enumerate(headings)
        if not (is_titled and is_own and not at)
        and not heading.endswith(("?", "？", ".md"))
        and heading != name
        and not _is_generic(heading, is_title=is_titled and not at)
        and 2 < len(_label(heading)) <= LABEL_LENGTH
    ]
    if owner or kind == "instruction":
        last = headings[-1] if headings else ""
        is_bare = not owner and len(_WORD.findall(last)) < MIN_NAME_WORDS
        near = headings[-2:] if is_bare else headings[-1:]  # above a mere `Rules`
        return [one for one in found[-1:] if one in near]
    return found


def _label(heading: str) -> str:
    """Return a heading without a remark; of a long one, the part before a dash or colon."""
    label = _ASIDE.sub("", heading).strip("-–—:：*# ")
    return _PART.split(label, maxsplit=1)[0] if len(label) > LABEL_LENGTH else label


def _is_generic(heading: str, *, is_title: bool) -> bool:
    """Return whether a heading says when its lines were written, or only what they are."""
    kind = section_kind([heading])
    is_topic = is_title or kind in TOPIC_KINDS
    is_named = is_topic and len(_WORD.findall(heading)) >= MIN_NAME_WORDS
    return bool(is_date_heading(heading) or find_clock(heading) or (kind and not is_named))


def _is_title(headings: Sequence[str], name: str) -> bool:
    """Return whether the outermost heading is a file's title, which names no thing of its own.

    A title that repeats the file's name is not part of a context, so a single heading may be that
    of a section. It is, if it is written like a name: `Ana`, `Project Alpha`.
    """
    first = headings[0]
    return _shares_word(name, first) or (len(headings) == 1 and not _NAME.fullmatch(first))


def _shares_word(label: str, text: str) -> bool:
    """Return whether a text has a word of a label, perhaps in the singular."""
    words, known = _WORD.findall(label.lower()), text.lower()
    return label.lower() in known or any(word.removesuffix("s") in known for word in words)


def _says(text: str, label: str) -> bool:
    """Return whether a text has most words of a label."""
    words, known = _WORD.findall(label.lower()), text.lower()
    return label.lower() in known or 2 * sum(word in known for word in words) > len(words)


LINE_LENGTH, LABEL_LENGTH = 320, 40
"""Maximum characters of a line of the page that is no list or rule, and of the label in front."""
_PART = regex(r"\s[—–-]\s|[:：(（]")
_BOLD = regex(r"(?:\*\*|(?<![\w/`])__)(?=\S)([^*\n]+?)(?<=\S)(?:\*\*|__(?![\w/`]|\.\w))")
_MARKS = regex(r"^(?:[-*+>]\s+|\d+[.)]\s+|#{1,6}\s+)*(?:\[[ xX]\]\s+)?")
_STOPS = (".", "!", "?", "。", "！", "？")
_NAME = regex(r"[A-ZÀ-ÞΑ-ΩА-Я][^\W\d_]*(?:[ -][A-ZÀ-ÞΑ-ΩА-Я][^\W\d_]*){0,2}|[\u0590-\uffdc]{2,6}")
"""One to three capitalised words, or a short word in a script without capitals."""
_FIRST = regex(r"[^.!?。！？·;]*")
_END = regex(r"(\w[\w)*\"”’]{2,}[.!?](?=\s)|[。！？；]|.(?= · ))")
_ASIDE = regex(r"^\s*(?:\d+|[A-Z])[.)]\s*|\s*[(（][^()（）]*[)）]\s*$")
_WORD = regex(r"[^\W_]{2,}")


PERSONAL_LAYERS = ("identity", "user", "preferences")
"""Layers that are never shown in a session with other people."""
HEAD = NOTICE
_AROUND = 11
"""Tokens of the two lines of a fence, and of the line that counts omitted pieces."""
_NOTES_SHARE, _NOTE_SHARE, _DOUBT = 5, 8, 240
"""Divisors of the budget for all notes and for one note, and maximum characters of a doubt."""
_BOLD_MARKS = regex(r"\*\*")
"""Bold marks. They are removed from gists, whose truncation may lose one half of a pair."""
_TICKS = regex(r"`{3,}")


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A packed context: the text, its size in tokens, and the number of omitted pieces."""

    text: str
    tokens: int
    left_out: int


def fenced(text: str) -> str:
    """Return a text as a fenced block without invisible characters."""
    body = visible(text)
    fence = "`" * max((3, *(len(run) + 1 for run in _TICKS.findall(body))))
    return f"{fence}{FENCE}\n{body}\n{fence}"


def unfenced(text: str) -> str:
    """Return the pieces of a packed context without its notice and its fence, or another text."""
    notice, _, block = text.partition("\n")
    return "\n".join(block.split("\n")[1:-1]) if notice == HEAD else text


def pack(
    hot: Sequence[Memory],
    notes: Sequence[Memory],
    warnings: Sequence[str],
    max_tokens: int,
    doubts: Sequence[str],
    people: Mapping[str, str],
) -> Packed:
    """Pack warnings, hot memories, notes and doubts, in this order, within a token budget.

    A fifth of the budget is reserved for notes. A note that is long or does not fit is replaced by
    its gist. All pieces are in one fence that their texts cannot close, below a line that declares
    them data.
    """
    first = [(f"warning: {_line(w)}",) for w in warnings]
    first += [(f"- {named(m, people)} ({m.layer}, {m.id})",) for m in hot]
    then: list[tuple[str, ...]] = [_sizes(note, max_tokens // _NOTE_SHARE) for note in notes]
    last = [(f"in doubt: {clipped(_line(doubt), _DOUBT)}",) for doubt in doubts]
    room = max_tokens - token_count(HEAD) - _AROUND
    shown, _ = _fitted(then, room // _NOTES_SHARE)
    begun, room = _fitted(first, room - sum(map(_tokens, shown)))
    shown, room = _fitted(then, room + sum(map(_tokens, shown)))
    ended, room = _fitted(last, room)
    pieces, kept = [*first, *then, *last], [*begun, *shown, *ended]
    text = _block(kept)
    while token_count(text) > max_tokens:
        kept.pop()  # a fence grows with the backticks inside
        text = _block(kept)
    return Packed(text=text, tokens=token_count(text), left_out=len(pieces) - len(kept))


def _block(pieces: Sequence[str]) -> str:
    return "\n".join((HEAD, fenced("\n".join(pieces)))) if pieces else ""


def _fitted(pieces: Sequence[tuple[str, ...]], room: int) -> tuple[list[str], int]:
    """Return the first version of each piece that fits, and the number of remaining tokens."""
    kept = list[str]()
    for sizes in pieces:
        piece = next((text for text in sizes if _tokens(text) <= room), None)
        if piece is not None:
            room -= _tokens(piece)
            kept.append(piece)
    return kept, room


def _tokens(piece: str) -> int:
    return token_count(f"{piece}\n")


def _sizes(note: Memory, most: int) -> tuple[str, ...]:
    """Return a note with its whole text, if it has at most `most` tokens, and with its gist."""
    day = max((s.captured for s in note.sources), default="")[:10]
    about = ", ".join(filter(None, (day, note.id)))
    head = f"note {_line(note.title) or note.slug} ({about})"
    text = visible(without_secrets(note.body)).replace("\n", "\n  ")
    whole = f"{head}:\n  {text}"
    summary = note.gist or gist_of(note)
    gist = f"{head}, its gist: {_line(_BOLD_MARKS.sub('', summary.summary))}"
    return (whole, gist) if _tokens(whole) <= most else (gist,)


def _line(text: str) -> str:
    return " ".join(visible(without_secrets(text)).split())
