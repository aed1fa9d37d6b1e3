"""Parse the configuration. One table of keys drives parsing, defaults, `config show` and docs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import CONFIG_NAME
from memrepo.core.times import parse_duration
from memrepo.keys import (
    BY_NAME,
    FIXED,
    FORMAT,
    NEVER,
    PLAN_NAMES,
    SOURCE_PROFILES,
    Key,
    read_value,
)
from memrepo.policies.rules import (
    ArchiveRules,
    CompressionRules,
    ContradictionRules,
    DecayRules,
    HotRules,
    LinkRules,
    Merits,
    PageRules,
    Rules,
    TierRules,
    Weights,
)
from memrepo.read.sources import SourceRules

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from memrepo.core.judge import Profile
    from memrepo.policies.cadence import Cadence
    from memrepo.policies.importance import Lexicon
    from memrepo.policies.rules import ImportanceRule
    from memrepo.text.sentences import ChunkRules

OUTSIDE = (
    "judge.command",
    "judge.base_url",
    "judge.openai_base_url",
    "judge.recordings",
    "telemetry.dir",
    "telemetry.preset",
    "agents.author",
    "downstream.command",
    "notify.command",
)
"""Keys of the user's own configuration. A repository must not choose a program, host or folder."""
RETIRED = frozenset({"dense.model", "notify.url", "notify.ping", "sources.follow"})
"""Keys of the user's own configuration that no longer have an effect. `memrepo config` says so."""
USER_FILE = "~/.config/memrepo/config.toml"
_SECTIONS = frozenset(
    n.split(".")[0] for n in (*BY_NAME, *OUTSIDE, *RETIRED, *PLAN_NAMES, *FIXED) if "." in n
)


