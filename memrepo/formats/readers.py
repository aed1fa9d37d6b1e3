"""What every format reader yields, and the tools to read JSON values and markdown files with.

A reader is one pure function: it yields records for file contents by name. Unreadable input is a
Problem with file, line and key, and does not stop the rest. What a reader leaves out on purpose is
counted.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from os.path import normpath
from pathlib import PurePosixPath
from typing import Any, NamedTuple, NoReturn, TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import normal_body, not_utf8
from memrepo.core.errors import Problem
from memrepo.core.ids import normalise
from memrepo.core.memory import CLAIM_TYPES, Gist, Node, Source
from memrepo.core.patterns import regex
from memrepo.read import documents
from memrepo.read.documents import DATE_KEYS, HOUSEKEEPING, plain_note
from memrepo.read.marks import without_private
from memrepo.read.thoughts import scan
from memrepo.text.dates import date_of_path, is_date_heading

Files = Mapping[str, bytes]


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A memory read from another program's files.

    `path` and `lines` are its place in the imported files, and `body` the lines as written, if the
    text differs from them. `key` is its id there, and `names` are
    other names that links use. `captured` is an ISO date. `written` is the value that the program
    stores for when the text was written. `fields` has
    values for memrepo's fields as the program spells them, and `at` the lines of its keys. `links`
    are (memrepo link type, name) pairs. `replaces` are names of records. `places` of the
    workspace, with resources as names there, replace the record itself as evidence. A record with
    `is_own` is a memory in memrepo's own format with its path there, and is imported unchanged.
    """

    path: str
    text: str
    type: str = "fact"
    key: str = ""
    names: tuple[str, ...] = ()
    lines: tuple[int, int] = (0, 0)
    body: str = ""
    layer: str = ""
    captured: str = ""
    captured_from: str = ""
    written: object = None
    fields: Mapping[str, object] = msgspec.field(default_factory=dict)
    at: Mapping[str, int] = msgspec.field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    replaces: tuple[str, ...] = ()
    places: tuple[Source, ...] = ()
    is_own: bool = False
    own_path: str = ""


class Skipped(NamedTuple):
    """A number of items that a reader leaves out on purpose, such as `answers_passed_over`."""

    name: str
    number: int


Found: TypeAlias = ImportRecord | Problem | Skipped


def refused(path: str, message: str, *, line: int = 0, key: str = "") -> Problem:
    """Return the problem that reports why a record is not imported."""
    return Problem(
        path=path,
        line=line,
        column=1 if line else 0,
        rule="import-record",
        key=key,
        message=f"{message}: the record is not imported",
        fix="fix the record and import again",
    )


def left_out(path: str, key: str, message: str, *, line: int = 0) -> Problem:
    """Return the problem that reports an omitted field of a record that is still imported."""
    return Problem(
        path=path,
        line=line,
        column=1,
        rule="import-field",
        key=key,
        message=f"{message}: left out",
        severity="warning",
        fix="set it on the memory by hand, if it matters",
    )


class Format(NamedTuple):
    """A format that can be imported: its description, the paths of its files, and its reader."""

    what: str
    paths: str
    """A regular expression, which the whole path of a file below the imported folder matches."""
    reader: Callable[[Files], Iterable[Found]]
    is_database: bool = False
    """Whether the files are SQLite databases. The reader gets a snapshot of each."""
    is_followed: bool = False
    """Whether a repeated import of a folder ends the memories of a removed file."""

    def wants(self, path: str) -> bool:
        """Return whether a file is of this format."""
        return re.fullmatch(self.paths, path) is not None

    def read(self, files: Files) -> tuple[Found, ...]:
        """Read files by name.

        A file on which the reader fails by itself is left out and named, and the others are read.
        If the fault is in no single file, all are refused.
        """
        faults: dict[str, str] = {}
        try:
            return tuple(self.reader(files))
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop an import
            fault = type(error).__name__
        for path, data in files.items():
            try:
                tuple(self.reader({path: data}))
            except Exception as error:  # noqa: BLE001
                faults[path] = type(error).__name__
        faults = faults or dict.fromkeys(files, fault)
        rest = {path: data for path, data in files.items() if path not in faults}
        refusals = [refused(p, f"found text that cannot be read ({e})") for p, e in faults.items()]
        return (*refusals, *(self.read(rest) if rest else ()))


