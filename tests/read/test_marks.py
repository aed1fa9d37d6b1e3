"""Private text is blanked, and text that memory programs printed is not read."""

from __future__ import annotations

import pytest

from memrepo.core.layout import stamped
from memrepo.read.marks import (
    NOTICE,
    marked,
    printed_lines,
    unclosed_private,
    without_private,
)
from memrepo.views.hot import fenced

SECRET = "Mia is pregnant"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# A\n\n- <Private>hush\n\n# B\n", 3),
        ("<private>hush\nand more", 1),
        ("<private>hush</private>\n\n<private>\n\n## B\n</private>\n", 3),
        ("<private>hush\n</PRIVATE>\n", 0),
        ("the tag `<private>` hides a text", 0),
    ],
)
def test_a_tag_that_nothing_closes_is_found(text: str, line: int) -> None:
    assert unclosed_private(text) == line


@pytest.mark.parametrize(
    "text",
    [
        f"- <private>{SECRET}.</private>",
        f"<private>\n- {SECRET}.\n</private>\n",
        f"<Private>\n- {SECRET}.",
        f"- Mara %%{SECRET}%% works here.",
        f"%%\n{SECRET}\n\n{SECRET}\n%%",
        f"<!-- {SECRET}\nand more -->",
        f"- Off the record, do not remember this: {SECRET}.",
        f"- {SECRET} (don't remember this)",
        f"Do not store this:\n\n- {SECRET}\n- and more",
        f"- Bitte nicht speichern: {SECRET}.",
        f"- do not remember this\n  - {SECRET}",
        f"## Off the record\n\n{SECRET}\n\n### More\n\n{SECRET}",
        f"- 不要记住：{SECRET}",
        f"- ne retiens pas ça : {SECRET}",
        f'- <private reason="health">{SECRET}.</private>',
        f"<private\n  by='me'>\n- {SECRET}.\n</private>",
        f"- Nicht für das Protokoll: {SECRET}.",
        f"- Это не запоминай: {SECRET}.",
        f"Vergiss das: {SECRET}.",
        f"- Bitte nicht merken, {SECRET}.",
        f"- Please do not remember this, {SECRET}.",
        f"## 18:00 Off the record\n\n{SECRET}",
        f"- Mara said, off the record, that {SECRET}.",
        f"- Ne pas noter : {SECRET}.",
        f"- Ne pas retenir : {SECRET}.",
        f"- N'écris pas ça : {SECRET}.",
        f"- {SECRET} (do not remember)",
        f"- **Don't remember:** {SECRET}.",
        f"- Bitte nicht notieren: {SECRET}.",
        f"- Non annotare: {SECRET}.",
        f"- 不要记下：{SECRET}",
    ],
)
def test_private_text_is_blank(text: str) -> None:
    whole = f"# Memory\n\n- Bea lives in Kiel.\n\n{text}\n\n# Last\n\n- Ben lives in Ulm.\n"
    public = without_private(whole)
    assert SECRET not in public
    assert "Bea lives" in public
    assert public.split("\n").index("- Ben lives in Ulm.") == whole.split("\n").index(
        "- Ben lives in Ulm."
    )


@pytest.mark.parametrize(
    "text",
    [
        "- 100%% sure, and 20%% of it",
        "- Put secrets into `<private>` tags.",
        "- `%%` opens a comment and `%%` closes it",
        '- If Mara says "do not remember this", leave it out.',
        "- I do not remember this endpoint",
        "- I don't remember: was it May?",
        "- Do not keep this file open",
        "- Ne pas noter les heures du dimanche",
        "- Vergiss das Brot nicht",
        "- <private-notes>are a folder</private-notes>",
        "<!-- beads:start -->\n- managed\n<!-- beads:end -->",
        "<!-- BEGIN NOTES -->",
        "```html\n<!-- a template -->\n```",
        "```mermaid\n%% remark\n```",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert without_private(text) == text


ID = "mem-2d429a7e4739ad15"
RUN = "20261002T231000Z-79e10b54"
PAGE = stamped(
    "view", "# Past\n\nKept.\n\n## A\n\n- Bea naps. `a1b2c3`\n\n### B\n\nEnd.\n"
).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTICE}\n{fenced(f'- Bea naps. (knowledge, {ID})')}",
        f"1 memory. {NOTICE}\n{fenced('plain')}",
        "> ```memories\n> plain\n> ```",
        f"{ID}  decision  (score 1.04)\n  MEMORY\n  We bill per month.\n  from sources/MEMORY.md:4",
        f"- Bea naps. (knowledge, {ID})",
        (
            f"{RUN}: 2 memories (2 added)\nfirst page: 0 tokens\n\nNew, from MEMORY.md (1)\n\n"
            f"added      {ID}  fact  memories/a.md\n  + Bea naps.\n    because: stated"
        ),
        marked("report", "# Last run: ok\n\n## Run\n\n- mode: incremental"),
        PAGE,
        PAGE.replace("Bea naps", "Bea slept") + "\n## B\n\n- Ben runs. `a1b2c4`\n",
        (
            f"{ID}  decision, active, resolved\nmemories/a.md\n\nWe bill per month.\n\n"
            "- Ben runs.\n\ncontext:       MEMORY\nevidence:      sources/MEMORY.md:4\n"
            "    | - We bill per month.\nfirst page:    since 2026-10-02 (critical)"
        ),
        '{"schema_version": 1, "hits": [{"text": "Bea naps."}]}',
        '{\n  "schema_version": 1,\n  "hits": [\n    {\n      "text": "Bea naps."\n    }\n  ]\n}',
        "<relevant-memories>\n- Bea naps.\n\n- Ben runs.\n</relevant-memories>",
        "<memory-context>\n- Bea naps.",
    ],
)
@pytest.mark.parametrize("quote", ["", "> "])
def test_printed_text_is_recognised_and_the_text_around_it_is_not(text: str, quote: str) -> None:
    # The comments of `marked` are read by read/documents.py.
    pasted = [f"{quote}{line}".rstrip() for line in text.rstrip("\n").split("\n")]
    lines = ["# Log", "", "- Before.", "", *pasted, "", "- After.", "", "```", "x", "```"]
    from memrepo.read.documents import read_lines

    source = read_lines("a.md", "\n".join(lines).encode())
    shown = [line for _, line in source.visible(1, source.count) if line]
    assert shown == ["# Log", "- Before.", "- After.", "```", "x", "```"]


@pytest.mark.parametrize(
    "text",
    [
        f"- {ID} is wrong: Bea does take calls.",
        f"We compared {RUN} with the one before.",
        "- The memories of Ben are in a box.",
        "```python\nmemories\n```",
        "I read the relevant-memories page.",
        f"{ID} is a decision, active, resolved",
        "The answer begins with schema_version: 1.",
    ],
)
def test_a_text_about_memories_is_read(text: str) -> None:
    assert not printed_lines(text.split("\n"))
