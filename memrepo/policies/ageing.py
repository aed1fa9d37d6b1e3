"""Compute how memories age: the lifetime of claims, the tiers of notes, and nominated notes.

A claim's class is the one that it states. Otherwise it is the first class of `decay.toml` with a
matching word. Lineage: openclaw-hybrid-memory, decay and pruning. Deliberate differences:

- Confidence depends on time, not on the number of runs. It is equal for equal times, and a refresh
  restores it.
- This module, not only the class, decides which memories are never pruned.
- If evidence counts (`DecayRules.evidence`), age makes lasting memories and those with evidence
  stale, but does not remove them from recall.

Notes move through the tiers hot, warm, gist and forgotten. A retrieval moves a note back to an
earlier tier. Lineage: context-clear, organize.py and promote.py. Deliberate differences:

- Ages count from the last retrieval or creation, not from a file's mtime.
- A note makes one move per run, to the tier of its age.
- The stamp of a move is its due time, so that two clones write the same.
- A note is only removed after it had the tier forgotten in the work tree for the full period.

A note with the tier forgotten has `status: active`. Days of nominations are counted in UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec.structs import asdict, replace

from memrepo.core.ids import normalise, visible
from memrepo.core.manifest import Access, Accesses, moment
from memrepo.core.memory import Memory, Stamp
from memrepo.core.patterns import compiled, read_table, regex
from memrepo.core.times import end_of, format_duration, format_time, parse_time
from memrepo.policies.rules import DecayRules, TierRules

ORDER = ("permanent", "session", "active", "checkpoint")
TABLE = Path(__file__).with_name("decay.toml")
ENTITIES = ("decision", "convention")
"""Entities that make a statement permanent. A type or tag of the same name has the same effect."""


DEFAULT, SUMMARY = "stable", "durable"
AUTOMATIC = (*ORDER, DEFAULT)
"""The classes that classification assigns. Other classes are only set explicitly."""
_SPLIT = regex(r"[_\-.:\s]+|(?<=[a-z0-9])(?=[A-Z])")


def classify(entity: str, key: str, text: str) -> str:
    """Return the decay class of a statement, based on its entity, key and text."""
    words = normalise(text)
    for name in ORDER:
        if _is_key(key, name) or _signs()[name].texts.search(words):
            return name
        if name == "permanent" and (normalise(entity) in ENTITIES or _is_key(entity, name)):
            return name
    return DEFAULT


def automatic(memory: Memory) -> str:
    """Return the decay class that the current rules assign to a memory."""
    if memory.type == "summary":
        return SUMMARY
    named = (memory.type, *memory.tags)
    own = next((e for e in ENTITIES if e in named), "") or memory.subject
    entities = memory.entities or ("",)
    key, text = memory.predicate, memory.body
    classes = {classify(entity, key, text) for entity in (own, *entities)}
    return "permanent" if "permanent" in classes else classify(own, key, text)


def class_of(memory: Memory) -> str:
    """Return the decay class of a memory: the explicit class, or else the automatic class."""
    return memory.decay or memory.once("class", lambda: automatic(memory))


def _is_key(name: str, cls: str) -> bool:
    """Return whether a key or entity contains a word that indicates a decay class."""
    whole, signs = segments(name), _signs()[cls]
    return not signs.single.isdisjoint(whole) or any(_holds(whole, part) for part in signs.several)


class _Signs(msgspec.Struct, frozen=True, kw_only=True):
    """The words that indicate a decay class, in keys of one or several segments and in texts."""

    single: frozenset[str]
    several: tuple[tuple[str, ...], ...]
    texts: re.Pattern[str]


@cache
def _signs() -> Mapping[str, _Signs]:
    """Load the table of decay classes, and compile the signs of each class."""
    found: dict[str, _Signs] = {}
    for name, row in read_table(TABLE).items():
        parts = [segments(word) for word in row["keys"]]
        words = "|".join(re.escape(normalise(word)) for word in row["texts"])
        found[name] = _Signs(
            single=frozenset(part[0] for part in parts if len(part) == 1),
            several=tuple(part for part in parts if len(part) > 1),
            texts=compiled(rf"(?<!\w)(?:{words})(?!\w)"),
        )
    return found


@lru_cache(maxsize=4096)
def segments(name: str) -> tuple[str, ...]:
    """Split a key at `_ - . :`, blanks and case changes, and normalise the parts."""
    return tuple(filter(None, (normalise(part) for part in _SPLIT.split(name))))


def _holds(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


_DAY = timedelta(days=1)
FLOOR = 0.1
"""Recall omits, and a run prunes, memories with a confidence below this."""
_SOFT = 0.75
_STEPS = 16
_LEAST_STEP = timedelta(hours=1)
_STALE = 0.5
"""The factor for the confidence of a stale memory, whatever its age."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """The retention of a memory at the time `now`: its expiry, confidence and validity.

    `ttl` is the lifetime of its class, or None for ever. `stored` is the confidence that
    its file states. `lasts` is true if age never removes the memory from recall. `until` is its
    stated end of validity.
    """

    memory: Memory
    cls: str
    ttl: timedelta | None
    confirmed: datetime | None
    stored: float
    now: datetime
    lasts: bool = False
    until: datetime | None = None

    @property
    def held(self) -> datetime | None:
        """Return the future date in the text that suspends decay. Searching it is slow."""
        return self.memory.made(held_until) if self.ttl and self.confirmed else None

    @property
    def expires(self) -> datetime | None:
        """Return when the memory expires, or None if it never does."""
        if self.ttl is None or self.confirmed is None:
            return None
        return max(self.confirmed + self.ttl, self.held or self.confirmed)

    @property
    def age(self) -> float:
        """Return the age as a share of the lifetime, without the time that a date suspends."""
        if (
            self.ttl is None
            or self.confirmed is None
            or self.now - self.confirmed <= _SOFT * self.ttl
        ):
            return 0.0
        if self.held is not None and self.now < self.held:
            return 0.0
        return (self.now - self.confirmed) / self.ttl

    @property
    def confidence(self) -> float:
        """Return the confidence, which is halved again and again near the end of the lifetime."""
        if self.lasts:
            return (
                self.stored * _STALE
                if self.expired and self.stored >= FLOOR / _STALE
                else self.stored
            )
        if not self.age or self.ttl is None or self.confirmed is None:
            return self.stored
        beyond = self.now - self.confirmed - _SOFT * self.ttl
        return self.stored * 0.5 ** max(0, math.ceil(beyond / _step(self.ttl)))

    @property
    def expired(self) -> bool:
        """Return whether the memory has expired. At the exact time of expiry it has not."""
        return self.age > 1 and self.expires is not None and self.now > self.expires

    @property
    def stale(self) -> bool:
        """Return whether the memory has expired but remains in recall."""
        return self.lasts and self.expired

    @property
    def ended(self) -> bool:
        """Return whether the memory's stated end of validity has passed."""
        return self.until is not None and self.until <= self.now

    @property
    def gone(self) -> bool:
        """Return whether the memory has left recall, by age or by its stated end of validity."""
        if self.ended or self.stored < FLOOR:
            return True
        return not self.lasts and (self.expired or self.confidence < FLOOR)

    @property
    def leaves(self) -> datetime | None:
        """Return when the memory leaves recall unless refreshed, or None if it never leaves."""
        low = self.confirmed if self.stored < FLOOR else None
        if low is None and not self.lasts and self.ttl is not None and self.confirmed is not None:
            steps = math.floor(math.log2(self.stored / FLOOR))  # still not below the floor
            low = self.confirmed + _SOFT * self.ttl + steps * _step(self.ttl)
            low = max(low, self.held or low)
        moments = [self.until, low, None if self.lasts else self.expires]
        return min((m for m in moments if m is not None), default=None)

    @property
    def due(self) -> datetime:
        """Return when the memory became due for pruning."""
        at = self.leaves
        return at if at is not None and at <= self.now else self.confirmed or self.now

    def reason(self) -> str:
        """Describe why the memory left recall, as text for a commit message."""
        when = f"last confirmed {format_time(self.confirmed)}" if self.confirmed else "undated"
        if self.ended and self.until:
            return f"it was true until {format_time(self.until)}"
        if self.expired and self.expires and not self.lasts:
            return f"class {self.cls}, expired {format_time(self.expires)}, {when}"
        return f"class {self.cls}, confidence {self.confidence:.4f} below {FLOOR}, {when}"


_LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""Later confirmations are treated as this date, so that expiry stays within the calendar."""


def retention_of(memory: Memory, access: Access, now: datetime, rules: DecayRules) -> Retention:
    """Compute the retention of a memory. A memory whose class has no rule is retained for ever."""
    cls = class_of(memory)
    ttl, confirmed = rules.ttl.get(cls), confirmed_at(memory, access, cls, rules)
    return Retention(
        memory=memory,
        cls=cls,
        ttl=ttl,
        confirmed=min(confirmed, _LATEST) if confirmed else None,
        stored=memory.confidence,
        now=now,
        lasts=ttl is not None and lasts(memory, cls, rules),
        until=stated_end(memory, rules),
    )


def lasts(memory: Memory, cls: str, rules: DecayRules) -> bool:
    """Return whether a memory remains in recall regardless of its age.

    It does not if its class is explicit and has a limited lifetime. A class guessed from the words
    limits only memories without evidence.
    """
    if cls in rules.lasting:
        return True
    return rules.evidence and not memory.decay and has_evidence(memory)


def never_ends(memory: Memory, rules: DecayRules) -> bool:
    """Return whether a memory is recalled whatever the time, as most are: `is_over` is false.

    Each run asks this of every memory, and it takes a part of the time of a Retention.
    """
    if memory.valid_until or memory.confidence < FLOOR:
        return False
    cls = class_of(memory)
    return cls in rules.ttl and lasts(memory, cls, rules)


def has_evidence(memory: Memory) -> bool:
    """Return whether a memory is supported by a line of a source or by a person's confirmation."""
    return memory.once("stands", partial(_is_supported, memory))


