"""The language of a text, by its small words, letters and script."""

import pytest

from memrepo.text.languages import language_of
from memrepo.text.words import asked_terms, terms, words


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


def test_small_words_of_a_language_are_not_asked_for() -> None:
    assert [term for term, _ in asked_terms("Wo ist der Vertrag")] == ["vertrag"]


def test_one_small_word_tells_the_language_of_a_question() -> None:
    assert ("jahr", ("jahren",)) in asked_terms("Jahren der Heizung")
    assert ("oof", ("oven",)) in asked_terms("oven door")  # Dutch, and English as well
    assert language_of(words("Wartung der Heizung"), "Wartung der Heizung") == "english"


def test_the_words_that_a_program_joins_are_asked_for_too() -> None:
    asked = {term for term, _ in asked_terms("parseRetryAfter")}
    assert set(terms("parse_retry_after")) <= asked


def test_irregular_plurals_are_their_word() -> None:
    assert terms("geese oxen thieves criteria") == terms("goose ox thief criterion")
