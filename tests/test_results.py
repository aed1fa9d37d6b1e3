"""Every verb says what it answers: a record with a schema, and a text for a reader."""

from __future__ import annotations

from importlib import import_module
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS, Verb
from memrepo.actions.work import Answer


def answers(verb: Verb) -> tuple[type[Any], ...]:
    """Return the records that a verb may answer with."""
    found = get_type_hints(verb.load().do)["return"]
    return get_args(found) or (found,)


TYPED = [verb for verb in VERBS.values() if Answer not in answers(verb)]


@pytest.mark.parametrize("verb", TYPED, ids=lambda verb: verb.name)
def test_a_verb_answers_with_records_that_have_a_schema(verb: Verb) -> None:
    for kind in answers(verb):
        assert issubclass(kind, Result)
        assert kind.__doc__
        schema = msgspec.json.schema(kind)
        record = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        assert record["properties"].keys() > {"exit", "notices"}


@pytest.mark.parametrize("verb", TYPED, ids=lambda verb: verb.name)
def test_what_a_verb_answers_has_words(verb: Verb) -> None:
    group = verb.module.split(".")[-2]
    texts = import_module(f"memrepo.faces.text.{group}")
    assert callable(getattr(texts, verb.name.replace("-", "_")))
