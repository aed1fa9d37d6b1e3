"""The choice of the judge for a run.

It depends on the command line, the configuration and the person's own settings, in this order.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.actions.work import Work, outside
from memrepo.assets import own_text
from memrepo.config import DEFAULTS
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.judge import Usage

if TYPE_CHECKING:
    from memrepo.judge.ask import Desk, Limit, Price
    from memrepo.judge.command import Command
    from memrepo.judge.interface import Kind
    from memrepo.judge.services import Claude, OpenAI

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

    Raises UsageError or CommandNotFound. Modules are imported on demand, so the offline judge
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
    keys, elsewhere = work.config.judge, outside(work)
    default = DEFAULTS["judge.model"]
    model = "" if keys.model == default else keys.model
    if name not in SERVICES:
        from memrepo.judge.command import READY, Command

        return Command(
            arguments=READY.get(name) or _command(work),
            timeout_s=keys.timeout_s,
            kind=name if name in READY else "",
            model=model if name in READY else "",
        )
    from memrepo.judge.services import Claude, OpenAI

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
    from memrepo.judge.command import READY

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
