"""`memrepo unpin`: see `memrepo.actions.write.pin`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written
from memrepo.actions.write.pin import set_pinned


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `unpin`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Remove `pinned`."""
    return set_pinned(work, request, pinned=False)
