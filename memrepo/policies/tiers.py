"""Notes age: hot, warm, gist, forgotten, gone; a retrieval rotates them back.

Lineage: context-clear, organize.py. Deliberate differences: ages count from the last retrieval or
creation and never from a file's mtime; a note that owes several moves makes each, in order; the
stamp of a move is the moment it fell due, so that two clones write the same; and nothing leaves
the tree before it has stood there as forgotten for its full time. The tier forgotten keeps
`status: active`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.access import Access, moment
from memrepo.core.memory import Memory
from memrepo.core.times import format_duration, format_time
from memrepo.policies.rules import TierRules

if TYPE_CHECKING:
    from memrepo.core.changes import Step, Update

TIERS = ("hot", "warm", "gist", "forgotten")
CONFIDENCE = {"hot": "high", "warm": "high", "gist": "medium", "forgotten": "very low"}
"""How sure an answer from a tier is."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One move of a note: to a tier, at the moment it fell due, and why.

    `marked` says that it was recovered from forgotten and is user_marked from now on.
    """

    source: str
    tier: str
    since: datetime
    why: str
    marked: bool = False

    @property
    def is_ageing(self) -> bool:
        """Return whether it follows from age; else from a retrieval."""
        return TIERS.index(self.tier) > TIERS.index(self.source)

    def said_of(self, note: Memory) -> str:
        """Return which note goes from where to where."""
        return f"{note.label} {self.source} to {self.tier}"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a note stands: tier, when it entered it (None: never moved), its last touch."""

    tier: str
    since: datetime | None
    touched: datetime


def place_of(note: Memory, access: Access, rules: TierRules) -> Place | None:
    """Return where the file says that a note stands; None where nothing says when it was made.

    Without a ledger (a fresh clone) the last touch is taken from the stamp of the last move.
    """
    created = note.time("created")
    if created is None:
        return None
    tier, since = note.text("tier") or "hot", note.time("tier_since")
    touched = created if since is None else max(created, since - rules.after(tier))
    if tier == "warm" and since is not None:
        # It aged there from hot, or came back from forgotten at the very moment of the stamp.
        touched = max((touched, *(at for at in _times(access) if at <= since)))
    return Place(tier=tier, since=since, touched=touched)


def moves(note: Memory, access: Access, now: datetime, rules: TierRules) -> tuple[Move, ...]:
    """Return the moves that a note owes at a moment, in the order in which they fell due."""
    place = place_of(note, access, rules)
    if place is None:
        return ()
    made: list[Move] = []
    for at in _touches(access, place, now):
        place, aged = _aged(note, place, at, rules)
        back = _back(place, at)
        made += (*aged, *back)
        tier, since = (back[0].tier, at) if back else (place.tier, place.since)
        place = Place(tier=tier, since=since, touched=at)
    return (*made, *_aged(note, place, now, rules)[1])


def _times(access: Access) -> list[datetime]:
    return [moment(at) for at, _ in access.recent]


def _touches(access: Access, place: Place, now: datetime) -> list[datetime]:
    """Return the retrievals that the file does not know of yet, oldest first."""
    floor = place.touched
    if place.tier == "warm" and place.since is not None:
        floor = max(floor, place.since)
    return sorted({at for at in _times(access) if floor < at <= now})


def _aged(
    note: Memory, place: Place, now: datetime, rules: TierRules
) -> tuple[Place, tuple[Move, ...]]:
    """Return the moves that a note owes to its age alone if it was not touched until `now`."""
    made: list[Move] = []
    if note.flag("pinned"):
        return place, ()
    basis = "created" if place.touched == note.time("created") else "last retrieved"
    for goal in TIERS[TIERS.index(place.tier) + 1 :]:
        due, age = place.touched + rules.after(goal), format_duration(rules.after(goal))
        # Forgetting asks for more than its age; the other tiers begin at theirs.
        if now < due or (goal == "forgotten" and now == due):
            break
        why = f"{basis} {format_time(place.touched)}, {age} old at {format_time(due)}"
        made.append(Move(source=place.tier, tier=goal, since=due, why=why))
        place = Place(tier=goal, since=due, touched=place.touched)
    return place, tuple(made)


