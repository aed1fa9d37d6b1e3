"""Rows of memories and passages in the search index, and how they follow commits and edits.

The index stores its commit and the uncommitted edits it contains. It is updated with the
differences between two commits. If these cannot be computed, the whole tree is compared.

Passages are the paragraphs of sources, with their headings. They follow if a search needs them.
All sources are read again if the rules, or the rejected and corrected statements, have changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from memrepo.core import codec
from memrepo.core.access import seconds
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.times import parse_time
from memrepo.policies.questions import cues_of, role_of
from memrepo.store.database import get_meta, set_meta
from memrepo.store.tree import Snapshot
from memrepo.text.sentences import ChunkRules, chunks
from memrepo.text.words import date_words, index_terms, words

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.merge.tombstones import Tombstones
    from memrepo.read.intake import Reader, SourceText
    from memrepo.read.sources import SourceRules
    from memrepo.read.thoughts import Unit

Row = tuple[str | int | float | None, ...]
BATCH = 1000
"""Maximum number of rows computed before they are written."""
FORGOTTEN = "forgotten"
"""Status of a row whose text a person rejected, whatever the status in its file."""


class Indexed(msgspec.Struct, frozen=True, kw_only=True):
    """The content that a search index must reflect: a commit and uncommitted edits.

    `edits` contains contents by path, None for a deleted file, and `blob_id` computes their blob
    ids. A long text has one row per chunk, split by `chunking`. `importance` scores a memory, and
    `words` identifies its settings. `tick` is called for each memory that is read. `sources`
    selects the sources to index as passages, and None indexes no passages.
    """

    tree: Snapshot
    chunking: ChunkRules = msgspec.field(default_factory=ChunkRules)
    importance: Callable[[Memory], float | None] = lambda _: None
    words: str = ""
    edits: Mapping[str, bytes | None] = msgspec.field(default_factory=dict)
    blob_id: Callable[[bytes], str] = lambda _: ""
    tick: Callable[[str], None] = lambda _: None
    sources: SourceRules | None = None

    @property
    def edited(self) -> dict[str, str]:
        """Return {path: blob} of the edited files. For a deleted file, the blob is empty."""
        return {p: "" if data is None else self.blob_id(data) for p, data in self.edits.items()}

    @property
    def rules(self) -> str:
        """Return the settings that index rows depend on, in addition to the content of files."""
        return f"{self.chunking!r} {self.words}"

    def read(self, path: str, blob: str) -> bytes:
        """Return the bytes of an indexed file, including its uncommitted edits."""
        data = self.edits.get(path)
        return self.tree.files.of(path, blob) if data is None else data

    def memories(self, files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Memory]]:
        """Yield (blob, memory) pairs of files to index. Omit unreadable files and chunk files."""
        edits = {path: data for path, data in self.edits.items() if data is not None}
        known = {p: m for p, blob in files if (m := self.tree.decoded_memory(p, blob)) is not None}
        committed = self.tree.files.each(
            [one for one in files if one[0] not in edits and one[0] not in known]
        )
        for path, blob in files:
            memory = known.get(path)
            if memory is None:
                data = edits[path] if path in edits else next(committed)
                memory, _ = codec.decode(path, data)
            # A chunk is found through its parent memory, which has a row for each chunk.
            if memory is not None and memory.id and memory.type != "chunk":
                yield blob, memory


def follow_memories(base: sqlite3.Connection, wanted: Indexed) -> None:
    """Update the rows of memories to the wanted content. `clear` has deleted unusable rows."""
    edited, tree = wanted.edited, wanted.tree
    known = get_meta(base, "commit")
    changed = tree.files.changed_since(known) if known else None
    stones = _stones(base, tree, changed)
    rejections = RejectionCheck(wanted, stones)
    has_new_stones = json.dumps(stones) != (get_meta(base, "stones") or "{}")
    # Read everything stored in the same file before the first row is written. Once SQLite spills
    # its pages to disk, other connections must wait for this one.
    cached: Mapping[str, Memory] = {}
    if has_new_stones and known and tree.trees:
        rows = base.execute("SELECT blob, path FROM memory WHERE part = 0")
        cached = tree.trees.cache.read(dict(rows))
    files = _changes(base, tree, edited, changed)
    if known:
        _delete(base, files)
    _insert(base, rejections, [(path, blob) for path, blob in files.items() if blob])
    if has_new_stones and known:
        _update_status(base, rejections, cached)
    sizes = base.execute("SELECT count(*), coalesce(sum(length), 0) FROM memory")
    size, length = sizes.fetchone()
    set_meta(
        base,
        {
            "stones": json.dumps(stones),
            "commit": tree.commit,
            "edits": json.dumps(edited, sort_keys=True),
            "rules": wanted.rules,
            "size": str(size),
            "length": str(length),
        },
    )


def clear(base: sqlite3.Connection) -> None:
    """Delete all rows of the search index. Cached memories remain."""
    base.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for table in ("memory", "vocabulary", "wordforms", "evidence", "passage", "place", "language"):
        base.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    base.execute("DELETE FROM meta WHERE key != 'version'")


def _stones(
    base: sqlite3.Connection, tree: Snapshot, changed: Mapping[str, str] | None
) -> dict[str, str]:
    area = tree.layout.area("tombstones")
    if changed is None:
        return dict(tree.files.below(area))
    found: dict[str, str] = json.loads(get_meta(base, "stones") or "{}")
    found |= {path: blob for path, blob in changed.items() if path.startswith(area)}
    return {path: found[path] for path in sorted(found) if found[path]}


class RejectionCheck:
    """Which memories a person rejected, by the tombstones {path: blob} of the indexed tree.

    The status in a memory's file is ignored for these. Tombstones are read when first needed.
    """

    def __init__(self, wanted: Indexed, stones: Mapping[str, str]) -> None:
        self.wanted, self._stones = wanted, stones
        self._read: Tombstones | None = None

    def status(self, memory: Memory) -> str:
        """Return a memory's status for recall: `forgotten` if rejected, else as in its file."""
        if not self._stones:
            return memory.status
        if self._read is None:
            from memrepo.merge.tombstones import read_tombstones

            tree = self.wanted.tree
            found = zip(self._stones, tree.files.each([*self._stones.items()]), strict=True)
            self._read = read_tombstones(dict(found), tree.layout)
        return FORGOTTEN if self._read.bar(memory) is not None else memory.status


