"""`memrepo nominate`: notes that were looked for so often that they earned a place as memories."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.policies.hotcache import nominated
from memrepo.store.ledger import ledger_of
from memrepo.views.promotions import Promotion, promotions


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `nominate`."""

    report: Annotated[
        bool, option("print the report in markdown, with destinations", "--report")
    ] = False


class Result(result.Result, frozen=True, kw_only=True):
    """The nominated notes, most retrieved first."""

    candidates: tuple[Promotion, ...]


def do(work: Work, request: Request) -> Result:
    """List the nominated notes; nothing is written."""
    del request
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    found = nominated(work.tree.state().active, accesses, work.call.now, rules)
    return Result(candidates=promotions(found))