class ConfigError(MemrepoError):
    """Raised for an invalid configuration value.

    The message names the file, line, key, found value and expected value.
    """

    exit_code = Exit.USAGE

    def __init__(
        self, line: int, key: str, message: str, *, fix: str = "", place: str = CONFIG_NAME
    ) -> None:
        place = f"{place}:{line}" if line else place
        super().__init__(f"{place}: {key + ': ' if key else ''}{message}", fix=fix)
        self.key, self.line = key, line


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The effective configuration. `given` contains the keys that are set in the file."""

    values: Mapping[str, Any]
    given: frozenset[str] = frozenset()

    def get(self, name: str) -> Any:
        """Return the effective value of a key. Raise KeyError for an unknown key."""
        key = BY_NAME[name]
        if name in self.values:
            return self.values[name]
        if key.kind == "crons":
            return key.default[self.profile]
        if key.classic is not None and self.lifecycle == "classic":
            return key.classic
        defaults = SOURCE_PROFILES.get(self.values.get("sources.profile", ""), {})
        return defaults.get(name, key.default)

    @property
    def lifecycle(self) -> str:
        """Return the lifecycle profile, which sets the defaults of the keys for ageing."""
        return cast("str", self.get("lifecycle.profile"))

    @property
    def profile(self) -> Profile:
        """Return the profile, `personal` or `business`."""
        return cast("Profile", self.get("profile"))

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone in which times are shown."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.get("timezone"))

    @property
    def human_authors(self) -> tuple[str, ...]:
        """Return the e-mail addresses whose edits count as edits by a person."""
        return cast("tuple[str, ...]", self.get("human_authors"))

    @property
    def ledger_ref(self) -> str:
        """Return the full name of the hub's ref that stores the access ledger."""
        ref = str(self.get("ledger.ref"))
        return ref if ref.startswith("refs/") else f"refs/heads/{ref}"

    @property
    def read_only(self) -> bool:
        """Return whether a newer program wrote this repository, so that writes are refused."""
        return bool(self.get("format") > FORMAT)

    @property
    def cadence(self) -> Cadence:
        """Return the schedule of runs, in the configured time zone."""
        from memrepo.policies.cadence import Cadence

        return Cadence(
            incremental=self.get("schedule.incremental"),
            reconciliation=self.get("schedule.reconciliation"),
        )

    def _span(self, name: str) -> timedelta:
        return parse_duration(self.get(name))

    def _age(self, name: str) -> timedelta | None:
        return None if self.get(name) == NEVER else self._span(name)

    @property
    def rules(self) -> Rules:
        """Return the rules for ageing, decay, the hot cache and the archive."""
        get, ttl = self.get, self.get("decay.ttl")
        return Rules(
            pace_pct=float(get("run.pace_pct")),
            tiers=TierRules(
                warm_after=self._span("tiers.warm_after"),
                gist_after=self._span("tiers.gist_after"),
                forgotten_after=self._span("tiers.forgotten_after"),
                clean_after=self._age("tiers.clean_after"),
                last=get("tiers.forgotten_last"),
            ),
            decay=DecayRules(
                ttl={c: None if t == NEVER else parse_duration(t) for c, t in ttl.items()},
                refreshed=get("decay.refreshed"),
                lasting=get("decay.lasting"),
                evidence=get("decay.evidence"),
                timezone=get("timezone"),
            ),
            hot=HotRules(
                budget=get("hot.budget"),
                composed=get("hot.composed"),
                sessions=get("hot.sessions"),
                idle=get("hot.idle_sessions"),
                path=get("hot.path"),
                max_lines=get("hot.max_lines"),
                max_bytes=get("hot.max_bytes"),
            ),
            archive=ArchiveRules(
                after=self._age("archive.after"),
                demoted_after=self._age("archive.demoted_after"),
                review_after=self._span("archive.review_after"),
            ),
        )

    @property
    def lexicon(self) -> Lexicon:
        """Return the words that decide the importance of a text, including configured words."""
        from memrepo.policies.importance import lexicon

        rule: ImportanceRule = "off"
        if self.get("importance.enabled"):
            rule = self.get("importance.rule")
        return lexicon(self.get("importance.words"), rule)

    @property
    def chunking(self) -> ChunkRules:
        """Return the rules for splitting texts into chunks for search."""
        from memrepo.text.sentences import ChunkRules

        return ChunkRules(
            enabled=self.get("chunking.enabled"),
            target=self.get("chunking.target"),
            least=self.get("chunking.min"),
            overlap=self.get("chunking.overlap"),
        )

    @property
    def links(self) -> LinkRules:
        """Return the rules for linking memories."""
        return LinkRules(expand=self.get("links.expand"), most=self.get("links.most"))

    @property
    def pages(self) -> PageRules:
        """Return the rules for the pages that runs write."""
        return PageRules(
            personal=self.profile == "personal",
            topics=self.get("topics.most") if self.get("topics.enabled") else 0,
        )

    @property
    def contradictions(self) -> ContradictionRules:
        """Return the rules for comparing memories and for resolving contradictions."""
        names = ContradictionRules.__struct_fields__
        return ContradictionRules(**{name: self.get(f"contradictions.{name}") for name in names})

    @property
    def weights(self) -> Weights:
        """Return the weight of each signal in recall."""
        return Weights(
            meaning=float(self.get("recall.meaning")),
            merits=Merits(
                recency=float(self.get("recall.recency")),
                access=float(self.get("recall.access")) if self.get("recall.boost_access") else 0.0,
                half_life=self._span("recall.half_life"),
                importance=float(self.get("recall.importance")),
            ),
        )

    @property
    def compression(self) -> CompressionRules:
        """Return the rules for compressing memories, with their exceptions."""
        return CompressionRules(
            enabled=self.get("compression.enabled"),
            trigger=self.get("compression.trigger"),
            keep=self.get("compression.keep"),
            below=self.get("compression.below"),
            protected=self.get("compression.protected_tags"),
            entities=self.get("compression.protect_entities"),
        )

    def source_rules(self) -> SourceRules:
        """Return the rules for the files that runs read. Raise ConfigError for an unknown kind."""
        if given := self.get("sources.kinds"):
            _check_kinds(given)
        return SourceRules(
            claims=self.get("sources.claims"),
            notes=self.get("sources.notes"),
            deny=self.get("sources.deny"),
            profile=self.profile,
            days=self.get("sources.days"),
            kinds=self.get("sources.kinds"),
        )


def _check_kinds(rows: Sequence[str]) -> None:
    """Raise ConfigError if a row of `sources.kinds` lacks a pattern or has an unknown kind."""
    from difflib import get_close_matches

    from memrepo.read.kinds import kinds

    known = tuple(dict.fromkeys(kind.name for kind in kinds().kind))
    for row in rows:
        pattern, _, kind = (part.strip() for part in row.rpartition("="))
        if not pattern or kind not in known:
            near = get_close_matches(kind, known, 1)
            raise ConfigError(
                0,
                "sources.kinds",
                f'found "{row}", expected "PATTERN = KIND" with one of {", ".join(known)}',
                fix=f'write "{pattern or "PATTERN"} = {near[0] if near else known[0]}"',
            )


