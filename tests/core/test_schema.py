from __future__ import annotations

from typing import Any

import pytest

from memrepo.core import memory as m
from memrepo.core.fields import ListOf, Record
from memrepo.core.schema import BY_NAME, FIELDS, ORDER


def test_each_field_stands_once_and_in_order() -> None:
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)
    assert list(BY_NAME) == names
    assert [ORDER[name] for name in names] == list(range(len(names)))
    assert names[:2] == ["id", "type"]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_default_is_a_value_of_its_field(field: Any) -> None:
    if field.default is not None:
        assert field.kind.read(field.kind.write(field.default)) == field.default


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_lists_and_flags_are_empty_and_false_where_absent(field: Any) -> None:
    match field.kind:
        case ListOf():
            assert field.default == ()
            assert field.merge == "set3"
        case _:
            assert field.default != ()
            assert field.merge != "set3"


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_record_has_a_member_for_each_attribute(field: Any) -> None:
    kind = field.kind.item if isinstance(field.kind, ListOf) else field.kind
    if isinstance(kind, Record):
        written = {kind.names.get(key, key) for key in kind.members}
        assert written == set(kind.make.__struct_fields__)
        assert set(kind.required) <= set(kind.members)


def test_the_words_of_the_schema_are_those_of_the_memory() -> None:
    assert set(m.LAYER_OF_TYPE) == set(m.TYPES)
    assert set(m.LAYER_OF_TYPE.values()) == set(m.LAYERS)
    assert set(m.HOME_OF_TYPE) == set(m.CLAIM_TYPES)
    assert set(m.HOME_OF_TYPE.values()) <= set(m.HOMES)
    assert BY_NAME["status"].default == m.STATUSES[0]
    assert BY_NAME["standing"].default == m.STANDINGS[0]
