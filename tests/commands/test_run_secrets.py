"""A run whose memories, laid out below their headings, look like a secret: it lands without it."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from typing import Any

from driving import done, git, memrepo


def _run(tmp_path: Path, text: str) -> tuple[Path, dict[str, Any]]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text(text, encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", "notes")
    repo = tmp_path / "repo"
    run = done(repo, "run")["run"]
    return repo, json.loads(next((repo / "runs").glob(f"*/{run}.json")).read_text())


def test_the_name_of_a_program_labels_no_password_in_views(tmp_path: Path) -> None:
    repo, _ = _run(
        tmp_path,
        "# House\n\n## 1password\n\n- Bea prefers `op run` to values on disk\n"
        "\n## Passwords\n\n- Bea wants every one of them changed in spring\n",
    )
    assert "op run" in git(repo, "grep", "op run", "--", "memories")
    assert "changed in spring" in git(repo, "grep", "changed in spring", "--", "views")


def test_a_value_that_only_its_heading_names_is_replaced_and_reported(tmp_path: Path) -> None:
    rows = "\n".join(f"- Router {n} stands in the room with number {n + 100}" for n in range(60))
    repo, said = _run(tmp_path, f"# House\n\n## Passwords\n\n{rows}\n\n`Xh7kw9qqR`\n")
    [warning] = said["warnings"]
    assert warning["message"] == (
        "found a secret (password): the memory contains a placeholder instead"
    )
    assert "[redacted:password]" in git(repo, "grep", "redacted", "--", "memories")
    assert git(repo, "log", "--all", "-S", "Xh7kw9qqR", "--format=%H", "--", "memories") == ""
    assert "xh7kw9qqr" not in git(repo, "ls-files")


def test_a_value_that_one_file_labels_is_replaced_in_all(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("# House\n\n- Master password: r8Kp-PLW2231za\n")
    (notes / "memory" / "vault.md").write_text(
        "# Vault\n\n- Open it by `vault-cli open r8Kp-PLW2231za` each morning\n"
        "- The other code r8Kp-PLW2231zab is of no use\n"
    )
    done(tmp_path, "init", "repo", "--from", "notes")
    repo = tmp_path / "repo"
    text = (repo / "sources" / "memory" / "vault.md").read_text()
    assert "`vault-cli open [redacted:password]` each" in text
    assert "r8Kp-PLW2231zab" in text
    assert "r8Kp-PLW2231za\n" not in git(repo, "log", "-p", "--all")
    assert "r8Kp-PLW2231za`" not in git(repo, "log", "-p", "--all")


def test_a_night_with_five_hundred_odd_lines_lands_and_names_what_it_left_out(
    tmp_path: Path,
) -> None:
    dice = random.Random(54)
    table = tomllib.loads((Path(__file__).parents[1] / "data/secrets.toml").read_text("utf-8"))
    words = [word for text, *_ in table["stated"] for word in text.split()]
    words += ["<!-- x -->", "%37", "\u200b", "**", "SN20260105001122-33", "Bo likes tea", "|"]
    words += ["ghp_Fake<!-- x -->Fake1234FakeFakeFake5678FakeFake", "KEY-" + "9F86D081" * 4]
    lines = [
        dice.choice(["- ", "## ", "", "> "]) + " ".join(dice.choices(words, k=dice.randint(1, 9)))
        for _ in range(500)
    ]
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("# House\n\n" + "\n".join(lines[:200]) + "\n")
    (notes / "memory" / "2026-02-01.md").write_text("\n".join(lines[200:]) + "\n")
    (notes / "memory" / f"{'ghp_' + 'Fake1234' * 5}.md").write_text("- Ana moved to Bergen.\n")
    done(tmp_path, "init", "repo", "--from", "notes")
    repo = tmp_path / "repo"
    first = done(repo, "run")
    assert {w["rule"] for w in first["warnings"]} >= {
        "source-secret-redacted",
        "source-secret-name",
    }
    (notes / "MEMORY.md").write_text("# House\n\n" + "\n".join(lines[:190]) + "\n- Bo has a cat.\n")
    done(repo, "run")
    assert "Fake1234Fake1234" not in git(repo, "log", "-p", "--all")
    found = memrepo(repo, "check", "--all").data["problems"]
    assert [one for one in found if one["rule"] == "secret-found"] == []
