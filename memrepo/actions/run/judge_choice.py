"""The choice of the judge for a run, and the report of its progress.

The judge depends on the configuration, the command line and the person's own settings. Progress is
reported by wrappers around the source reader and the judge, so that pure code needs no progress
callbacks.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.actions.run.ingest import IngestPreview, preview_ingest, texts_at
from memrepo.actions.work import Work, outside
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import (
    BudgetReached,
    Judge,
    Usage,
)
from memrepo.core.manifest import read_manifests
from memrepo.core.messages import counted
from memrepo.keys import BY_NAME
from memrepo.read.intake import Cursor, cursors
from memrepo.store.tree import read_blob

if TYPE_CHECKING:
    from memrepo.judges.command import Command
    from memrepo.judges.model import Limit, Price
    from memrepo.judges.services import Claude, OpenAI

SERVICES = ("anthropic", "openai")
"""Judges with a price per token."""
SESSION = "judging"
"""Folder with the answers of a judging session, in the common git directory."""


class CannotJudge(MemrepoError):
    """Raised when the chosen judge lacks something that only a person can provide."""

    exit_code = Exit.USAGE


class JudgeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The command-line options that choose a judge. Empty or None means the configured value.

    `now` determines the month and day of spending limits. Without it, only per-run limits apply.
    `carried` is the spending of an interrupted run that left no manifest.
    """

    judge: str = ""
    now: datetime | None = None
    record: Path | None = None
    replay: Path | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    carried: Usage = msgspec.field(default_factory=Usage)


def judge_of(work: Work, choice: JudgeChoice) -> Judge:
    """Return the judge for a run. Raises CannotJudge or CommandNotFound.

    Judge modules are imported on demand, so the offline judge loads no other.
    """
    name = kind_of(work, choice)
    if choice.replay and name != "replay":
        raise CannotJudge(f"--replay is for the replay judge, not for {name}")
    if choice.record and name in ("offline", "replay"):
        raise CannotJudge(
            f"the {name} judge does not give live answers, so there is nothing to record",
            fix="use --record with --judge anthropic or command",
        )
    if name == "offline":
        from memrepo.judges.offline import OfflineJudge

        return OfflineJudge()
    from memrepo.judges import model

    if name == "replay":
        return model.ModelJudge(model.Replay(_recordings(work, choice)))
    if name == "session":
        return model.ModelJudge(model.Session(work.store.folder / SESSION))
    backend, limits = _backend(work, name), limits_of(work, choice)
    if backend.price is None and any(limit.usd is not None for limit in limits):
        raise CannotJudge(
            f"no price is known for {backend.name}, so a limit in US dollars cannot be enforced",
            fix="limit tokens instead (--max-tokens), or give its price in [judge.prices]",
        )
    budget = model.Budgeted(
        backend, limits, max_output=work.config.get("judge.max_tokens"), price=backend.price
    )
    return model.ModelJudge(model.Recording(budget, choice.record) if choice.record else budget)


def pair_judge(work: Work, judge: Judge) -> Judge:
    """Return the judge for contradicting pairs: the run's own or, if so configured, rules."""
    if not judge.prompt_hash or work.config.get("contradictions.ask_model"):
        return judge
    from memrepo.judges.offline import OfflineJudge

    return OfflineJudge()


def kind_of(work: Work, choice: JudgeChoice) -> str:
    """Return the kind of the chosen judge."""
    return choice.judge or ("replay" if choice.replay else str(work.config.get("run.judge")))


def _recordings(work: Work, choice: JudgeChoice) -> Path:
    folder = choice.replay
    if folder is None and (setting := outside(work).get("judge.recordings")):
        folder = work.store.root / Path(str(setting.value)).expanduser()
    if folder is None or not folder.is_dir():
        raise CannotJudge(
            f"found no folder of recorded answers{f' at {folder}' if folder else ''}",
            fix="name the folder: --replay DIR, or `git config memrepo.judge.recordings DIR`",
        )
    return folder