def read_json(path: str, data: bytes) -> Any | Problem:
    """Return the value of a JSON file, or the problem with it."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        return refused(path, "found values nested too deep, expected JSON")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return refused(path, f"found the byte 0x{data[error.start]:02X}, expected UTF-8", line=line)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        return refused(path, f"found text that is not JSON ({error})", line=line)


# -- markdown files -------------------------------------------------------------------------------

_WIKI = regex(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = regex(r"\]\(<?([^()<>\s]{1,300}\.md)>?(?:#[^()\s]{0,200})?\)")
_TAG = regex(r"(?<![\w/#&])#([^\W\d_][\w/-]{0,100})")


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A markdown file: header values with their lines, the body, and the body's line range.

    Line numbers are one-based.
    """

    path: str
    values: Mapping[str, Node] = msgspec.field(default_factory=dict)
    at: Mapping[str, int] = msgspec.field(default_factory=dict)
    body: str = ""
    lines: tuple[int, int] = (1, 1)

    @property
    def stem(self) -> str:
        """Return the file's name without its extension."""
        return PurePosixPath(self.path).stem

    @property
    def day(self) -> str:
        """Return the ISO date in the file's name, or an empty string."""
        return date_of_path(self.path)

    def text(self, key: str) -> str:
        """Return a header value if it is a text, or else an empty string."""
        value = self.values.get(key)
        return str(value).strip() if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        """Return a header value as unique texts. A comma-separated text is split."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        parts = (part for item in found if isinstance(item, str) for part in item.split(","))
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def links(self) -> tuple[tuple[str, str], ...]:
        """Return one reference per distinct link: a `[[name]]`, or a markdown link to a file."""
        files = (PurePosixPath(unquote(target)).stem for target in _LINK.findall(self.body))
        names = [*(name.strip() for name in _WIKI.findall(self.body)), *files]
        return tuple(("references", name) for name in dict.fromkeys(names))

    def hashtags(self) -> Iterator[str]:
        """Yield the hashtags outside fenced code, without the `#`."""
        source = documents.read_lines(self.path, self.body.encode())
        for number, line in enumerate(source.text, start=1):
            if number not in source.fenced:
                yield from _TAG.findall(line)

    def names(self) -> tuple[str, ...]:
        """Return the names by which links may refer to this file."""
        path = self.path.removesuffix(".md")
        names = [self.stem, path, *map(self.text, ("title", "permalink", "name"))]
        return tuple(dict.fromkeys(filter(None, names)))

    def properties(self, known: Collection[str]) -> str:
        """Return the header values for which memrepo has no field, one line per key."""
        found = ((key, self.texts(key)) for key in self.values if key not in known)
        return "\n".join(f"{key}: {', '.join(values)}" for key, values in found if values)


def read_pages(files: Files) -> tuple[list[Page], list[Problem]]:
    """Read the markdown files into headers and bodies, sorted by name, and return the problems.

    A file without a header is all body. A file that is not UTF-8 is left out.
    """
    pages, problems = [], []
    for path, data in sorted(files.items()):
        try:
            head = documents.read_head(data.decode("utf-8-sig"), path)
        except UnicodeDecodeError as error:
            problems.append(not_utf8(path, data, error.start))
            continue
        if head.problem is not None:
            how = "header was read line by line" if head.last else "file was all read as text"
            fix = f"if something is missing here, {head.problem.fix} there, and import again"
            problems.append(
                replace(
                    head.problem,
                    path=path,
                    column=1,
                    rule="import-header",
                    message=f"{head.problem.message}: the {how}",
                    severity="warning",
                    fix=fix,
                )
            )
        body = normal_body(head.body)
        lines = (head.body_line, head.body_line + body.count("\n")) if body else (0, 0)
        pages.append(Page(path=path, values=head.values, at=head.at, body=body, lines=lines))
    return pages, problems


# -- JSON lines -----------------------------------------------------------------------------------

_SEPARATORS = regex("[\x85\u2028\u2029]")


class JsonLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a JSON lines file and its one-based line number."""

    number: int
    record: Mapping[str, Any]


