"""What recall returns: memories and passages of sources, as of a given time."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.manifest import Accesses
from memrepo.core.memory import STATUSES, Memory, Source
from memrepo.core.messages import SUBJECT_LENGTH, cut, words_of
from memrepo.core.secrets import without_secrets
from memrepo.core.times import end_of, format_time, local_day
from memrepo.policies.ageing import CONFIDENCE, effective, is_over, is_stale, retention_of
from memrepo.policies.later import Text, later_line, newer_first, replaces
from memrepo.policies.phrases import has_other_amount
from memrepo.policies.ranking import (
    KINDS,
    Block,
    Corpus,
    Found,
    Held,
    Moment,
    sureness,
)
from memrepo.policies.rules import Rules, Weights
from memrepo.policies.standing import contesting, doubts, is_of_session, is_retired, trust_of
from memrepo.read.kinds import is_of_note
from memrepo.store import blocks
from memrepo.store.blocks import Indexed
from memrepo.store.database import NAME
from memrepo.store.index import PAST, Filter, Index, SearchResult, no_model
from memrepo.store.run_files import Ledger
from memrepo.text.sentences import Paragraph, excerpt, paragraphs
from memrepo.text.words import index_terms, terms

if TYPE_CHECKING:
    from memrepo.store.blocks import Embedder
    from memrepo.text.words import WordPattern

EXPIRED = "expired"
"""The `--status` value for active memories past their expiry, pruned or not."""
RECALL_STATUSES = (*STATUSES, EXPIRED)
EXCERPT = 600
"""Maximum characters shown of a long text."""


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


class SourcePlace(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a memory's evidence: file, one-based lines and day."""

    resource: str
    lines: tuple[int, int]
    captured: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that matches the query, as recall returns it at a given time.

    A higher `score` is better, and `parts` has the contribution of each signal. `text` is the text
    that recall returns, for a note at gist tier its gist or what was asked for. `commit` is the
    searched commit, or empty if the text is not committed yet.
    """

    id: str
    path: str
    type: str
    title: str
    context: str = ""
    """Context of the text in its source: subject, file, headings, lead-in."""
    text: str
    truncated: bool = False
    """Whether `text` is only a part of a long text. `sources` then has the lines of that part."""
    score: float
    parts: Mapping[str, float]
    status: str
    standing: str
    tier: str
    """The tier of a note; empty for other memories."""
    expired: bool
    trust: str
    """One of human-reviewed, machine-confirmed and unverified."""
    stale: bool = False
    """Whether it was not confirmed within the lifetime of its class."""
    doubts: tuple[str, ...] = ()
    """Reasons to doubt it, as text: what contests it and since when, or that it is retired."""
    nearby: str = ""
    """What is next to its statement in the source, if the text leaves room."""
    later: Later | None = None
    """The latest newer statement about the same."""
    answers: bool = True
    """Whether it contains enough of the query, with the rarest of its words."""
    answer_confidence: str
    """Confidence of an answer from it: high, medium, low or very low.

    It is lower if the memory contains little of the query, if there are doubts, and for old notes.
    """
    commit: str
    sources: tuple[SourcePlace, ...]
    """Total number of source places, if `sources` lists only some."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: memories and source passages, best first."""

    hits: list[Hit]
    passages: list[tuple[int, Found, Later | None]]
    """Each passage, with the number of hits ranked before it, and the later line about the same."""
    languages: list[str]
    """The languages of the indexed texts."""
    memories: Mapping[str, Memory]
    """The memories of the hits by id."""

    @property
    def answers(self) -> bool:
        """Return whether any hit or passage answers the query."""
        return any(hit.answers for hit in self.hits) or any(
            p.held.answers for _, p, _ in self.passages
        )


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

    @cache
    def imported() -> str:
        from memrepo.store import history  # needed only if memories or sources changed

        first = history.first_commit(store.repo, tree.commit, tree.layout.config)
        born = history.entries(store.repo, "-1", first) if first else ()
        return next((local_day(entry.when, config.zone) for entry in born), "")

    def changed(paths: Collection[str]) -> Mapping[str, str]:
        """Return the days of the last changes, except those of the day of the import."""
        from memrepo.store import history

        times = history.last_changed(store.repo, tree.commit, paths)
        days = {path: local_day(when, config.zone) for path, when in times.items()}
        return {path: day for path, day in days.items() if day != imported()}

    wanted = Indexed(
        tree=tree,
        rules=config.importance_rule,  # building the lexicon takes time
        importance=importance,
        blob_id=store.work.blob_id,
        tick=tick,
        edits=_readable_edits(work) if edits and not past else {},
        sources=config.source_rules if passages else None,
        source_settings=repr((config.sources, config.profile)),
        changed=changed,
        imported=imported,
    )
    return Index(
        folder=store.folder,
        wanted=wanted,
        name=PAST if past else NAME,
        model=_model if blocks.can_run() else no_model,
        scope=work.call.scope,
    )


