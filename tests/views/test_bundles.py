"""Every memory as JSON."""

from __future__ import annotations

import json

from hypothesis import given, settings
from strategies import memories

from memrepo.core.memory import FIELDS, Memory
from memrepo.views.bundles import memory_json


@settings(max_examples=12)
@given(memories())
def test_every_field_of_a_memory_stands_in_its_json(memory: Memory) -> None:
    found = json.loads(json.dumps(memory_json(memory)))
    assert set(found) == {"path", "layer", "text", *memory.fields}
    assert found["text"] == memory.body
    for field in FIELDS:
        if isinstance(memory.fields.get(field.name), (bool, int, float, str)):
            assert found[field.name] == memory.fields[field.name]