def read_json_lines(path: str, data: bytes) -> Iterator[JsonLine | Problem]:
    """Yield the objects of a file of JSON lines, and a problem for each line that is none.

    Blank lines are ignored. Lines end only at line feeds. NaN and infinity are not JSON.
    """
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        record = read_object(raw)
        if isinstance(record, str):
            yield Problem(
                path=path,
                line=number,
                column=1,
                rule="import-line",
                message=f"found {record}, expected one JSON object",
                fix="fix the line, or remove it",
            )
        else:
            yield JsonLine(number=number, record=record)


def read_object(data: bytes) -> dict[str, object] | str:
    """Decode one JSON object, or return a description of the text that was found instead."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return f"a byte that is not UTF-8 at offset {error.start}"
    except RecursionError:
        return "values nested too deep"
    except ValueError as error:
        return f"text that is not JSON ({error})"
    return value if isinstance(value, dict) else f"a {type(value).__name__}"


def spell_lines(records: Iterable[Mapping[str, object]]) -> bytes:
    """Format records as JSON lines.

    Unicode line separators are escaped because some programs split lines at them.
    """
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def texts(value: object) -> list[str]:
    """Return the strings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


# -- `memrepo export jsonl` -----------------------------------------------------------------------


def read_jsonl(files: Files) -> Iterator[Found]:
    """Read the output of `memrepo export jsonl`, one memory per line."""
    for path, data in files.items():
        for line in read_json_lines(path, data):
            if isinstance(line, Problem):
                yield line
                continue
            text, id_ = line.record.get("text"), str(line.record.get("id") or "")
            if not isinstance(text, str):
                yield refused(path, "found no text", line=line.number, key="text")
                continue
            yield ImportRecord(
                path=path,
                text=text,
                key=id_,
                lines=(line.number, line.number),
                fields={k: v for k, v in line.record.items() if k not in ("path", "layer", "text")},
                is_own=True,
                own_path=str(line.record.get("path")),
            )


# -- the reference MCP memory server: "Knowledge Graph Memory Server" ------------------------------


def read_mcp_memory(files: Files) -> Iterator[Found]:
    """Read `memory.json`, which has one line per entity or relation.

    Each observation becomes a memory in the context of its entity. Each relation becomes a memory
    with both names.
    """
    for path, data in sorted(files.items()):
        for line in read_json_lines(path, data):
            if isinstance(line, Problem):
                yield line
                continue
            value = line.record
            kind, name = value.get("type"), value.get("name")
            ends = [value.get(key) for key in ("from", "relationType", "to")]
            statements: list[str] = []
            fields: dict[str, object] = {}
            if kind == "entity" and isinstance(name, str):
                statements = texts(value.get("observations"))
                tags = [value.get("entityType") or ""]
                fields = {"context": name, "entities": [name], "tags": tags}
            elif kind == "relation" and all(isinstance(end, str) for end in ends):
                statements = [" ".join(map(str, ends)).replace("_", " ")]
                fields = {"entities": [ends[0], ends[2]]}
            elif kind != "entity":
                yield refused(path, "found no entity or relation", line=line.number)
            for statement in filter(None, map(str.strip, statements)):
                at = (line.number, line.number)
                yield ImportRecord(path=path, text=statement, lines=at, fields=fields)


# -- `conversations.json` of ChatGPT and Claude: help pages on exporting data ----------------------

MAX_MESSAGE = 2000
"""The maximum number of characters of a message in a note."""