def _is_supported(memory: Memory) -> bool:
    if any(map(_is_human, (memory.stamp, *memory.verified))):
        return True
    return memory.standing != "retire_candidate" and any(s.text_hash for s in memory.sources)


def _is_human(stamp: Stamp | None) -> bool:
    return stamp is not None and stamp.by.startswith("human:")


def stated_end(memory: Memory, rules: DecayRules) -> datetime | None:
    """Return a memory's stated end of validity, or None if it has none or the end has no effect."""
    until = memory.valid_until
    if not until or not rules.evidence or memory.pinned:
        return None
    return end_of(until, rules.zone)


def confirmed_at(memory: Memory, access: Access, cls: str, rules: DecayRules) -> datetime | None:
    """Return when a memory was last created or verified, or retrieved if its class allows that."""
    moments = [memory.created, *(stamp.at for stamp in memory.verified)]
    if cls in rules.refreshed:
        moments.append(access.last)
    return max((moment for moment in moments if moment is not None), default=None)


def held_until(memory: Memory) -> datetime | None:
    """Return the end of the latest day in the text that is later than the text's own date."""
    created = memory.created
    stated = parse_time(memory.captured[:10]) if memory.captured else created
    if not stated:
        return None
    from memrepo.text.dates import future_date  # has the tables of all languages

    found = future_date(memory.body, stated)
    return found + _DAY if found else None


def _step(ttl: timedelta) -> timedelta:
    return max(_LEAST_STEP, ttl / _STEPS)


def is_protected(memory: Memory, cls: str) -> bool:
    """Return whether a class, a flag or a person's confirmation protects a memory from pruning."""
    return (
        cls == "permanent"
        or any(getattr(memory, name) for name in ("pinned", "critical", "user_marked"))
        or any(map(_is_human, memory.verified))
    )


def is_over(memory: Memory, kept: Retention) -> bool:
    """Return whether a memory is excluded from recall."""
    return kept.ended or (kept.gone and not is_protected(memory, kept.cls))


