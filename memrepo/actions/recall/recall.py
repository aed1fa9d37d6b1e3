"""Search results with facts from the ledger: tier, expiry and confidence at a given time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.access import Access, Accesses
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import STATUSES, Gist, Memory, Source
from memrepo.core.messages import cut
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.times import asked as moment_asked
from memrepo.core.times import format_time, local_day
from memrepo.policies.ageing import CONFIDENCE, effective, is_over, is_stale, retention_of
from memrepo.policies.change import read
from memrepo.policies.later import Text, Topic, later_line, newer_first
from memrepo.policies.questions import KINDS
from memrepo.policies.ranking import Block, Found, Held, Moment, sureness, with_replaced
from memrepo.policies.rules import Rules, Weights
from memrepo.policies.standing import contesting, doubts, is_retired, true_at
from memrepo.store import history, vectors
from memrepo.store.blocks import Indexed
from memrepo.store.database import NAME
from memrepo.store.index import PAST, Filter, Index, SearchResult, no_model
from memrepo.store.ledger import ledger_of
from memrepo.text.paragraphs import Paragraph, paragraphs
from memrepo.text.words import asked_terms, terms

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.store.vectors import Embedder
    from memrepo.text.languages import WordPattern


class NotYetSetUp(MemrepoError):
    """Raised when a commit is older than the setup of memrepo in this repository."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, commit: str) -> None:
        super().__init__(
            f"{word}: commit {commit[:10]} has no memrepo.toml, there was no memory yet",
            fix="name a later commit or date (`memrepo log` lists commits)",
        )


class NotADate(MemrepoError):
    """Raised when the value of `--valid-at` is not a date."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(
            f"--valid-at {word!r} is not a date",
            fix="write a date as 2026-01-31 or a time as 2026-01-31T09:00:00Z",
        )


def work_at(work: Work, word: str) -> Work:
    """Return a Work on the commit that `REV|DATE` names, with that commit's configuration.

    An empty word returns `work`. A run's id means the merge commit of the run. If the old
    configuration cannot be read, the current one is used. Raises NoSuchMoment, BeforeHistory or
    NotYetSetUp.
    """
    if not word:
        return work
    from memrepo.actions.past.log import merges_of
    from memrepo.config import ConfigError, parse_config
    from memrepo.store.history import commit_at
    from memrepo.store.repo import find_layout

    store = work.store
    merge = merges_of(work, [word]).get(word)
    commit = merge.commit if merge else ""
    commit = commit or commit_at(store, work.tree.commit, word, work.config.zone)
    layout = find_layout(store.repo, commit)
    if layout is None:
        raise NotYetSetUp(word, commit)
    tree = store.snapshot(commit, layout)
    try:
        config = parse_config(tree.files[layout.config].decode("utf-8"))
    except (ConfigError, KeyError, UnicodeDecodeError):
        config = work.config
    return work.at(tree, config)


def moment_of(work: Work, word: str) -> datetime:
    """Return the time that `--valid-at` specifies. Raises NotADate."""
    try:
        return moment_asked(word, work.config.zone)
    except ValueError as error:
        raise NotADate(word) from error


def true_then(work: Work, state: State, word: str) -> Mapping[str, Memory]:
    """Return the memories that were true in the world at a date, by id, whatever their status."""
    return true_at(state.memories, moment_of(work, word), work.config.zone)


def heading(work: Work, word: str, valid_at: str = "") -> list[str]:
    """Return the lines that state to which date an answer refers; none for the present."""
    lines = []
    if word:
        when = work.store.commit_time(work.tree.commit).astimezone(work.config.zone)
        lines.append(f"as of commit {work.tree.commit[:10]}, {when:%Y-%m-%d %H:%M}")
    if valid_at:
        lines.append(f"what was true at {valid_at}")
    return lines


EXPIRED = "expired"
"""The `--status` value for active memories past their expiry, pruned or not."""
RECALL_STATUSES = (*STATUSES, EXPIRED)


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a memory that are not in its file. They are empty for a query about the past."""


class Facts(Derived, frozen=True, kw_only=True):
    """Facts about a memory at a given time, from the ledger and the rules."""

    retrievals: int
    last: str
    """Time of the last retrieval; empty if never retrieved."""


class NoteFacts(Facts, frozen=True, kw_only=True):
    """Facts about a note: its tier, and the confidence of an answer taken from it."""

    tier: str
    answer_confidence: str


