"""Every verb says what it answers: a record with a schema, and a text for a reader."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS, Verb
from memrepo.faces.cli.parser import COMMANDS
from memrepo.faces.text import wording


def answers(verb: Verb) -> tuple[type[Any], ...]:
    """Return the records that a verb may answer with."""
    found = get_type_hints(verb.load().do)["return"]
    return get_args(found) or (found,)


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)
def test_a_verb_answers_with_records_that_have_a_schema(verb: Verb) -> None:
    for kind in answers(verb):
        assert issubclass(kind, Result)
        assert kind.__doc__
        schema = msgspec.json.schema(kind)
        record = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        assert record["properties"].keys() > {"exit", "notices"}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_answers_has_words(name: str) -> None:
    assert callable(wording(name))