def is_stale(memory: Memory, kept: Retention) -> bool:
    """Return whether a memory is still recalled although the lifetime of its class is over."""
    return kept.stale and not is_protected(memory, kept.cls)


def decays(memory: Memory) -> bool:
    """Return whether decay applies to a memory: an active memory that is no note or chunk."""
    return memory.status == "active" and memory.type not in ("note", "chunk")


def prunable(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: DecayRules,
    *,
    soft: bool = False,
) -> list[tuple[Memory, Retention]]:
    """Return the memories due for pruning, earliest first. `soft` skips expired memories."""
    found = []
    for memory in filter(decays, memories):
        if never_ends(memory, rules):
            continue
        kept = retention_of(memory, accesses.of(memory.id), now, rules)
        if is_over(memory, kept) and not (soft and kept.expired):
            found.append((memory, kept))
    return sorted(found, key=lambda pair: (pair[1].due, pair[0].id))


def format_ttl(ttl: timedelta | None) -> str:
    """Format a lifetime for display. None means for ever."""
    return "for ever" if ttl is None else format_duration(ttl)


TIERS = ("hot", "warm", "gist", "forgotten")
CONFIDENCE = {"hot": "high", "warm": "high", "gist": "medium", "forgotten": "very low"}
"""The confidence of a hit in each tier."""


class TierPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The tier of a note at a time, since when and why, and its last use.

    `since` is None if the note never moved. `marked` means that a retrieval recovered the note from
    forgotten, which sets the flag `user_marked`.
    """

    tier: str
    since: datetime | None
    touched: datetime
    why: str = ""
    marked: bool = False


class Move(TierPlace, frozen=True, kw_only=True):
    """A due move of a note from the tier that its file states. It always has its due time."""

    source: str
    since: datetime

    @property
    def is_ageing(self) -> bool:
        """Return whether age, and not a retrieval, causes the move."""
        return TIERS.index(self.tier) > TIERS.index(self.source)

    def describe(self, note: Memory) -> str:
        """Describe the move of a note in a few words."""
        return f"{note.label} {self.source} to {self.tier}"


def _stored_place(note: Memory, access: Access, rules: TierRules) -> TierPlace | None:
    """Return the tier and last use that a note's file states, or None without a creation time."""
    created = note.created
    if created is None:
        return None
    tier, since = note.tier, note.tier_since
    touched = created if since is None else max(created, since - rules.after(tier))
    if tier == "warm" and since is not None:
        # The note either aged from hot, or was recovered from forgotten at the time of the stamp.
        touched = max((touched, *(at for at in _times(access) if at <= since)))
    return TierPlace(tier=tier, since=since, touched=touched)


def _times(access: Access) -> list[datetime]:
    return [moment(at) for at, _ in access.recent]


def place_of(note: Memory, access: Access, now: datetime, rules: TierRules) -> TierPlace | None:
    """Return the tier of a note at `now`, or None if it has no creation time.

    A retrieval brings a note back to hot, or to warm if it was forgotten by then. From its last
    use the note ages, unless it is pinned.
    """
    place = _stored_place(note, access, rules)
    if place is None:
        return None
    floor = place.touched
    if place.tier == "warm" and place.since is not None:
        floor = max(floor, place.since)
    times = [place.touched, *sorted({at for at in _times(access) if floor < at <= now})]
    is_ageing = not note.pinned or place.tier == "forgotten"
    recoveries = [is_ageing and b - a > rules.forgotten_after for a, b in pairwise(times)]
    marked, last = any(recoveries), times[-1]
    if recoveries and (place.tier != "hot" or marked):
        why = f"retrieved at {format_time(last)}"
        why += ", recovered from forgotten" if recoveries[-1] else ""
        tier = "warm" if recoveries[-1] else "hot"
        place = TierPlace(tier=tier, since=last, touched=last, why=why, marked=marked)
    if note.pinned:
        return place
    basis = "created" if last == note.created else "last retrieved"
    for goal in TIERS[TIERS.index(place.tier) + 1 :]:
        due, age = last + rules.after(goal), format_duration(rules.after(goal))
        # The tier forgotten starts after its age is exceeded, the others when it is reached.
        if now < due or (goal == "forgotten" and now == due):
            break
        why = f"{age} after it was {basis} at {format_time(last)}, due at {format_time(due)}"
        place = TierPlace(tier=goal, since=due, touched=last, why=why, marked=marked)
    return replace(place, touched=last)


