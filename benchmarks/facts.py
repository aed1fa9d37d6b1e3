"""Are distilled facts found again through the command line, where `memrepo run` made them?

    python -m benchmarks.facts DIR

DIR holds workspaces, each a folder NAME beside `NAME.gold.json` with LoCoMo's questions. Each
becomes a repository by `memrepo init --from` and `memrepo run`, and each question that a bullet
answers is asked by `memrepo search`. A hit holds the bullets on whose lines its sources lie. Asked
of every memory, notes of whole days take places though they hold no bullet; so the questions are
asked once more of claims alone, and once within 400 tokens.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import answer_of
from benchmarks.recall import Place, Question, gold_bullets, questions, workspaces
from benchmarks.retrieval import DEPTHS, MULTI_HOP, Figures, means, scored
from memrepo.core.memory import CLAIM_TYPES

NOW = "2026-03-01T09:00:00Z"
WAYS: Mapping[str, Sequence[str]] = {
    "every memory": (),
    "400 tokens": ["--max-tokens=400"],
    "claims alone": [f"--type={type_}" for type_ in CLAIM_TYPES],
}
"""The options of `memrepo search` that are tried."""


def measure(workspace: Path, qa: Sequence[Mapping[str, Any]]) -> dict[str, Figures]:
    """Take a workspace in and ask its questions; return figures by the way of asking."""
    bullets = gold_bullets(workspace)
    asked = questions(qa, bullets.values())
    with tempfile.TemporaryDirectory(prefix="memrepo-facts-") as folder:
        answer_of("init", folder, "--from", str(workspace), "--tz", "Asia/Manila", now=NOW)
        answer_of("-C", folder, "run", now=NOW)
        return {
            way: [_asked(folder, one, bullets, options) for one in asked]
            for way, options in WAYS.items()
        }


def _asked(
    repo: str, question: Question, bullets: Mapping[Place, str], options: Sequence[str]
) -> dict[str, float]:
    found = answer_of(
        "-C",
        repo,
        "search",
        f"-k{max(DEPTHS)}",
        "--no-touch",
        *options,
        "--",
        question.text,
        now=NOW,
    )
    return scored(question, [held(hit, bullets) for hit in found["hits"]])


def held(hit: Mapping[str, Any], bullets: Mapping[Place, str]) -> frozenset[str]:
    """Return the bullets on which the sources that a hit cites lie."""
    cited = {
        (source["resource"], line)
        for source in hit["sources"]
        for line in range(source["lines"][0], source["lines"][1] + 1)
    }
    return frozenset(bullets[place] for place in cited if place in bullets)


def report(found: Mapping[str, Mapping[str, Figures]]) -> str:
    """Render the figures of each workspace and of all questions together, multi-hop apart."""
    lines = []
    for way in WAYS:
        by = {name: ways[way] for name, ways in found.items()}
        lines.append(f"{way:14} questions")
        for name, rows in {**by, "all": [row for one in by.values() for row in one]}.items():
            hops = [row for row in rows if row["category"] == MULTI_HOP]
            for label, kept in ((name, rows), ("  multi-hop", hops)):
                told = "  ".join(f"{k} {v:.3f}" for k, v in means(kept).items())
                lines.append(f"{label:14} {len(kept):9}  {told}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure every workspace of a folder, and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.facts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="DIR")
    options = parser.parse_args(argv)
    talks = workspaces(options.folder)
    if not talks:
        parser.error(f"no workspaces in {options.folder}")
    print(report({path.name: measure(path, qa) for path, qa in talks.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
