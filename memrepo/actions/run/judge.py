"""Choose the judge and let it read: the rules choose statements, a model reads documents.

The choice of the judge depends on the command line, the configuration and the person's own
settings, in this order. An estimate packs the questions as a run does, and asks none.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.gather import Answers, Input, RunPlan, gather, read_commit
from memrepo.actions.run.ingest import preview_ingest, texts_at
from memrepo.actions.run.record import Result
from memrepo.actions.work import Work, outside
from memrepo.config import DEFAULTS
from memrepo.core.errors import MemrepoError, Problem, UsageError
from memrepo.core.judge import Statement, Usage
from memrepo.core.layout import own_text
from memrepo.core.manifest import Receipt
from memrepo.core.memory import CLAIM_TYPES, Source, of_types
from memrepo.judge.ask import why_stopped
from memrepo.judge.checks import Cited
from memrepo.judge.documents import (
    MAX_SHOWN,
    Batch,
    Document,
    compare,
    kind_of_name,
    pack,
    tokens_of,
)
from memrepo.judge.interface import EXPECTED, Kind, Operation, Question
from memrepo.judge.offline import read_statements
from memrepo.judge.questions import MAX_GROUP, Proposed, Reading
from memrepo.policies.claims import join_sources, type_in_profile
from memrepo.read.documents import read_lines
from memrepo.read.intake import Cursor, Placed, Reader, SourceText, cursors, place_unit
from memrepo.read.kinds import PERSONS, is_profile, title_of
from memrepo.read.thoughts import Unit, spelled_context
from memrepo.text.dates import date_updated, opening_date

if TYPE_CHECKING:
    from memrepo.judge.ask import Desk, Limit, Price
    from memrepo.judge.services import Claude, Command, OpenAI


def judge(plan: RunPlan, given: Input) -> Answers:
    """Return what the judge makes of the input. Files without an answer wait for the next run."""
    desk, reader = plan.desk, given.reader
    if desk is None:
        statements = read_statements(given.candidates, given.choice, plan.config.profile)
        return Answers(statements=statements)
    if reader is None:
        return Answers(may_arrange=plan.asks_about_old)
    sources = SourceFiles(plan, given, reader)
    memories = {m.id: m for m in of_types(given.known.state.active, CLAIM_TYPES)}
    reading = Reading(desk, memories, sources.names, plan.now, sources.sources_of, sources.citing)
    result = reading.read(sources.batches)
    partial = why_stopped(result.stopped) if result.stopped is not None else ""
    if result.waiting and not partial:
        partial = next(iter(result.refused.values()), "an answer was not usable")
    return Answers(
        statements=tuple(sources.statement(one) for one in result.settled),
        waiting=frozenset(result.waiting),
        unusable=result.refused,
        names=sources.names,
        may_arrange=not partial,
        receipt=Receipt(batches_done=result.done, batches_left=result.left, partial=partial),
        warnings=tuple(sources.quoted(one) for one in result.settled if one.refused),
    )


OWNERS = ("owner", "agent", "another agent")
"""Whose name a question shows, in this order."""


def questions_about(plan: RunPlan, given: Input) -> tuple[Batch, ...]:
    """Return the questions that a model would be asked about the input."""
    return SourceFiles(plan, given, given.reader).batches if given.reader is not None else ()


class SourceFiles:
    """The files of an input as documents, and the way back from lines to evidence."""

    def __init__(self, plan: RunPlan, given: Input, reader: Reader) -> None:
        """Prepare the documents. They are read when they are first needed."""
        self._plan, self._given, self._reader = plan, given, reader
        self._units: dict[str, tuple[Unit, ...]] = {}
        self._texts = {text.resource: text for text in given.texts}
        self._placed: dict[str, dict[str, Placed]] = {}
        for one in given.intake.placed:
            self._placed.setdefault(one.resource, {})[one.unit.hash] = one
        self._notes = {n.note.path: n.placed() for n in given.nominees if n.text}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of owner and agents, each after what it is: one of `OWNERS`."""
        others = {t.name for t in self._given.texts if self._reader.is_of_other_agent(t)}
        whose = {
            file: 0 if PurePosixPath(file).name in PERSONS else 1 + (file in others)
            for file in self._reader.owners
        }
        found = {(whose[file], name) for file, name in self._reader.owners.items()}
        return tuple(f"{OWNERS[number]} {name}" for number, name in sorted(found))

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """Return the questions about all new text."""
        days = self._plan.config.source_rules().days
        texts = [t for t in self._given.texts if t.blob and (t.kind != "notes" or days)]
        texts = [t for t in texts if not self._reader.is_of_other_agent(t)]
        documents = [found for text in texts if (found := self._document(text))]
        notes = [self._note(path, one) for path, one in sorted(self._notes.items())]
        return pack([*documents, *notes], self._plan.config.judge.context)

    def _document(self, text: SourceText) -> Document | None:
        """Return a source file as a document, or None if it cannot be read."""
        reader = self._reader
        source = read_lines(text.name, reader.data(text.blob))
        if not source.text:
            return None
        open_ = self._placed.get(text.resource, {})
        units = reader.claims(text.name, text.blob).units if open_ else ()
        self._units[text.resource] = units
        last = self._given.cursor.get(text.resource, Cursor()).last
        lines, hidden = list(source.text), set(source.hidden)
        for unit in units:
            if (text.name, unit.text_hash) in reader.left_out:  # show what is left of it
                span = range(unit.lines[0], unit.lines[1] + 1)
                hidden.update(span[1:])
                lines[span[0] - 1] = " ".join(unit.text.split())
        new = frozenset(range(1, len(lines) + 1)) if open_ else frozenset[int]()
        removed: Mapping[int, tuple[str, ...]] = {}
        if open_ and last and not self._given.intake.whole:
            new = frozenset(n for u in units if u.hash in open_ for n in _span(u))
            if text.kind != "notes":
                removed = compare(read_lines(text.name, reader.data(last)).text, lines)[1]
        return Document(
            resource=text.resource,
            name=text.name,
            kind=kind_of_name(text.name),
            lines=tuple(lines),
            new=new,
            since=text.committed,
            is_dated=text.is_dated and kind_of_name(text.name) != "log",
            as_of=min(date_updated("\n".join(source.text)), text.committed),
            removed=removed,
            hidden=frozenset(hidden),
            stating=frozenset(n for unit in units for n in _span(unit)),
        )

    def _note(self, path: str, one: Placed) -> Document:
        """Return a nominated note as a document."""
        first = one.unit.lines[0]
        lines = ("",) * (first - 1) + tuple(one.unit.text.split("\n"))
        self._units[path] = (one.unit,)
        new = frozenset(range(1, len(lines) + 1))
        return Document(
            resource=path,
            name=path.rpartition("/")[2],
            kind=f"note, {one.retrieved}",
            lines=lines,
            new=new,
            since=one.unit.captured[:10],
        )

    def citing(self, batch: Batch) -> frozenset[str]:
        """Return the memories that cite lines which were removed from the files of a question."""
        gone = self._given.intake.gone
        hashes = frozenset[str]().union(*(gone.get(r, frozenset()) for r in batch.resources))
        return frozenset(memory.id for memory in self._given.known.find_text(hashes))

    def _cited(self, cited: Cited) -> list[tuple[Unit, Document, tuple[int, int]]]:
        """Return the statements that cited lines touch, as (unit, document, lines)."""
        found = []
        for place in cited.places:
            for unit in self._units[place.document.resource]:
                first, last = max(unit.lines[0], place.first), min(unit.lines[1], place.last)
                if first <= last:
                    found.append((unit, place.document, (first, last)))
        return found

    def sources_of(self, cited: Cited, op: Operation) -> tuple[Source, ...]:
        """Return the evidence of an operation: the statements that its lines touch."""
        found = []
        days = "\n".join((cited.evidence, *(place.document.as_of for place in cited.places)))
        # The time of a file says when it was saved, not when its lines were so. It overrules no day
        # of a log, a heading, or the beginning of a line.
        is_of_file = op.as_of in {place.document.since for place in cited.places}
        for unit, document, lines in self._cited(cited):
            resource, latest = document.resource, ""
            opening = opening_date(document.lines[unit.lines[0] - 1], months=False)
            if resource in self._notes:
                source = self._notes[resource].source()
            else:
                source = place_unit(unit, self._texts[resource]).source()
                latest = self._texts[resource].committed
            is_plan = latest and op.as_of > max(latest, source.captured)  # a day to come
            is_stated = op.as_of in days or not is_of_file
            is_dated = source.captured_from in ("heading", "file") or opening[0]
            if op.as_of and not is_plan and (is_stated or not is_dated):
                basis = "unit" if is_stated else "commit"
                source = replace(source, captured=op.as_of, captured_from=basis)
            found.append(replace(source, lines=lines))
        return join_sources(found)

    def quoted(self, one: Proposed) -> Problem:
        """Return the warning about a wording that was refused twice and replaced by its lines."""
        source = next(iter(self.sources_of(one.cited, one.op)), Source(resource=""))
        return Problem(
            path=source.resource,
            line=source.lines[0],
            rule="wording-refused",
            severity="warning",
            message=f"the judge's wording was rejected twice, so the line is quoted: {one.refused}",
            fix="read the line; change the text with `memrepo edit`",
        )

    def statement(self, one: Proposed) -> Statement:
        """Return a settled operation with its evidence."""
        op, profile = one.op, self._plan.config.profile
        sources = self.sources_of(one.cited, op)
        touched = [(u, s.resource) for s in sources for u in self._of(s)]
        kind = type_in_profile(op.type, profile)
        unit, resource = touched[0] if touched else (None, "")
        text = self._texts.get(resource)
        about = self._reader.subject(text) if text else ""
        context = (
            about if text and is_profile(text.name) else "",
            title_of(resource),
            *(unit.headings if unit else ()),
            unit.lead if unit else "",
        )
        placed = [self._placed.get(r, {}).get(u.hash) for u, r in touched]
        return Statement(
            id=one.id,
            op=op.op,
            text=op.text,
            type=kind,
            subject=op.subject or about,
            standing="unresolved" if kind == "open_question" else "resolved",
            sources=sources,
            context=spelled_context(filter(None, context)),
            former=frozenset((p.resource, p.former.text_hash) for p in placed if p and p.former),
            memory=one.old.id if op.op != "add" and one.old is not None else "",
            still=op.still,
            until=op.until,
            is_quoted=False,
            is_nominated=any(r in self._notes for _, r in touched),
        )

    def _of(self, source: Source) -> list[Unit]:
        units = self._units.get(source.resource, ())
        return [unit for unit in units if unit.text_hash == source.text_hash][:1]


