"""The page of each type, and what a business makes of what only a person has."""

import pytest

from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE
from memrepo.policies.claims import is_permitted, type_in_profile


@pytest.mark.parametrize("type_", CLAIM_TYPES)
def test_on_business_each_type_becomes_one_with_a_permitted_page(type_):
    assert type_in_profile(type_, "personal") == type_
    assert is_permitted(HOME_OF_TYPE[type_in_profile(type_, "business")], "business")


@pytest.mark.parametrize(
    ("type_", "recast_type"),
    [
        ("milestone", "episode"),
        ("aspiration", "open_question"),
        ("episode", "episode"),
        ("rumour", "rumour"),
    ],
)
def test_business_recasts_what_only_a_person_has(type_, recast_type):
    assert type_in_profile(type_, "business") == recast_type