class ClaimFacts(Facts, frozen=True, kw_only=True, rename={"cls": "class"}):
    """Facts about a memory that is not a note: its decay class, confidence and expiry."""

    cls: str
    confidence: float
    expires: str
    """Time of expiry; empty if it does not leave recall by age."""
    expired: bool
    stale: bool
    stale_from: str
    """Time from which a lasting memory is stale, by its class; empty for other memories."""


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """A newer statement about the same: the memory's id or the source, the text and the day."""

    place: str
    text: str
    captured: str


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as recall returns it at a given time."""

    memory: Memory
    access: Access
    tier: str
    over: bool
    score: float = 0.0
    parts: Mapping[str, float] = msgspec.field(default_factory=dict)
    """The contribution of each signal to the score."""
    edited: bool = False
    """Whether its file has uncommitted changes."""
    held: Held = msgspec.field(default_factory=Held)
    """What it contains of the query."""
    nearby: str = ""
    """The statements next to it in its source."""
    later: Later | None = None
    """The latest statement about the same that is newer."""
    stale_since: datetime | None = None
    """When its class expired, if it remains in recall anyway."""
    doubts: tuple[str, ...] = ()
    """Reasons to doubt it, as text."""
    part: Paragraph | None = None
    """The part of a long text that answers the query; None for the whole text."""

    @property
    def is_part(self) -> bool:
        """Return whether only a part of the text is shown."""
        return self.part is not None and self.text == self.part.text

    def lines_of(self, source: Source) -> tuple[int, int]:
        """Return the lines of a source that contain the shown text."""
        first, last = source.lines
        body = self.memory.body
        whole = first and last - first == body.strip("\n").count("\n")
        if self.part is None or not self.is_part or not whole:
            return source.lines
        begin, end = self.part.lines
        before = first - 1 - (len(body) - len(body.lstrip("\n")))
        return before + begin, before + end

    @property
    def text(self) -> str:
        """Return the text to show. For a note at gist tier, show its title, tags and summary."""
        if not self.memory.is_note or self.tier not in ("gist", "forgotten"):
            return self.part.text if self.part else self.memory.body
        if self.tier == "forgotten" and "gist" not in self.memory.fields:
            return self.memory.body
        gist: Gist | None = self.memory.fields.get("gist")
        if gist is None:
            from memrepo.policies.gists import gist_of

            gist = gist_of(self.memory)
        tags = f"tags: {', '.join(gist.tags)}" if gist.tags else ""
        return "\n".join(filter(None, (gist.title, tags, gist.summary)))

    @property
    def answer_confidence(self) -> str:
        """Return the confidence of an answer taken from this memory."""
        tier = CONFIDENCE[self.tier] if self.tier else "high"
        doubtful = "medium" if self.doubts else "high"
        return sureness(self.held, tier, "low" if is_retired(self.memory) else doubtful)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: memories and source passages, best first."""

    hits: list[Recalled]
    passages: list[tuple[int, Found]]
    """Each passage, with the number of hits ranked before it."""
    languages: list[str]
    """The languages of the indexed texts."""

    @property
    def answers(self) -> bool:
        """Return whether any hit or passage answers the query."""
        held = (*(one.held for one in self.hits), *(one.held for _, one in self.passages))
        return any(one.answers for one in held)


def recalled(
    memory: Memory, accesses: Accesses, now: datetime, rules: Rules, score: float = 0.0
) -> Recalled:
    """Return a memory in the form that recall returns at `now`."""
    access = accesses.of(memory.id)
    if memory.is_note:
        tier = effective(memory, access, now, rules.tiers)
        return Recalled(memory=memory, access=access, tier=tier, over=False, score=score)
    kept = retention_of(memory, access, now, rules.decay)
    active = memory.status == "active"
    return Recalled(
        memory=memory,
        access=access,
        tier="",
        over=active and is_over(memory, kept),
        score=score,
        stale_since=kept.expires if active and is_stale(memory, kept) else None,
    )


def in_words(
    one: Recalled, find: Callable[[str], Memory | None], is_there: Callable[[str], object]
) -> Recalled:
    """Return a search result together with the reasons to doubt it."""
    reasons = doubts(one.memory, find, one.stale_since, is_there)
    return replace(one, doubts=reasons) if reasons else one


