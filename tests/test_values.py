"""The values of configuration keys: what each kind takes, refuses and keeps, as a table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memrepo.config import KEYS, ConfigError, parse_config
from memrepo.policies.rules import PATTERN_LENGTH, Rules, Weights
from memrepo.read.sources import SourceRules

GOOD = (
    ("run.max_tokens = 1", 1),
    ("compression.keep = 0", 0),
    ("run.max_change_pct = 0", 0),
    ("run.max_change_pct = 100.0", 100.0),
    ("recall.recency = 1", 1),
    ("run.max_usd = 0", 0),
    ("judge.timeout_s = 0.5", 0.5),
    ("judge.prices = {mine = [1, 2, 3, 4]}", (1, 2, 3, 4)),
    ('judge.model = "any"', "any"),
    ('sources.deny = ["a", "b"]', ("a", "b")),
    ('profile = "business"', "business"),
    ('timezone = "Europe/Berlin"', "Europe/Berlin"),
    ("reporting.enabled = true", True),
    ('run.owner = "laptop-2"', "laptop-2"),
    ('schedule.incremental = ["15 5 * * 1-5"]', ("15 5 * * 1-5",)),
    ('tiers.clean_after = "4h"', timedelta(hours=4)),
    ('decay.ttl = {normal = "21d"}', timedelta(days=21)),
)
BAD = (
    ("run.max_tokens = 0", "a whole number from 1"),
    ("run.max_tokens = true", "a whole number from 1"),
    ("compression.keep = -1", "a whole number from 0"),
    ("run.max_change_pct = 100.5", "a number from 0 to 100"),
    ("recall.recency = 1.01", "a number from 0 to 1"),
    ("run.max_usd = nan", "an amount of US dollars from 0"),
    ("judge.timeout_s = 0", "a number of seconds above 0"),
    ("judge.prices = {mine = [1, 2, 3]}", "four amounts per model"),
    ('judge.model = " "', "a text"),
    ('sources.deny = ["a", 1]', "a list of texts"),
    ('profile = "family"', "one of personal, business"),
    ('timezone = "localtime"', "a zone of the tz database"),
    ('timezone = "Europe/Atlantis"', "a zone of the tz database"),
    ("reporting.enabled = 1", "true or false"),
    ('run.owner = "../x"', "a name of letters"),
    ('schedule.incremental = ["61 * * * *"]', "cron expressions ('61 * * * *'"),
    ('schedule.incremental = "daily"', "a list of cron expressions"),
    ("tiers.clean_after = 4", "a duration such as"),
    ('tiers.clean_after = "sometime"', "a duration such as"),
    ('tags.pattern = "["', "a regular expression"),
    (f'tags.pattern = "{"a" * (PATTERN_LENGTH + 1)}"', "a regular expression"),
    ("tags.pattern = 1", "a regular expression"),
    ('decay.ttl = {normal = "soon"}', "a duration by class"),
    ('decay.ttl = "21d"', "a duration by class"),
)


def test_an_empty_section_sets_nothing() -> None:
    assert not parse_config("[access]\n").given


@pytest.mark.parametrize(("line", "kept"), GOOD)
def test_a_value_of_its_kind_is_kept(line: str, kept: Any) -> None:
    config = parse_config(f"format = 1\n{line}\n")
    value = config.value(KEYS[line.partition(" = ")[0]])
    assert kept in (value, *(value.values() if hasattr(value, "values") else ()))


@pytest.mark.parametrize(("line", "expected"), BAD)
def test_a_value_of_another_kind_is_refused_with_its_line(line: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(f"format = 1\n{line}\n")
    assert caught.value.key == line.partition(" = ")[0]
    assert f"memrepo.toml:2: {caught.value.key}: found" in caught.value.message
    assert f"expected {expected}" in caught.value.message
    assert caught.value.fix


def test_the_defaults_are_those_of_the_rules() -> None:
    config = parse_config('timezone = "UTC"\n')
    assert config.rules == Rules()
    assert config.recall == Weights()
    assert config.source_rules() == SourceRules()