def _update_status(
    base: sqlite3.Connection, rejections: RejectionCheck, cached: Mapping[str, Memory]
) -> None:
    """Set the status of every row again. Files of `cached` memories (by blob) are not read."""
    rows = dict(base.execute("SELECT path, blob FROM memory WHERE part = 0").fetchall())
    memories = [m for path, b in rows.items() if (m := cached.get(b)) and m.path == path]
    paths = {memory.path for memory in memories}
    others = [item for item in rows.items() if item[0] not in paths]
    memories += [memory for _, memory in rejections.wanted.memories(others)]
    base.executemany(
        "UPDATE memory SET status = ?1 WHERE path = ?2 AND status != ?1",
        [(rejections.status(memory), memory.path) for memory in memories],
    )


def _changes(
    base: sqlite3.Connection,
    tree: Snapshot,
    edited: Mapping[str, str],
    changed: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return {path: blob} of the memory files to index again. An empty blob means removal.

    `changed` contains the differences from the indexed commit, or None if they are unknown.
    """
    if changed is None:
        indexed = dict(base.execute("SELECT path, blob FROM memory"))
        found = {**dict.fromkeys(indexed, ""), **tree.blobs, **edited}
    else:
        undone = json.loads(get_meta(base, "edits") or "{}").keys() - edited.keys()
        found = {**{path: tree.blobs.get(path, "") for path in sorted(undone)}, **changed, **edited}
        indexed = {path: _blob(base, path) for path in found}
    is_memory = tree.layout.is_memory
    return {p: b for p, b in found.items() if is_memory(p) and indexed.get(p, "") != b}


def _blob(base: sqlite3.Connection, path: str) -> str:
    row = base.execute("SELECT blob FROM memory WHERE path = ?", (path,)).fetchone()
    return str(row[0]) if row else ""


def _delete(base: sqlite3.Connection, paths: Iterable[str]) -> None:
    terms: list[str] = []
    for path in paths:
        rows = base.execute("SELECT number, terms FROM memory WHERE path = ?", (path,)).fetchall()
        terms += [row[1] for row in rows]
        base.executemany("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)", rows)
        base.execute("DELETE FROM memory WHERE path = ?", (path,))
        base.execute("DELETE FROM evidence WHERE path = ?", (path,))
    if terms:
        _count_terms(base, terms, -1)
        base.execute("DELETE FROM vocabulary WHERE doc <= 0")


def _count_terms(base: sqlite3.Connection, texts: Iterable[str], sign: int) -> None:
    """Add `sign` to a term's row count for each row that contains it. FTS5 would scan all rows."""
    held = Counter(term for terms in texts for term in set(terms.split()))
    base.executemany(
        "INSERT INTO vocabulary VALUES (?, ?)"
        " ON CONFLICT (term) DO UPDATE SET doc = doc + excluded.doc",
        [(term, sign * held[term]) for term in sorted(held)],
    )


def _insert(
    base: sqlite3.Connection, rejections: RejectionCheck, files: Sequence[tuple[str, str]]
) -> None:
    found = _rows_of(rejections, files)
    while rows := list(islice(found, BATCH)):
        last = base.execute("SELECT coalesce(max(number), 0) FROM memory").fetchone()
        marks = ", ?" * (len(rows[0]) - 2)
        base.executemany(f"INSERT INTO memory VALUES (NULL{marks})", [r[:-2] for r in rows])  # noqa: S608
        note_languages(base, (str(row[-2]) for row in rows))
        evidence = [(hash_, row[0]) for row in rows for hash_ in str(row[-1]).split()]
        base.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?)", evidence)
        base.execute(
            "INSERT INTO words (rowid, terms) SELECT number, terms FROM memory WHERE number > ?",
            last,
        )
        _count_terms(base, (str(row[-3]) for row in rows), 1)