def _span(unit: Unit) -> range:
    return range(unit.lines[0], unit.lines[1] + 1)


# -- what the next run would ask -----------------------------------------------------------------

MEMORY_TOKENS = 45
"""Typical tokens of a memory in a list."""
TOKENS_PER_MEMORY = 220
"""Typical tokens of shown text that give one memory."""
CHECKED_TOKENS = 165
"""Typical tokens of one item of a verification: its lines, what is above them, and the text."""


def estimate_of(work: Work, choice: JudgeChoice) -> Result:
    """Return the estimate for the next run.

    Raise the errors a run would raise before its first question.
    """
    desk_of(work, choice)
    news, kind = preview_ingest(work), kind_of(work, choice)
    here = work.tree.commit
    found = Result(
        mode="incremental",
        status="estimate",
        base=here,
        head=here,
        ingest=news.done,
        notices=news.done.refused,
    )
    if kind == "offline":
        return found
    plan = read_commit(work, RunPlan(now=work.call.now))
    cursor = cursors(plan.manifests)
    fresh = {news.blobs[name]: data for name, data in news.fresh.items() if name in news.blobs}

    def read(blob: str) -> bytes:
        return fresh[blob] if blob in fresh else work.store.repo.read(blob)

    batches = questions_about(plan, gather(plan, texts_at(work, cursor, news.blobs), cursor, read))
    asked, read_tokens, written = _needed(work, plan, batches)
    price = price_of(work, work.config.judge.model) if kind in SERVICES else None
    cost = price.cost(fresh=read_tokens, output=written) if price and batches else None
    usage = Usage(
        prompt=read_tokens,
        completion=written,
        source="approximate",
        cost_usd=cost if batches else 0.0,
        calls=sum(asked.values()),
    )
    limits = limits_of(work, choice)
    over = (limit.over(usage.cost_usd or 0.0, usage.total) for limit in limits)
    return replace(
        found,
        why=next(filter(None, over), ""),
        questions=asked,
        lines_read=sum(len(rows) for batch in batches for rows in batch.shown.values()),
        tokens=usage.tokens(),
        cost_usd=usage.cost_usd,
    )


