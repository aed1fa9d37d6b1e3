"""From text to typed answers: every way a model writes JSON, and no text that raises."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import VERDICTS, CanonicalClaim, PromotionScores, Verdict
from memrepo.judges.prompting import UnreadableReply, elements, read_answers, schemas

VERDICTS_SCHEMA, CLAIMS_SCHEMA = schemas()["promotion"], schemas()["purifier"]
read_verdicts, read_claims = (
    partial(read_answers, name=name, record=record)
    for name, record in (("promotion", Verdict), ("purifier", CanonicalClaim))
)
A, B, C = ({"candidate_id": name} for name in "abc")
WHOLE = json.dumps({"verdicts": [A, B]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WHOLE, [A, B]),
        ("\ufeff  " + WHOLE + "\n", [A, B]),
        (f"```json\n{WHOLE}\n```", [A, B]),
        (f"```\n{WHOLE}\n```", [A, B]),
        (f"Here you are:\n\n```json\n{WHOLE}\n```\nAnything else?", [A, B]),
        (f"Sure! {WHOLE} Done.", [A, B]),
        (f"I used {{braces}} here. {WHOLE}", [A, B]),
        (json.dumps({"verdicts": [C]}) + "\n" + WHOLE, [A, B]),
        (WHOLE + json.dumps({"note": 1}), [A, B]),
        (WHOLE + '\n{"verdicts": [{"candidate_id"', [A, B]),
        ('{"verdicts": [{"candidate_id": "a"}, {"candidate_id": "b"}, {"cand', [A, B]),
        ('```json\n{"verdicts": [{"candidate_id": "a"},', [A]),
        ('{"verdicts": [{"candidate_id": "a"}, {"candidate_id": "b"},]}', [A, B]),
        ('{"verdicts": [{"candidate_id": "a"}\n {"candidate_id": "b"}]}', [A, B]),
        (json.dumps({"verdicts": []}), []),
    ],
)
def test_the_ladder(text: str, expected: list) -> None:
    assert elements(text, "verdicts") == tuple(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "no",
        "[1]",
        '"verdicts"',
        "{}",
        '{"verdicts": 3}',
        '{"claims": []}',
        '{"verdicts": [',
        '{"verdicts": [{"candidate_id": "a"',
        "{" * 100_000,
        "[" * 100_000,
        '{"verdicts":[' * 5_000,
        "```\n" * 5_000,
        "null",
        "NaN",
    ],
)
def test_what_holds_no_answer_is_told(text: str) -> None:
    found = read_verdicts(text)
    assert isinstance(found, UnreadableReply)
    assert found.reason


def good() -> dict:
    return {
        "candidate_id": "a",
        "scores": dict.fromkeys(PromotionScores.__struct_fields__, 0.5),
        "strength": 2,
        "verdict": "promote",
    }


def only(**changes: object) -> Verdict:
    found = read_verdicts(json.dumps({"verdicts": [{**good(), **changes}]}))
    assert not isinstance(found, UnreadableReply)
    return found[0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"scores": None}, "the answer: Object missing required field `scores`"),
        ({"scores": {}}, "scores: Object missing required field `durability`"),
        ({"verdict": ["promote"]}, "verdict: Expected `str`, got `array`"),
        ({"merge_with": "cand-b"}, "merge_with: Expected `array`, got `str`"),
        ({"merge_with": [1]}, "merge_with[0]: Expected `str`, got `int`"),
        ({"candidate_id": 7}, "candidate_id: Expected `str`, got `int`"),
    ],
)
def test_a_wrong_shape_is_a_fault_and_no_exception(changes: dict, fault: str) -> None:
    assert only(**changes).fault == fault


def test_postures_and_faults_of_a_model_are_not_believed() -> None:
    for schema in (VERDICTS_SCHEMA, CLAIMS_SCHEMA):
        assert "fault" not in json.dumps(schema)
        assert "posture" not in json.dumps(schema)
    found = read_claims(json.dumps({"claims": [{"cluster_id": "c", "fault": ""}]}))
    assert not isinstance(found, UnreadableReply)
    assert found[0].fault


def conforms(value: object, schema: dict) -> bool:
    """Check by the few words that our schemas use."""
    match schema["type"]:
        case "object":
            known = schema["properties"]
            return set(schema["required"]) <= set(value) <= set(known) and all(
                conforms(one, known[name]) for name, one in value.items()
            )
        case "array":
            return all(conforms(one, schema["items"]) for one in value)
        case "number":
            return isinstance(value, float)
        case _:
            return isinstance(value, str) and value in schema.get("enum", [value])


def instance(schema: dict) -> st.SearchStrategy:
    match schema["type"]:
        case "object":
            known = {name: instance(one) for name, one in schema["properties"].items()}
            needed = {name: known.pop(name) for name in schema["required"]}
            return st.fixed_dictionaries(needed, optional=known)
        case "array":
            return st.lists(instance(schema["items"]), max_size=2)
        case "number":
            return st.floats(0, 1)
        case _:
            words = schema.get("enum")
            letters = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
            return st.sampled_from(words) if words else letters


@given(instance(VERDICTS_SCHEMA), instance(CLAIMS_SCHEMA))
def test_whatever_the_schema_allows_is_read_without_a_fault(verdicts: dict, claims: dict) -> None:
    assert conforms(verdicts, VERDICTS_SCHEMA)
    first, second = read_verdicts(json.dumps(verdicts)), read_claims(json.dumps(claims))
    assert not isinstance(first, UnreadableReply)
    assert not isinstance(second, UnreadableReply)
    assert [v.fault for v in first] == [""] * len(verdicts["verdicts"])
    assert [v.fault for v in second] == [""] * len(claims["claims"])
    assert {v.verdict for v in first} <= set(VERDICTS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["verdicts", "claims", "scores", "candidate_id", "strength", "wording"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.integers(0, 200))
def test_no_json_and_no_piece_of_it_raises(value: object, end: int) -> None:
    for text in (json.dumps({"verdicts": value, "claims": value}), json.dumps(value)):
        for read in (read_verdicts, read_claims):
            assert read(text) is not None
            assert read(text[:end]) is not None


@given(st.text(st.characters(), max_size=60))
def test_no_text_raises(text: str) -> None:
    assert read_verdicts(text) is not None
    assert read_claims('{"claims": [' + text)