def _rows_of(rejections: RejectionCheck, files: Sequence[tuple[str, str]]) -> Iterator[Row]:
    wanted = rejections.wanted
    for blob, memory in wanted.memories(files):
        wanted.tick("memories indexed")
        yield from _rows(memory, blob, wanted, rejections.status(memory))


def _rows(memory: Memory, blob: str, wanted: Indexed, status: str) -> Iterator[Row]:
    """Yield the table rows of a memory: a single row, or one for each chunk of a long text."""
    day, source = memory.captured[:10], memory.sources[0] if memory.sources else None
    stored = memory.fields.get("importance")
    importance = stored.score if stored else wanted.importance(memory)
    thread, place = (f"{source.resource} {day}", source.lines[0]) if source else ("", 0)
    head, tail = _around(memory)
    role = role_of(_folded(memory.text("subject")), memory.body)
    evidence = " ".join(s.text_hash for s in memory.sources)
    about = (
        memory.text("scope"),
        "".join(f"\n{tag}\n" for tag in memory.texts("tags")),
        " ".join(memory.texts("superseded_by")),
        last_confirmed(memory),
        *(importance, thread, place, _folded(memory.text("subject")), day),
    )
    for part, text in enumerate(texts(memory, wanted.chunking)):
        terms, language = index_terms(f"{head} {text} {tail}")
        ids = (memory.path, part, blob, memory.id, memory.type, status, memory.standing)
        found = (len(terms), cues_of(text) + role, " ".join(terms), language, evidence)
        yield *ids, *about, *found


def note_languages(base: sqlite3.Connection, found: Iterable[str]) -> None:
    """Record the languages of indexed texts, by which questions are then stemmed too."""
    names = [(name,) for name in sorted({*found})]
    base.executemany("INSERT OR IGNORE INTO language VALUES (?)", names)


def last_confirmed(memory: Memory) -> int:
    """Return when a memory was last confirmed, in seconds since the epoch, or 0 if unknown."""
    times = [stamp.at for stamp in memory.fields.get("verified", ()) if stamp.at]
    for source in memory.sources:
        with suppress(ValueError):  # undated, or not a valid date
            times.append(parse_time(source.captured))
    newest = max(times, default=memory.time("created"))
    return max(1, seconds(newest)) if newest else 0


def _around(memory: Memory) -> tuple[str, str]:
    """Return the searchable text before and after a memory's body."""
    title = memory.text("title")
    about = each_word_once(memory.text("context") or memory.text("subject"))
    head = (title, title, about, *memory.texts("tags"))  # a title counts twice
    return " ".join(head), date_words(memory.captured)