class Message(NamedTuple):
    """A message: its author's role, its recipient, and its text."""

    role: str
    to: str
    text: str


def _read_conversations(
    files: Files, *, key: str, messages_of: Callable[[Mapping[str, Any]], Iterator[Message]]
) -> Iterator[Found]:
    """Read each conversation as one note of the user's messages, without the answers.

    Each entry of ChatGPT's own memory (messages to its tool `bio`) becomes a memory.
    """
    for path, data in sorted(files.items()):
        value = read_json(path, data)
        if not isinstance(value, list):
            is_read = not isinstance(value, Problem)
            yield refused(path, "found no list of conversations") if is_read else value
            continue
        for number, talk in enumerate(value):
            place = f"[{number}]"
            if not isinstance(talk, dict) or not isinstance(talk.get(key), dict | list):
                yield refused(path, f"found no conversation with {key}", key=place)
                continue
            messages = list(messages_of(talk))
            answers = sum(m.role == "assistant" and m.to != "bio" for m in messages)
            yield Skipped("answers_passed_over", answers)
            found = list(_conversation(path, talk, messages))
            yield from found
            if not found:
                yield refused(path, "found no text that the person wrote", key=place)


def _conversation(
    path: str, talk: Mapping[str, Any], messages: list[Message]
) -> Iterator[ImportRecord]:
    """Yield a conversation's entries for ChatGPT's memory, then the note of its messages."""
    id_ = next((str(talk[k]) for k in ("uuid", "conversation_id", "id") if talk.get(k)), "")
    start = talk.get("create_time") or talk.get("created_at")
    written = talk.get("update_time") or talk.get("updated_at") or start
    stored = (line for m in messages if m.to == "bio" for line in m.text.splitlines())
    for line in dict.fromkeys(line for line in stored if line.strip()):
        key = f"{id_}#{normalise(line)[:80]}" if id_ else ""
        yield ImportRecord(path=path, text=line.strip(), key=key, written=written)
    texts = (" ".join(m.text.split()) for m in messages if m.role in ("user", "human"))
    if bullets := [f"- {text[:MAX_MESSAGE]}" for text in texts if text]:
        title = talk.get("title") or talk.get("name")
        yield ImportRecord(
            path=path,
            text="\n".join(bullets),
            type="note",
            key=id_,
            written=start,
            fields={"title": title, "tags": ["conversation"]},
        )


