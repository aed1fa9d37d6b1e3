"""The language of a text, by its small words, letters and script."""

from __future__ import annotations

import pytest

from memrepo.text.words import (
    FOLDER,
    LANGUAGES,
    WordPattern,
    asked_terms,
    language_of,
    pattern,
    tables,
    terms,
    words,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lease of the flat ends in August", "english"),
        ("Ben likes tea", "english"),
        ("Der Vertrag für die Wohnung läuft aus", "german"),
        ("Le contrat de la maison est dans le tiroir", "french"),
        ("El contrato de la casa está en la caja", "spanish"),
        ("Het contract van het huis ligt in de la", "dutch"),
        ("Umowa najmu kończy się w sierpniu", "polish"),
        ("Договор лежит в столе", "russian"),
        ("Kira sözleşmesi bu ay bitiyor", "turkish"),
        ("The crush of сrowds was on the stairs", "english"),
        ("", "english"),
    ],
)
def test_a_text_shows_its_language(text: str, language: str) -> None:
    assert language_of(words(text), text) == language


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Die Verträge liegen in der Lade", "Wo ist der Vertrag"),
        ("Les réunions sont le lundi", "Quand est la réunion"),
        ("Ключи лежат на полке", "Где мой ключ"),
    ],
)
def test_words_meet_in_the_forms_of_their_language(text: str, question: str) -> None:
    assert {term for term, _ in asked_terms(question)} & set(terms(text))


ENTRIES = (
    *("do not", "never", "guide*", "please? note", "a/an idea", "don't", "规则", "…ish", "märz"),
)


@pytest.mark.parametrize(
    "text",
    [
        *("Do not.", "donot", "guidelines", "Note it", "an idea", "a dea", "Don’t", "新规则"),
        *("reddish", "MÄRZ", "marz", "nothing here", "the guide", "misguided"),
    ],
)
@pytest.mark.parametrize("found", [ENTRIES, ENTRIES[:7], *((one,) for one in ENTRIES)])
def test_a_word_pattern_finds_what_its_pattern_finds(text: str, found: tuple[str, ...]) -> None:
    one, other = WordPattern(found), pattern(found)
    for name in ("search", "match", "fullmatch"):
        spans = [m and m.span() for m in (getattr(p, name)(text) for p in (one, other))]
        assert spans[0] == spans[1], name


# -- the tables of languages: each is whole, and its entries find what they say --------------------


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