def facts(
    memory: Memory, accesses: Accesses, now: datetime, rules: Rules
) -> NoteFacts | ClaimFacts:
    """Return the derived facts of a memory at a given time."""
    access = accesses.of(memory.id)
    last = format_time(access.last) if access.last else ""
    if memory.is_note:
        tier = effective(memory, access, now, rules.tiers)
        return NoteFacts(
            retrievals=access.total, last=last, tier=tier, answer_confidence=CONFIDENCE[tier]
        )
    kept = retention_of(memory, access, now, rules.decay)
    return ClaimFacts(
        retrievals=access.total,
        last=last,
        cls=kept.cls,
        confidence=round(kept.confidence, 4),
        expires=format_time(kept.expires) if kept.expires and not kept.lasts else "",
        expired=is_over(memory, kept),
        stale=is_stale(memory, kept),
        stale_from=format_time(kept.expires) if kept.expires and kept.lasts else "",
    )


def index_of(
    work: Work,
    *,
    past: bool = False,
    edits: bool = True,
    passages: bool = False,
    tick: Callable[[str], None] = lambda _: None,
) -> Index:
    """Return the search index of a commit, with uncommitted edits unless `past` is true."""
    store, config, tree = work.store, work.config, work.tree
    lexicon = cache(lambda: config.lexicon)  # built only if a memory is indexed

    def importance(memory: Memory) -> float:
        from memrepo.policies.importance import score_of

        return score_of(memory, lexicon())

    def changed(paths: Collection[str]) -> Mapping[str, str]:
        """Return the days of the last changes, except those of the day of the import."""
        times = history.last_changed(store.repo, tree.commit, paths)
        days = {path: local_day(when, config.zone) for path, when in times.items()}
        first = history.first_commit(store.repo, tree.commit, tree.layout.config) if days else ""
        born = history.entries(store.repo, "-1", first) if first else ()
        begun = {local_day(entry.when, config.zone) for entry in born}
        return {path: day for path, day in days.items() if day not in begun}

    wanted = Indexed(
        tree=tree,
        rules=repr(config.importance),
        importance=importance,
        blob_id=store.work.blob_id,
        tick=tick,
        edits=store.work.edits(tree.layout.area("memories")) if edits and not past else {},
        sources=config.source_rules if passages else None,
        source_settings=repr((config.sources, config.profile)),
        changed=changed,
    )
    return Index(
        folder=store.folder,
        wanted=wanted,
        name=PAST if past else NAME,
        model=_model if vectors.can_run() else no_model,
        scope=work.call.scope,
    )


def embed(work: Work) -> None:
    """Compute missing vectors of committed memories, if a model is installed."""
    if work.config.recall.meaning and vectors.can_run():
        index_of(work, edits=False, tick=work.call.tick).embed()


def by_words_alone(work: Work) -> bool:
    """Return whether search by meaning is configured but its model is not installed."""
    return bool(work.config.recall.meaning) and not vectors.is_installed()


@cache
def _model() -> Embedder | None:
    """Return the packaged model, loading it only once, or None if it cannot be used."""
    try:
        return vectors.load() if vectors.is_installed() else None
    except vectors.NoModelError:
        return None  # search by words still works, and `doctor` reports the problem


def recall(
    work: Work,
    index: Index,
    words: Sequence[str],
    only: Filter,
    now: datetime,
    weights: Weights | None = None,
    also: Sequence[str] = (),
) -> Answer:
    """Return the memories that best match some words, retired ones last.

    `also` has other phrasings of the query.

    The status `expired` selects active memories past their expiry, which are left out otherwise.
    For a past commit, expiry is judged at the time of that commit, without later retrievals.
    Scoring by age uses `now`.
    """
    return index.together(lambda: _recall(work, index, words, only, now, weights, also))