def _chatgpt_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of the current branch, from the first one to the current one."""
    nodes: Any = talk["mapping"]
    if not isinstance(nodes, dict):
        return
    name = talk.get("current_node")
    path: dict[object, Any] = {}
    if not isinstance(name, str) or name not in nodes:
        path = dict(reversed(nodes.items()))
    while isinstance(name, str) and name in nodes and name not in path:
        path[name] = nodes[name]
        name = nodes[name].get("parent") if isinstance(nodes[name], dict) else None
    for node in reversed(path.values()):
        message = node.get("message") if isinstance(node, dict) else None
        if not isinstance(message, dict):
            continue
        author, content = message.get("author"), message.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        role = str(author.get("role")) if isinstance(author, dict) else ""
        yield Message(role, str(message.get("recipient") or ""), "\n".join(texts(parts)))


def _claude_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    for message in talk["chat_messages"]:
        if isinstance(message, dict):
            content, text = message.get("content"), message.get("text")
            if not (isinstance(text, str) and text):
                parts = content if isinstance(content, list) else []
                text = "\n".join(texts([p.get("text") for p in parts if isinstance(p, dict)]))
            yield Message(str(message.get("sender") or ""), "", text)


read_chatgpt = partial(_read_conversations, key="mapping", messages_of=_chatgpt_messages)
read_claude = partial(_read_conversations, key="chat_messages", messages_of=_claude_messages)


# -- claude-mem: docs.claude-mem.ai, "Database Architecture" ---------------------------------------

_TABLES = ("observations", "session_summaries")
_TYPES = {"decision": "decision", "discovery": "fact"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read_claude_mem(files: Files) -> Iterator[Found]:
    """Read the observations and summaries of each database.

    Decisions and discoveries become memories. Other observations and summaries become notes.
    """
    for path, data in sorted(files.items()):
        try:
            tables = _rows(data)
        except sqlite3.Error as error:
            yield refused(path, f"found no database that can be read ({error})")
            continue
        if not tables:
            yield refused(path, f"found none of the tables {', '.join(_TABLES)}")
        for row in tables.get("observations", ()):
            text = str(row.get("narrative") or row.get("text") or row.get("subtitle") or "")
            facts = [f"- {fact}" for fact in _list_in(row.get("facts")) if fact not in text]
            fields = {"title": row.get("title"), "description": row.get("subtitle")}
            tags = [str(row.get("type") or ""), *_list_in(row.get("concepts"))]
            type_ = _TYPES.get(str(row.get("type")), "note")
            if body := "\n".join([text.strip(), *facts]).strip():
                yield _row_record(path, row, "observation", type_, body, fields, tags)
        for row in tables.get("session_summaries", ()):
            parts = [(part.replace("_", " "), row.get(part)) for part in _PARTS]
            fields = {"title": row.get("request")}
            if body := "\n".join(f"- {name}: {text}" for name, text in parts if text):
                yield _row_record(path, row, "summary", "note", body, fields)


def _rows(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return a database's rows by table. Raises sqlite3.Error if the database is invalid.

    Only known tables are read.
    """
    # An in-memory database has no write-ahead log: clear WAL mode in bytes 18 and 19 of the header.
    plain = data[:18] + b"\1\1" + data[20:]
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(plain)
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        database.row_factory = sqlite3.Row
        known = {row[0] for row in database.execute("SELECT name FROM sqlite_schema")}
        return {
            name: [*map(dict, database.execute(f"SELECT * FROM {name} ORDER BY rowid"))]  # noqa: S608
            for name in _TABLES
            if name in known
        }


def _list_in(value: object) -> list[str]:
    """Return the texts of a JSON list in a database column, or an empty list."""
    try:
        return texts(json.loads(value)) if isinstance(value, str) and value else []
    except ValueError:
        return []


def _row_record(
    path: str,
    row: Mapping[str, Any],
    table: str,
    type_: str,
    body: str,
    fields: Mapping[str, object],
    tags: Sequence[str] = (),
) -> ImportRecord:
    epoch, project = row.get("created_at_epoch"), row.get("project")
    written = epoch if isinstance(epoch, int) and 0 < epoch < 10**14 else row.get("created_at")
    labels = [*tags, *([f"project:{project}"] if project else [])]
    return ImportRecord(
        path=path,
        text=body,
        type=type_,
        key=f"{table}-{row.get('id')}",
        written=written,
        fields={**fields, "tags": labels},
    )


def _json_object(files: Files, path: str) -> tuple[dict[str, Any], list[Problem]]:
    found = read_object(files[path]) if path in files else {}
    if isinstance(found, str):
        return {}, [refused(path, f"found {found}, expected one JSON object")]
    return found, []


# -- context-clear's memory_fs: `hot/`, `warm/`, `gist/`, `forgotten/` and `refcount.json` ---------

_TIERS = ("hot", "warm", "forgotten", "gist")
"""The tiers in the order in which to look for a note's text. A gist is only a summary."""
_COUNTER = "refcount.json"
_TAGS = regex(r"\s*(?:标签|標籤|tags?)\s*[:：]\s*(.*)", re.IGNORECASE)