def _back(place: Place, at: datetime) -> tuple[Move, ...]:
    if place.tier == "hot":
        return ()
    # One from before it was forgotten came late from another clone: nothing was recovered then.
    recovered = place.tier == "forgotten" and (place.since is None or at > place.since)
    goal = "warm" if recovered else "hot"
    why = f"retrieved at {format_time(at)}"
    if recovered:
        why += ", recovered from forgotten"
    return (Move(source=place.tier, tier=goal, since=at, why=why, marked=recovered),)


def effective(note: Memory, access: Access, now: datetime, rules: TierRules) -> str:
    """Return the tier that a note has for recall at once, whether or not a run wrote it yet."""
    owed = moves(note, access, now, rules)
    return owed[-1].tier if owed else note.text("tier") or "hot"


def ahead(
    note: Memory, access: Access, now: datetime, rules: TierRules
) -> tuple[str, datetime] | None:
    """Return the tier that a note comes to next if nobody retrieves it, and when it falls due.

    The tier is empty where it leaves the tree; None for a note that stays where it is.
    """
    place, tier = place_of(note, access, rules), effective(note, access, now, rules)
    if place is None or note.flag("pinned"):
        return None
    if tier == TIERS[-1]:
        written = note.time("tier_written") if note.text("tier") == tier else None
        marked = written is None or note.flag("user_marked")
        if marked or written is None or rules.clean_after is None:
            return None
        return "", written + rules.clean_after
    goal = TIERS[TIERS.index(tier) + 1]
    return goal, max([place.touched, *_touches(access, place, now)]) + rules.after(goal)


def steps_of(
    owed: Iterable[tuple[Memory, Sequence[Move]]], now: datetime, rules: TierRules
) -> tuple[Step, ...]:
    """Return owed moves as commits: those for age share one, and those for a retrieval.

    The second moves of notes come after all first ones, so that each note goes its way in order.
    """
    from memrepo.core.changes import Step

    turns: dict[tuple[int, bool], list[tuple[Memory, Move]]] = {}
    for note, made in owed:
        for turn, move in enumerate(made):
            turns.setdefault((turn, move.is_ageing), []).append((note, move))
    found = []
    for (_, ageing), those in sorted(turns.items(), key=lambda t: t[0]):
        note, move = those[0]
        why = move.why
        if len(those) > 1:
            why = _why_age(rules) if ageing else "a retrieval rotates a note back"
        changes = tuple(_change(note, move, now) for note, move in those)
        found.append(Step(op="tier", reason=why, changes=changes))
    return tuple(found)


def _why_age(rules: TierRules) -> str:
    """Return what every note of a commit went by; its own moments are the stamps in its file."""
    said = ", ".join(f"{tier} after {format_duration(rules.after(tier))}" for tier in TIERS[1:])
    return f"{said}, since it was created or retrieved last"


def why_clean(note: Memory, now: datetime, rules: TierRules) -> str:
    """Return why a note leaves the tree, or an empty string.

    It must have stood there as forgotten for long enough, so that a person could have seen it.
    """
    written, after = note.time("tier_written"), rules.clean_after
    if note.text("tier") != "forgotten" or written is None or after is None:
        return ""
    if now - written <= after:
        return ""
    if note.flag("user_marked") or note.flag("pinned"):
        return ""
    kept = format_duration(after)
    return f"forgotten since {format_time(written)}, not retrieved for more than {kept}"


def _change(note: Memory, move: Move, now: datetime) -> Update:
    from memrepo.core.changes import Update
    from memrepo.policies.gists import gist_of

    fields: dict[str, object] = {
        "tier": None if move.tier == "hot" else move.tier,
        "tier_since": move.since,
        "tier_written": now,
    }
    if move.tier == "gist":
        fields["gist"] = gist_of(note)
    if move.marked:
        fields["user_marked"] = True
    return Update(id=note.id, fields=fields)
