"""Classify files and sections, and find signs in the text of statements, using tables.

The kind of a file comes from its path and shape (`kinds.toml`). The kind of a section comes from
its innermost heading that matches the words of `languages/reading`. The configuration can override
the kind of a file.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

import msgspec

from memrepo.core.layout import PROFILES, home_of, in_workspace
from memrepo.core.memory import Memory
from memrepo.core.patterns import compiled, read_table, regex
from memrepo.read.documents import NoteHeader, is_episode, note_header
from memrepo.read.learned import is_template
from memrepo.read.thoughts import (
    Unit,
    explains,
    field_of,
    filled,
    heading_kind,
    is_negative,
    width,
    with_values,
)
from memrepo.text.dates import (
    date_of_path,
    find_clock,
    find_date,
    is_time_heading,
    without_dates,
)
from memrepo.text.words import patterns, tables

TABLE = Path(__file__).with_name("kinds.toml")
SIGN_LENGTH, LONG_FILE = 1500, 9000
"""The searched length of a statement, and the minimum length of an article, in characters."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of file: how to recognise it, and how many statements of it may become memories."""

    name: str
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    shape: str = ""
    shape_reason: str = ""
    prior: float
    share: float
    floor: int
    cap: int


class Kinds(msgspec.Struct, frozen=True, kw_only=True):
    """The table of file kinds, with the weights of sections and signs."""

    kind: tuple[Kind, ...]
    sections: Mapping[str, float]
    signs: Mapping[str, float]
    file_types: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]
    """Named sets of kinds of files, kinds of sections, or signs."""

    def named(self, name: str) -> Kind:
        """Return the file kind with the given name. Raises KeyError if the name is unknown."""
        for kind in self.kind:
            if kind.name == name:
                return kind
        raise KeyError(name)


class FileKind(msgspec.Struct, frozen=True, kw_only=True):
    """The kind of a file, and the reason why the file has this kind."""

    kind: Kind
    reason: str


@cache
def kinds() -> Kinds:
    """Load the table of file kinds."""
    return msgspec.convert(read_table(TABLE), Kinds)


_WORDS = regex(r"[^\W_]+")
_NAMELESS = ("stanzas", "talk")
"""Shapes that decide only on files whose path implies no kind."""
OTHER_AGENT = "other agent"
"""The kind of files of another agent than the owner's."""
AGENT_FOLDER = regex(r"(?:^|/)agents(?:/(?P<name>[^/]+))?(?:/|$)")


PROGRAMS = frozenset(("CODEX.md", ".opencode.md", "opencode.md", "copilot-instructions.md"))
"""Instructions that only one program reads."""


def other_agents(names: Iterable[str]) -> frozenset[str]:
    """Return the folders and files of other agents than the owners', given the names of files."""
    homes: dict[str, list[str]] = {}
    for name in names:
        homes.setdefault(home_of(name), []).append(in_workspace(name))
    return frozenset(home + one for home, inner in homes.items() for one in _strangers(inner))


def _strangers(names: Sequence[str]) -> frozenset[str]:
    """Return the folders and files of other agents than the owner's in one workspace.

    The topmost folder with a profile is the owner's, and so is a hidden folder. Of several in a
    folder `agents`, it is the one with the most files. Other folders with profiles, and folders in
    one that is named `agents`, are other agents'. So are the instructions for one other program
    next to those for all of them.
    """
    places = [name.rpartition("/")[::2] for name in names]
    told = {folder for folder, name in places if name in ("AGENTS.md", "CLAUDE.md")}
    for_one = (name for name in names if name.rpartition("/")[2] in PROGRAMS)
    files = {name for name in for_one if "" in told or is_below(name, told)}
    homes = {folder for folder, name in places if name in PROFILES and "/." not in f"/{folder}"}
    least = min(map(_depth, homes), default=-1)
    own = {folder for folder in homes if _depth(folder) == least}
    if len(own) > 1 and all(map(AGENT_FOLDER.search, own)):
        counts = {folder: sum(is_below(name, (folder,)) for name in names) for folder in own}
        own = {folder for folder in own if counts[folder] == max(counts.values())}
    named = {folder for folder, _ in places if AGENT_FOLDER.search(folder)} if own else set()
    home = set(filter(AGENT_FOLDER.search, own))
    named = {folder for folder in named if not is_below(f"{folder}/", home)}
    return frozenset((homes | named) - own) | files