def read_memory_fs(files: Files) -> Iterator[Found]:
    """Read every note once, even if several folders contain it."""
    pages, problems = read_pages({p: d for p, d in files.items() if p.endswith(".md")})
    notes: dict[str, dict[str, Page]] = {}
    for page in pages:
        notes.setdefault(page.stem, {})[PurePosixPath(page.path).parent.name] = page
    path = next((p for p in sorted(files) if p.endswith(_COUNTER)), "")
    counter, more = _json_object(files, path)
    yield from (*problems, *more)
    counted = {PurePosixPath(k).stem: v for k, v in counter.items() if isinstance(v, dict)}
    for name in sorted(notes):
        versions, known = notes[name], counted.get(name, {})
        tier = next((tier for tier in _TIERS if tier in versions), next(iter(versions)))
        page, gist = versions[tier], versions.get("gist")
        since = known.get("created")
        created = since if isinstance(since, int | float) and 0 < since < 10**11 else None
        yield ImportRecord(
            path=page.path,
            text=page.body,
            type="note",
            key=page.stem,
            lines=page.lines,
            captured=page.day,
            captured_from="file",
            written=created,
            fields={
                "title": page.stem,
                "tier": "gist" if gist else tier,
                "user_marked": known.get("user_marked"),
                "promoted": known.get("promoted"),
                "gist": _gist(gist) if gist else None,
                "created": created,
            },
        )


def _gist(page: Page) -> Gist:
    """Read a summary: `# title`, a line of tags, text."""
    title, tags, rest = page.stem, "", []
    for line in page.body.split("\n"):
        if line.startswith("#") and title == page.stem:
            title = line.lstrip("# ").strip() or title
        elif (match := _TAGS.fullmatch(line)) and not tags:
            tags = match[1]
        else:
            rest.append(line.strip())
    words = (word.strip().lstrip("#") for word in re.split(r"[,，、\s]+", tags))
    return Gist(
        title=title[:2000],
        tags=tuple(dict.fromkeys(word[:200] for word in words if word)),
        summary=" ".join(filter(None, rest))[:2000],
    )


# -- Claude Code: `~/.claude/projects/<project>/memory/` -------------------------------------------

_KINDS = {"user": ("fact", "user"), "feedback": ("preference", "")}
"""Claude Code's types as (type, layer) in memrepo. An empty layer is the default of the type."""
_INDEXED = regex(r"\[[^\[\]\n]{1,300}\]\(([^()\s]{1,300}\.md)\)")


def read_claude_code(files: Files) -> Iterator[Found]:
    """Read memory files, one record each, and the items of the index and of topic files.

    A memory file has name, description and type in its header. `MEMORY.md` is an index: lines that
    link to a memory file are not records, and a line that begins with a link to a missing file of
    the folder is reported. Older folders contain topic files without a header.
    """
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.text("name") or page.text("description"):
            yield _claude_memory(page)
            continue
        for found in _items(page):
            if page.stem != "MEMORY" or not isinstance(found, ImportRecord):
                yield found
                continue
            link = _INDEXED.search(found.text)
            target = _linked(page, link[1]) if link is not None else ""
            is_dead = target not in files
            if link is None or not target or (is_dead and link.start() > 0):
                yield found  # a statement, which may link to a file elsewhere
            elif is_dead:
                line = " ".join(found.text.split())
                message = f"found a link to {link[1]}, which is not there: {line!r}"
                dead = refused(page.path, message, line=found.lines[0])
                fix = "remove the line there, or restore the file"
                yield replace(dead, severity="warning", fix=fix)


def _items(page: Page) -> Iterator[Found]:
    """Yield a record for each list item, table row and paragraph of a file's body.

    Its subject is the item's lead or nearest heading. If no item could be read, the whole body is
    one record.
    """
    found, before = scan(page.path, page.body.encode()), page.lines[0] - 1
    for problem in found.problems:
        if problem.severity == "error":
            message = f"{problem.message.split(';')[0]}: its text is one memory"
            fix = "split it by hand there, and import again"
            problem = replace(problem, severity="warning", message=message, fix=fix)
        yield replace(problem, line=problem.line + before if problem.line else 0)
    if not found.units and found.problems:
        yield ImportRecord(path=page.path, text=page.body, lines=page.lines)
    for unit in found.units:
        about = unit.lead or (unit.headings[-1] if unit.headings else "")
        yield ImportRecord(
            path=page.path,
            text=unit.text,
            lines=(unit.lines[0] + before, unit.lines[1] + before),
            captured=unit.captured,
            captured_from=unit.captured_from,
            fields={"subject": " ".join(about.split())[:2000]},
        )


