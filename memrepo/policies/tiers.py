"""Compute how notes age through the tiers hot, warm, gist and forgotten.

A retrieval moves a note back to an earlier tier.

Lineage: context-clear, organize.py. Deliberate differences:

- Ages count from the last retrieval or creation, not from a file's mtime.
- A note with several due moves makes each of them in order.
- The stamp of a move is its due time, so that two clones write the same.
- A note is only removed after it had the tier forgotten in the work tree for the full period.

A note with the tier forgotten has `status: active`.
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
"""The confidence of a hit in each tier."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """A due move of a note to another tier, with the due time and the reason.

    `marked` means that the note is recovered from forgotten and gets the flag `user_marked`.
    """

    source: str
    tier: str
    since: datetime
    why: str
    marked: bool = False

    @property
    def is_ageing(self) -> bool:
        """Return whether age, and not a retrieval, causes the move."""
        return TIERS.index(self.tier) > TIERS.index(self.source)

    def said_of(self, note: Memory) -> str:
        """Describe the move of a note in a few words."""
        return f"{note.label} {self.source} to {self.tier}"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The tier of a note, when it entered the tier (None if it never moved), and its last use."""

    tier: str
    since: datetime | None
    touched: datetime


def place_of(note: Memory, access: Access, rules: TierRules) -> Place | None:
    """Return the tier and last use of a note from its file, or None if it has no creation time.

    Without an access log (in a fresh clone), the last use is computed from the stamp of the last
    move.
    """
    created = note.time("created")
    if created is None:
        return None
    tier, since = note.text("tier") or "hot", note.time("tier_since")
    touched = created if since is None else max(created, since - rules.after(tier))
    if tier == "warm" and since is not None:
        # The note either aged from hot, or was recovered from forgotten at the time of the stamp.
        touched = max((touched, *(at for at in _times(access) if at <= since)))
    return Place(tier=tier, since=since, touched=touched)


def moves(note: Memory, access: Access, now: datetime, rules: TierRules) -> tuple[Move, ...]:
    """Return the due moves of a note, earliest due time first."""
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
    """Return the times of a note's retrievals since its last stored move, oldest first."""
    floor = place.touched
    if place.tier == "warm" and place.since is not None:
        floor = max(floor, place.since)
    return sorted({at for at in _times(access) if floor < at <= now})


def _aged(
    note: Memory, place: Place, now: datetime, rules: TierRules
) -> tuple[Place, tuple[Move, ...]]:
    """Return the note's state at `now` if it was not used until then, and the moves due by age."""
    made: list[Move] = []
    if note.flag("pinned"):
        return place, ()
    basis = "created" if place.touched == note.time("created") else "last retrieved"
    for goal in TIERS[TIERS.index(place.tier) + 1 :]:
        due, age = place.touched + rules.after(goal), format_duration(rules.after(goal))
        # The tier forgotten starts after its age is exceeded, the others when it is reached.
        if now < due or (goal == "forgotten" and now == due):
            break
        why = f"{basis} {format_time(place.touched)}, {age} old when checked at {format_time(due)}"
        made.append(Move(source=place.tier, tier=goal, since=due, why=why))
        place = Place(tier=goal, since=due, touched=place.touched)
    return place, tuple(made)


def _back(place: Place, at: datetime) -> tuple[Move, ...]:
    if place.tier == "hot":
        return ()
    # A retrieval before the note was forgotten came late from another clone. It recovers nothing.
    recovered = place.tier == "forgotten" and (place.since is None or at > place.since)
    goal = "warm" if recovered else "hot"
    why = f"retrieved at {format_time(at)}"
    if recovered:
        why += ", recovered from forgotten"
    return (Move(source=place.tier, tier=goal, since=at, why=why, marked=recovered),)


def effective(note: Memory, access: Access, now: datetime, rules: TierRules) -> str:
    """Return the current tier of a note, counting due moves that no run has written yet."""
    owed = moves(note, access, now, rules)
    return owed[-1].tier if owed else note.text("tier") or "hot"


def ahead(
    note: Memory, access: Access, now: datetime, rules: TierRules
) -> tuple[str, datetime] | None:
    """Return the next tier of an unused note and the due time of the move.

    The tier is empty if the note is to be removed. Return None if the note does not move.
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
    """Return steps for due moves. Moves by age and moves by retrieval are in separate steps.

    The second moves of notes come after all first moves, so that each note moves in order.
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
    """Describe the rule for moves by age, as the reason of a step."""
    said = ", ".join(f"{tier} after {format_duration(rules.after(tier))}" for tier in TIERS[1:])
    return f"{said}, since it was created or retrieved last"


def why_clean(note: Memory, now: datetime, rules: TierRules) -> str:
    """Return why a note is due for removal from the work tree, or an empty string if it is not.

    It must have been forgotten there long enough for a person to notice.
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
