"""Parse the configuration. One table of keys drives parsing, defaults, `config show` and docs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import CONFIG_NAME
from memrepo.core.secret_kinds import SWITCHED
from memrepo.keys import (
    CLASSIC,
    FIXED,
    MORE,
    Key,
    chunks_of,
    contradictions_of,
    rules_of,
    weights_of,
)
from memrepo.policies.rules import (
    CRONS,
    SHELF_SIZES,
    ContradictionRules,
    PageRules,
    Rules,
    Weights,
)
from memrepo.read.sources import (
    CLAIMS,
    CLASSIC_CLAIMS,
    CONTRACTS,
    DENY,
    NOTES,
    NOTES_CLAIMS,
    NOTES_NOTES,
    SourceRules,
)
from memrepo.values import read_value

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from memrepo.core.judge import Profile
    from memrepo.policies.cadence import Cadence
    from memrepo.policies.importance import Lexicon
    from memrepo.policies.rules import CompressionRules, ImportanceRule
    from memrepo.text.sentences import ChunkRules

FORMAT = 2
"""The repository format that this program reads and writes. A newer format is read-only."""
JUDGES = ("offline", "anthropic", "claude", "openclaw", "openai", "command", "replay")
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
    "sources.follow",
)
"""Keys of the user's own configuration. A repository must not choose a program, host or folder."""
RETIRED = frozenset({"dense.model", "notify.url", "notify.ping"})
"""Keys of the user's own configuration that no longer have an effect. `memrepo config` says so."""
USER_FILE = "~/.config/memrepo/config.toml"
PRICES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "claude-opus-5-5": (4.0, 20.0, 5.0, 0.2),
        "claude-sonnet-5-5": (2.0, 10.0, 2.5, 0.1),
        # Price of prompts over 100,000 tokens. Shorter prompts cost a fifth.
        "claude-haiku-5-5": (0.5, 2.5, 0.625, 0.05),
    }
)
"""US dollars per million tokens, as published in October 2026: input, output, cache write, cache
read."""