def parse_config(text: str) -> Config:
    """Parse `memrepo.toml`. Raise ConfigError for invalid TOML, an unknown key or a wrong value."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise ConfigError(
            int(line[1]) if line else 0,
            "",
            f"not valid TOML: {error}",
            fix="correct the line; strings need quotes",
        ) from error
    flat = _flatten(table)
    values = {}
    for name, found in flat.items():
        if name in OUTSIDE:
            raise _outside(text, name)
        if name in FIXED:
            _check_fixed(text, name, found)
            continue
        key = BY_NAME.get(PLAN_NAMES.get(name, name))
        if key is None:
            raise _unknown(text, name)
        if key.name in values:
            raise ConfigError(
                line_of(text, name),
                name,
                f"found both {key.name} and {key.plan}, two names of one key",
                fix="remove one of them",
            )
        values[key.name] = _value(text, key, found, name)
    return Config(values=MappingProxyType(values), given=frozenset(values))


def _flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict) and name in _SECTIONS:
            flat.update({f"{name}.{key}": part for key, part in value.items()})
        else:
            flat[name] = value
    return flat


def line_of(text: str, name: str) -> int:
    """Return the number of the line, from 1, that sets a dotted key, or 0 if no line does."""
    section, _, key = name.rpartition(".")
    current = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if heading := re.fullmatch(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?", line):
            current = heading[1].strip()
            if current == name:
                return number
            continue
        wanted = key if current == section else name
        if current in (section, "") and re.match(rf"\s*[\"']?{re.escape(wanted)}[\"']?\s*=", line):
            return number
    return 0


def _unknown(text: str, name: str) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.6)
    near = near or [k for k in BY_NAME if k.rpartition(".")[2] == name.rpartition(".")[2]][:1]
    return ConfigError(
        line_of(text, name),
        name,
        "is not a configuration key",
        fix=f"did you mean {near[0]}?" if near else "`memrepo config show` lists all keys",
    )


def _outside(text: str, name: str) -> ConfigError:
    return ConfigError(
        line_of(text, name),
        name,
        "is not read from a repository, because others may write to it",
        fix=f"set it for this clone, `git config memrepo.{git_name(name)} ...`, or in {USER_FILE}",
    )


def parse_outside(text: str, path: str) -> dict[str, object]:
    """Parse the user's own configuration file. Raise ConfigError if it is invalid."""
    try:
        flat = _flatten(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(0, "", f"not valid TOML: {error}", place=path) from error
    for name, found in flat.items():
        if name in RETIRED:
            continue
        if name not in OUTSIDE:
            raise ConfigError(
                line_of(text, name),
                name,
                "is not a key of this file",
                place=path,
                fix=f"this file may contain {', '.join(OUTSIDE)}; all other keys are in"
                f" {CONFIG_NAME}",
            )
        lists = name == "judge.command" and isinstance(found, list) and found
        if not (isinstance(found, str) and found.strip()) and not (
            lists and all(isinstance(part, str) and part for part in found)
        ):
            raise ConfigError(
                line_of(text, name),
                name,
                f"found {found!r}, expected a text",
                place=path,
                fix='a command is a name such as "claude", or a list: ["claude", "-p"]',
            )
    return flat


def git_name(name: str) -> str:
    """Return a user key's name in git's configuration, where underscores are not allowed."""
    return name.replace("_", "-")


def _check_fixed(text: str, name: str, found: object) -> None:
    """Raise ConfigError if a key that allows only one value is set to another."""
    value, why = FIXED[name]
    if found != value:
        raise ConfigError(
            line_of(text, name),
            name,
            f"found {found!r}, expected {value!r}: {why}",
            fix="leave it out",
        )


def _value(text: str, key: Key, found: object, name: str) -> object:
    value, expected = read_value(key, found)
    if expected:
        raise ConfigError(
            line_of(text, name),
            name,
            f"found {found!r}, expected {expected}",
            fix=_default_of(key),
        )
    return value


def _default_of(key: Key) -> str:
    match key.kind:
        case "crons":
            return "leave it out for the cadence of the profile"
        case "text" | "pattern" if key.default is None:
            return "leave it out for none"
        case "ttls":
            return "leave a class out for its default"
        case _:
            if key.default is None:
                return "leave it out for no limit"
            return f"the default is {key.default!r}"
