"""The seventy cells of the lineage's affinity table, and where each type goes."""

import pytest

from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, HOMES
from memrepo.policies.claims import affinity, is_permitted, route, type_in_profile

CELLS = [(type_, home) for type_ in CLAIM_TYPES for home in HOMES]


def test_the_table_has_seventy_cells_counted_as_in_the_contract():
    found = [affinity(*cell) for cell in CELLS]
    counts = [found.count(w) for w in ("strong", "acceptable", "suspicious", "impossible")]
    assert len(CELLS) == 70
    assert counts == [14, 4, 6, 46]


def test_an_unknown_type_or_home_is_suspicious():
    assert affinity("rumour", "LTMEMORY.md") == "suspicious"
    assert affinity("fact", "ELSEWHERE.md") == "suspicious"


@pytest.mark.parametrize("type_", CLAIM_TYPES)
def test_on_personal_each_type_goes_to_its_own_home(type_):
    assert route(type_, "personal") == HOME_OF_TYPE[type_]
    assert type_in_profile(type_, "personal") == type_


@pytest.mark.parametrize("type_", CLAIM_TYPES)
def test_on_business_each_type_goes_to_a_permitted_home_that_is_not_impossible(type_):
    home = route(type_, "business")
    assert is_permitted(home, "business")
    assert affinity(type_in_profile(type_, "business"), home) in ("strong", "acceptable")


@pytest.mark.parametrize(
    ("type_", "recast_type", "home"),
    [
        ("milestone", "milestone", "EPISODES.md"),
        ("aspiration", "open_question", "LTMEMORY.md"),
        ("episode", "episode", "EPISODES.md"),
        ("rumour", "rumour", "LTMEMORY.md"),
    ],
)
def test_business_reroutes_what_only_a_person_has(type_, recast_type, home):
    assert type_in_profile(type_, "business") == recast_type
    assert route(type_, "business") == home
