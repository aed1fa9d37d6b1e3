"""Commands that only read: search, show, log, config, status; and the form of every answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, git, memories, memrepo, standing

from memrepo.store.database import NAME, memory_cache
from memrepo.store.repo import open_repository
from memrepo.views import pages

# -- search --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "part"),
    [
        (["用户", "喜欢"], "用户喜欢"),
        (["夜の通知"], "ユーザーは朝"),
        (["커밋", "테스트"], "사용자는"),
        (["журналы", "ульев"], "Мы решили"),
        (["ЖУРНАЛЫ"], "Мы решили"),
        (["cafe", "sucre"], "préfère le café"),
        (["inigo"], "Íñigo"),
        (["Apfelbaume"], "Apfelbäume"),
        (["propolis"], "Maren"),
        (["zero", "width"], "Zero width"),
    ],
)
def test_search_finds_words_of_every_script_and_without_accents(
    ugly_repo: Path, query: list[str], part: str
) -> None:
    hits = done(ugly_repo, "search", *query, "-k", "3")["hits"]
    assert any(part in hit["text"] for hit in hits), [hit["text"] for hit in hits]


@pytest.mark.parametrize(
    "query", ['"', "(", "*", "AND", "NEAR(a b)", "a:b", "^", "-x", "' OR 1=1", "🐝"]
)
def test_no_query_is_a_syntax_error(ugly_repo: Path, query: str) -> None:
    assert memrepo(ugly_repo, "search", "--", query).exit in (0, 1)


def test_the_terminal_never_gets_control_characters_of_a_memory(ugly_repo: Path) -> None:
    answer = memrepo(ugly_repo, "search", "escape", "terminal", as_json=False)
    assert "must not reach the terminal" in answer.out
    assert not any(ord(ch) < 32 and ch != "\n" for ch in answer.out)
    assert "\u202e" not in memrepo(ugly_repo, "search", "right", "left", as_json=False).out


def test_search_stays_within_its_bounds_and_filters(ugly_repo: Path) -> None:
    answer = done(ugly_repo, "search", "broker", "scale", "-k", "50", "--max-tokens", "60")
    assert 0 < answer["tokens"] <= 60
    hits = done(ugly_repo, "search", "Ilse", "--type", "preference")["hits"]
    assert {hit["type"] for hit in hits} == {"preference"}


# -- show ----------------------------------------------------------------------------------------


def test_show_takes_id_prefix_slug_path_and_layered_key(small_repo: Path) -> None:
    memory = next(m for m in memories(small_repo).values() if "rotary hoe" in m.body)
    words = (
        memory.id,
        memory.id[:12],
        memory.id[4:12],
        memory.slug,
        memory.slug[:-7],
        memory.path,
        f"{memory.layer}:{memory.slug[:-7]}",
    )
    for word in words:
        assert done(small_repo, "show", word)["memory"]["id"] == memory.id


# -- config --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "place", "said"),
    [
        ("profil = 'personal'", 1, "profile"),
        ("profile = 'persona'", 1, "personal, business"),
        ("timezone = 'Mars/Base'", 1, "tz database"),
        ("human_authors = 'x'", 1, "list of texts"),
        ("[run]\nmax_change_prc = 5", 2, "run.max_change_pct"),
        ("[run]\nmax_change_pct = 500", 2, "0 to 100"),
        ("[run]\njudge = true", 2, "offline"),
        ("profile = ", 1, "TOML"),
    ],
)
def test_a_wrong_configuration_is_refused_with_line_and_remedy(
    small_repo: Path, line: str, place: int, said: str
) -> None:
    (small_repo / "memrepo.toml").write_text(f"{line}\n")
    before = standing(small_repo)
    for command in (["config"], ["run"], ["search", "x"]):
        answer = memrepo(small_repo, *command)
        assert answer.exit == 2
        assert f"memrepo.toml:{place}" in answer.error["message"]
        assert said in answer.error["message"] + answer.error["fix"]
    assert standing(small_repo) == before


def test_a_newer_format_is_read_and_never_written(small_repo: Path) -> None:
    text = (small_repo / "memrepo.toml").read_text()
    (small_repo / "memrepo.toml").write_text(text.replace("format = 2", "format = 3"))
    assert done(small_repo, "search", "hoe")["hits"]
    for command in (["run"], ["ingest"], ["revert"]):
        assert memrepo(small_repo, *command).exit == 3


@pytest.mark.parametrize("command", [["search", "hoe"], ["status"], ["run"], ["check"]])
def test_a_format_of_before_the_first_release_is_refused(
    small_repo: Path, command: list[str]
) -> None:
    text = (small_repo / "memrepo.toml").read_text()
    (small_repo / "memrepo.toml").write_text(text.replace("format = 2", "format = 1"))
    git(small_repo, "add", "memrepo.toml")  # a check reads what git has
    refused = memrepo(small_repo, *command)
    assert refused.exit == 5
    assert "memrepo.toml: found format = 1, expected format = 2" in refused.error["message"]
    assert "memrepo init" in refused.error["fix"]


# -- every answer --------------------------------------------------------------------------------


def test_every_command_answers_in_json_and_changes_nothing_by_reading(small_repo: Path) -> None:
    id_ = next(iter(memories(small_repo)))
    before = standing(small_repo)
    for argv in (
        ["status"],
        [],
        ["search", "pump", "--no-touch"],
        ["show", id_, "--no-touch"],
        ["log"],
        ["check"],
        ["check", "--staged"],
        ["config"],
        ["run", "--dry-run"],
        ["ingest", "--dry-run"],
        ["revert", "--dry-run"],
        ["run"],
        ["ingest"],
    ):
        assert done(small_repo, *argv)["schema_version"] == 1
    assert standing(small_repo) == before


@pytest.mark.parametrize(
    ("argv", "code", "fix"),
    [
        (["serach", "x"], 2, "search"),
        (["show", "nothing-like-it"], 2, "search"),
        (["run", "--jugde", "x"], 2, ""),
        (["run", "--judge", "gpt"], 2, ""),
        (["run", "--max-tokens", "x"], 2, ""),
        (["search"], 2, ""),
        (["search", "x", "-k", "0"], 2, ""),
    ],
)
def test_errors_are_json_on_stderr_with_their_exit_code(
    small_repo: Path, argv: list[str], code: int, fix: str
) -> None:
    answer = memrepo(small_repo, *argv)
    assert answer.exit == code
    assert fix in answer.error["fix"]


@pytest.mark.parametrize(
    "argv", [["status"], ["run"], ["search", "x"], ["log"], ["revert"], ["check"]]
)
def test_outside_of_a_repository_the_answer_is_five(tmp_path: Path, argv: list[str]) -> None:
    answer = memrepo(tmp_path, *argv)
    assert answer.exit == 5
    assert "memrepo init" in answer.error["fix"]
    git(tmp_path, "init", "-q", "plain")
    assert memrepo(tmp_path / "plain", *argv).exit == 5


def test_status_says_what_is_left_of_budgets(cold_repo: Path) -> None:
    assert done(cold_repo, "status")["budgets"]["max_usd"] is None
    said = memrepo(cold_repo, "status", as_json=False).out
    assert "spent      nothing today, nothing this month\n" in said
    ids = [i for i, m in memories(cold_repo).items() if not m.is_note][:2]
    for id_ in ids:
        done(cold_repo, "promote", id_)
    (cold_repo / "memrepo.toml").write_text(
        "hot.budget = 1\nrun.max_usd_month = 2.5\nrun.max_tokens_month = 90000\n"
    )
    found = done(cold_repo, "status")["budgets"]
    assert found == {
        "bullets": 2,
        "max_bullets": 1,
        "usd": 0.0,
        "max_usd": 2.5,
        "tokens": 0,
        "max_tokens": 90000,
        "today_usd": 0.0,
        "today_tokens": 0,
    }
    said = memrepo(cold_repo, "status", as_json=False).out
    assert "first page 2 of 1 bullets: over budget" in said
    limits = "of $2.50 and 90,000 tokens"
    assert f"spent      nothing today, nothing this month, {limits}\n" in said


def test_a_run_keeps_what_it_found_of_each_memory(small_repo: Path) -> None:
    done(small_repo, "add", "The deploy key lives in the safe.", "--type", "fact")
    done(small_repo, "run", now=LATER)
    with open_repository(small_repo) as store:
        files = store.snapshot(store.head()).memory_files
    known = memory_cache(small_repo / ".git" / "memrepo" / NAME)
    stored = known.read({blob: path for path, blob in files.items()})
    searched = [m for m in stored.values() if any("clean body" in rule for rule in m.derived)]
    assert len(stored) == len(files) < 2 * len(searched)


def test_a_run_without_news_renders_the_pages_once(
    small_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(small_repo, "add", "The deploy key lives in the safe.", "--type", "fact")
    assert "deploy key" not in (small_repo / "views" / "LTMEMORY.md").read_text()
    done(small_repo, "run", now=LATER)
    assert "deploy key" in (small_repo / "views" / "LTMEMORY.md").read_text()
    head = git(small_repo, "rev-parse", "HEAD")
    done(small_repo, "run", now=LATER)
    monkeypatch.setattr(pages, "render_views", None)
    done(small_repo, "run", now=LATER)
    assert git(small_repo, "rev-parse", "HEAD") == head


def test_search_sees_work_that_is_not_committed_and_forgets_what_was_undone(
    small_repo: Path,
) -> None:
    path = next((small_repo / "memories").rglob("*hoe*.md"))
    before, (hit,) = path.read_bytes(), done(small_repo, "search", "hoe", "-k", "1")["hits"]
    assert hit["commit"]
    path.write_bytes(before.replace(b"hoe", b"zeppelin"))
    (edited,) = done(small_repo, "search", "zeppelin")["hits"]
    assert (edited["id"], edited["commit"]) == (hit["id"], "")
    assert "zeppelin" in edited["text"]
    assert "not committed" in memrepo(small_repo, "search", "zeppelin", as_json=False).out
    assert done(small_repo, "search", "zeppelin", "--at", "HEAD")["hits"] == []
    git(small_repo, "commit", "-qam", "edit")
    assert done(small_repo, "search", "zeppelin")["hits"][0]["commit"]
    path.unlink()
    assert done(small_repo, "search", "zeppelin")["hits"] == []
    git(small_repo, "checkout", "-q", "HEAD~1", "--", path.relative_to(small_repo).as_posix())
    assert done(small_repo, "search", "zeppelin")["hits"] == []
    assert done(small_repo, "search", "hoe", "-k", "1")["hits"][0]["id"] == hit["id"]
    git(small_repo, "reset", "-q", "--hard", "HEAD~1")
    again = done(small_repo, "search", "hoe", "-k", "1")["hits"][0]
    assert (again["text"], bool(again["commit"])) == (hit["text"], True)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["..."], "the question contains no words"),
        (["xylophone"], "no memory contains any of these words"),
        (
            ["xylophone", "--tag", "a", "--tag", "b"],
            "no memory or note with all of these tags contains any of these words",
        ),
        (["hoe", "--type", "lesson"], "1 memory matches without --type"),
        (["hoe", "--tag", "none", "--scope", "user:x"], "1 memory matches without --tag, --scope"),
        (["hoe", "--status", "archived"], "1 memory of another status matches"),
        (["hoe", "--status", "expired"], "1 memory matches, none is expired"),
    ],
)
def test_search_says_why_nothing_was_found(small_repo: Path, argv: list[str], why: str) -> None:
    done(small_repo, "search", "hoe")
    argv = [*argv, "--no-touch"]
    answer = done(small_repo, "search", *argv)
    assert answer["hits"] == []
    assert answer["why"].startswith(why)
    said = memrepo(small_repo, "search", *argv, as_json=False).out
    assert f"nothing found: {answer['why']}" in said


def test_an_expired_memory_is_no_hit_and_the_answer_says_so(small_repo: Path) -> None:
    done(small_repo, "add", "The zeppelin lands at noon.", "--class", "ephemeral")
    answer = done(small_repo, "search", "zeppelin", now="2026-03-09T09:00:00Z")
    assert answer["why"] == "1 memory matches, but is expired (`--status expired`)"


def test_search_by_tag_and_scope_and_how_far_a_hit_is_trusted(small_repo: Path) -> None:
    done(small_repo, "add", "The zeppelin is red.", "--tag", "air", "--scope", "user:ana")
    done(small_repo, "add", "The zeppelin is old.", "--tag", "air", "--tag", "age")
    red, old = (f"The zeppelin is {word}." for word in ("red", "old"))

    def found(*argv: str) -> set[str]:
        return {hit["text"] for hit in done(small_repo, "search", "zeppelin", *argv)["hits"]}

    assert found("--tag", "air") == {red, old}
    assert found("--tag", "air", "--tag", "age") == {old}
    assert found("--scope", "user:ben") == {old}
    assert found("--scope", "user:ana") == {red, old}
    hits = done(small_repo, "search", "zeppelin", "raised", "beds")["hits"]
    assert {hit["trust"] for hit in hits if hit["text"] in (red, old)} == {"human-reviewed"}
    assert {hit["trust"] for hit in hits if hit["text"] not in (red, old)} == {"unverified"}


def test_an_ambiguous_prefix_asks_and_names_the_candidates(ugly_repo: Path) -> None:
    answer = memrepo(ugly_repo, "show", "mem-0")
    assert answer.exit == 3
    assert answer.error["message"].count("mem-0") >= 3


def test_a_wrong_time_or_folder_is_a_usage_error(small_repo: Path) -> None:
    assert memrepo(small_repo, "status", now="yesterday").exit == 2
    assert memrepo(small_repo / "nowhere", "status").exit == 2


def test_search_explains_each_score(small_repo: Path) -> None:
    hits = done(small_repo, "search", "raised", "beds")["hits"]
    for hit in hits:
        assert hit["score"] == pytest.approx(sum(hit["parts"].values()), abs=1e-3)
    said = memrepo(small_repo, "search", "raised", "beds", "--explain", as_json=False).out
    assert said.count("  score: words ") == len(hits) > 0


def test_of_a_long_hit_the_part_that_answers_is_shown(small_repo: Path) -> None:
    day = [f"- The bench {n} was painted once more." for n in range(60)]
    day[40] = "- The zeppelin landed on the roof."
    done(small_repo, "add", "\n".join(day), "--type", "note")
    said = memrepo(small_repo, "search", "zeppelin", as_json=False).out
    assert "zeppelin landed on the roof" in said
    (part,) = done(small_repo, "search", "zeppelin")["hits"]
    assert part["truncated"] is True
    assert "zeppelin landed on the roof" in part["text"]
    assert part["text"] in "\n".join(day)
    (less,) = done(small_repo, "search", "zeppelin", "--max-tokens", "50")["hits"]
    assert less["truncated"] is True
    assert "zeppelin landed on the roof" in less["text"]
    assert len(less["text"]) < len(part["text"]) < len("\n".join(day))


def test_the_weight_of_age_is_set_for_one_search_or_in_the_configuration(small_repo: Path) -> None:
    def recency(*argv: str) -> float:
        (hit,) = done(small_repo, "search", "zeppelin", "-k", "1", "--no-touch", *argv)["hits"]
        return float(hit["parts"]["recency"])

    done(small_repo, "add", "The zeppelin is moored behind the mill.")
    usual = recency()
    assert usual > 0
    assert recency("--recency-weight", "0.5") == pytest.approx(2.5 * usual, abs=2e-3)
    config = small_repo / "memrepo.toml"
    config.write_text(config.read_text() + "\n[recall]\nrecency = 0.0\n", encoding="utf-8")
    assert recency() == 0
    config.write_text(config.read_text().replace("recency = 0.0", "recency = 2"), encoding="utf-8")
    assert "expected a number from 0 to 1" in memrepo(small_repo, "search", "hoe").error["message"]
    for wrong in ("2", "x", "nan"):
        assert memrepo(small_repo, "search", "hoe", "--recency-weight", wrong).exit == 2