def _depth(folder: str) -> int:
    return folder.count("/") + bool(folder)


def is_below(path: str, folders: Collection[str]) -> bool:
    """Return whether a file is one of some paths, or below one."""
    return path in folders or any(path.startswith(f"{folder}/") for folder in folders)


def file_kind(
    path: str,
    text: str,
    units: Sequence[Unit],
    override: str = "",
    others: Collection[str] = (),
) -> FileKind:
    """Return the kind of a file. A kind set in the configuration (`override`) takes precedence.

    `others` are the folders and files of other agents (`other_agents`).
    """
    table = kinds()
    if override:
        return FileKind(kind=table.named(override), reason="set in memrepo.toml")
    if is_below(path, others):
        return FileKind(kind=table.named(OTHER_AGENT), reason="is another agent's")
    *folders, name = in_workspace(path).split("/")
    lines = [line for line in text.splitlines() if line.strip()]
    own = "" if path_kind(path) else named_kind(note_header(path, text.encode()).tags)
    for kind in table.kind:
        reason = _by_path(kind, folders, name) or (kind.name == own and "says so in its header")
        if kind.shape in _NAMELESS and path_kind(path):
            continue  # a file's own name wins over its shape
        if not reason and kind.shape and _has_shape(kind.shape, path, lines, units, len(text)):
            reason = kind.shape_reason
        if reason:
            return FileKind(kind=kind, reason=reason)
    raise AssertionError("the last kind fits any file")


@cache
def path_kind(path: str) -> str:
    """Return the name of the file kind that a path implies."""
    *folders, name = in_workspace(path).split("/")
    for kind in kinds().kind:
        if _by_path(kind, folders, name):
            return kind.name
    return ""


def named_kind(names: Iterable[str]) -> str:
    """Return the kind of a note about a person or a project that its folder or a tag names."""
    words = chain.from_iterable(_WORDS.findall(name.casefold()) for name in names)
    return next(filter(None, (_kinds_of_notes().get(word, "") for word in words)), "")


@cache
def _kinds_of_notes() -> Mapping[str, str]:
    """Map the words for people and projects, of all languages, to the kind of their notes.

    What is named for the owner is no note about somebody else.
    """
    rows = (("project", "projects"), ("profile", "people"))
    return {
        word.casefold(): kind
        for kind, key in rows
        for word in (*kinds().named(kind).words, *_names_for(key))
        if word not in _names_for("me")
    }


@cache
def _names_for(key: str) -> frozenset[str]:
    """Return what people call the owner, other people or projects, in all languages."""
    rows = (asking.get("kinds", {}).get(key, ()) for _, asking in tables("asking"))
    return frozenset(chain.from_iterable(rows))


def _by_path(kind: Kind, folders: Sequence[str], name: str) -> str:
    return (
        (f"is named {name}" if _names(kind.names).fullmatch(name) else "")
        or _worded((*kind.words, *kind.folders), folders, "folder")
        or (
            _worded(kind.words, [name.rpartition(".")[0]], "file name")
            if _kind_of_last_word(name) in ("", kind.name)
            else ""
        )
        or ("is about people or a project" if named_kind(folders) == kind.name else "")
        or ("is about the owner" if kind.name == "profile" and is_of_owner(name) else "")
    )


def is_of_owner(path: str) -> bool:
    """Return whether a note is named as people call themselves: `About me.md`."""
    return path.rpartition("/")[2].removesuffix(".md").casefold() in _names_for("me")


@cache
def _names(globs: Sequence[str]) -> re.Pattern[str]:
    return compiled("|".join(map(translate, globs)) or "(?!)")


@cache
def _kind_of_last_word(name: str) -> str:
    """Return the kind that the last word of a file's name stands for: it says what the file is."""
    if name.endswith(".mdc"):
        return "rules"  # of Cursor, whatever they are about
    words = _WORDS.findall(name.rpartition(".")[0].lower())
    last = next((word for word in reversed(words) if not word.isdigit()), "")
    return next((kind.name for kind in kinds().kind if last in kind.words), "")