def _readable_edits(work: Work) -> dict[str, bytes | None]:
    """Return the uncommitted memories that can be read. Of the others the commit's text counts."""
    edits = work.store.work.edits(work.tree.layout.area("memories"))
    return {p: data for p, data in edits.items() if not data or codec.decode(p, data)[0]}


def embed(work: Work) -> None:
    """Compute missing vectors of committed memories, if a model is installed."""
    if work.config.recall.meaning and blocks.can_run():
        index_of(work, edits=False, tick=work.call.tick).embed()


def by_words_alone(work: Work) -> bool:
    """Return whether search by meaning is configured but its model is not installed."""
    return bool(work.config.recall.meaning) and not blocks.is_installed()


@cache
def _model() -> Embedder | None:
    """Return the packaged model, loading it only once, or None if it cannot be used."""
    try:
        return blocks.load() if blocks.is_installed() else None
    except blocks.NoModelError:
        return None  # search by words still works, and `doctor` reports the problem


class Recall:
    """Recall on one commit: its index, the counted retrievals, and the time by which memories age.

    For a past commit, memories age up to that commit, without later retrievals.
    """

    def __init__(self, work: Work, now: datetime, index: Index) -> None:
        self.work, self.now, self.index = work, now, index
        self._id_of = cache(work.tree.files.id_of)  # hits have sources in common
        is_past = index.name == PAST
        self._then = work.store.commit_time(work.tree.commit) if is_past else now
        self._accesses = Accesses() if is_past else Ledger(work.store).accesses()

    def find(
        self,
        words: Sequence[str],
        only: Filter,
        weights: Weights | None = None,
        also: Sequence[str] = (),
    ) -> Answer:
        """Return the memories that best match some words, retired ones last.

        `also` has other phrasings of the query. The status `expired` selects active memories past
        their expiry, which are left out otherwise. Scoring by age uses the current time.
        """
        return self.index.together(lambda: self._find(words, only, weights, also))

    def _find(
        self,
        words: Sequence[str],
        only: Filter,
        weights: Weights | None,
        also: Sequence[str],
    ) -> Answer:
        config, wanted = self.work.config, frozenset(only.statuses)
        least = limit = max(only.limit, MAX_COMPARED)
        local = self.now.astimezone(config.zone)
        lowered = partial(_is_lowered, asked=frozenset(terms(" ".join(words))))
        moment = Moment(now=local, retrievals=lambda id_: self._accesses.of(id_).total)
        stored = tuple(sorted({"active" if s == EXPIRED else s for s in wanted}))
        while True:
            asked = replace(only, statuses=stored, limit=limit)
            answer = self.index.search(words, asked, weights or config.recall, moment, also=also)
            matches = answer.matches
            memories = self._memories([match.block for match in matches])
            kept = [m for m in memories if m.status != "active" or self._stands_as(m) in wanted]
            count = sum(not lowered(m) for m in kept) + len(answer.found) - len(matches)
            if count >= least or len(answer.found) < limit:
                break
            limit *= 2  # some were expired or retired: fetch more
        claims = [m for m in kept if not (m.is_note or lowered(m))]
        found = {match.block.id: match.block.text for match in answer.matches}
        kept = [m for m in kept if not _is_repeated(m, found[m.id], claims, answer.corpus)]
        best = sorted(kept, key=lowered)[:least]
        if config.rules.tiers.last:
            best = sorted(best, key=lambda memory: self._age(memory)[0] == "forgotten")
        last = {memory.id for memory in best if lowered(memory)}
        return self._with_later(answer, best, last, only.limit)

    def _stands_as(self, memory: Memory) -> str:
        return EXPIRED if self._age(memory)[1] else "active"

    def _with_later(
        self, answer: SearchResult, best: Sequence[Memory], lowered: Collection[str], limit: int
    ) -> Answer:
        """Return the first hits and passages, the first of them with what came after it."""
        memories = {memory.id: memory for memory in best}
        found = {match.block.id: match for match in answer.matches}
        hits = iter(found[memory.id] for memory in best)
        every = [next(hits, None) if one.block.id else one for one in answer.found]
        shown = [one for one in [*every, *hits] if one is not None]

        def is_newer(new: Found, old: Found) -> bool:
            """Return whether the newer of two replaces the older, or is found nearly as well."""
            one, other = memories.get(new.block.id), memories.get(old.block.id)
            if one and other and replaces(one, other):
                return True
            is_as_good = new.score >= AS_GOOD * old.score
            is_as_good &= new.held.answers >= old.held.answers and new.block.id not in lowered
            return is_as_good and new.block.day > old.block.day > ""

        shown = newer_first(shown, is_newer)
        later: dict[int, Later] = {}
        for place, one in enumerate(shown[:limit]):
            memory = memories.get(one.block.id)
            own = memory.sources if memory else ()
            is_undated = all(source.captured_from == "commit" for source in own)
            undated = memory.body if memory and is_undated else ""
            is_asked = place == 0 or (memory and memory.standing == "stale")
            if is_asked or undated:
                others = [other.block for other in shown[:MAX_COMPARED] if other is not one]
                after = self._later(one.block, memory, others, answer.corpus)
                if after and (is_asked or has_other_amount(after.text, undated)):
                    later[one.block.number] = after
        shown = shown[:limit]
        others_of = self._contesting(best)
        placed = []
        for place, one in enumerate(shown):
            if not one.block.id:
                before = sum(bool(other.block.id) for other in shown[:place])
                placed.append((before, one, later.get(one.block.number)))
        hits_found = (
            self.hit(
                *(memories[one.block.id], others_of.get, one),
                *(later.get(one.block.number), answer.corpus),
            )
            for one in shown
            if one.block.id
        )
        return Answer(
            hits=[hit for hit in hits_found if hit.text],
            passages=placed,
            languages=answer.languages,
            memories=memories,
        )

    def of_kind(self, kind: str, limit: int) -> list[Hit]:
        """Return the active memories of a kind in `KINDS`, most recently confirmed first."""
        from memrepo.text.words import patterns

        types, named = KINDS[kind]
        under = patterns().headings[named] if named else None
        found = [
            memory
            for memory in self.work.tree.state().memories.values()
            if memory.status == "active"
            and (memory.type in types or (under and _is_under(memory, under)))
            and not self._age(memory)[1]
        ]
        found.sort(key=lambda m: (m.captured, m.id), reverse=True)
        others = self._contesting(found[:limit])
        return self.index.together(lambda: [self.hit(m, others.get) for m in found[:limit]])

    def successors(self, words: Sequence[str], only: Filter, also: Sequence[str]) -> list[Hit]:
        """Return the memories in effect that replaced those that answer a query, best first."""
        answer = self.find(words, replace(only, statuses=("superseded",)), also=also)
        former = [answer.memories[hit.id] for hit in answer.hits if hit.answers]
        memories = self.work.tree.state().memories if former else {}
        found: dict[str, Memory] = {}
        for one in former:
            passed = {one.id}
            while one.status == "superseded" and (after := {*one.superseded_by} - passed):
                passed |= after
                one = memories.get(min(after), one)
            if one.status == "active" and not self._age(one)[1]:
                found[one.id] = one
        others = self._contesting(found.values())
        return self.index.together(lambda: [self.hit(m, others.get) for m in found.values()])

    def ended(self, words: Sequence[str], only: Filter, also: Sequence[str]) -> list[Hit]:
        """Return the memories that answer a query and were archived after their last day."""
        answer = self.find(words, replace(only, statuses=("archived",)), also=also)
        zone = self.work.config.zone

        def has_ended(memory: Memory) -> bool:
            until, at = memory.valid_until, memory.archived_at
            return bool(until) and at is not None and end_of(until, zone) <= at

        return [h for h in answer.hits if h.answers and has_ended(answer.memories[h.id])]

    def holding(self, words: Sequence[str], only: Filter) -> list[tuple[Memory, str]]:
        """Return every memory that contains all the words, in path order, with its tier."""
        found = self._memories(self.index.holding(words, only))
        return [(memory, self._age(memory)[0]) for memory in found]

    def _age(self, memory: Memory) -> tuple[str, bool, datetime | None]:
        """Return a note's tier, whether a claim has expired, and since when it is stale."""
        access, rules = self._accesses.of(memory.id), self.work.config.rules
        if memory.is_note:
            return effective(memory, access, self._then, rules.tiers), False, None
        if memory.status != "active":
            return "", False, None
        kept = retention_of(memory, access, self._then, rules.decay)
        return "", is_over(memory, kept), kept.expires if is_stale(memory, kept) else None

    def hit(
        self,
        memory: Memory,
        find: Callable[[str], Memory | None],
        found: Found | None = None,
        later: Later | None = None,
        corpus: Corpus | None = None,
    ) -> Hit:
        """Return a memory as a hit for the words of `corpus`. `find` returns other memories by id.

        Secrets are left out, and so is what a person rejected from a note and from sources.
        """
        tier, over, stale_since = self._age(memory)
        part = _part(memory, found.block.part) if found else None
        text = _shown_text(memory, tier, part, corpus)
        is_part = part is not None and text == part.text
        nearby = _first_lines(found.nearby, EXCERPT - len(text)) if found else ""
        tree, held = self.work.tree, found.held if found else Held()
        allowed = partial(tree.stones.without, scope=memory.scope)
        reasons = doubts(memory, find, stale_since, tree.files.id_of)
        trusted = "low" if is_retired(memory) else "medium" if reasons else "high"
        now_at = self.index.lines(memory.path)
        sources = [
            _at(one, now_at.get((one.resource, one.text_hash), ())) for one in memory.sources
        ]
        return Hit(
            id=memory.id,
            path=memory.path,
            type=memory.type,
            title=without_secrets(_title(memory)),
            context=without_secrets(memory.context),
            text=without_secrets(allowed(text) if memory.is_note else text),
            truncated=is_part,
            score=found.score if found else 0.0,
            parts=dict(found.parts) if found else {},
            status=memory.status,
            standing=memory.standing,
            tier=tier,
            expired=over,
            trust=trust_of(memory),
            stale=stale_since is not None,
            doubts=tuple(map(without_secrets, reasons)),
            nearby=without_secrets(allowed(nearby)),
            later=later if later is not None and allowed(later.text) else None,
            answers=held.answers,
            answer_confidence=sureness(held, CONFIDENCE[tier] if tier else "high", trusted),
            commit="" if memory.path in self.index.wanted.edits else tree.commit,
            sources=tuple(
                SourcePlace(
                    resource=one.resource,
                    lines=_lines_of(part, memory.body, one) if part and is_part else one.lines,
                    captured=one.captured,
                )
                for one in sources
            ),
        )

    def later_than(self, memory: Memory) -> Later | None:
        """Return the latest line about the same as a memory. Its text is what is asked for."""
        block = self.index.named({memory.id}).get(memory.id)
        answer = self.index.search([memory.body[:MAX_LATER]], Filter(limit=MAX_COMPARED))
        others = [one.block for one in answer.found if one.block.id != memory.id]
        return self._later(block, memory, others, answer.corpus) if block else None

    def _later(
        self, block: Block, memory: Memory | None, others: Sequence[Block], corpus: Corpus | None
    ) -> Later | None:
        """Return the latest line of others about the same as a hit, or None.

        What an import copied is known to be of its day, or older.
        """
        imported, undone = self.index.wanted.imported, self.work.tree.stones.undone
        hit = _text_of(block)
        hit = replace(
            hit,
            text=memory.body if memory else hit.text,
            day=hit.day or imported(),
            subject=memory.subject if memory and is_of_note(memory) else "",
        )
        texts = {
            _text_of(one) if one.id else _in_effect(_text_of(one), undone): one
            for one in others
            if not (one.id and not one.seen and one.day == imported())
        }
        today = local_day(self.now, self.work.config.zone)
        best = later_line(hit, [*texts], corpus, today) if corpus and hit.day else None
        if best is None:
            return None
        text, line, day = best
        newer = texts[text]
        number = newer.lines[0] + text.text.splitlines().index(line)
        place = newer.id or f"{newer.path}:{number}"
        return Later(place=place, text=cut(without_secrets(line.strip()), MAX_LATER), captured=day)

    def _contesting(self, memories: Iterable[Memory]) -> dict[str, Memory]:
        """Return by id the memories that contest some memories."""
        asked = {target for memory in memories for target in contesting(memory)}
        return {memory.id: memory for memory in self._memories(self.index.named(asked).values())}

    def _memories(self, blocks: Iterable[Block]) -> list[Memory]:
        """Return the memories of blocks, with the status that the index records."""
        blocks, wanted = [*blocks], self.index.wanted
        stored = {block.blob: block.path for block in blocks if block.path not in wanted.edits}
        known = self.work.store.cache.read(stored)
        found: list[Memory] = []
        for block in blocks:
            memory = known.get(block.blob)
            if memory is None:
                memory, _ = codec.decode(block.path, wanted.read(block.path, block.blob))
            if memory is None:
                raise ValueError(f"{block.path}: indexed, but not readable")
            is_same = memory.status == block.status
            found.append(memory if is_same else memory.with_fields({"status": block.status}))
        return found