def _backend(work: Work, name: str) -> Claude | OpenAI | Command:
    """Return a service or a program as configured, without sending a request."""
    get, elsewhere = work.config.get, outside(work)
    default = BY_NAME["judge.model"].default
    model = "" if get("judge.model") == default else str(get("judge.model"))
    verify_model = get("judge.verify_model") or ""
    if name not in SERVICES:
        from memrepo.judges.command import READY, Command

        return Command(
            arguments=READY.get(name) or _command(work),
            timeout_s=get("judge.timeout_s"),
            kind=name if name in READY else "",
            model=model if name in READY else "",
            verify_model=verify_model if name in READY else "",
        )
    from memrepo.judges.services import Claude, OpenAI

    base = elsewhere.get("judge.base_url" if name == "anthropic" else "judge.openai_base_url")
    shared: dict[str, Any] = {
        "model": model or default if name == "anthropic" else model,
        "verify_model": verify_model,
        "max_tokens": get("judge.max_tokens"),
        "timeout_s": get("judge.timeout_s"),
        "max_retries": get("judge.max_retries"),
        "price": _price(work, get("judge.model")),
        "base_url": str(base.value) if base else "",
        "heard": lambda: work.call.tick("pieces of an answer"),
    }
    if name == "anthropic":
        return Claude(
            **shared,
            idle_s=get("judge.idle_s"),
            verify_price=_price(work, verify_model),
            effort=get("judge.effort").removeprefix("default"),
            thinking=get("judge.thinking").removeprefix("default"),
        )
    if not model:
        raise CannotJudge(
            "the openai judge has no model: judge.model is not set",
            fix="`memrepo config set judge.model NAME`, the model name on your server (qwen3:8b)",
        )
    return OpenAI(**shared)


def refuse_unable(work: Work) -> str:
    """Return the name of the configured judge. Raise the errors that a run would raise up front.

    No request is sent, so an invalid key is not detected.
    """
    judge, kind = judge_of(work, JudgeChoice()), kind_of(work, JudgeChoice())
    if kind in SERVICES:
        _backend(work, kind).refuse_without_key()
    return judge.name


def _price(work: Work, model: str) -> Price | None:
    from memrepo.judges.model import Price

    four = work.config.get("judge.prices").get(model)
    return Price(**dict(zip(Price.__struct_fields__, four, strict=True))) if four else None


def _command(work: Work) -> tuple[str, ...]:
    from memrepo.judges.command import READY

    setting = outside(work).get("judge.command")
    if setting is None:
        raise CannotJudge(
            "the command judge has no command configured",
            fix=f"`git config memrepo.judge.command claude` ({', '.join(READY)}, or a command)",
        )
    if isinstance(setting.value, list):
        return tuple(setting.value)
    try:
        words = tuple(shlex.split(setting.value))
    except ValueError as error:
        raise CannotJudge(f"{setting.origin}: judge.command: {error}: {setting.value}") from error
    return READY.get(setting.value.strip(), words)


def limits_of(work: Work, choice: JudgeChoice) -> tuple[Limit, ...]:
    """Return the spending limits for the run, the day and the month."""
    from memrepo.core.manifest import spent_in_day, spent_in_month
    from memrepo.judges.model import Limit

    get, zone = work.config.get, work.config.zone
    usd = choice.max_usd if choice.max_usd is not None else get("run.max_usd")
    tokens = choice.max_tokens if choice.max_tokens is not None else get("run.max_tokens")
    limits = [Limit(what="a run", usd=usd, tokens=tokens)]
    day, month = get("run.max_usd_day"), (get("run.max_usd_month"), get("run.max_tokens_month"))
    if choice.now is None or (day, *month) == (None, None, None):
        return tuple(limits)
    recorded = read_manifests(work.tree.files, work.tree.layout)[0]
    for what, most, spent_in in (
        ("a day", (day, None), spent_in_day),
        ("a month", month, spent_in_month),
    ):
        if most != (None, None):
            spent = spent_in(choice.now, recorded, zone) + choice.carried
            limits.append(Limit(what=what, usd=most[0], tokens=most[1], spent=spent))
    return tuple(limits)