def _recall(
    work: Work,
    index: Index,
    words: Sequence[str],
    only: Filter,
    now: datetime,
    weights: Weights | None,
    also: Sequence[str],
) -> Answer:
    accesses, rules, then = Accesses(), work.config.rules, now
    if index.name == PAST:
        then = work.store.commit_time(work.tree.commit)
    else:
        accesses = ledger_of(work.store).accesses()
    local, used = now.astimezone(work.config.zone), weights or work.config.weights
    moment = Moment(now=local, retrievals=lambda id_: accesses.of(id_).total)
    wanted = frozenset(only.statuses)
    stored = tuple(sorted({"active" if s == EXPIRED else s for s in wanted}))
    limit = only.limit
    while True:
        asked = replace(only, statuses=stored, limit=limit)
        answer = index.search(words, asked, used, moment, also=also)
        matches = answer.matches
        every = [match.block for match in matches]
        committed = {d.blob: d.path for d in every if d.path not in index.wanted.edits}
        known = work.store.cache.read(committed)
        found = [
            replace(
                recalled(_memory(index, match.block, known), accesses, then, rules, match.score),
                parts=match.parts,
                held=match.held,
                nearby=match.nearby,
                edited=match.block.path in index.wanted.edits,
            )
            for match in matches
        ]
        kept = [
            one
            for one in found
            if one.memory.status != "active" or (EXPIRED if one.over else "active") in wanted
        ]
        live = [one for one in kept if not is_retired(one.memory)]
        passage_count = len(answer.found) - len(matches)
        if len(live) + passage_count >= only.limit or len(matches) + passage_count < limit:
            break
        limit *= 2  # some were expired or retired: fetch more
    best = _last(kept, lambda one: one.memory.standing in LOWERED)[: only.limit]
    parts = {match.block.id: match.block.part for match in matches}
    best = [replace(one, part=_part(one.memory, parts[one.memory.id])) for one in best]
    if rules.tiers.last:
        best = _last(best, lambda one: one.tier == "forgotten")
    ordered = newer_first(best, [one.memory for one in best], frozenset(terms(" ".join(words))))
    question = " ".join((*words, *also))
    today = local.date().isoformat()
    return _with_later(index, replace(only, limit=1), question, answer, ordered, today)


def _with_later(
    index: Index,
    only: Filter,
    question: str,
    answer: SearchResult,
    ordered: list[Recalled],
    today: str,
) -> Answer:
    """Return hits and passages with what came after them.

    A newer passage comes before the first passage. If the first hit answers nothing and names a
    file, the passage of that file does.
    """
    blocks = {match.block.id: match.block for match in answer.matches}
    newer = NewerTexts(
        index=index,
        only=only,
        question=question,
        people=index.people() if answer.found else frozenset(),
        languages=answer.languages,
        today=today,
    )
    for place, one in enumerate(ordered):
        if place < MAX_COMPARED or one.memory.standing == "stale":
            after = newer.later(blocks[one.memory.id], one.memory)
            ordered[place] = replace(one, later=after[1] if after else None)
    hits = all_with_doubts(index, ordered)
    passages = [
        (sum(bool(other.block.id) for other in answer.found[:place]), one)
        for place, one in enumerate(answer.found)
        if not one.block.id
    ]
    block: Block | None = None
    held = Held(0.0, False, 0)
    if passages and passages[0][0] == 0:
        held = passages[0][1].held
        after = newer.later(passages[0][1].block)
        block = after[0] if after else None
    elif hits and not hits[0].held.answers:
        area = index.wanted.tree.layout.area("sources")
        names = [name.removeprefix("./") for name in _FILE.findall(hits[0].memory.body)]
        asked = {form for term, forms in asked_terms(question) for form in (term, *forms)}
        block = index.best_of([f"{area}{name}" for name in names], asked, only) if names else None
        mine = [one for one in hits if block and one.memory.path in block.members]
        if mine:
            hits = [*mine, *(one for one in hits if one not in mine)]
            block = None
    if block is not None:
        others = [one for one in passages if one[1].block.number != block.number]
        passages = [(0, Found(block=block, held=held)), *others]
    return Answer(hits=hits, passages=passages, languages=answer.languages)


_FILE = regex(r"[^\s\[\](){}<>\"'`|:：，。]+\.md\b")
"""A file that a text names."""
MAX_COMPARED, MAX_LATER = 3, 300
"""The number of hits below which a later statement is shown, and its maximum characters."""
LOWERED = ("retired", "retire_candidate", "stale")
"""Memories with these standings come after all others."""


class NewerTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of an index in which something later about a hit is looked for."""

    index: Index
    only: Filter
    question: str
    people: Collection[str]
    languages: Collection[str]
    today: str

    def later(self, block: Block, memory: Memory | None = None) -> tuple[Block, Later] | None:
        """Return the latest line about the same as a hit, with its block, or None.

        For a hit that is no memory, the line is of a source.
        """
        hit = _text_of(block)
        if memory is not None:
            hit = replace(hit, text=memory.body)
        topic = Topic(
            hit=hit, question=self.question, unnamed=self.people, languages=self.languages
        )
        blocks, weights = self.index.newer(topic, self.only)
        texts = {
            _text_of(one): one
            for one in blocks
            # A later day is a date that its text names, and no day on which it was written.
            if one.day <= self.today and (not one.id or (memory and one.id != memory.id))
        }
        best = later_line(topic, [*texts], weights)
        if best is None:
            return None
        text, line = best
        newer = texts[text]
        number = newer.lines[0] + text.text.splitlines().index(line)
        place = newer.id or f"{newer.path}:{number}"
        shown = cut(without_secrets(line.strip()), MAX_LATER)
        return newer, Later(place=place, text=shown, captured=newer.day)


def later_than(work: Work, index: Index, memory: Memory, now: datetime) -> Later | None:
    """Return the latest line about the same as a memory. Its key is what is asked for."""
    block = index.named({memory.id}).get(memory.id)
    if block is None:
        return None
    newer = NewerTexts(
        index=index,
        only=Filter(limit=1),
        question=memory.body.partition(":")[0] if read(memory.body).key else "",
        people=index.people(),
        languages=index.languages(),
        today=local_day(now, work.config.zone),
    )
    found = newer.later(block, memory)
    return found[1] if found else None


def _text_of(block: Block) -> Text:
    """Return a block as a text to compare. Memories are compared by their source."""
    path = block.thread.rpartition(" ")[0] if block.id else block.path
    return Text(text=block.text, context=block.context, day=block.day, path=path or block.path)


def of_kind(work: Work, index: Index, kind: str, limit: int, now: datetime) -> list[Recalled]:
    """Return the active memories of a kind in `KINDS`, most recently confirmed first."""
    from memrepo.text.languages import patterns

    types, named = KINDS[kind]
    under = patterns().headings[named] if named else None
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules
    found = [
        memory
        for memory in work.tree.state().memories.values()
        if memory.status == "active"
        and (memory.type in types or (under and _is_under(memory, under)))
    ]
    found.sort(key=lambda m: (m.captured, m.id), reverse=True)
    every = (recalled(memory, accesses, now, rules) for memory in found)
    return all_with_doubts(index, [one for one in every if not one.over][:limit])


def _is_under(memory: Memory, heading: WordPattern) -> bool:
    """Return whether a claim is directly under a matching heading of its source."""
    _, above, last = memory.text("context").rpartition(" › ")
    return bool(above) and not memory.is_note and heading.search(last) is not None


def _part(memory: Memory, number: int) -> Paragraph | None:
    """Return a paragraph of a memory's text, or None if the text has only one."""
    found = paragraphs(memory.body)
    return found[number] if len(found) > 1 and number < len(found) else None


def _last(hits: Sequence[Recalled], goes: Callable[[Recalled], bool]) -> list[Recalled]:
    """Return the hits, with selected hits and the memories they superseded moved to the end."""
    successors = {one.memory.id: one.memory.texts("superseded_by") for one in hits}
    last = with_replaced([one.memory.id for one in hits if goes(one)], successors)
    return sorted(hits, key=lambda one: one.memory.id in last)


def all_with_doubts(index: Index, hits: Sequence[Recalled]) -> list[Recalled]:
    """Return the hits, each together with the reasons to doubt it."""
    asked = {target for one in hits for target in contesting(one.memory)}
    others = {id_: _memory(index, match) for id_, match in index.named(asked).items()}
    return [in_words(one, others.get, index.wanted.tree.files.id_of) for one in hits]


def holding(
    work: Work, index: Index, words: Sequence[str], only: Filter, now: datetime
) -> list[Recalled]:
    """Return every memory that contains all the words, in path order."""
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules
    return [
        recalled(_memory(index, match), accesses, now, rules)
        for match in index.holding(words, only)
    ]


def _memory(index: Index, match: Block, known: Mapping[str, Memory] | None = None) -> Memory:
    """Return the memory of a match, with the status that the index records."""
    memory = (known or {}).get(match.blob)
    if memory is None:
        memory, _ = codec.decode(match.path, index.wanted.read(match.path, match.blob))
    if memory is None:
        raise ValueError(f"{match.path}: indexed, but not readable")
    if memory.status != match.status:
        memory = memory.with_fields({"status": match.status})
    return memory