def _shown_text(
    memory: Memory, tier: str, part: Paragraph | None, corpus: Corpus | None = None
) -> str:
    """Return the text to show. For a note at gist tier, this is its title, tags and summary.

    If these lack words of the question that the note has, it is the note's sentences with them.
    """
    if not memory.is_note or tier not in ("gist", "forgotten"):
        return part.text if part else memory.body
    if tier == "forgotten" and "gist" not in memory.fields:
        return memory.body
    gist = memory.gist
    if gist is None:
        from memrepo.policies.gists import gist_of

        gist = gist_of(memory)
    tags = f"tags: {', '.join(gist.tags)}" if gist.tags else ""
    text, full = "\n".join(filter(None, (gist.title, tags, gist.summary))), memory.body
    if corpus and corpus.share(index_terms(text).terms) < corpus.share(index_terms(full).terms):
        return excerpt(full, [*corpus.question.terms], EXCERPT)
    return text


def _at(source: Source, places: Collection[tuple[int, int]]) -> Source:
    """Return a source with the nearest of the lines that now have its text."""
    if not places or source.lines in places:
        return source
    first = source.lines[0]
    return replace(source, lines=min(places, key=lambda place: abs(place[0] - first)))


def _lines_of(part: Paragraph, body: str, source: Source) -> tuple[int, int]:
    """Return the lines of a source that contain a part of a memory's text."""
    first, last = source.lines
    if not first or last - first != body.strip("\n").count("\n"):
        return source.lines
    begin, end = part.lines
    before = first - 1 - (len(body) - len(body.lstrip("\n")))
    return before + begin, before + end


