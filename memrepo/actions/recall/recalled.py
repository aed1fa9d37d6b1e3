"""What recall knows beside the file: tier, expiry and confidence at a moment, by the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.access import Access, Accesses
from memrepo.core.memory import STATUSES, Gist, Memory, Source
from memrepo.core.times import format_time
from memrepo.policies.chunking import Chunk, chunks
from memrepo.policies.decay import is_over, keeping
from memrepo.policies.evidence import newer_first
from memrepo.policies.merits import Moment, with_replaced
from memrepo.policies.rules import Rules, Weights
from memrepo.policies.tiers import CONFIDENCE, effective
from memrepo.store import embedding
from memrepo.store.index import PAST, Filter, Index, Match, no_model
from memrepo.store.indexing import Indexed
from memrepo.store.ledger import ledger_of
from memrepo.store.records import NAME

if TYPE_CHECKING:
    from memrepo.store.embedding import Embedder

EXPIRED = "expired"
"""What `--status` calls active memories past their time, pruned yet or not."""
RECALL_STATUSES = (*STATUSES, EXPIRED)


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as recall sees it at a moment."""

    memory: Memory
    access: Access
    tier: str
    over: bool
    score: float = 0.0
    parts: Mapping[str, float] = msgspec.field(default_factory=dict)
    """What each signal added to the score."""
    edited: bool = False
    """Whether its file differs from the commit's: the text is not committed yet."""
    part: Chunk | None = None
    """The part of a long text that answers, where it is not the whole."""

    @property
    def is_part(self) -> bool:
        """Tell whether recall hands over a part of the text."""
        return self.part is not None and self.text == self.part.text

    def lines_of(self, source: Source) -> tuple[int, int]:
        """Return where the text that is handed over stands in a source.

        A part has its own lines where the memory has the lines of its source one by one.
        """
        first, last = source.lines
        body = self.memory.body
        whole = first and last - first == body.strip("\n").count("\n")
        if self.part is None or not self.is_part or not whole:
            return source.lines
        lead = len(body) - len(body.lstrip("\n"))
        before = body.count("\n", lead, self.part.start)
        return first + before, first + before + self.part.text.count("\n")

    @property
    def text(self) -> str:
        """Return what recall hands over: of a note at gist tier its title, tags and summary."""
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
        """Return how far an answer from it can be trusted."""
        return CONFIDENCE[self.tier] if self.tier else "high"


def recalled(
    memory: Memory, accesses: Accesses, now: datetime, rules: Rules, score: float = 0.0
) -> Recalled:
    """Return a memory as recall sees it."""
    access = accesses.of(memory.id)
    tier = effective(memory, access, now, rules.tiers) if memory.is_note else ""
    over = (
        not memory.is_note
        and memory.status == "active"
        and is_over(memory, keeping(memory, access, now, rules.decay))
    )
    return Recalled(memory=memory, access=access, tier=tier, over=over, score=score)


def facts(memory: Memory, accesses: Accesses, now: datetime, rules: Rules) -> dict[str, Any]:
    """Return the derived facts of a memory: what no file holds."""
    access = accesses.of(memory.id)
    found: dict[str, Any] = {
        "retrievals": access.total,
        "last": format_time(access.last) if access.last else "",
    }
    if memory.is_note:
        tier = effective(memory, access, now, rules.tiers)
        return {**found, "tier": tier, "answer_confidence": CONFIDENCE[tier]}
    kept = keeping(memory, access, now, rules.decay)
    return {
        **found,
        "class": kept.cls,
        "confidence": round(kept.confidence, 4),
        "expires": format_time(kept.expires) if kept.expires else "",
        "expired": is_over(memory, kept),
    }


def index_of(
    work: Work,
    *,
    past: bool = False,
    edits: bool = True,
    tick: Callable[[str], None] = lambda _: None,
) -> Index:
    """Return the index that of a work: with uncommitted edits, unless it is in the past."""
    store, config, tree = work.store, work.config, work.tree
    lexicon = cache(lambda: config.lexicon)  # only where a memory is indexed

    def importance(memory: Memory) -> float:
        from memrepo.policies.importance import score_of

        return score_of(memory, lexicon())

    wanted = Indexed(
        tree=tree,
        chunking=config.chunking,
        words=repr(config.get("importance.words")),
        importance=importance,
        blob_id=store.work.blob_id,
        tick=tick,
        edits=store.work.edits(tree.layout.area("memories")) if edits and not past else {},
    )
    return Index(
        folder=store.folder,
        wanted=wanted,
        name=PAST if past else NAME,
        model=partial(_model, work) if embedding.can_run() else no_model,
    )