def _worded(entries: Sequence[str], names: Sequence[str], where: str) -> str:
    for name in names:
        parts = [part.lower() for part in _WORDS.findall(name)]
        spelled = "-".join(parts)
        for entry in entries:
            plain = "-".join(part.lower() for part in _WORDS.findall(entry))
            if plain in parts or ("-" in plain and plain in spelled):
                return f'"{entry}" in the {where}'
    return ""


_PLACEHOLDERS = (
    r"_\([^\n]{1,200}?\)_",
    r"\[(?:your|the|name|insert|e\.?g|TODO|TBD|\.\.\.)[^\]\n]{0,40}\](?!\()",
    r"<[a-z][a-z _-]{2,30}>",
    r"\{\{[^{}\n]{0,80}\}\}",
    r"\[[\u3040-\u9fff\uac00-\ud7af]{2,12}\](?!\()",
)
PLACEHOLDER = regex("|".join(_PLACEHOLDERS), re.IGNORECASE)
_COMMAND = regex(r"`[^`\n]*\s<[\w-]+>[^`\n]*`")
"""A command in the text, with parameters."""
_SPEAKER = regex(r"^\W*(?:user|assistant|human|ai|system|bot|q|a)\b\W*[:：]", re.IGNORECASE)
TURN = regex(r"^(user|assistant):\s", re.IGNORECASE)
_BOX = regex(r"^\s*(?:(?:[-*+]|\d+[.)])\s*)?\[[ xX]\]")
_POINTS = regex(r"^\W*(?:`[^`]+`|\[[^\]]+\]\([^)]+\)|[\w./-]+\.\w{2,4}\b|https?:)")
_DIGITS = regex(r"\d+")
_NO_WORD = regex(r"\W+")


def _is_unfilled(line: str) -> bool:
    """Return whether a line has a placeholder, apart from the parameters of a command."""
    return PLACEHOLDER.search(_COMMAND.sub("", line)) is not None


def _has_shape(
    shape: str, path: str, lines: Sequence[str], units: Sequence[Unit], length: int
) -> bool:
    """Return whether a file has a certain shape, judged by its lines, statements and length."""
    texts = [unit.text[:SIGN_LENGTH] for unit in units]

    def share(is_one: Callable[[str], object], of: Sequence[str]) -> float:
        return sum(map(bool, map(is_one, of))) / max(1, len(of))

    match shape:
        case "template":
            stated = [unit.text[:SIGN_LENGTH] for unit in units if unit.kind != "code"]
            rows = [row for text in stated for row in text.split("\n")]
            unfilled = share(_is_unfilled, rows)
            return unfilled > 0.5 or (unfilled > 0.15 and unfilled * len(rows) >= 3)
        case "stanzas":
            alike = Counter(filter(lambda s: len(s) > 6, map(plain_line, lines)))
            keys = Counter(key for line in lines if (key := plain_line(field_of(line)[0])))
            again = sum(n for n in alike.values() if n >= 3)
            fields = sum(n for n in keys.values() if n >= 4) - 0.15 * len(lines)
            return len(lines) > 25 and max(again, fields) > 0.45 * len(lines)
        case "talk":
            turns = Counter(match[1].lower() for match in map(TURN.match, lines) if match)
            is_log = min(turns["user"], turns["assistant"]) >= 2
            return is_log or (len(lines) > 12 and share(_SPEAKER.match, lines) > 0.2)
        case "dated name":
            lasting = (k for k in kinds().kind if k.name in ("decisions", "rules", "project"))
            folders = in_workspace(path).split("/")[
                :-1
            ]  # e.g. a folder of decisions has records named by date
            is_record = any(_worded(kind.words, folders, "folder") for kind in lasting)
            return bool(date_of_path(path)) and not is_record
        case "episode":
            return is_episode(path)
        case "typed memory":  # so its agent has judged it, whatever its name says
            return [bool(unit.hint) for unit in units if unit.kind == "memory"] == [True]
        case "one memory":
            return [unit.kind for unit in units][:1] == ["memory"]
        case "boxes":
            return share(_BOX.match, lines) > 0.25
        case "rows and links":
            rows_share = share(lambda line: line.lstrip().startswith("|"), lines)
            return len(lines) > 15 and max(rows_share, share(_POINTS.match, texts)) > 0.5
        case "long":
            code = sum(u.lines[1] - u.lines[0] for u in units if u.kind == "code")
            return length > LONG_FILE or code > 0.4 * len(lines)
    return shape == "any"


