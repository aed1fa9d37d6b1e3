"""The configuration: its keys by section, how `memrepo.toml` is read, and how one key is set.

A field that the docstring of its section describes is a key. Sections that a policy reads as they
are have their records in `policies/rules.py`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import field
from msgspec.structs import replace

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import CONFIG_NAME
from memrepo.policies.rules import (
    CLASSIC_RULES,
    ArchiveRules,
    CompressionRules,
    DecayRules,
    Flag,
    HotRules,
    Key,
    Money,
    Name,
    Pattern,
    Patterns,
    Percent,
    Prices,
    Rules,
    Schedule,
    Seconds,
    Size,
    Text,
    Texts,
    TierRules,
    Unfit,
    Weights,
    Whole,
    Zone,
    keys_of,
)
from memrepo.read.sources import CLASSIC_CLAIMS, VAULT_CLAIMS, VAULT_NOTES, SourceRules

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from memrepo.policies.importance import Lexicon
    from memrepo.policies.rules import ImportanceRule

FORMAT = 2
"""The repository format that this program reads and writes. A newer format is read-only."""
Judge = Literal["offline", "anthropic", "claude", "openclaw", "openai", "command", "session"]
JUDGES: tuple[str, ...] = get_args(Judge)


class General(msgspec.Struct, frozen=True, kw_only=True):
    """The keys before the first section.

    format: Version of the repository's layout.
    profile: business excludes CHRONICLES.md, DREAMS.md and their views.
    timezone: Zone in which times are shown and dates without an offset are read.
    human_authors: E-mail addresses of the commit authors who are people, not programs.
    """

    format: Whole = FORMAT
    profile: Literal["personal", "business"] = "personal"
    timezone: Zone = "Asia/Manila"
    human_authors: Texts = ()


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """What counts as a secret.

    off: Kinds of secrets that may be remembered like other texts.
    patterns: Regular expressions of texts that are secrets here, such as national ids or telephone
        numbers; the first group, if there is one, is the secret.
    """

    off: tuple[Literal["card", "iban", "pin", "seed-phrase", "totp"], ...] = ()
    patterns: Patterns = ()


class Agents(msgspec.Struct, frozen=True, kw_only=True):
    """What agents may do by themselves.

    removals: Whether agents may remove a memory from recall that a person wrote, edited,
        confirmed, pinned or promoted.
    private: Sessions without memory, by their name or their folder, as `~/diary`; `*` pauses
        memory. The environment variable `MEMREPO_SESSION` names a session.
    """

    removals: Literal["refuse", "allow"] = "refuse"
    private: Texts = ("private",)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run takes, spends and changes.

    judge: The judge: who scores and words memories.
    shelf: How many memories runs create: small, normal (about 90 from a hundred files), large, or
        all (everything except noise). The rest stays in its source, where search finds it.
    max_usd: Spending limit of one run, in US dollars; unset means no limit.
    max_tokens: Token limit of one run, input and output together.
    max_usd_month: Spending limit of all runs of a calendar month, in US dollars.
    max_tokens_month: Token limit of all runs of a calendar month together.
    max_minutes: Minutes after which a run stops asking the judge: finished work lands, the rest
        waits.
    max_change_pct: A run that would remove a larger percentage of memories from recall, and more
        than 20, only marks them: `memrepo accept removals` decides.
    reconciliation: Whether a reconciliation waits for review, or lands at once (classic: land).
    owner: The only clone that may run, by name or id; unset: every clone may.
    """

    judge: Judge = "offline"
    shelf: Size = "normal"
    max_usd: Money | None = None
    max_tokens: Whole | None = None
    max_usd_month: Money | None = None
    max_tokens_month: Whole | None = None
    max_minutes: Whole = 120
    max_change_pct: Percent = 20
    reconciliation: Literal["review", "land"] = "review"
    owner: Name | None = None


