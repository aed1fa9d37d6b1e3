from __future__ import annotations

from memrepo.core import memory as m
from memrepo.core.memory import BY_NAME, FIELDS, ORDER


def test_each_field_stands_once_and_in_order() -> None:
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)
    assert list(BY_NAME) == names
    assert [ORDER[name] for name in names] == list(range(len(names)))
    assert names[:2] == ["id", "type"]


def test_the_words_of_the_schema_are_those_of_the_memory() -> None:
    assert set(m.LAYER_OF_TYPE) == set(m.TYPES)
    assert set(m.LAYER_OF_TYPE.values()) == set(m.LAYERS)
    assert set(m.HOME_OF_TYPE) == set(m.CLAIM_TYPES)
    assert set(m.HOME_OF_TYPE.values()) <= set(m.HOMES)
    assert BY_NAME["status"].default == m.STATUSES[0]
    assert BY_NAME["standing"].default == m.STANDINGS[0]