def plain_line(text: str) -> str:
    """Normalise a line for comparison: lower case, digits as 0, at most 60 characters."""
    return _NO_WORD.sub(" ", _DIGITS.sub("0", text.lower())).strip()[:60]


_NAMES_NOTHING = frozenset("memory notes readme index status".split())
"""Names of files that say nothing of their subject, which the folder names."""


def title_of(path: str) -> str:
    """Return what the path of a file calls its subject: its name, or that of its folder.

    The folder counts if the file is one of those that each folder has, such as `notes.md`, and the
    folder's name is not such a name, a kind of file or an agent's memory itself.
    """
    *folders, name = in_workspace(path).split("/")
    name = name.removesuffix(".md")
    folder = folders[-1] if folders else ""
    is_named = bool(folder) and not folder.startswith((".", "-"))
    if name.casefold() not in _NAMES_NOTHING or folder.casefold() in _NAMES_NOTHING or not is_named:
        return name
    return name if path_kind(f"{folder}/x.md") or heading_kind(folder) else folder


def subject_of(path: str, header: NoteHeader, headings: Sequence[str]) -> str:
    """Return the person or project that a note is about, or an empty string.

    The note is named for it, in a folder of such notes, or its header says so. The title counts if
    it has the name's words. A name for what is in a file, such as `notes`, is no subject.
    """
    name = title_of(path)
    folders = [one for one in in_workspace(path).split("/")[:-1] if one != name]
    above = [named_kind([folder]) for folder in folders]
    is_one = "profile" in above or "project" in above[-1:] or named_kind(header.tags)
    last = (_WORDS.findall(name) or [""])[-1]  # it says what the file is
    if not is_one or date_of_path(path) or heading_kind(last) or _kind_of_last_word(f"{name}.md"):
        return ""
    title = headings[0] if headings else ""
    own, shown = ({*_WORDS.findall(text.lower())} for text in (name, title))
    if shown and (own <= shown or shown <= own):
        return title
    return name if name != name.lower() else re.sub("[-_]+", " ", name).title()


def section_kind(headings: Sequence[str]) -> str:
    """Return the kind of section that the headings name, or an empty string.

    The innermost heading that names a kind decides, but what is closed is closed with all below it.

    The first heading of a file is its title. The title counts only if it is the only heading.
    """
    named = headings[1:] or headings
    if any(heading_kind(heading) == "closed" or is_marked(heading) for heading in named):
        return "closed"
    for heading in reversed(named):
        if kind := heading_kind(heading):
            return kind
        if is_time_heading(heading) or find_clock(heading):
            return "log"
    return ""


def state_of(heading: str) -> tuple[str, str]:
    """Return the title and the day of a heading for a dated state, or two empty strings.

    Of several such sections with one title, the newest says how things are.
    """
    day = find_date(heading)
    if not day or not patterns().headings["state"].search(heading):
        return "", ""
    return without_day(heading), day


def without_day(heading: str) -> str:
    """Return the title in a heading, without its day and its signs."""
    return _NO_TITLE.sub(" ", without_dates(heading)).strip().casefold()