def _needed(work: Work, plan: RunPlan, batches: Sequence[Batch]) -> tuple[dict[str, int], int, int]:
    """Return the number of questions of each kind, and the tokens of questions and answers.

    The few questions that correct refused operations and that arrange the shelf are not counted.
    """
    if not batches:
        return {}, 0, 0
    shown = sum(tokens_of(batch.text) for batch in batches)
    made = -(-shown // TOKENS_PER_MEMORY)
    known = len(of_types(plan.state.active, CLAIM_TYPES))
    before = (known + n * made // len(batches) for n in range(len(batches)))
    shown += sum(MEMORY_TOKENS * min(many, MAX_SHOWN) for many in before)
    rows: dict[Kind, tuple[int, int]] = {  # questions, tokens of their data
        "read": (len(batches), shown),
        "verify": (-(-made // MAX_GROUP), made * CHECKED_TOKENS),
    }
    own = own_prompts(work)
    asked, read, written = dict[str, int](), 0, 0
    for kind, (count, data) in rows.items():
        fixed = tokens_of(Question(kind=kind, data="", items=made, own=own.get(kind, "")).text)
        asked[kind] = count
        read += count * fixed + data
        written += EXPECTED[kind] * made
    return asked, read, written


# -- the choice of the judge -----------------------------------------------------------------------

SERVICES = ("anthropic", "openai")
"""Judges with a price per token."""


class JudgeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The command-line options that choose a judge. Empty or None means the configured value.

    `carried` is the spending of an interrupted run that left no manifest.
    """

    judge: str = ""
    max_usd: float | None = None
    max_tokens: int | None = None
    carried: Usage = msgspec.field(default_factory=Usage)


def desk_of(work: Work, choice: JudgeChoice) -> Desk | None:
    """Return where the model of a run is asked, or None if rules judge.

    Raises UsageError. Modules are imported on demand, so the offline judge
    loads no other.
    """
    name = kind_of(work, choice)
    if name == "offline":
        return None
    from memrepo.judge.ask import Desk, Session

    prompts = own_prompts(work)
    if name == "session":
        return Desk(Session(), prompts=prompts)
    backend, limits = _backend(work, name), limits_of(work, choice)
    if backend.price is None and any(limit.usd is not None for limit in limits):
        raise UsageError(
            f"no price is known for {backend.name}, so a limit in US dollars cannot be enforced",
            fix="limit tokens instead (--max-tokens), or give its price in [judge.prices]",
        )
    return Desk(
        backend,
        limits,
        max_output=work.config.judge.max_tokens,
        price=backend.price,
        prompts=prompts,
    )


def own_prompts(work: Work) -> dict[Kind, str]:
    """Return the repository's own instructions for judges, `prompts/KIND.md`, by kind."""
    from memrepo.judge.interface import ANSWERS

    prefix = work.tree.layout.prefix
    found = ((k, own_text(work.tree.files, prefix, "prompts", f"{k}.md")) for k in ANSWERS)
    return {kind: text for kind, text in found if text}


def kind_of(work: Work, choice: JudgeChoice) -> str:
    """Return the kind of the chosen judge."""
    return choice.judge or str(work.config.run.judge)


def _backend(work: Work, name: str) -> Claude | OpenAI | Command:
    """Return a service or a program as configured, without sending a request."""
    from memrepo.judge.services import READY, Claude, Command, OpenAI

    keys, elsewhere = work.config.judge, outside(work)
    default = DEFAULTS["judge.model"]
    model = "" if keys.model == default else keys.model
    if name not in SERVICES:
        return Command(
            arguments=READY.get(name) or _command(work),
            timeout_s=keys.timeout_s,
            kind=name if name in READY else "",
            model=model if name in READY else "",
        )
    base = elsewhere.get("judge.base_url" if name == "anthropic" else "judge.openai_base_url")
    shared: dict[str, Any] = {
        "model": model or default if name == "anthropic" else model,
        "max_tokens": keys.max_tokens,
        "timeout_s": keys.timeout_s,
        "price": price_of(work, keys.model),
        "base_url": str(base.value) if base else "",
        "heard": lambda: work.call.tick("pieces of an answer"),
    }
    if name == "anthropic":
        return Claude(**shared)
    if not model:
        raise UsageError(
            "the openai judge has no model: judge.model is not set",
            fix="set judge.model in memrepo.toml to the model name on your server (qwen3:8b)",
        )
    return OpenAI(**shared)


def refuse_unable(work: Work) -> str:
    """Return the name of the configured judge. Raise the errors that a run would raise up front.

    No request is sent, so an invalid key is not detected.
    """
    desk, kind = desk_of(work, JudgeChoice()), kind_of(work, JudgeChoice())
    if kind in SERVICES:
        _backend(work, kind).refuse_without_key()
    return desk.name if desk is not None else kind


def price_of(work: Work, model: str) -> Price | None:
    """Return the configured price of a model, or None if it is unknown."""
    from memrepo.judge.ask import Price

    four = work.config.judge.prices.get(model)
    return Price(**dict(zip(Price.__struct_fields__, four, strict=True))) if four else None


def _command(work: Work) -> tuple[str, ...]:
    from memrepo.judge.services import READY

    setting = outside(work).get("judge.command")
    if setting is None:
        raise UsageError(
            "the command judge has no command configured",
            fix=f"`git config memrepo.judge.command claude` ({', '.join(READY)}, or a command)",
        )
    try:
        words = tuple(shlex.split(setting.value))
    except ValueError as error:
        raise UsageError(f"{setting.origin}: judge.command: {error}: {setting.value}") from error
    return READY.get(setting.value.strip(), words)


def limits_of(work: Work, choice: JudgeChoice) -> tuple[Limit, ...]:
    """Return the spending limits for the run and the month."""
    from memrepo.core.manifest import spent_in_month
    from memrepo.judge.ask import Limit

    keys, zone = work.config.run, work.config.zone
    usd = choice.max_usd if choice.max_usd is not None else keys.max_usd
    tokens = choice.max_tokens if choice.max_tokens is not None else keys.max_tokens
    limits = [Limit(what="a run", usd=usd, tokens=tokens)]
    most = (keys.max_usd_month, keys.max_tokens_month)
    if most != (None, None):
        spent = spent_in_month(work.call.now, work.tree.manifests[0], zone) + choice.carried
        limits.append(Limit(what="a month", usd=most[0], tokens=most[1], spent=spent))
    return tuple(limits)


class Usable(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a judge can run on this machine, and its nightly cost or the setup it lacks.

    No request is sent, so an invalid login or key is not detected.
    """

    judge: str
    ready: bool
    message: str


NIGHT_TOKENS = (4_500, 800)
"""Tokens in and out of a typical night: a question about one log, and the check of its answer."""


def usable_judges(work: Work) -> tuple[Usable, ...]:
    """Return whether each judge that can be chosen by name can run on this machine."""
    found = []
    for name in ("anthropic", "claude", "openclaw", "openai"):
        try:
            backend = _backend(work, name)
            backend.refuse_without_key()
        except MemrepoError as error:
            missing = f"{error.message} ({error.fix})" if error.fix else error.message
            found.append(Usable(judge=name, ready=False, message=missing))
            continue
        price, (read, written) = backend.price, NIGHT_TOKENS
        cost = f", {price.cost(fresh=read, output=written):.3f} USD" if price else ""
        message = f"about {read + written:,} tokens{cost} for a night of one log"
        found.append(Usable(judge=name, ready=True, message=message))
    return tuple(found)