def _first_lines(text: str, room: int) -> str:
    """Return the first lines of a text that have room for their characters."""
    lines: list[str] = []
    for line in text.split("\n"):
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines)


MAX_COMPARED, MAX_LATER = 4, 300
"""The number of hits of which the latest is shown below the first, and its maximum characters."""
AS_GOOD = 0.95
"""The least share of the score of an older hit with which a newer one comes before it."""
LOWERED = ("retired", "retire_candidate", "stale")
"""Memories with these standings come after all others."""


def _is_lowered(memory: Memory, asked: Collection[str]) -> bool:
    """Return whether a memory comes after all others, as a session's note of the same question."""
    repeats = is_of_session(memory) and frozenset(terms(memory.body)).issubset(asked)
    return repeats or memory.standing in LOWERED


def _is_repeated(
    memory: Memory, text: str, claims: Iterable[Memory], corpus: Corpus | None
) -> bool:
    """Return whether a claim from the lines of a note has as much of the question as its text."""
    if not memory.is_note or corpus is None:
        return False
    spans = {one.resource: range(one.lines[0], one.lines[1] + 1) for one in memory.sources}
    own = [c for c in claims if any(s.lines[0] in spans.get(s.resource, ()) for s in c.sources)]
    share = corpus.share(index_terms(text).terms) if own else math.inf
    return any(corpus.share(index_terms(one.body).terms) >= share for one in own)