def newest_states(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the newest day of each dated state, by file and title, from (file, heading) pairs."""
    days: dict[tuple[str, str], str] = {}
    for file, heading in places:
        title, day = state_of(heading)
        if day:
            days[file, title] = max(day, days.get((file, title), ""))
    return days


_NO_TITLE = regex(r"(?:[\W_]|\b\d{1,2}:\d\d\b)+")
"""Signs and clock times. Other digits distinguish numbered things."""
_IDENTIFIER = regex(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|#\d{2,}")
_QUESTION = regex(r"[?？]\W*$")
_ITALIC = regex(r"^\s*(?:[_*][^_*].*[_*]|[(（][^()（）]*[)）]|\[[^\[\]]*\])\s*$")
"""A line in italics or brackets: an aside."""
_PATH = regex(r"^\W*(?:`[^`]+`|[\w./-]+/[\w./-]+|https?:\S+)\W*(?:[(—–:-].{0,60})?$")
_TARGET = regex(
    r"^\W*(?:\[[^\]\n]+\]\((?P<link>[^()\n]+\.md)[^()\n]*\)|`(?P<path>[^`\s]+\.md)`"
    r"|\[[^\]\n]+\]\((?P<page>(?![\w.+-]+:)[^()\s]+)\)\W*$|\[\[(?P<note>[^\]\n]+)\]\]\W*$)"
)
"""A line that begins with a link or path to the file it describes, or is only a link."""
_PROGRESS = regex(
    r"\b\d+\s*/\s*\d+\b|\d+%|\A[^:：\n]{1,40}[:：][\W_]*\d[\d.,+-]*\s*[^\W\d]{2,}\W*\Z"
)
"""A share done, or a bare count below a label (`Total: 8 jobs`)."""
_WHERE = regex(
    r"(?<![\w/])/(?:[\w.-]+/)+[\w.-]+|https?://\w|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|:\d{4,5}\b|\w\.service\b|\w@[\w-]+\.\w"
)
"""A place in the owner's environment: a path, an address, a port, a service."""
_FILING = regex(
    r"\b(?:MEMORY|USER|SOUL|AGENTS|CLAUDE|IDENTITY|TOOLS|BOOT|BOOTSTRAP|HEARTBEAT)\.md\b"
)
"""A file that an agent keeps or reads at its start: a text that names it is about its upkeep."""
_MARK = regex(
    r"(?:^\W*[(（\[]|[(（\[](?=[^()（）\[\]]*[)）\]]\W*$))"
    r"([^\W\d_]{3,})(?:[\W\d_](?<![()（）\[\]]))*[)）\]](?!\()"
    r"|(?:^[>*_\s]*|[—–-] )([A-Z]{7,})(?![\w-]| [A-Z])|(?<![\w-])([A-Z]{7,})(?= \d{4}-)"
)
"""A word in brackets at an end of a line, with a day or not, or in capitals at the start, behind a
dash or before a day: `(superseded)`, `RETIRED 2026-02-06`."""
_LOG_PREFIX = regex(r"^\W*(?:\[[^\]]*\]|[\d:.\- ]+)?\W*")


def points_to(unit: Unit, sources: Collection[str]) -> bool:
    """Return whether most lines of a statement begin with a link to another source file.

    A heading above them does not count.
    """
    folder = posixpath.dirname(unit.resource)
    lines = [line for line in unit.text[:SIGN_LENGTH].split("\n") if not line.startswith("#")]
    found = 0
    for match in filter(None, map(_TARGET.match, lines)):
        path = unquote(match["link"] or match["page"] or match["note"] or match["path"])
        if not match["path"] and "://" not in path:
            found += 1  # a link points to its file even if that was deleted
            continue
        found += any(posixpath.normpath(posixpath.join(f, path)) in sources for f in (folder, ""))
    return 2 * found > len(lines) > 0 and _TARGET.match(lines[0]) is not None


def signs_of(unit: Unit) -> frozenset[str]:
    """Return the names of the signs found in a statement's text."""
    text = unit.text[:SIGN_LENGTH]
    first = text.partition("\n")[0]
    table = patterns().sentences
    found = {kind for kind in _SENTENCES if table[kind].search(text)}
    begin = _LOG_PREFIX.sub("", first, count=1)
    shown = _REDACTED.sub("", text)
    size = width("".join(filter(str.isalnum, shown)))
    only_secret = shown != text and size < 2 * TINY_WIDTH
    lines = text.split("\n")
    one = len(lines) == 1
    unfilled = sum(map(_is_unfilled, lines))
    shapes = {
        "done": unit.task == "done"
        or table["done"].search(begin)
        or table["done_end"].search(first),
        "open_box": unit.task == "open" or text.startswith("⏳"),
        "identifier": _IDENTIFIER.search(text),
        "placeholder": only_secret
        or (unfilled and 2 * unfilled >= len(lines) - 2 * text.startswith("|")),
        "template": is_template(text),
        "question": _QUESTION.search(text),
        "tiny": size < TINY_WIDTH and not unit.key,
        "short": size < 2 * TINY_WIDTH and not unit.key,
        "italic": all(map(_ITALIC.match, lines)),
        "code": unit.kind == "code" or _is_mostly_code(lines),
        "quoted": _is_quoted(lines),
        "path": one and _PATH.match(unit.value if unit.key else first),
        "row": unit.kind in ("row", "table"),
        "unset": unit.kind != "code" and not filled(lines),
        "over": is_marked(first),
        "where": _WHERE.search(text),
        "torn": unit.torn or (is_negative(unit.lead) and not is_negative(text)),
        "dangling": unit.text.rstrip(" *_").endswith((":", "："))
        or (unit.kind == "paragraph" and explains(text)),
        "refers": table["refers"].match(begin),
        "progress": _PROGRESS.search(text),
        "dated": unit.captured_from == "unit",
        "filing": _FILING.search(text),
    }
    return frozenset(found | {name for name, shown in shapes.items() if shown})


@lru_cache(maxsize=4096)
def is_marked(line: str) -> bool:
    """Return whether a mark in a line says that it holds no more, such as `(superseded)`."""
    closed = patterns().headings["closed"]
    return any(closed.match(mark[mark.lastindex or 0]) for mark in _MARK.finditer(line))


def _is_quoted(lines: Sequence[str]) -> bool:
    """Return whether all lines below a label, if there is one, are quotations."""
    below = lines[1:] if len(lines) > 1 and lines[0].rstrip(" *_").endswith((":", "：")) else lines
    return all(map(_QUOTED.match, below))


_QUOTED = regex(r"^\W{0,6}[\"“„«「‘]\S")


def _is_mostly_code(lines: Sequence[str]) -> bool:
    fences = [n for n, line in enumerate(lines) if line.lstrip().startswith("```")]
    return len(fences) > 1 and 2 * (fences[-1] - fences[0]) >= len(lines)


TINY_WIDTH = 12
"""Width below which a text is `tiny`. A text of less than twice this width is `short`."""
_REDACTED = regex(r"\[redacted:[\w-]+\]")
_SENTENCES = (
    "ban",
    "rule",
    "preference",
    "decision",
    "lesson",
    "identity",
    "relation",
    "now",
    "unsure",
    "promise",
)


SHIPPED_FILES = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md")
"""Files that a program writes for each agent."""
PERSONS = ("USER.md", "human.md")
AGENTS = ("IDENTITY.md", "persona.md")
_MARKER = regex(r"^\s*[-*+]\s+")
_ASIDE = regex(r"[(（,;|/—–·•]|\s-\s|(?<=\w{4})\.\s")
_TITLE = regex(r"^#[ \t]+(?:USER|IDENTITY)(?:\.md)?[ \t]*[-–—:][ \t]*(?P<name>[^\n]{1,60})$")
_NAME_MARKS = "*_`\"'“”«»「」 \t.。"
NAME_LENGTH = 60


def is_profile(name: str) -> bool:
    """Return whether a workspace file describes a person or an agent."""
    return name.rpartition("/")[2] in (*PERSONS, *AGENTS)


def is_of_note(memory: Memory) -> bool:
    """Return whether the subject of a memory is that of its note, and not of a section."""
    texts = memory.subject, title_of(memory.first[0])
    own, name = ({*regex(r"[^\W\d_]{3,}").findall(text.lower())} for text in texts)
    return bool(own) and not is_profile(memory.first[0]) and (own <= name or name <= own)


def read_owners(files: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Return the names of people and agents by profile file, among (name, bytes) pairs."""
    found = ((name, name_in(data)) for name, data in files if is_profile(name))
    return {file: name for file, name in found if name}


def spoken_names(owners: Mapping[str, str]) -> frozenset[str]:
    """Return the names of people and agents, and the first word of each."""
    return frozenset(owners.values()) | {name.split()[0] for name in owners.values()}


def name_in(data: bytes) -> str:
    """Return the name that a profile file gives in a field or title, or an empty string.

    The value of a field may be on the line below its key.
    """
    table = patterns()
    lines = list(with_values(data.decode("utf-8", "replace").splitlines()))
    for line in lines:
        key, value = field_of(_MARKER.sub("", line))
        if key.lower() in table.names and not PLACEHOLDER.search(line):
            name = _ASIDE.split(value.strip(_NAME_MARKS), maxsplit=1)[0].strip(_NAME_MARKS)
            if name and name.lower() not in table.unset and len(name) <= NAME_LENGTH:
                return name
    titles = (match["name"].strip(_NAME_MARKS) for line in lines if (match := _TITLE.match(line)))
    return next((t for t in titles if len(t.split()) <= 3 and not section_kind([t])), "")
