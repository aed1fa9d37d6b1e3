"""Lines made to keep a pattern busy: the work on a text grows with its length, no faster."""

import time

import pytest

from memrepo.core.judge import Candidate
from memrepo.judges import kinds, noise, wording
from memrepo.policies import change, directives, graph, link_targets, speakers
from memrepo.purify import gather, grounding, leads, lines, replies, retire, units

LONG = 16_000


def _daily(text: str) -> object:
    return noise.is_count(Candidate(candidate_id="cand-1", text=text, daily=True))


def _foreign(text: str) -> object:
    return list(grounding.foreign([("text", text)], grounding.Grounds(evidence=(text[::2],))))


def _passing(text: str) -> object:
    return noise.passing(Candidate(candidate_id="cand-1", text=text))


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (noise.noise_class, "(" + "." * LONG + "x)"),
        (noise.noise_class, "x" + ".\n" * LONG + "x"),
        (noise.noise_class, "ignore previous" + "\t " * LONG + "x"),
        (_daily, "(" + " " * LONG + "x)"),
        (gather.ON_PERSON.search, "!" + "\t" * LONG + "x"),
        (
            lambda text: lines.read_lines("a.md", text.encode()),
            "---\na" + "\t" * 5 * LONG + "b\n---\n",
        ),
        (
            lambda text: lines.read_lines("a.md", text.encode()),
            "<!-- a" + "\t" * 5 * LONG + "b -->\n",
        ),
        (_foreign, "A" * LONG + "!"),
        (_foreign, "a." * LONG + "!"),
        (_foreign, "1 may " * (LONG // 6)),
        (_foreign, "12,345 Ab " * (LONG // 10)),
        (change._QUOTED.search, "«a b c " + "a " * LONG),
        (retire._KEEP.search, "a" + "\n" * LONG),
        (
            lambda text: replies.elements(text, replies.VERDICTS_KEY),
            "```\n" + " " * 5 * LONG + ".",
        ),
        (wording._MEMORY_WIDE.fullmatch, "오늘의短期" * LONG + "x"),
        (wording.clean, "Notes " + "~~2:21:22 AM ZAT " * 50 + "x"),
        (_passing, "A v21.1" + " " * LONG + "!"),
        (_passing, "Voortgang:" + " \t" * LONG + "!"),
        (wording.plain, "Anna uses [[" + " " * LONG + "x"),
        (wording.bare_object, "Anna uses [[" + " " * LONG + "x"),
        (wording.clean, "Notes" + " " * LONG + "x"),
        (wording.split_title, "## a" + "\t" * LONG + "x!\n\nb"),
        (lambda text: kinds._CODE.sub("", text), "1/" + "_" * LONG + "!"),
        (lambda text: list(directives.find_directives(text)), "[[forget keyword:" + " " * LONG),
        (link_targets._WIKI.search, "[[" + " " * LONG + "x"),
        (graph._WIKILINK.search, "[[" + " " * LONG + "x"),
        (speakers._MARKUP.search, "a" + "\n" * LONG + "x"),
    ],
)
def test_a_line_made_to_keep_a_pattern_busy_does_not(of, text: str) -> None:
    began = time.process_time()
    of(text)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("text", ["- : 50%", "🔋: 80%", "(0x1F)", "-1.10", "null."])
def test_what_stands_alone_is_still_known(text: str) -> None:
    assert noise._LITERAL.fullmatch(text) or _daily(text)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("It is at /srv/mill/log", "/srv/mill/log"),
        ("Ask ana+mill@goose-barn.org", "ana+mill@goose-barn.org"),
        ("See -goose.barn.org", "goose.barn.org"),
        ("Keep ~/mill/corn.md", "~/mill/corn.md"),
    ],
)
def test_a_path_is_found_whole(text: str, quoted: str) -> None:
    found = list(grounding._literals(text))
    assert found == [quoted]


def test_a_heading_over_the_person_may_have_an_article() -> None:
    for heading in ("El usuario", "Sobre a usuária", "L'utilisateur", "usuario", "Über den Nutzer"):
        assert gather.ON_PERSON.search(heading), heading
    assert not gather.ON_PERSON.search("Elusuarios")


def test_no_more_of_a_heading_is_read_than_names_what_is_below_it() -> None:
    found = units.scan("a.md", f"# Mill {'x' * LONG}\n\n- Keep the corn dry.\n".encode()).units
    assert [len(one.headings[0]) for one in found] == [leads.HEADING_READ]