_WORD = regex(r"[^\W_]+")


def each_word_once(context: str) -> str:
    """Return the words of a context without repeats: a file is often named like its heading."""
    return " ".join({word.casefold(): word for word in _WORD.findall(context)}.values())


@lru_cache(maxsize=1024)
def _folded(subject: str) -> str:
    return " ".join(words(subject))


def texts(memory: Memory, chunking: ChunkRules) -> list[str]:
    """Return the text of each row of a memory: its chunks, or its whole body if it is not split."""
    return [chunk.text for chunk in chunks(memory.body, chunking)] or [memory.body]


# -- passages --------------------------------------------------------------------------------

FOLLOWS, REJECTED = "passages", "rejected"
"""Meta keys: the state that passages reflect, and a hash of the statements they must not show."""
FILES_AT_ONCE = 200
MAX_COMPARED = 200
"""Maximum number of changed memories compared. If more changed, all memories are read."""


class PassageChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The updates that bring an index's passages up to date.

    `files` contains {path: blob} of the sources to read, with an empty blob for a deleted source.
    `whole` means that `files` contains all sources. `state` contains the rejected and corrected
    statements, or is None if there are none.
    """

    rules: SourceRules
    follows: str
    rejected: str
    files: Mapping[str, str]
    whole: bool
    state: State | None = None


def state_of(wanted: Indexed) -> str:
    """Return an identifier of what passages depend on: the commit and the source rules."""
    return f"{wanted.tree.commit} {_digest(repr(wanted.sources))}"


def _digest(*parts: str | bytes) -> str:
    found = sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()[:16]


def passage_changes(
    wanted: Indexed, rules: SourceRules, known: str, rejected: str
) -> PassageChanges | None:
    """Return the updates for passages computed at state `was`, or None if they are current.

    `rejected` is the hash of the statements excluded so far. Both are empty without passages.
    """
    now, tree = state_of(wanted), wanted.tree
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
    return PassageChanges(
        rules=rules, follows=now, rejected=rejected, files=files, whole=differ is None, state=state
    )


def _may_reject(tree: Snapshot, differ: Mapping[str, tuple[str, str]]) -> bool:
    """Return whether file differences may change which statements are rejected or corrected."""
    areas = tuple(map(tree.layout.area, ("tombstones", "corrections")))
    if any(path.startswith(areas) for path in differ):
        return True
    changed = {p: blobs for p, blobs in differ.items() if tree.layout.is_memory(p)}
    if len(changed) > MAX_COMPARED:
        return True
    versions = [(path, blob) for path, both in changed.items() for blob in both if blob]
    found = tree.files.many(blob for _, blob in versions)
    return any(_has_corrected(path, found[blob]) for path, blob in versions)


def _has_corrected(path: str, data: bytes | None) -> bool:
    """Return whether a memory version corrects another memory or was corrected itself."""
    memory, _ = codec.decode(path, data or b"")
    corrected = ("supersedes", "superseded_by", "former")
    return memory is None or memory.status != "active" or any(map(memory.texts, corrected))


def _rejected_hash(state: State) -> str:
    """Compute a hash of the rejected and corrected statements. Return "" if there are none."""
    from memrepo.merge.tombstones import corrected_in, tombstones_in

    stones, corrected = tombstones_in(state), corrected_in(state)
    if not (stones or corrected):
        return ""
    return _digest(repr([*stones.found.values()]), repr(sorted(stones.keys)), corrected.spelled)


def follow_passages(base: sqlite3.Connection, wanted: Indexed, found: PassageChanges) -> None:
    """Apply the updates to the passages in an open index."""
    if found.whole:
        base.execute("DELETE FROM passage")
        base.execute("DELETE FROM place")
    elif found.files:
        paths = msgspec.json.encode([*found.files]).decode()
        old = "FROM passage WHERE path IN (SELECT value FROM json_each(?))"
        base.execute(f"DELETE FROM place WHERE number IN (SELECT rowid {old})", (paths,))  # noqa: S608
        base.execute(f"DELETE {old}", (paths,))
    if any(found.files.values()):
        for row, language in _passage_rows(wanted, found):
            number = base.execute("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?)", row).lastrowid
            hashes = {str(unit[0]) for unit in json.loads(row[-1])}
            places = [(hash_, number) for hash_ in sorted(hashes)]
            base.executemany("INSERT OR IGNORE INTO place VALUES (?, ?)", places)
            note_languages(base, [language])
    set_meta(base, {FOLLOWS: found.follows, REJECTED: found.rejected})


_PassageRow = tuple[str, str, str, str, str, str]
MAX_PARAGRAPH = 600
"""Maximum length of a paragraph in characters, unless it is a single statement."""


def _passage_rows(wanted: Indexed, found: PassageChanges) -> Iterator[tuple[_PassageRow, str]]:
    """Yield the row and the language of each paragraph.

    Daily logs have none, because their entries are notes.
    """
    from memrepo.read.intake import Reader, SourceText
    from memrepo.read.sources import kind_of

    names = {path: wanted.tree.layout.source_name(path) for path, b in found.files.items() if b}
    texts = (
        SourceText(name=name, resource=path, blob=found.files[path], kind="claims", committed="")
        for path, name in names.items()
        if kind_of(name, found.rules) == "claims"
    )
    while some := list(islice(texts, FILES_AT_ONCE)):
        data = wanted.tree.files.many(text.blob for text in some)
        reader = Reader(some, partial(_bytes, data), found.state, whole=True)
        for text in some:
            wanted.tick("sources indexed")
            units = (
                unit
                for unit in reader.claims(text.name, text.blob).units
                if found.state is None or _may_show(found.state, reader, text, unit)
            )
            for paragraph in _paragraphs(units):
                yield _passage_row(text, paragraph)
        reader.forget()


def _paragraphs(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Yield the statements of each paragraph: adjacent lines under the same headings and day."""
    some: list[Unit] = []
    for unit in units:
        if some:
            last, length = some[-1], sum(len(one.text) for one in some) + len(unit.text)
            same = (unit.headings, unit.captured) == (last.headings, last.captured)
            if not same or unit.lines[0] > last.lines[1] + 1 or length > MAX_PARAGRAPH:
                yield some
                some = []
        some.append(unit)
    if some:
        yield some