def move_of(note: Memory, access: Access, now: datetime, rules: TierRules) -> Move | None:
    """Return the move of a note to the tier that it has at `now`, or None if none is due."""
    place, source = place_of(note, access, now, rules), note.tier
    if place is None or (place.tier == source and (note.user_marked or not place.marked)):
        return None
    return Move(source=source, **asdict(place))


def effective(note: Memory, access: Access, now: datetime, rules: TierRules) -> str:
    """Return the current tier of a note, counting a due move that no run has written yet."""
    place = place_of(note, access, now, rules)
    return place.tier if place else note.tier


def why_clean(note: Memory, now: datetime, rules: TierRules) -> str:
    """Return why a note is due for removal from the work tree, or an empty string if it is not."""
    written, after = note.tier_since, rules.clean_after
    if note.tier != "forgotten" or written is None or after is None:
        return ""
    if now - written <= after:
        return ""
    if note.user_marked or note.pinned:
        return ""
    kept = format_duration(after)
    return f"forgotten since {format_time(written)}, not retrieved for more than {kept}"


WEEK, FORTNIGHT, EVER = (7, 3), (14, 5), 8
"""Thresholds: retrievals within 7 days, within 14 days, and in all."""


SKILLS, HOT_CACHE = "skills", "hot cache"


_HOW_TO = ("how to", "procedure", "runbook", "step 1", "steps", "workflow", "recipe", "method")


class Nomination(msgspec.Struct, frozen=True, kw_only=True):
    """A note proposed for promotion, with the reasons, the destination and the retrievals."""

    id: str
    path: str
    title: str
    why: tuple[str, ...]
    destination: str
    retrievals: int
    last: str
    """The time of the last retrieval. Empty for never."""

    @property
    def name(self) -> str:
        """Return the note's title on one line, or else its file name."""
        slug = self.path.rsplit("/", 1)[-1].removesuffix(".md")
        return " ".join(visible(self.title or slug).split())

    @property
    def record(self) -> str:
        """Describe the reasons for promotion and the last retrieval of the note in one line."""
        return ", ".join([*self.why, *([f"last retrieved {self.last}"] if self.last else [])])


def nominated(
    notes: Iterable[Memory], accesses: Accesses, now: datetime, rules: TierRules
) -> tuple[Nomination, ...]:
    """Return unpromoted notes that meet a condition for promotion, most retrieved first."""
    found = []
    for note in notes:
        if not note.is_note or note.status != "active" or note.promoted:
            continue
        access = accesses.of(note.id)
        if note.nominated is not None:
            access = access.after(note.nominated)
            if not access.total:
                continue
        if why := _promotion_reasons(note, access, now, rules):
            one = Nomination(
                id=note.id,
                path=note.path,
                title=note.title,
                why=why,
                destination=destination(note),
                retrievals=access.total,
                last=format_time(access.last) if access.last else "",
            )
            found.append(one)
    return tuple(sorted(found, key=lambda one: (-one.retrievals, one.path)))


def _promotion_reasons(
    note: Memory, access: Access, now: datetime, rules: TierRules
) -> tuple[str, ...]:
    """Describe the conditions for promotion that a note meets."""
    why = []
    for days, least in (WEEK, FORTNIGHT):
        count = access.within(days, now)
        if count >= least:
            why.append(f"{count} retrievals in {days} days")
    if access.total >= EVER:
        why.append(f"{access.total} retrievals in all")
    if note.user_marked or ((move := move_of(note, access, now, rules)) and move.marked):
        why.append("marked by the user")
    return tuple(why)


def destination(note: Memory) -> str:
    """Return the destination of a note: skills for instructions, the hot cache otherwise."""
    text = normalise(f"{note.title} {note.body[:2000]}")
    return SKILLS if any(word in text for word in _HOW_TO) else HOT_CACHE
