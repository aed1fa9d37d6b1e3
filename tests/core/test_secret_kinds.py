"""Shapes of secrets, filled in at run time: no scanner takes the table for a leak."""

from __future__ import annotations

import random
import re
import string
import tomllib
from pathlib import Path

import pytest

from memrepo.core.secret_kinds import SWITCHED
from memrepo.core.secrets import find_secrets, redact, switch_off

DICE = random.Random(7)
SETS = {
    "": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "lower": string.ascii_lowercase + string.digits,
    "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}


def filled(template: str) -> str:
    """Fill in made-up characters, with a digit and a letter among them."""

    def some(place: re.Match[str]) -> str:
        letters = SETS[place[2] or ""]
        body = "".join(DICE.choice(letters) for _ in range(int(place[1]) - 2))
        return f"{letters[3]}{body}{letters[-1]}"

    return re.sub(r"<(\d+) ?([a-z0-9]+)?>", some, template)


TABLE = tomllib.loads((Path(__file__).parents[1] / "data/secrets.toml").read_text("utf-8"))
GIVEN = {name: filled(template) for name, template in TABLE["given"].items()}
NAMED = {line: filled(template) for line, template in TABLE["named"].items()}
INNOCENT = TABLE["innocent"]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("line", ["@", "- the one: (@) is here", "KEY=@", "| x | `@` |", "知道@。"])
def test_a_providers_key_is_found_wherever_it_stands(name: str, line: str) -> None:
    text = line.replace("@", GIVEN[name])
    assert GIVEN[name] not in redact(text)[0]
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize("line", NAMED)
def test_a_value_that_is_named_is_found_and_the_words_around_it_stay(line: str) -> None:
    value = NAMED[line]
    text = line.replace("@", value)
    (found,) = find_secrets(f"# Notes\n{text}\nthe end\n")
    assert value.startswith(f"# Notes\n{text}\n"[found.start : found.end])
    assert found.end - found.start >= len(value) - 1  # a sign that ends the sentence may stay


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "hidden",
    [
        "AK\u200bIA{0}",
        "A\u00adKIA{0}",
        "AKIA\u2060{0}\ufeff",
        "\uff21\uff2b\uff29\uff21{0}",
        "\u0410\u041aIA{0}",
        "\u202eAKIA{0}\u202c",
        "AKIA\U000e0041{0}",
    ],
)
def test_what_nobody_sees_hides_no_key(hidden: str) -> None:
    rest = filled("<16 base32>")
    text = f"日本 the key {hidden.format(rest)} of Ana"
    shown, (found,) = redact(text)
    assert found.kind == "aws-access-token"
    assert rest not in shown.replace("\u200b", "")
    assert shown.startswith("日本 the key ")
    assert shown.endswith(" of Ana")


def test_what_an_owner_wants_to_remember_can_be_switched_off() -> None:
    texts = [line.replace("@", value) for line, value in NAMED.items()]
    assert all(find_secrets(text) for text in texts)
    try:
        switch_off(SWITCHED)
        kept = [line for line, value in NAMED.items() if not find_secrets(line.replace("@", value))]
    finally:
        switch_off(())
    assert kept == [
        line
        for line, value in NAMED.items()
        if {s.kind for s in find_secrets(line.replace("@", value))} <= set(SWITCHED)
    ]
    assert len(kept) == 9
    switch_off(["password"])
    assert find_secrets("password: hunter2x"), "what is never memory cannot be switched off"
    switch_off(())