def _linked(page: Page, target: str) -> str:
    """Return the path of a link's target in the folder, or "" if it is elsewhere."""
    path = normpath(PurePosixPath(page.path).parent / target)
    return "" if "://" in target or path.startswith(("/", "../")) else path


def _claude_memory(page: Page) -> ImportRecord:
    metadata = page.values.get("metadata")
    nested = metadata if isinstance(metadata, dict) else {}
    kind = page.text("type") or str(nested.get("type", ""))
    type_, layer = _KINDS.get(kind, ("fact", ""))
    description = page.text("description")
    return ImportRecord(
        path=page.path,
        text=page.body or description,
        type=type_,
        layer=layer,
        key=page.stem,
        names=page.names(),
        lines=page.lines,
        written=nested.get("modified"),
        fields={
            "title": page.text("name"),
            "description": description,
            "tags": [kind] if kind else [],
        },
        at=page.at,
        links=page.links(),
    )


# -- Obsidian --------------------------------------------------------------------------------------

_KNOWN = {*HOUSEKEEPING, "description", "aliases"}


def read_obsidian(files: Files) -> Iterator[Found]:
    """Read every note of a vault, with tags, and links to other notes."""
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.text("id").startswith("mem-"):
            yield Skipped("own_memories_passed_over", 1)  # `import jsonl` takes them whole
        elif _plain(page.body) and not page.path.endswith("index.md"):
            yield _note(page)


def _plain(body: str) -> str:
    """Return the text of a note without comments, blocks of programs, and marks of Obsidian."""
    text = without_private(body)
    stated = _BLOCK_OR_LINE.sub(_plain_part, text)
    return _BLANKS.sub("\n\n", stated.strip() or text).strip()


def _plain_part(part: re.Match[str]) -> str:
    if part["fence"]:
        return "" if part["program"] else part[0]
    return plain_note(_CALLOUT.sub("", part[0]))


_BLOCK_OR_LINE = regex(
    r"(?ms)^[ \t]*(?P<fence>`{3,}(?!`)|~{3,}(?!~))[ \t]*"
    r"(?P<program>(?:dataview|dataviewjs|tasks|query|mermaid|button)(?![\w-]))?[^`\n]*$"
    r".*?^[ \t]*(?P=fence)[`~]*[ \t]*$|^[^\n]*$"
)
"""A block of code, which may be one that a program runs or draws, or a line outside of blocks."""
_CALLOUT = regex(r"(?<=>)[ \t]*\[!\w+\][-+]?")
_BLANKS = regex(r"\n\s*\n")


def _note(page: Page) -> ImportRecord:
    tags = (*page.texts("tags"), *page.texts("tag"), *page.hashtags())
    type_ = page.text("type") if page.text("type") in CLAIM_TYPES else "fact"
    written = next((key for key in DATE_KEYS if page.values.get(key)), "")
    return ImportRecord(
        path=page.path,
        text="\n\n".join(filter(None, (page.properties(_KNOWN), _plain(page.body)))),
        body=page.body,
        type="note" if is_date_heading(page.stem) else type_,
        key=page.path.removesuffix(".md"),
        names=(*page.names(), *page.texts("aliases")),
        lines=page.lines,
        captured=page.day,
        captured_from="file",
        written=page.values.get(written),
        fields={
            "title": page.text("title") or page.stem,
            "description": page.text("description"),
            "tags": list(dict.fromkeys(tag.lstrip("#") for tag in tags)),
            "aliases": page.texts("aliases"),
        },
        at={**page.at, "written": page.at.get(written, page.lines[0])},
        links=page.links(),
    )