def embed(work: Work) -> None:
    """Make the vectors of what is committed that are missing, where there is a model."""
    if work.config.get("recall.meaning") and embedding.can_run():
        index_of(work, edits=False, tick=work.call.tick).embed()


def _model(work: Work) -> Embedder | None:
    """Return the model of the person's configuration, else the packaged one, loaded once."""
    folder = model_folder(work)
    return _loaded(folder) if folder or embedding.is_installed() else None


def model_folder(work: Work) -> str:
    """Return the folder of the model that this clone or the person chose, or an empty text."""
    from memrepo.actions.setup.outside import outside

    setting = outside(work).get("dense.model")
    return str(work.store.root / Path(str(setting.value)).expanduser()) if setting else ""


@cache
def _loaded(folder: str) -> Embedder | None:
    try:
        return embedding.load(folder)
    except embedding.NoModelError:
        return None  # words alone find too, and `doctor` says what is wrong


def recall(
    work: Work,
    index: Index,
    words: Sequence[str],
    only: Filter,
    now: datetime,
    weights: Weights | None = None,
) -> list[Recalled]:
    """Return the best memories for words that recall may hand over, forgotten notes last.

    The status `expired` asks for active memories past their time, which are else left out. An
    index of the past answers as of its commit, when nothing had been retrieved since.
    """
    accesses, rules = Accesses(), work.config.rules
    if index.name == PAST:
        now = work.store.commit_time(work.tree.commit)
    else:
        accesses = ledger_of(work.store).accesses()
    moment = Moment(now=now, retrievals=lambda id_: accesses.of(id_).total)
    wanted = frozenset(only.statuses)
    stored = tuple(sorted({"active" if s == EXPIRED else s for s in wanted}))
    limit = only.limit
    while True:
        asked = replace(only, statuses=stored, limit=limit)
        matches = index.search(words, asked, weights or work.config.weights, moment)
        found = [
            replace(
                recalled(_memory(index, match), accesses, now, rules, match.score),
                parts=match.parts,
                edited=match.path in index.wanted.edits,
            )
            for match in matches
        ]
        kept = [
            one
            for one in found
            if one.memory.status != "active" or (EXPIRED if one.over else "active") in wanted
        ]
        if len(kept) >= only.limit or len(matches) < limit:
            break
        limit *= 2  # some were over: others may have stood behind them
    best, parts = kept[: only.limit], {match.id: match.part for match in matches}
    best = [replace(one, part=_part(index, one.memory, parts[one.memory.id])) for one in best]
    best = _forgotten_last(best) if rules.tiers.last else best
    return newer_first(best, [one.memory for one in best])


def _part(index: Index, memory: Memory, number: int) -> Chunk | None:
    """Return a chunk of a memory's text, None where that is the whole."""
    found = chunks(memory.body, index.wanted.chunking)
    return found[number] if len(found) > 1 and number < len(found) else None


def _forgotten_last(hits: Sequence[Recalled]) -> list[Recalled]:
    successors = {one.memory.id: one.memory.texts("superseded_by") for one in hits}
    forgotten = [one.memory.id for one in hits if one.tier == "forgotten"]
    last = with_replaced(forgotten, successors)
    return sorted(hits, key=lambda one: one.memory.id in last)


def holding(
    work: Work, index: Index, words: Sequence[str], only: Filter, now: datetime
) -> list[Recalled]:
    """Return every memory that holds all of the words, by path and not ranked."""
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules
    return [
        recalled(_memory(index, match), accesses, now, rules)
        for match in index.holding(words, only)
    ]


def _memory(index: Index, match: Match) -> Memory:
    memory, _ = codec.decode(match.path, index.wanted.read(match.path, match.blob))
    if memory is None:
        raise ValueError(f"{match.path}: indexed, but not readable")
    return memory