def _in_effect(text: Text, undone: Collection[str]) -> Text:
    """Return a text with an empty line for each one that was reverted or discarded."""
    lines = text.text.splitlines() if undone else ()
    drafts = [(line, Memory.of("", {}, body=line)) for line in lines]
    kept = ["" if words_of(one, SUBJECT_LENGTH) in undone else line for line, one in drafts]
    return replace(text, text="\n".join(kept)) if kept else text


def _text_of(block: Block) -> Text:
    """Return a block as a text to compare. Memories are compared by their source."""
    path = block.thread.rpartition(" ")[0] if block.id else block.path
    return Text(text=block.text, context=block.context, day=block.day, path=path or block.path)


def _is_under(memory: Memory, heading: WordPattern) -> bool:
    """Return whether a claim is directly under a matching heading of its source."""
    _, above, last = memory.context.rpartition(" › ")
    return bool(above) and not memory.is_note and heading.search(last) is not None


def _part(memory: Memory, number: int) -> Paragraph | None:
    """Return a paragraph of a memory's text, or None if the text has only one."""
    found = paragraphs(memory.body)
    return found[number] if len(found) > 1 and number < len(found) else None


def _title(memory: Memory) -> str:
    parts = (memory.subject, memory.predicate, memory.object)
    return memory.title or " ".join(filter(None, parts)) or memory.slug
