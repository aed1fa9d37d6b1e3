"""Lines made to keep a pattern busy: the work on a text grows with its length, no faster."""

import time

import pytest

from memrepo.actions.run import retire
from memrepo.faces.text.changes import directives
from memrepo.judges import grounding, prompting
from memrepo.policies import change, links
from memrepo.read import documents
from memrepo.text import cues

LONG = 16_000


def _foreign(text: str) -> object:
    return list(grounding.foreign([("text", text)], grounding.Grounds(evidence=(text[::2],))))


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (
            lambda text: documents.read_lines("a.md", text.encode()),
            "---\na" + "\t" * 5 * LONG + "b\n---\n",
        ),
        (
            lambda text: documents.read_lines("a.md", text.encode()),
            "<!-- a" + "\t" * 5 * LONG + "b -->\n",
        ),
        (_foreign, "A" * LONG + "!"),
        (_foreign, "a." * LONG + "!"),
        (_foreign, "1 may " * (LONG // 6)),
        (_foreign, "12,345 Ab " * (LONG // 10)),
        (change._QUOTED.search, "«a b c " + "a " * LONG),
        (retire._KEEP.search, "a" + "\n" * LONG),
        (
            lambda text: prompting.elements(text, prompting.VERDICTS_KEY),
            "```\n" + " " * 5 * LONG + ".",
        ),
        (lambda text: list(directives.find_directives(text)), "[[forget keyword:" + " " * LONG),
        (links._WIKI.search, "[[" + " " * LONG + "x"),
        (links._WIKILINK.search, "[[" + " " * LONG + "x"),
        (cues._MARKUP.search, "a" + "\n" * LONG + "x"),
    ],
)
def test_a_line_made_to_keep_a_pattern_busy_does_not(of, text: str) -> None:
    began = time.process_time()
    of(text)
    assert time.process_time() - began < 0.5


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
