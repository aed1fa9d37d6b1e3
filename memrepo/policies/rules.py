"""The types of configuration values. Each knows what it accepts and how an error describes that.

A field of a section that the docstring of its record describes is a key of `memrepo.toml`. A field
without a description is a constant of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from memrepo.core.patterns import regex
from memrepo.core.times import format_duration, parse_duration

NEVER = "never"
PATTERN_LENGTH = 200


class Unfit(ValueError):
    """Raised by a reader for a value of another kind. The message is what it expected."""

    def __init__(self, expected: str, fix: str = "") -> None:
        super().__init__(expected)
        self.fix = fix


def _read_age(found: Any) -> timedelta | None:
    return None if found == NEVER else parse_duration(found)


def _read_ages(found: Any) -> dict[str, timedelta | None]:
    return {name: _read_age(age) for name, age in found.items()}


def _read_pattern(found: Any) -> str:
    re.compile(found)
    if len(found) > PATTERN_LENGTH:
        raise ValueError
    return str(found)


_REPEATED = regex(r"(?<!\\)\)(?:[*+]|\{(?:\d*,|\d{2,}))")
"""A repeated group, which can take exponential time."""


def _read_patterns(found: Any) -> tuple[str, ...]:
    form = f"a list of regular expressions of at most {PATTERN_LENGTH} characters"
    parts: list[Any] = found if isinstance(found, list) else [None]
    for part in parts:
        try:
            is_empty = re.search(_read_pattern(part), "") is not None
        except (ValueError, TypeError, re.error) as error:
            raise Unfit(f"{form}, not {part!r}") from error
        if is_empty or _REPEATED.search(part):
            what = "match no empty text" if is_empty else "repeat no group"
            raise Unfit(f"a list of regular expressions that {what}, not {part!r}")
    return tuple(found)


def _read_zone(found: Any) -> str:
    if not is_zone(found):
        raise ValueError
    return str(found)


Text = Annotated[str, Meta(pattern=r"\S", title="a text")]
Texts = Annotated[tuple[str, ...], Meta(title='a list of texts such as ["a", "b"]')]
Flag = Annotated[bool, Meta(title="true or false")]
Whole = Annotated[int, Meta(ge=1, title="a whole number from 1")]
Count = Annotated[int, Meta(ge=0, title="a whole number from 0")]
Share = Annotated[float, Meta(ge=0, le=1, title="a number from 0 to 1")]
Percent = Annotated[float, Meta(ge=0, le=100, title="a number from 0 to 100")]
Money = Annotated[float, Meta(ge=0, lt=1e12, title="an amount of US dollars from 0")]
Seconds = Annotated[float, Meta(gt=0, lt=1e9, title="a number of seconds above 0")]
Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        title="a name of letters, digits, dots, hyphens and underscores",
    ),
]
Prices = Annotated[
    dict[str, tuple[Money, Money, Money, Money]],
    Meta(title='four amounts per model such as "name" = [2.0, 10.0, 2.5, 0.2]'),
]
Zone = Annotated[
    str, Meta(title="a zone of the tz database such as Europe/Berlin", extra={"read": _read_zone})
]
Age = Annotated[
    timedelta | None,
    Meta(title=f'a duration such as "30d", or "{NEVER}"', extra={"read": _read_age}),
]
Ages = Annotated[
    Mapping[str, timedelta | None],
    Meta(
        title=f'a duration by class such as {{ normal = "21d", mine = "{NEVER}" }}',
        extra={"read": _read_ages},
    ),
]
Pattern = Annotated[
    str,
    Meta(
        title=f"a regular expression of at most {PATTERN_LENGTH} characters",
        extra={"read": _read_pattern},
    ),
]
Patterns = Annotated[
    tuple[str, ...],
    Meta(title="a list of regular expressions", extra={"read": _read_patterns}),
]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration key: its dotted name, its type, default and meaning."""

    name: str
    type: Any
    default: Any
    doc: str

    @property
    def expected(self) -> str:
        """Return what the value may be, as an error and the documentation say it."""
        base, metas = _parts(self.type)
        title = next((meta.title for meta in metas if meta.title), "")
        if not title and get_origin(base) is Literal:
            return f"one of {', '.join(get_args(base))}"
        return title or f"a list of {', '.join(get_args(get_args(base)[0]))}"

    def read(self, found: object) -> Any:
        """Return the value that a file sets. Raise Unfit, with what was expected."""
        base, metas = _parts(self.type)
        read = next((meta.extra["read"] for meta in metas if meta.extra), None)
        try:
            value = read(found) if read is not None else msgspec.convert(found, self.type)
        except Unfit:
            raise
        except (ValueError, TypeError, AttributeError, re.error) as error:
            raise Unfit(self.expected) from error
        if isinstance(found, int) and base is float:
            return found  # shown as it is written
        return {**self.default, **value} if isinstance(value, dict) else value

    def spell(self, value: object) -> Any:
        """Return a value as the file spells it, in types of JSON."""
        if isinstance(value, Mapping):
            return {name: self.spell(part) for name, part in value.items()}
        if isinstance(value, timedelta):
            return format_duration(value)
        if value is None and NEVER in self.expected:
            return NEVER
        return list(value) if isinstance(value, tuple) else value


