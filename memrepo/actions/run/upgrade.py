"""The upgrade gate: runs of an older logic are not mixed with runs of this one unasked.

Lineage: memory-purifier, refuse-and-lock. Deliberate differences: the last run's manifest in the
tree is the lock, so there is no lock file to lose, and only a run that took effect opens it.
"""

from __future__ import annotations

from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.purify.manifest import LOGIC_VERSION, SCHEMA_VERSION, read_manifests


class UpgradeRequired(MemrepoError):
    """The last run used an older logic or manifest schema: all must be judged once more."""

    exit_code = Exit.DECIDE

    def __init__(self, run: str, found: tuple[int, int]) -> None:
        super().__init__(
            f"upgrade required: the last run {run} has logic {found[0]} and schema {found[1]},"
            f" this memrepo has {LOGIC_VERSION} and {SCHEMA_VERSION}",
            fix="`memrepo run --acknowledge-upgrade` judges everything again, for review",
        )


class NewerLogic(MemrepoError):
    """The last run was made by a newer memrepo: this one must not write over it."""

    exit_code = Exit.DECIDE

    def __init__(self, run: str) -> None:
        super().__init__(
            f"the last run {run} was made by a newer memrepo", fix="upgrade memrepo on this machine"
        )


def upgrade_due(work: Work) -> UpgradeRequired | None:
    """Return what must be acknowledged before a run, or None; raises NewerLogic."""
    manifests, _ = read_manifests(work.tree.files, work.tree.layout)
    if not manifests:
        return None
    last = manifests[-1]
    # A run that a budget or a failing judge cut short did not judge everything again.
    whole = next((m for m in reversed(manifests) if not m.partial), last)
    found = (whole.logic, whole.schema)
    if last.logic > LOGIC_VERSION or last.schema > SCHEMA_VERSION:
        raise NewerLogic(last.run)
    return UpgradeRequired(whole.run, found) if found < (LOGIC_VERSION, SCHEMA_VERSION) else None