KEYS: tuple[Key, ...] = (
    Key(name="format", kind="whole", default=FORMAT, doc="Version of the repository's layout."),
    Key(
        name="profile",
        kind="choice",
        default="personal",
        words=("personal", "business"),
        doc="business excludes CHRONICLES.md, DREAMS.md and their views.",
    ),
    Key(
        name="timezone",
        kind="zone",
        default="Asia/Manila",
        doc="Zone in which times are shown and dates without an offset are read.",
    ),
    Key(
        name="human_authors",
        kind="texts",
        default=(),
        doc="E-mail addresses of the commit authors who are people, not programs.",
    ),
    Key(
        name="sources.claims",
        kind="texts",
        default=CLAIMS,
        doc="Files that runs distil into memories.",
    ),
    Key(
        name="sources.notes",
        kind="texts",
        default=NOTES,
        doc="Files that become notes only.",
    ),
    Key(name="sources.deny", kind="texts", default=DENY, doc="Files that are never read."),
    Key(
        name="sources.days",
        kind="flag",
        default=True,
        doc="Whether lasting statements in daily logs also become claims, in addition to notes.",
    ),
    Key(
        name="sources.profile",
        kind="choice",
        default=CONTRACTS[0],
        words=CONTRACTS,
        doc="workspace: the files of an agent's workspace; notes: every note of a vault or another"
        " folder; classic: only memory-purifier's files, and no daily logs.",
    ),
    Key(
        name="sources.kinds",
        kind="texts",
        default=(),
        doc="Sets the kind of files instead of detecting it: `memory/ideas.md = rules`."
        " `memrepo sources` shows the kind of each file.",
    ),
    Key(
        name="secrets.off",
        kind="texts",
        default=(),
        words=SWITCHED,
        doc="Kinds of secrets that may be remembered like other texts: card, iban, pin,"
        " seed-phrase, totp.",
    ),
    Key(
        name="agents.removals",
        kind="choice",
        default="wait",
        words=("wait", "allow"),
        doc="Whether a person must approve an agent's request to remove a memory from recall"
        " that a person wrote, edited or confirmed.",
    ),
    Key(
        name="agents.additions",
        kind="choice",
        default="allow",
        words=("allow", "review"),
        doc="Whether a memory that an agent stores waits on a branch until a person accepts it;"
        " notes of sessions do not wait.",
    ),
    Key(
        name="run.judge",
        kind="choice",
        default="offline",
        words=JUDGES,
        doc="The judge: who scores and words memories.",
    ),
    Key(
        name="run.shelf",
        kind="choice",
        default="normal",
        words=tuple(SHELF_SIZES),
        doc="How many memories runs create: small, normal (about 120 from a hundred files),"
        " large, or all (everything except noise). The rest stays in its source, where search"
        " finds it.",
    ),
    Key(
        name="run.learn",
        kind="flag",
        default=True,
        doc="Whether confirming, editing, pinning, rejecting or forgetting a memory changes the"
        " rank of similar statements in later runs.",
    ),
    Key(
        name="run.max_usd",
        kind="money",
        default=None,
        doc="Spending limit of one run, in US dollars; unset means no limit.",
    ),
    Key(
        name="run.max_tokens",
        kind="whole",
        default=None,
        doc="Token limit of one run, input and output together.",
    ),
    Key(
        name="run.max_usd_day",
        kind="money",
        default=None,
        doc="Spending limit of all runs of a calendar day together, in US dollars.",
    ),
    Key(
        name="run.max_usd_month",
        kind="money",
        default=None,
        doc="Spending limit of all runs of a calendar month together, in US dollars.",
    ),
    Key(
        name="run.max_tokens_month",
        kind="whole",
        default=None,
        doc="Token limit of all runs of a calendar month together.",
    ),
    Key(
        name="run.max_minutes",
        kind="whole",
        default=120,
        doc="Minutes after which a run stops asking the judge: finished work lands, the rest"
        " waits.",
    ),
    Key(
        name="run.max_change_pct",
        kind="percent",
        default=20,
        doc="A run that would remove a larger percentage of memories from recall waits for review.",
    ),
    Key(
        name="run.reconciliation",
        kind="choice",
        default="review",
        words=("review", "land"),
        doc="Whether a reconciliation waits for review, or lands if it stays within"
        " `run.max_change_pct`"
        " (classic: land).",
    ),
    Key(
        name="run.owner",
        kind="name",
        default=None,
        doc="The only clone that may run, by name or id; unset: every clone may.",
    ),
    Key(
        name="ledger.ref",
        kind="ref",
        default="refs/memrepo/access",
        doc="Ref of the access ledger on the hub; use a branch if the hub refuses other refs.",
    ),
    Key(
        name="judge.model",
        kind="text",
        default="claude-sonnet-5-5",
        doc="The model that the judge uses; the default is for the anthropic judge only.",
    ),
    Key(
        name="judge.verify_model",
        kind="text",
        default=None,
        doc="A cheaper model for the second question, whether evidence states a wording.",
    ),
    Key(
        name="judge.max_tokens",
        kind="whole",
        default=16000,
        doc="Maximum length of an answer, in tokens.",
    ),
    Key(
        name="judge.effort",
        kind="choice",
        default="medium",
        words=("default", "low", "medium", "high", "xhigh", "max"),
        doc="Effort level of the anthropic judge; default leaves it to the model.",
    ),
    Key(
        name="judge.thinking",
        kind="choice",
        default="default",
        words=("default", "adaptive", "disabled", "between_tools"),
        doc="Whether to enable thinking for the anthropic judge; default leaves it to the model.",
    ),
    Key(
        name="judge.timeout_s",
        kind="seconds",
        default=600,
        doc="Seconds to wait for the answer of a service.",
    ),
    Key(
        name="judge.idle_s",
        kind="seconds",
        default=90,
        doc="Seconds without output after which a request is repeated.",
    ),
    Key(
        name="judge.max_retries",
        kind="count",
        default=2,
        doc="How many times to retry an overloaded or unreachable service.",
    ),
    Key(
        name="judge.prices",
        kind="prices",
        default=PRICES,
        doc="US dollars per million tokens by model: input, output, cache write, cache read.",
    ),
    Key(
        name="schedule.incremental",
        kind="crons",
        default=CRONS["incremental"],
        doc="When incremental runs are due: cron expressions in `timezone`.",
    ),
    Key(
        name="schedule.reconciliation",
        kind="crons",
        default=CRONS["reconciliation"],
        doc="When reconciliations are due; within an hour of one, incremental runs are skipped.",
    ),
    Key(
        name="schedule.timeout_s",
        kind="whole",
        default=1200,
        doc="Seconds after which a scheduled run is stopped.",
    ),
    Key(
        name="reporting.enabled",
        kind="flag",
        default=False,
        doc="Whether `report --chat` prints anything; false silences it in every mode.",
    ),
    Key(
        name="reporting.mode",
        kind="choice",
        default="summary",
        words=("silent", "summary", "full"),
        doc="How much `report --chat` and scheduled runs print; if set, it applies to all runs.",
    ),
    Key(
        name="telemetry.component",
        kind="name",
        default="memrepo",
        doc="The name of memrepo in a telemetry log that programs share.",
    ),
    Key(
        name="entities.aliases",
        kind="aliases",
        default=MappingProxyType({}),
        doc="Other names of people, projects and tools, by their main name.",
    ),
    Key(
        name="announce.channel",
        kind="text",
        default=None,
        doc="Where an agent's scheduler delivers reports; with `reporting.enabled`.",
    ),
    Key(name="announce.to", kind="text", default=None, doc="The recipient of the reports there."),
    *MORE,
)
SOURCE_PROFILES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "notes": {"sources.claims": NOTES_CLAIMS, "sources.notes": NOTES_NOTES},
        "classic": {"sources.claims": CLASSIC_CLAIMS, "sources.notes": (), "sources.days": False},
    }
)
"""Defaults of each source profile that differ from those of `workspace`."""
BY_NAME: Mapping[str, Key] = MappingProxyType({key.name: key for key in KEYS})
PLAN_NAMES: Mapping[str, str] = MappingProxyType({key.plan: key.name for key in KEYS if key.plan})
"""Names of keys by their name in the engram plan."""
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
        if name not in self.values and key.kind == "crons":
            return key.default[self.profile]
        if name not in self.values and name in CLASSIC and self.lifecycle == "classic":
            return CLASSIC[name]
        if name not in self.values and name in (by := SOURCE_PROFILES.get(self.contract, {})):
            return by[name]
        return self.values.get(name, key.default)

    @property
    def contract(self) -> str:
        """Return the source profile, which sets the default patterns of sources."""
        return str(self.values.get("sources.profile", CONTRACTS[0]))

    @property
    def lifecycle(self) -> str:
        """Return the lifecycle profile, which sets the defaults of the keys for ageing."""
        name = "lifecycle.profile"
        return cast("str", self.values.get(name, BY_NAME[name].default))

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

    @property
    def rules(self) -> Rules:
        """Return the rules for ageing, decay, the hot cache and the archive."""
        return rules_of(self.get)

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
        return chunks_of(self.get)

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
        return contradictions_of(self.get)

    @property
    def weights(self) -> Weights:
        """Return the weight of each signal in recall."""
        return weights_of(self.get)

    @property
    def compression(self) -> CompressionRules:
        """Return the rules for compressing memories, with their exceptions."""
        from memrepo.policies.rules import CompressionRules

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
