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
