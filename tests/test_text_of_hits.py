"""How hits are shown: what says the same together, and what was asked for in bold."""

from __future__ import annotations

from memrepo.actions.recall import search as searching
from memrepo.faces.text.recall import search


def hit(number: int, text: str) -> searching.Hit:
    return searching.Hit(
        id=f"mem-{number}",
        path="",
        type="fact",
        title="",
        text=text,
        score=1.0,
        parts={},
        status="active",
        standing="resolved",
        tier="",
        expired=False,
        trust="unverified",
        answer_confidence="high",
        commit="c",
        sources=(),
    )


def shown(query: str, *texts: str, colour: bool = False) -> str:
    hits = tuple(hit(n, text) for n, text in enumerate(texts, start=1))
    result = searching.Result(query=query, hits=hits, tokens=0, commit="c")
    return search(searching.Request(words=(query,)), result, colour=colour)


def test_hits_that_say_the_same_are_one_entry() -> None:
    text = shown("kiln", "The kiln is hot.", "A cold kiln.", "the kiln is HOT")
    assert text.count("The kiln is hot.") == 1
    assert "HOT" not in text
    first, second = text.split("\n\n")
    assert first.endswith("mem-3 says the same")
    assert second.startswith("mem-2")


def test_words_that_were_asked_for_are_bold_in_any_form_where_there_is_colour() -> None:
    text = shown("broken kilns", "The kiln broke twice.", colour=True)
    assert "The \x1b[1mkiln\x1b[0m \x1b[1mbroke\x1b[0m twice." in text
    assert "\x1b" not in shown("broken kilns", "The kiln broke twice.")


def test_an_empty_text_is_like_no_other() -> None:
    assert "says the same" not in shown("kiln", "", "")


def test_the_part_shown_has_the_words_of_every_phrasing() -> None:
    filler = "\n".join(f"- Line {n} is about nothing that was asked." for n in range(20))
    text = f"- The oven is old.\n{filler}\n- The kiln reaches 900 degrees."
    result = searching.Result(query="oven heat", hits=(hit(1, text),), tokens=0, commit="c")
    request = searching.Request(words=("oven heat",), also=("kiln degrees",))
    assert "900 degrees" in search(request, result, colour=False)
    assert "900 degrees" not in search(searching.Request(words=("oven heat",)), result, False)
