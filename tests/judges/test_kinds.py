"""The type of a memory as a run gives it: a list by its lead or most of its lines."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from memrepo.core.judge import CanonicalRequest, PromotionRequest
from memrepo.judges.offline import OfflineJudge
from memrepo.purify.clusters import clusters
from memrepo.purify.gather import Placed, gather
from memrepo.purify.passes import check_claims, check_verdicts
from memrepo.read.thoughts import scan

LONG = "- the kiln takes two hours\n- the glaze is bought in June\n- the shelf holds forty bowls\n"


def kinds(text: str, name: str = "memory/mill.md") -> set[str]:
    """Return the types of what a run promotes out of a source."""
    placed = [
        Placed(unit=u, resource=f"sources/{name}", blob="0" * 40, committed="", about="")
        for u in scan(PurePosixPath(name).name, text.encode()).units
    ]
    found, judge = gather(placed).candidates, OfflineJudge()
    asked = {"run": "r", "profile": "personal", "now": "2026-05-04T08:00:00Z"}
    first = PromotionRequest(candidates=found, **asked)
    verdicts = check_verdicts(first, judge.promote(first)).verdicts
    second = CanonicalRequest(clusters=clusters(found, verdicts), priors=(), **asked)
    return {claim.type for claim in check_claims(second, judge.canonicalise(second)).claims}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# Mill\n\n## Glaze\n\n" + LONG, "fact"),
        # One line of many says nothing of the whole.
        ("# Mill\n\n## Glaze\n\n" + LONG + "- may the shelf stand outside?\n", "fact"),
        ("# Mill\n\n## Glaze\n\n" + LONG + "- Vera prefers the blue one\n", "fact"),
        ("# Mill\n\n## Glaze\n\n" + LONG + "- never open the door while it is hot\n", "fact"),
        # Most of the lines do, and so does the line before them.
        (
            "# Mill\n\n## Glaze\n\n- Vera prefers blue\n- Vera likes matt bowls\n- Ana hates red\n",
            "preference",
        ),
        (
            "# Mill\n\nAsk the seller:\n\n- is the clay dry?\n- who brings it?\n- is it paid?\n",
            "open_question",
        ),
    ],
)
def test_a_list_is_what_its_lead_or_most_of_its_lines_are(text: str, kind: str) -> None:
    assert kinds(text) == {kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**Question:** which clay do we buy?\n\n**Answer:** the white one from Faro.\n", "fact"),
        ("**Frage:** welcher Ton?\n\n**Antwort:** wir haben den weißen beschlossen.\n", "decision"),
        ("**Pergunta:** qual argila?\n\n**Resposta:** é proibido usar a vermelha.\n", "constraint"),
        ("**Question:** which clay do we buy?\n", "open_question"),
    ],
)
def test_a_question_that_is_answered_below_is_open_no_more(text: str, kind: str) -> None:
    assert kinds(f"# Mill\n\n## Clay\n\n{text}") == {kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("## Next steps\n\n1. glaze the bowls\n2. fire them\n3. sell them\n", "commitment"),
        ("## Следующие шаги\n\n- покрыть чаши\n- обжечь чаши\n- продать чаши\n", "commitment"),
        ("## Steps of a firing\n\n1. glaze the bowls\n2. fire them\n3. sell them\n", "procedure"),
        ("## Token usage\n\n- the nightly summary takes most of it\n", "fact"),
        ("## Sobre Marcos\n\n- vive en la calle del molino\n", "fact"),
        ("## Marcos do projeto\n\n- a roda gira desde março\n", "milestone"),
        ("## Ana\n\n- Prefiere cartas de tres líneas como mucho\n", "preference"),
        ("## Glaze\n\n- Learned: the glaze must be sieved twice\n", "lesson"),
        ("## Counting\n\n- bowls are weighed rather than counted\n", "fact"),
        ("## Counting\n\n- use the scale rather than the list\n", "preference"),
    ],
)
def test_what_a_heading_and_a_turn_of_words_tell(text: str, kind: str) -> None:
    assert kinds(f"# Mill\n\n{text}") == {kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("- the board stands at https://mill.example\n", "fact"),
        ("- keeps the books of a small pottery\n", "identity"),
    ],
)
def test_an_address_in_a_profile_describes_nobody(text: str, kind: str) -> None:
    assert kinds(f"# Heron\n\n## Work\n\n{text}", "IDENTITY.md") == {kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# Family notes\n\n## Kitchen\n\n- the grey kettle leaks\n", "fact"),
        ("# Notes\n\n## Family\n\n### Ruth\n\n- sings in the town choir\n", "fact"),
        ("# Notes\n\n## Familie\n\n### Jens\n\n- mag keine Oliven\n", "preference"),
        ("# Notes\n\n## Family\n\n- Ruth and Jens, twins\n", "relationship"),
    ],
)
def test_a_family_relates_who_stands_right_below_it(text: str, kind: str) -> None:
    assert kinds(text) == {kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ruth sends the clay to Faro by 3 March", "commitment"),
        ("Return the borrowed wheel before the end of May", "commitment"),
        ("Jens said he'd repair the kiln", "commitment"),
        ("Frau Ohl liefert den Ton bis Freitag", "commitment"),
        ("Dem Museum bis Ende März drei Schalen schicken", "commitment"),
        ("Drei Schalen an das Museum schicken, bis 4.3.", "commitment"),
        ("Berta traerá las tazas del museo", "commitment"),
        ("Enviar las tazas al museo antes del 4 de marzo", "commitment"),
        ("Envoyer les bols au musée avant le 4 mars", "commitment"),
        ("Enviar as taças ao museu até 4 de março", "commitment"),
        # Until when something is so is owed by nobody.
        ("The mill shop is open until 5 May", "fact"),
        ("Die Werkstatt ist bis Ende März geschlossen", "fact"),
        ("Ruth runs the kiln by herself", "fact"),
        # What one finds out, agrees on, or reaches.
        ("It turned out that the glaze runs on white clay", "lesson"),
        ("Resulta que el esmalte corre sobre el barro blanco", "lesson"),
        ("Ruth and Jens agreed: two firings a week", "decision"),
        ("Die Schalen lagen zum ersten Mal im Museum", "milestone"),
        ("Root cause: the glaze was sieved once", "lesson"),
        # How somebody wants a thing, and what they want to do.
        ("Berta wants every bowl signed", "preference"),
        ("Berta wants to build a second kiln", "aspiration"),
        ("Berta quiere las tazas sin asa", "preference"),
        ("Jens is married to Ruth since 2011", "relationship"),
    ],
)
def test_what_is_owed_found_out_agreed_or_reached_is_told_by_its_words(
    text: str, kind: str
) -> None:
    assert kinds(f"# Mill\n\n## Bowls\n\n- {text}\n") == {kind}
