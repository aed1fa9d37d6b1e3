"""Lines made to keep a pattern busy: the work on a text grows with its length, no faster."""

import time

import pytest

from memrepo.core.judge import Candidate
from memrepo.judges import noise
from memrepo.policies import change, figures
from memrepo.purify import gather, lines, replies, retire

LONG = 16_000


def _daily(text: str) -> object:
    return noise.is_count(Candidate(candidate_id="cand-1", text=text, daily=True))


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (noise.noise_class, "(" + "." * LONG + "x)"),
        (noise.noise_class, "x" + ".\n" * LONG + "x"),
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
        (lambda text: list(figures.literal_faults(text, ())), "A" * LONG + "!"),
        (lambda text: list(figures.literal_faults(text, ())), "a." * LONG + "!"),
        (change._QUOTED.search, "«a b c " + "a " * LONG),
        (retire._KEEP.search, "a" + "\n" * LONG),
        (
            lambda text: replies.elements(text, replies.VERDICTS_KEY),
            "```\n" + " " * 5 * LONG + ".",
        ),
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
    found = [one[0] for one in figures._PATH.finditer(text)]
    assert found == [quoted]


def test_a_heading_over_the_person_may_have_an_article() -> None:
    for heading in ("El usuario", "Sobre a usuária", "L'utilisateur", "usuario", "Über den Nutzer"):
        assert gather.ON_PERSON.search(heading), heading
    assert not gather.ON_PERSON.search("Elusuarios")