class Usable(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a judge can run on this machine, and its nightly cost or the setup it lacks.

    No request is sent, so an invalid login or key is not detected.
    """

    judge: str
    ready: bool
    message: str


NIGHT = ("A line of a daily log that says in about fifteen words what was decided today.",) * 8
"""Sample lines for estimating the cost of a typical night."""


def usable_judges(work: Work) -> tuple[Usable, ...]:
    """Return whether each judge that can be chosen by name can run on this machine."""
    from memrepo.judges.model import by_lines

    found = []
    for name in ("anthropic", "claude", "openclaw", "openai"):
        try:
            backend = _backend(work, name)
            backend.refuse_without_key()
        except MemrepoError as error:
            missing = f"{error.message} ({error.fix})" if error.fix else error.message
            found.append(Usable(judge=name, ready=False, message=missing))
            continue
        used, _ = by_lines(NIGHT, backend.price)
        cost = f", {used.cost_usd:.3f} USD" if used.cost_usd is not None else ""
        message = f"about {used.total:,} tokens{cost} for a night of {len(NIGHT)} new lines"
        found.append(Usable(judge=name, ready=True, message=message))
    return tuple(found)


Tick = Callable[[str], None]


def deadline(work: Work) -> Callable[[], None]:
    """Return a function that raises BudgetReached after the run's time limit."""
    most, clock = work.config.get("run.max_minutes"), work.call.clock
    ends = work.call.now + timedelta(minutes=most)

    def refuse() -> None:
        if clock is not None and clock() > ends:
            raise BudgetReached(
                f"a run may take {counted(most, 'minute', 'minutes')}",
                fix="the next run continues; or raise run.max_minutes",
            )

    return refuse


_PROGRESS = {
    "promote": "judged, pass 1",
    "canonicalise": "judged, pass 2",
    "verify": "wordings verified",
    "compare": "pairs compared",
    "gist": "notes gisted",
    "summarise": "summaries",
}


class WatchedJudge(msgspec.Struct, frozen=True):
    """A judge that counts the requests it passes to another judge.

    `in_time` is called before each request. It raises BudgetReached if no request may follow.
    """

    judge: Judge
    tick: Tick
    in_time: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.judge, name)
        if name not in _PROGRESS:
            return found

        def ask(request: object) -> object:
            self.in_time()
            answer = found(request)
            self.tick(_PROGRESS[name])
            return answer

        return ask


def watched(read: Callable[[str], bytes], tick: Tick) -> Callable[[str], bytes]:
    """Return a reader that calls `tick` for each blob it reads."""

    def reading(blob: str) -> bytes:
        tick("sources read")
        return read(blob)

    return reading


PAID = ("anthropic", "claude", "openclaw", "openai", "command", "session")
"""Judges whose answers cost money or minutes. The others repeat their answers at no cost."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The expected questions by kind, and the expected tokens and cost of a run.

    `over` names the limit that would stop the run early, if any.
    """

    usage: Usage
    questions: Mapping[str, int]
    news: IngestPreview
    lines: int = 0
    over: str = ""

    @property
    def summary(self) -> str:
        """Return the estimate as a text."""
        used = self.usage
        if not used.calls:
            return "the next run would make no paid call"
        cost = "price unknown" if used.cost_usd is None else f"about {used.cost_usd:.4f} USD"
        calls = counted(used.calls, "question", "questions")
        return (
            f"the next run reads {counted(self.lines, 'new line', 'new lines')}: about {calls},"
            f" {used.total} tokens, {cost}"
        )


def estimate_of(work: Work, choice: JudgeChoice, *, force: bool = False) -> Estimate:
    """Return the estimate for the next run.

    Raise the errors a run would raise before its first question.
    """
    judge_of(work, choice)
    news, kind = preview_ingest(work, force=force), kind_of(work, choice)
    if kind not in PAID:
        return Estimate(usage=Usage(), questions={}, news=news)
    from memrepo.judges.model import by_lines

    lines = list(_new_lines(work, news))
    price = _price(work, work.config.get("judge.model")) if kind in SERVICES else None
    usage, questions = by_lines(lines, price)
    limits = limits_of(work, choice)
    over = (limit.over(usage.cost_usd or 0.0, usage.total) for limit in limits)
    return Estimate(
        usage=usage,
        questions=questions,
        news=news,
        lines=len(lines),
        over=next(filter(None, over), ""),
    )


def _new_lines(work: Work, news: IngestPreview) -> Iterator[str]:
    """Yield the lines of current sources that no run has consumed."""
    cursor = cursors(read_manifests(work.tree.files, work.tree.layout)[0])
    for text in texts_at(work, cursor, news.blobs):
        if text.blob and not cursor.get(text.resource, Cursor()).is_at(text.blob):
            last = cursor.get(text.resource, Cursor()).last
            data = news.fresh.get(text.resource)
            whole = read_blob(work.store.repo, text.blob) if data is None else data
            old = read_blob(work.store.repo, last).splitlines() if last else ()
            known = frozenset(old)
            for line in whole.splitlines():
                shown = line.decode("utf-8", "replace")
                if line not in known and any(map(str.isalnum, shown)) and shown[:1] != "#":
                    yield shown
