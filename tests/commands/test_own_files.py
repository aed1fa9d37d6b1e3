"""A prompt or a template of the repository stands in for the one that is shipped."""

from __future__ import annotations

from pathlib import Path

from driving import NEXT_DAY, done, git, memrepo


def put(repo: Path, name: str, text: str) -> None:
    """Commit a file of the repository's own."""
    path = repo / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    git(repo, "add", name)
    git(repo, "commit", "-qm", f"Write {name}", "--no-verify")


def test_a_judge_and_an_agent_get_the_prompts_of_the_repository(fresh_repo: Path) -> None:
    before = done(fresh_repo, "judge", "next")["question"]
    put(fresh_repo, "prompts/read.md", "Read for a gardener.\n")
    after = done(fresh_repo, "judge", "next")["question"]
    assert "gardener" not in before["instructions"]
    assert after["instructions"] == "Read for a gardener."
    assert after["data"] == before["data"]
    put(fresh_repo, "prompts/agent-snippet.md", "Version 9.\nAsk `$memrepo search` first.\n")
    told = done(fresh_repo, "session", "snippet")
    assert "search` first." in told["prompt"]
    assert "$memrepo" not in told["prompt"]


def test_a_page_is_made_from_the_template_of_the_repository(small_repo: Path) -> None:
    put(
        small_repo,
        "templates/LTMEMORY.md.j2",
        "{% extends '_page.md.j2' %}\n{% block preface %}What the garden taught.{% endblock %}\n",
    )
    page = small_repo / "views" / "LTMEMORY.md"
    old = page.read_text()
    done(small_repo, "run", now=NEXT_DAY)
    assert page.read_text().splitlines()[3:5] == ["What the garden taught.", ""]
    assert page.read_text().splitlines()[5:] == old.splitlines()[5:]
    assert memrepo(small_repo, "check", "--all").exit == 0
    git(small_repo, "rm", "-q", "templates/LTMEMORY.md.j2")
    git(small_repo, "commit", "-qm", "Use the template that is shipped")
    done(small_repo, "run", now=NEXT_DAY)
    assert page.read_text() == old


def test_a_template_reaches_no_program_and_its_fault_is_named(small_repo: Path) -> None:
    for text, said in (
        ("{% block preface %}\n{% nonsense %}\n", "LTMEMORY.md.j2:2: "),
        ("{{ title.__class__.__mro__ }}\n", "LTMEMORY.md.j2: "),
    ):
        put(small_repo, "templates/LTMEMORY.md.j2", text)
        answer = memrepo(small_repo, "run", now=NEXT_DAY)
        assert answer.exit == 2
        assert said in answer.error["message"]
        assert "delete the file" in answer.error["fix"]