class JudgeKeys(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is asked.

    model: The model that the judge uses; the default is for the anthropic judge only.
    max_tokens: Maximum length of an answer, in tokens.
    context: Maximum length of the documents in one question, in tokens. Local models may need 4000.
    timeout_s: Seconds to wait for the answer of a service.
    prices: US dollars per million tokens by model: input, output, cache write, cache read.
    """

    model: Text = "claude-sonnet-5-5"
    max_tokens: Whole = 16000
    context: Whole = 12000
    timeout_s: Seconds = 600
    prices: Prices = field(
        default_factory=lambda: {  # as published in October 2026
            "claude-opus-5-5": (4.0, 20.0, 5.0, 0.2),
            "claude-sonnet-5-5": (2.0, 10.0, 2.5, 0.1),
            # of prompts over 100,000 tokens; shorter ones cost a fifth
            "claude-haiku-5-5": (0.5, 2.5, 0.625, 0.05),
        }
    )


class Reporting(msgspec.Struct, frozen=True, kw_only=True):
    """What is reported.

    enabled: Whether `report --chat` prints anything; false silences it in every mode.
    mode: How much `report --chat` and scheduled runs print; if set, it applies to all runs.
    """

    enabled: Flag = False
    mode: Literal["silent", "summary", "full"] = "summary"


class Announce(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent's scheduler delivers reports.

    channel: Where an agent's scheduler delivers reports; with `reporting.enabled`.
    to: The recipient of the reports there.
    """

    channel: Text | None = None
    to: Text | None = None


class Tags(msgspec.Struct, frozen=True, kw_only=True):
    """Which tags are allowed.

    vocabulary: The tags that `check` allows, or shell patterns such as `project/*`; none: any word.
    pattern: Regular expression for tags; with a vocabulary, it applies only if set.
    """

    vocabulary: Texts = ()
    pattern: Pattern = r"\w[\w./:+#-]*"


class Chunking(msgspec.Struct, frozen=True, kw_only=True):
    """How long texts are split.

    materialise: Whether runs also write the chunks of long memories as files, for other programs.
    """

    materialise: Flag = False


class Contradictions(msgspec.Struct, frozen=True, kw_only=True):
    """How runs resolve contradictions.

    auto_resolve: Whether clear contradictions are resolved automatically; if false, a person
        decides each.
    """

    auto_resolve: Flag = True


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """How retrievals are counted.

    enabled: Whether retrievals are counted.
    """

    enabled: Flag = True


class Lifecycle(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what nobody retrieves stays.

    profile: evidence: memories stay while a source states them, and may turn stale; classic:
        memories that nobody retrieves are removed from recall, as in the programs before memrepo.
    """

    profile: Literal["evidence", "classic"] = "evidence"


class Config(General, frozen=True, kw_only=True):
    """The effective configuration. `given` contains the keys that are set in the file."""

    sources: SourceRules
    secrets: Secrets
    agents: Agents
    run: Run
    judge: JudgeKeys
    schedule: Schedule
    reporting: Reporting
    announce: Announce
    tags: Tags
    chunking: Chunking
    contradictions: Contradictions
    access: Access
    compression: CompressionRules
    lifecycle: Lifecycle
    tiers: TierRules
    decay: DecayRules
    hot: HotRules
    archive: ArchiveRules
    recall: Weights
    given: frozenset[str] = frozenset()

    def value(self, key: Key) -> Any:
        """Return the effective value of a key."""
        section, _, name = key.name.rpartition(".")
        return getattr(getattr(self, section) if section else self, name)

    def is_person(self, email: str) -> bool:
        """Return whether an author is a person. Mail providers ignore the case of an address."""
        return email.casefold() in map(str.casefold, self.human_authors)

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone in which times are shown."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.timezone)

    @property
    def read_only(self) -> bool:
        """Return whether a newer program wrote this repository, so that writes are refused."""
        return self.format > FORMAT

    @property
    def is_personal(self) -> bool:
        """Return whether runs write the pages of chronicles and dreams."""
        return self.profile == "personal"

    @property
    def tag_pattern(self) -> str:
        """Return the pattern for tags that the file sets, or an empty string."""
        return self.tags.pattern if "tags.pattern" in self.given else ""

    @property
    def is_classic(self) -> bool:
        """Return whether the rules are those of the programs before memrepo."""
        return self.lifecycle.profile == "classic"

    @property
    def rules(self) -> Rules:
        """Return the rules for ageing, decay, the hot cache and the archive."""
        decay = replace(self.decay, timezone=self.timezone)
        return Rules(tiers=self.tiers, decay=decay, hot=self.hot, archive=self.archive)

    @property
    def lexicon(self) -> Lexicon:
        """Return the words that decide the importance of a text, with the rule of the profile."""
        from memrepo.policies.importance import lexicon

        return lexicon(self.importance_rule)

    @property
    def importance_rule(self) -> ImportanceRule:
        """Return how importance is scored in this profile."""
        return "levels" if self.is_classic else "sum"

    def source_rules(self) -> SourceRules:
        """Return the rules for the files that runs read."""
        return replace(self.sources, is_personal=self.is_personal)


_SECTION_RECORDS: Mapping[str, type[msgspec.Struct]] = MappingProxyType(
    {
        one.name: one.type
        for one in msgspec.structs.fields(Config)
        if isinstance(one.type, type) and issubclass(one.type, msgspec.Struct)
    }
)
_RECORDS: Mapping[str, type[msgspec.Struct]] = {"": General, **_SECTION_RECORDS}
KEYS: Mapping[str, Key] = MappingProxyType(
    {key.name: key for section, record in _RECORDS.items() for key in keys_of(section, record)}
)
"""Every key by its name, in the order in which `memrepo config` shows them."""
DEFAULTS = {key.name: key.default for key in KEYS.values()}
BUSINESS: Mapping[str, object] = MappingProxyType(
    {
        "schedule.incremental": ("15 13 * * 1,2,4,5,6",),
        "schedule.reconciliation": ("15 13 * * 3,0",),
    }
)
"""Defaults of the profile `business` that differ from those of `personal`."""
CLASSIC: Mapping[str, object] = MappingProxyType(
    {
        "run.reconciliation": "land",
        "compression.enabled": True,
        "compression.below": 0.3,
        "tiers.clean_after": timedelta(days=30),
        **CLASSIC_RULES,
    }
)
"""Values of the lifecycle profile `classic`: defaults of keys, and constants of the rules."""
SOURCE_PROFILES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "notes": {"sources.claims": VAULT_CLAIMS, "sources.notes": VAULT_NOTES},
        "classic": {
            "sources.claims": CLASSIC_CLAIMS,
            "sources.notes": (),
            "sources.folders": (),
            "sources.search": (),
        },
    }
)
"""Defaults of each source profile that differ from those of `workspace`."""
OUTSIDE = (
    "judge.command",
    "judge.base_url",
    "judge.openai_base_url",
    "telemetry.dir",
    "telemetry.preset",
)
"""Keys of git's configuration. A repository must not choose a program, host or folder."""
_SECTIONS = frozenset(name.split(".")[0] for name in (*KEYS, *OUTSIDE) if "." in name)


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


def parse_config(text: str) -> Config:
    """Parse `memrepo.toml`. Raise ConfigError for invalid TOML, an unknown key or a wrong value."""
    given: dict[str, Any] = {}
    for name, found in _flatten(_parse(text)).items():
        if name in OUTSIDE:
            message = "is not read from a repository, because others may write to it"
            fix = f"`git config memrepo.{git_name(name)} ...`, for all of your clones with --global"
            raise ConfigError(line_of(text, name), name, message, fix=fix)
        key = KEYS.get(name)
        if key is None:
            raise ConfigError(
                line_of(text, name), name, "is not a configuration key", fix=nearest_key(name)
            )
        given[name] = _value(text, key, found)
    return _effective(given)


def _value(text: str, key: Key, found: object) -> Any:
    try:
        return key.read(found)
    except Unfit as error:
        shown = json.dumps(key.spell(key.default), ensure_ascii=False)
        fix = error.fix or f"leave it out for the default{f', {shown}' if len(shown) < 40 else ''}"
        message = f"found {found!r}, expected {error}"
        raise ConfigError(line_of(text, key.name), key.name, message, fix=fix) from error


def _with_default(value: object, default: object) -> object:
    """Return a value, in which "..." of a list stands for the texts of the default."""
    if not (isinstance(value, tuple) and isinstance(default, tuple) and "..." in value):
        return value
    return (*default, *(text for text in value if text != "..."))


def _effective(given: Mapping[str, Any]) -> Config:
    """Return the configuration from the values of a file and the defaults of its profiles."""
    values = {**DEFAULTS}
    if given.get("profile") == "business":
        values |= BUSINESS
    if given.get("lifecycle.profile") == "classic":
        values |= CLASSIC
    values |= SOURCE_PROFILES.get(given.get("sources.profile", ""), {})
    values |= {name: _with_default(value, values[name]) for name, value in given.items()}
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, attribute = name.rpartition(".")
        sections.setdefault(section, {})[attribute] = value
    parts: dict[str, Any] = {
        name: record(**sections.get(name, {})) for name, record in _SECTION_RECORDS.items()
    }
    return Config(**sections[""], **parts, given=frozenset(given))


def nearest_key(name: str) -> str:
    """Return advice for a name that is no key: the nearest key, or how to list all."""
    every = [*KEYS, *OUTSIDE]
    from difflib import get_close_matches

    near = get_close_matches(name, every, n=1, cutoff=0.6)
    near = near or [k for k in every if k.rpartition(".")[2] == name.rpartition(".")[2]][:1]
    return f"did you mean {near[0]}?" if near else "`memrepo config` lists all keys"


def git_name(name: str) -> str:
    """Return a user key's name in git's configuration, where underscores are not allowed."""
    return name.replace("_", "-")


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        fix = "correct the line; strings need quotes"
        place = int(line[1]) if line else 0
        raise ConfigError(place, "", f"not valid TOML: {error}", fix=fix) from error


def _flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict) and name in _SECTIONS:
            flat.update({f"{name}.{key}": part for key, part in value.items()})
        elif value != {}:  # an empty section sets nothing
            flat[name] = value
    return flat


def with_person(text: str, email: str) -> str:
    """Return a configuration file's text with one more address in `human_authors`."""
    if not (at := line_of(text, "human_authors")):
        return f"human_authors = [{json.dumps(email)}]\n{text}"
    lines = text.split("\n")
    first = lines[at - 1].replace("[", f"[{json.dumps(email)}, ", 1)
    return "\n".join([*lines[: at - 1], first.replace(", ]", "]"), *lines[at:]])


def with_value(text: str, section: str, name: str, value: str) -> str:
    """Return a configuration file's text with a value in a section, or without it if it is empty.

    Raise ConfigError with the line to write if the text's form leaves no place for it.
    """
    key, end = f"{section}.{name}", "\r" * ("\r\n" in text)
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    lines, new = text.split("\n"), [line + end] * bool(value)
    if at := line_of(text, key):
        lines[at - 1 : at] = new
    elif at := line_of(text, section):
        lines[at:at] = new
    else:
        lines = [*text.rstrip().split("\n"), end, f"[{section}]{end}", *new, ""]
    after = "\n".join(lines)
    with suppress(ConfigError):
        if parse_config(after).value(KEYS[key]) == (value or KEYS[key].default):
            return after
    fix = f"write `{line}` into its section [{section}]" if value else f"remove {key}"
    raise ConfigError(at, key, "memrepo cannot edit the section in this form", fix=fix)


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