def _passage_row(text: SourceText, units: Sequence[Unit]) -> tuple[_PassageRow, str]:
    from memrepo.read.thoughts import spelled_context

    first = units[0]
    name = text.name.rpartition("/")[2].removesuffix(".md")
    lead = first.lead if all(unit.lead == first.lead for unit in units) else ""
    context = spelled_context((first.about, name, *first.headings, lead))
    body = "\n".join(unit.text for unit in units)
    about = each_word_once(context)
    terms, language = index_terms(f"{about} {body} {date_words(first.captured)}")
    rows = [(unit.text_hash, unit.text, *unit.lines) for unit in units]
    stored = msgspec.json.encode(rows).decode()
    return (" ".join(terms), text.resource, text.blob, context, first.captured, stored), language


def _bytes(data: Mapping[str, bytes | None], blob: str) -> bytes:
    return data[blob] or b""  # a partial clone lacks some blobs


def _may_show(state: State, reader: Reader, text: SourceText, unit: Unit) -> bool:
    """Return whether a source's remaining text is unlike all rejected and corrected statements.

    The reader has removed such statements, except where nothing else would remain.
    """
    from memrepo.core.memory import Memory, Source
    from memrepo.merge.tombstones import corrected_in, tombstones_in
    from memrepo.read.thoughts import spelled_context

    shortened = (unit.resource, unit.text_hash) in reader.left_out
    name = text.name.rpartition("/")[2].removesuffix(".md")
    context = spelled_context((unit.about, name, *unit.headings, unit.lead))
    source = Source(resource=text.resource, text_hash="" if shortened else unit.text_hash)
    fields = {"type": "fact", "context": context, "sources": (source,)}
    draft = Memory.of(text.resource, fields, body=unit.text)
    stones, corrected = tombstones_in(state), corrected_in(state)
    if stones and (stones.bar(draft) or stones.near(draft)):
        return False
    stone = corrected.bar(draft) if corrected else None
    return stone is None or not corrected.binds(stone, text.resource, unit.captured, whole=True)
