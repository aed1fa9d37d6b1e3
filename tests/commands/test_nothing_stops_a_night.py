"""Whatever a text says, that text is left out and named, and the rest of the night lands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, begin, done, git, memories, memrepo

from memrepo.core.layout import stamped, standing_of
from memrepo.read import intake

TOKEN = "ghp_" + "Fake1234" * 5
LINE = "- Bea never wants calls before 10.\n"
DAY = "2026-03-02"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    (place / "memory").mkdir(parents=True)
    (place / "MEMORY.md").write_text(f"# Memory\n\n{LINE}- We decided to bill per month.\n")
    return place


@pytest.fixture
def repo(notes: Path, tmp_path: Path) -> Path:
    repo = begin(tmp_path, notes)
    done(repo, "run")
    return repo


FRAGMENTS = {
    f"memory/{TOKEN}.md": "- Uses vim.\n",
    f"memory/{TOKEN}/people.md": "- Ana lives in Ulm.\n",
    "memory/password=Xk7qpl9zt3.md": "- Uses emacs, too.\n",
    f"memory/{DAY}-{TOKEN}.md": "- Owns a boat.\n",
    f"memory/{DAY}.md": f"# Log\n\n## Key {TOKEN}\n\n- Billed Halvar.\n",
    "memory/comment.md": f"- {TOKEN[:2]}<!-- x -->{TOKEN[2:]} is in use at Halvar\n",
    "memory/percent.md": f"- The key is {TOKEN.replace('_', '%5F')} here.\n",
    "memory/capitals.md": "## PASSWORD: XK7QPL9ZT\n\n- Router in the hall.\n",
    "memory/split.md": "- Password\n- hunter2x9Q\n- of Wifi\n",
    "memory/serial.md": "- Serial SN20260105001122-33 belongs to the printer.\n",
    "memory/iban.md": "- IBAN DE89 3704 0044 0532-\n  0130 00 is of the studio.\n",
    "memory/wide.md": f"- \uff47{TOKEN[1:]} and A\u200b{TOKEN} are old.\n",
}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_night_with_a_secret_in_an_odd_place_lands(repo: Path, notes: Path, name: str) -> None:
    (notes / name).parent.mkdir(exist_ok=True)
    (notes / name).write_text(FRAGMENTS[name], encoding="utf-8")
    with (notes / "MEMORY.md").open("a") as file:
        file.write("- The kiln cools for two days.\n")
    told = done(repo, "run", now=NEXT_DAY)
    assert "The kiln cools for two days." in {m.body for m in memories(repo).values()}
    if TOKEN in name or "password" in name:
        (warning,) = [w for w in told["warnings"] if w["rule"] == "source-secret-name"]
        assert "[redacted:" in warning["path"]
    (notes / name).unlink()
    done(repo, "ingest", now=NEXT_DAY)
    done(repo, "run", now="2026-03-03T09:00:00Z")
    past = git(repo, "log", "--all", "-p", "--format=%B")
    assert not any(word in past for word in (TOKEN, TOKEN[1:], TOKEN.replace("_", "%5F")))
    assert memrepo(repo, "check", "--all").exit == 0


@pytest.mark.parametrize("format_", ["claude-code", "obsidian"])
@pytest.mark.parametrize("folder", ["", TOKEN])
def test_a_secret_in_the_name_or_below_the_name_of_a_note_stops_no_import(
    repo: Path, tmp_path: Path, format_: str, folder: str
) -> None:
    header = "---\nname: API key of Halvar\ndescription: q8Zk2LmN4pR7sT9vQ\n---\n"
    vault = tmp_path / "vault"
    (vault / folder).mkdir(parents=True)
    (vault / folder / f"Key {TOKEN}.md").write_text("Halvar owns a boat.\n")
    (vault / "API key of Halvar.md").write_text(f"{header}It is q8Zk2LmN4pR7sT9vQ there.\n")
    (vault / "kiln.md").write_text("The kiln cools for two days.\n")
    told = done(repo, "import", format_, vault)
    assert "source-secret-name" in {p["rule"] for p in told["problems"]}
    assert "The kiln cools for two days." in {m.body for m in memories(repo).values()}
    past = git(repo, "log", "--all", "-p", "--format=%B").lower()
    assert not any(word.lower() in past for word in (TOKEN, "q8Zk2LmN4pR7sT9vQ"))
    assert done(repo, "import", format_, vault, now=NEXT_DAY)["commit"] == ""


def test_a_page_that_leaves_out_a_secret_is_still_ours() -> None:
    page = stamped("view", "# Facts\n\n## Passwords\n\n- `Xk7qPl9zT`\n- Ana lives in Ulm.\n")
    assert b"[redacted:password]" in page
    assert b"Ana lives in Ulm." in page
    assert standing_of("view", page) == "ours"


def test_a_reader_that_fails_on_one_file_leaves_out_that_file(
    repo: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = intake.scan

    def failing(name: str, data: bytes, known: tuple[str, ...] = ()) -> intake.Scan:
        if b"lathe" in data:
            raise ValueError("no such luck")
        return scan(name, data, known)

    (notes / "MEMORY.md").write_text(f"# Memory\n\n{LINE}- The lathe stands in bay four.\n")
    (notes / "memory" / "other.md").write_text("- Mia prefers Figma to Sketch.\n")
    with monkeypatch.context() as patch:
        patch.setattr(intake, "scan", failing)
        told = done(repo, "run", now=NEXT_DAY)
    assert ("sources/MEMORY.md", "source-unreadable") in {
        (w["path"], w["rule"]) for w in told["warnings"]
    }
    bodies = {m.body for m in memories(repo).values() if m.status == "active"}
    assert {"We decided to bill per month.", "Mia prefers Figma to Sketch."} <= bodies
    done(repo, "run", now="2026-03-03T09:00:00Z")
    assert "The lathe stands in bay four." in {m.body for m in memories(repo).values()}


def test_a_forgotten_statement_is_left_out_of_new_notes(repo: Path, notes: Path) -> None:
    done(repo, "forget", "we-decided-to-bill-per-month", now=LATER)
    log = notes / "memory" / f"{DAY}.md"
    log.write_text("# Day\n\n## Cleanup\n\nRemoved these:\n\n- We decided to bill per month.\n")
    done(repo, "run", now=NEXT_DAY)
    assert not [m for m in memories(repo).values() if m.is_note]
    log.write_text(f"{log.read_text()}- Fixed the login with Jan.\n")
    done(repo, "run", now="2026-03-03T09:00:00Z")
    (note,) = [m for m in memories(repo).values() if m.is_note]
    assert "Fixed the login" in note.body
    assert "per month" not in note.body


@pytest.mark.parametrize("words", [["session", "show"], ["session", "snippet"], ["log"], ["git"]])
def test_a_log_that_only_repeats_what_memrepo_printed_makes_no_note(
    repo: Path, notes: Path, words: list[str]
) -> None:
    if words == ["git"]:
        printed = git(repo, "log", "--graph", "--format=%an: %s", "--author=memrepo run")
    else:
        printed = memrepo(repo, *words, now=LATER, as_json=False).out
    log = notes / "memory" / f"{DAY}.md"
    log.write_text(f"# Day\n\n## Session start\n\nLoaded from memory:\n\n{printed}")
    done(repo, "run", now=NEXT_DAY)
    assert not [m for m in memories(repo).values() if m.is_note]


def test_a_configuration_that_is_a_link_is_named(repo: Path) -> None:
    (repo / "memrepo.toml").rename(repo.parent / "real.toml")
    (repo / "memrepo.toml").symlink_to(repo.parent / "real.toml")
    git(repo, "commit", "-qam", "link", "--no-verify")
    for words in (["status"], ["run"], ["search", "bea"], ["add", "A cat."], ["config"]):
        refused = memrepo(repo, *words, now=LATER)
        assert refused.exit == 2, words
        assert refused.error["message"] == (
            "memrepo.toml: found a symlink, expected a file: links are never followed"
        )
    assert "git tracks no memrepo.toml here that is a file" in memrepo(repo, "check").err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('"[A-Z"', "a list of regular expressions of at most 200 characters, not '[A-Z'"),
        ('"(a|aa)+b"', "a list of regular expressions that repeat no group, not '(a|aa)+b'"),
        ('"[0-9]*"', "a list of regular expressions that match no empty text, not '[0-9]*'"),
        ("7", "a list of regular expressions of at most 200 characters, not 7"),
    ],
)
def test_an_owners_pattern_is_checked_when_it_is_loaded(
    repo: Path, given: str, expected: str
) -> None:
    (repo / "memrepo.toml").write_text(f"format = 2\n\n[secrets]\npatterns = [{given}]\n")
    message = memrepo(repo, "status").error["message"]
    assert message.startswith("memrepo.toml:4: secrets.patterns: found [")
    assert message.endswith(f"expected {expected}")


def test_what_an_owners_pattern_matches_is_a_secret_everywhere(repo: Path, notes: Path) -> None:
    (repo / "memrepo.toml").write_text(
        "format = 2\n\n[secrets]\npatterns = ['\\bid (\\d{3}-\\d{2})\\b']\n"
    )
    refused = memrepo(repo, "add", "Ana has id 123-45.", now=LATER)
    assert refused.error["message"] == "the text holds a secret (own-pattern): nothing was written"
    (notes / "MEMORY.md").write_text(f"# Memory\n\n{LINE}- Bea has the id 678-90 since May.\n")
    done(repo, "run", now=NEXT_DAY)
    assert "the id [redacted:own-pattern] since" in (repo / "sources/MEMORY.md").read_text()


def test_hidden_characters_reach_no_memory_no_judge_and_no_export(
    repo: Path, notes: Path, tmp_path: Path
) -> None:
    from memrepo.judge.questions import fence

    hidden = "".join(map(chr, (0x200B, 0x202E, 0xE0041, 0xE0042, 0x2066)))
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    text = f"The kiln{hidden} cools {flag} for two days."
    assert not set(hidden) & set(fence(text))
    id_ = done(repo, "add", text, now=LATER)["id"]
    log = f"# Day\n\n## Ki{hidden}el\n\n- \ufeffMia never{hidden} sails in May.\n"
    (notes / "memory" / f"{DAY}.md").write_text(log, "utf-8")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Jan.md").write_text(f"Jan likes{hidden} tea.\n", "utf-8")
    done(repo, "import", "obsidian", tmp_path / "vault", now=LATER)
    done(repo, "run", now=NEXT_DAY)
    assert len(memories(repo)) == 6
    assert "nothing found" in memrepo(repo, "check", "--all", as_json=False).out
    place = next(path for path in repo.glob("memories/**/*.md") if id_ in path.read_text("utf-8"))
    place.write_text(place.read_text("utf-8").replace("kiln", f"kiln{hidden}"), "utf-8")
    git(repo, "commit", "-qam", "by hand", "--no-verify")
    for form in ("jsonl", "artifacts"):
        done(repo, "export", form, tmp_path / form, now=LATER)
        written = "".join(p.read_text("utf-8") for p in (tmp_path / form).rglob("*.*"))
        assert "The kiln cools" in written
        assert not set(hidden) & (set(written) - set(flag))
        assert flag in written


def test_a_locale_without_utf_8_stops_nothing(repo: Path, notes: Path) -> None:
    (notes / "memory" / "łódź.md").write_text(
        "# Łódź\n\n- Zoë never flies to Łódź, 小李 neither.\n"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for argv in (["--now", LATER, "run"], ["--now", LATER, "add", "Käthe mag Öl."]):
        ran = subprocess.run(
            [sys.executable, "-m", "memrepo", "-C", str(repo), *argv],
            capture_output=True,
            env={**os.environ, **plain},
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    assert {"Zoë never flies to Łódź, 小李 neither.", "Käthe mag Öl."} <= {
        memory.body for memory in memories(repo).values()
    }


def test_lines_about_memrepo_are_no_output_of_it(repo: Path, notes: Path) -> None:
    log = notes / "memory" / f"{DAY}.md"
    log.write_text(
        "# Day\n\nmemrepo run: failed twice.\n- Bea decided to bill Novatec per month.\n\n"
        "2026-03-02 10:30  0151234567  called Bea\n- Tom decided to sell the boat.\n"
    )
    done(repo, "run", now=NEXT_DAY)
    kept = " ".join(m.body for m in memories(repo).values())
    assert "Novatec" in kept
    assert "sell the boat" in kept
