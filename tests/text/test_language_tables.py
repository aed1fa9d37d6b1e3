"""The tables of languages: each is whole, and its entries find what they say."""

from __future__ import annotations

import pytest

from memrepo.text.languages import FOLDER, LANGUAGES, pattern, tables


def test_every_language_has_a_file_and_every_file_is_a_language() -> None:
    files = {path.stem for path in FOLDER.glob("*.toml")} - {"figures"}
    assert files == set(LANGUAGES)


@pytest.mark.parametrize("section", ["headings", "sentences", "dates", "change"])
def test_a_section_has_the_same_keys_in_every_language(section: str) -> None:
    found = dict(tables(section))
    every = {key for keys in found.values() for key in keys}
    for language, keys in found.items():
        assert keys.keys() <= every, language
        assert all(keys.values()), language


@pytest.mark.parametrize(
    ("entry", "text", "is_found"),
    [
        ("rule*", "House rules:", True),
        ("rule", "House rules:", False),
        ("use … instead", "use the pump instead", True),
        ("use … instead", "use the very old brass pump instead", False),
        ("don't", "Don’t oil it", True),
        ("can/could you please? list/show", "Could you show the pumps", True),
        ("can/could you please? list/show", "Could you please list the pumps", True),
        ("can/could you please? list/show", "Could we list the pumps", False),
        ("the? order in which", "tell me the order in which they came", True),
        ("décidé", "nous avons decide", True),
        ("決定", "今日決定した", True),
        ("on", "salon", False),
    ],
)
def test_an_entry_is_found_as_it_is_written(entry: str, text: str, *, is_found: bool) -> None:
    assert bool(pattern([entry]).search(text)) == is_found