def _parts(kind: Any) -> tuple[Any, list[Meta]]:
    """Return a type without `Annotated` and `None`, and everything that annotates it."""
    if get_origin(kind) is Annotated:
        base, metas = _parts(kind.__origin__)
        return base, [*kind.__metadata__, *metas]
    if get_origin(kind) in (Union, UnionType):
        (one,) = (part for part in get_args(kind) if part is not NoneType)
        return _parts(one)
    return kind, []


_ENTRY = regex(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def keys_of(section: str, record: type[msgspec.Struct]) -> Iterator[Key]:
    """Yield the keys of a section: the fields of its record that its docstring describes."""
    docs = {name: " ".join(text.split()) for name, text in _ENTRY.findall(record.__doc__ or "")}
    for field in msgspec.structs.fields(record):
        if field.name not in docs:
            continue
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        yield Key(
            name=f"{section}.{field.name}" if section else field.name,
            type=field.type,
            default=default,
            doc=docs[field.name],
        )


_NO_ZONES = ("localtime", "posix", "right/")  # the machine's zone, and other leap second rules
_ZONES = "/usr/share/zoneinfo"
_PLAIN_ZONE = regex(r"[A-Za-z]\w*(?:[/+-]\w+)*", re.ASCII)


def is_zone(value: object) -> bool:
    """Return whether a value names a time zone of the tz database.

    Listing all zones would be slow.
    """
    if not isinstance(value, str) or value.startswith(_NO_ZONES):
        return False
    try:
        if _PLAIN_ZONE.fullmatch(value):
            with Path(_ZONES, value).open("rb") as file:
                if file.read(4) == b"TZif":
                    return True  # faster than importing `zoneinfo`
    except OSError:
        pass
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        return False
    return True


SIGNALS = ("critical", "high", "hedging", "personal", "specifics", "about")
ImportanceRule = Literal["sum", "levels"]
"""How importance is scored: by a sum of points, or by the strongest reason."""
Size = Literal["small", "normal", "large", "all"]
SHELF_SIZES: Mapping[Size, float] = MappingProxyType(
    {"small": 0.5, "normal": 1.0, "large": 2.0, "all": float("inf")}
)
"""The number of claims in a repository, as a multiple of the normal number (`read.shelf`)."""
GAP = timedelta(minutes=30)
"""A longer time between two notes starts a new thread."""
_DAY = timedelta(days=1)
TTLS: Mapping[str, timedelta | None] = MappingProxyType(
    {
        "permanent": None,
        "durable": 90 * _DAY,
        "normal": 14 * _DAY,
        "short": 2 * _DAY,
        "ephemeral": timedelta(hours=4),
        "stable": 90 * _DAY,
        "active": 14 * _DAY,
        "session": _DAY,
        "checkpoint": timedelta(hours=4),
    }
)
REFRESHED = ("durable", "normal", "stable", "active")
LASTING = ("durable", "normal", "stable")
"""Classes of lasting memories. Age makes them stale, but does not remove them from recall."""


RunMode = Literal["incremental", "reconciliation"]
MODES: tuple[RunMode, ...] = ("reconciliation", "incremental")


def cron_problem(expression: str) -> str:
    """Return a description of the error in a cron expression, or an empty string if it is valid."""
    from cronsim import CronSim, CronSimError  # slow to import

    if not expression.isprintable():
        return "expected one line without control characters"
    if len(expression.split()) != 5:
        return "expected five fields: minute, hour, day of month, month, day of week"
    try:
        parsed = CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
        # cronsim stops searching after 50 years.
        return "" if next(parsed, None) else "no date matches it"
    except CronSimError as error:
        return str(error).replace("Bad ", "wrong ")
    except (AssertionError, ValueError, TypeError):  # not handled by the cronsim parser
        return "wrong cron expression"


def _read_crons(found: Any) -> tuple[str, ...]:
    crons = msgspec.convert(found, tuple[str, ...])
    for cron in crons:
        if fault := cron_problem(cron):
            raise Unfit(f"cron expressions ({cron!r}: {fault})")
    return crons


Crons = Annotated[
    tuple[str, ...],
    Meta(title='a list of cron expressions such as ["15 5 * * 1-5"]', extra={"read": _read_crons}),
]


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """When runs are due.

    incremental: When incremental runs are due: cron expressions in `timezone`.
    reconciliation: When reconciliations are due; within an hour of one, incremental runs are
        skipped.
    timeout_s: Seconds after which a scheduled run is stopped.
    """

    incremental: Crons = ("15 5 * * 1,2,4,5,6", "15 17 * * *")
    reconciliation: Crons = ("15 5 * * 3,0",)
    timeout_s: Whole = 1200

    def of(self, mode: RunMode) -> tuple[str, ...]:
        """Return the cron expressions of a mode."""
        return self.incremental if mode == "incremental" else self.reconciliation

    def jobs(self) -> Iterator[tuple[str, RunMode, str]]:
        """Yield (name, mode, cron expression) for each expression, incremental ones first."""
        for mode in reversed(MODES):
            crons = self.of(mode)
            for number, cron in enumerate(crons, start=1):
                yield f"{mode}-{number}" if len(crons) > 1 else mode, mode, cron


class TierRules(msgspec.Struct, frozen=True, kw_only=True):
    """The ages at which a note changes its tier, counted from its last retrieval or creation.

    `clean_after` is how long a forgotten note stays in the work tree. None means for ever. If
    `last` is true, forgotten notes come after all other hits. Otherwise only their age and gist
    lower the score.

    clean_after: Time after which a forgotten note is removed from the tree (classic: 30d).
    """

    warm_after: timedelta = timedelta(hours=3)
    gist_after: timedelta = timedelta(days=7)
    forgotten_after: timedelta = timedelta(days=14)
    clean_after: Age = None
    last: bool = False

    def after(self, tier: str) -> timedelta:
        """Return the age at which a note enters a tier."""
        ages = {"warm": self.warm_after, "gist": self.gist_after, "forgotten": self.forgotten_after}
        return ages.get(tier, timedelta(0))


class DecayRules(msgspec.Struct, frozen=True, kw_only=True):
    """The lifetime of each decay class, or None if unlimited, and the classes refreshed by use.

    Expired memories leave recall, except those of `lasting` classes, which become stale. With
    `evidence`, a memory with evidence (`decay.stands`) only expires if its class is explicit. A
    memory with a stated end of validity then leaves recall at that time.

    ttl: Lifetime of memories by decay class, such as `normal = "21d"`; adds new classes too.
    """

    ttl: Ages = msgspec.field(default_factory=lambda: TTLS)
    refreshed: tuple[str, ...] = REFRESHED
    lasting: tuple[str, ...] = LASTING
    evidence: bool = True
    timezone: str = "UTC"

    @property
    def zone(self) -> tzinfo:
        """Return the time zone in which the last day of validity ends."""
        from zoneinfo import ZoneInfo  # rarely needed

        return ZoneInfo(self.timezone)


class HotRules(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the hot cache, and the session counts for adding and removing memories.

    With `composed`, each run composes the page from valid memories, and use decides among equals.

    budget: Maximum number of bullets on the first page.
    """

    budget: Whole = 30
    composed: bool = True
    layers: bool = False
    """Whether runs and sessions write `memory/hygiene.json` and `memory/LAYER.md`, which git
    ignores."""
    path: Literal["MEMORY.md", "HOT.md"] = "MEMORY.md"
    max_lines: int = 200
    """How many lines of the page a host loads."""
    max_bytes: int = 24 * 1024
    """How many bytes of the page a host loads."""
    sessions: int = 3
    """How many sessions must retrieve a memory before it is promoted."""
    idle: int = 3
    """How many sessions without a retrieval demote a memory."""


class ArchiveRules(msgspec.Struct, frozen=True, kw_only=True):
    """The idle time before archiving, and the time in the archive before a review."""

    after: timedelta | None = None
    demoted_after: timedelta | None = None
    """The time after which a memory that left the first page is archived."""
    review_after: timedelta = timedelta(days=180)


CLASSIC_RULES: Mapping[str, object] = MappingProxyType(
    {
        "tiers.last": True,
        "decay.lasting": (),
        "decay.evidence": False,
        "hot.composed": False,
        "hot.layers": True,
        "archive.after": timedelta(days=30),
        "archive.demoted_after": timedelta(days=60),
    }
)
"""The constants of the rules that differ in the profile `classic`."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules for tiers, decay, the hot cache and the archive."""

    tiers: TierRules = msgspec.field(default_factory=TierRules)
    decay: DecayRules = msgspec.field(default_factory=DecayRules)
    hot: HotRules = msgspec.field(default_factory=HotRules)
    archive: ArchiveRules = msgspec.field(default_factory=ArchiveRules)


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The weights for texts that contain answers or questions."""

    reply: float = 0.6
    """The share that a question lends to the next turn of another speaker."""
    fits: float = 0.3
    """The share that a text gains for containing a kind of answer that is asked for."""
    question: float = 0.5
    """The share that an assistant's answer lends to the turn before it."""
    asks: float = 0.2
    """The share that a question loses. It is halved if the text also describes its speaker."""
    assistant: float = 0.4
    """The share that an assistant's answer loses, unless the question asks for it."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum contribution of each ranking signal to a score.

    meaning: Weight of similarity of meaning in a score; needs the extra `dense`.
    recency: Weight of age in a score, 0 to 1.
    """

    meaning: Share = 1.0
    recency: Share = 0.2
    half_life: timedelta = timedelta(days=7)
    access: float = 0.1
    """The maximum bonus for retrievals."""
    importance: float = 0.15
    note: float = 0.2
    """The share of the score that a note or episode loses."""
    neighbour: float = 0.25
    """The share of its score that a hit lends to one next to it."""
    subject: float = 0.3
    answers: Answers = msgspec.field(default_factory=Answers)
    span: float = 1.0
    """The score of a day in a named time span, such as last week. It equals that of all words."""


class CompressionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for compression: when a run compresses memories, and which memories are exempt.

    `trigger` is the number of active memories from which compression starts. The newest `keep`
    memories and those scoring at least `below` are exempt.

    enabled: Whether runs summarise old memories of low importance (classic: true).
    trigger: Number of active memories, without notes, from which runs compress.
    keep: Number of newest memories that are never compressed.
    below: Importance below which memories may be compressed (classic: 0.3).
    protected_tags: Tags and types that are never compressed.
    """

    enabled: Flag = False
    trigger: Whole = 1000
    keep: Count = 300
    below: Share = 0.45
    protected_tags: Texts = ("commitment", "preference", "decision")
