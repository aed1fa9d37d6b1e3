"""Whatever a model or its service does, the next runs end at the memory of an uncut run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serving
from driving import assert_sound, done, git, memories, memrepo
from serving import Act, Service, good
from workspaces import write

from memrepo.actions.landing import SecretInText
from memrepo.judge import services

HERE = Path(serving.__file__).parent
FIRST, SECOND, THIRD = (f"2026-03-0{n}T09:00:00Z" for n in (1, 2, 3))
FILES = {
    f"{name}.md": f"# {name.title()}\n\n".encode()
    + b"".join(
        f"- The {name} number {n} of the harbour is painted every {n + 2} years.\n".encode()
        for n in range(1, 9)
    )
    for name in ("buoy", "crane", "dock")
}


def begin(base: Path) -> Path:
    """Make a repository whose three files give three questions."""
    workspace = write(base / "workspace", FILES)
    done(base, "init", base / "repo", "--from", workspace)
    repo = base / "repo"
    text = (repo / "memrepo.toml").read_text().split("\n[judge]")[0]
    judge = ("context = 200", "timeout_s = 1", "max_tokens = 4000")
    (repo / "memrepo.toml").write_text("\n".join([text, "[judge]", *judge, ""]))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return repo


def stated(repo: Path) -> list[str]:
    """Return what a repository remembers, without notes."""
    return sorted(m.body.strip() for m in memories(repo).values() if not m.is_note)


UNCUT = sorted(
    line.removeprefix("- ")
    for data in FILES.values()
    for line in data.decode().splitlines()
    if line.startswith("- ")
)


def ends_alike(repo: Path, run: Callable[[str], Any]) -> None:
    """Assert that two further runs lead to the memory of an uncut run, and that all is sound."""
    for now in (SECOND, THIRD):
        assert run(now).exit == 0
    assert stated(repo) == UNCUT
    assert_sound(repo)


def wrapped(before: str, after: str) -> Callable[[str], str]:
    return lambda question: f"{before}{good(question)}{after}"


def halved(question: str) -> str:
    return good(question)[: len(good(question)) // 2]


def with_wrong_ids(question: str) -> str:
    said = json.loads(good(question))
    for one in said.get("operations", ()):
        one |= {"op": "same", "id": "m99"}
    return json.dumps(said)


# -- anthropic -----------------------------------------


OK = Act()
ACTS: dict[str, tuple[list[Act], int]] = {
    "429": ([OK, Act(status=429)], 4),
    "500": ([OK, Act(status=500)], 4),
    "401": ([Act(status=401)], 4),
    "cut answer": ([OK, Act(answer=halved, stop="max_tokens")], 0),
    "fence": ([Act(answer=wrapped("```json\n", "\n```"))], 0),
    "prose": ([Act(answer=wrapped("Sure, here it is: ", " Bye."))], 0),
    "no answer": ([Act(answer=lambda _: "I would keep all of it.")], 0),
    "no answer twice": ([OK, *[Act(answer=lambda _: "All of it.")] * 2], 4),
    "silent": ([OK, Act(silent=True)], 4),
    "reset": ([OK, Act(cut_after=400)], 4),
    "no usage": ([Act(used={"input_tokens": 0, "output_tokens": 0})], 0),
}


@pytest.mark.parametrize("fault", ACTS)
def test_anthropic(service: Service, tmp_path: Path, fault: str) -> None:
    repo = begin(tmp_path)
    service.script, code = [*ACTS[fault][0]], ACTS[fault][1]

    def run(now: str) -> Any:
        return memrepo(repo, "run", "--judge", "anthropic", now=now)

    found = run(FIRST)
    assert found.exit == code, found
    if code:
        assert found.data["why"]
        assert len(stated(repo)) in (0, 8, 16)
    else:
        assert stated(repo) == UNCUT
    ends_alike(repo, run)


def test_wrong_ids_are_left_out_and_named(service: Service, tmp_path: Path) -> None:
    repo = begin(tmp_path)
    service.script = [Act(answer=with_wrong_ids)]
    service.default = Act(
        answer=lambda asked: '{"operations": []}' if "\nrefused: " in asked else good(asked)
    )
    found = memrepo(repo, "run", "--judge", "anthropic", now=FIRST)
    assert found.exit == 0
    assert any("no memory m99 was shown" in one["reason"] for one in found.data["quarantined"])
    assert len(stated(repo)) == 16
    assert_sound(repo)


def test_a_wrong_model_is_named_and_the_next_morning_status_says_so(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    service.default = Act(status=404)
    found = memrepo(repo, "run", "--judge", "anthropic", now=FIRST)
    assert found.exit == 4
    said = memrepo(repo, "status", now=SECOND, as_json=False).out
    assert "HTTP 404" in said
    assert "check judge.model" in said


def test_two_budgets_and_a_run_without_one(service: Service, tmp_path: Path) -> None:
    repo = begin(tmp_path)
    service.default = Act(used={"input_tokens": 1500, "output_tokens": 400})

    def run(now: str, *more: str) -> Any:
        return memrepo(repo, "run", "--judge", "anthropic", *more, now=now)

    first = run(FIRST, "--max-tokens", "4000")
    assert (first.exit, len(stated(repo))) == (4, 8)
    assert "raise the limit for a run to" in str(first.data)
    asked = len(service.asked)
    second = run("2026-03-01T10:00:00Z", "--max-tokens", "4000")
    assert second.exit == 4
    assert len(stated(repo)) == 16
    assert len(service.asked) == asked + 1  # nothing is paid twice
    ends_alike(repo, run)


def test_a_question_is_bound_to_its_schema_and_its_fixed_part_is_cached(
    service: Service, tmp_path: Path
) -> None:
    memrepo(begin(tmp_path), "run", "--judge", "anthropic", now=FIRST)
    first = service.asked[0]
    assert first["output_config"]["format"]["schema"]["required"] == ["operations"]
    assert first["system"][0]["cache_control"] == {"type": "ephemeral"}
    manifest = json.loads(max((tmp_path / "repo" / "runs").rglob("*.json")).read_text())
    assert manifest["judge"] == "anthropic/claude-sonnet-5-5"
    receipt = manifest["receipt"]
    assert (receipt["batches_done"], receipt["batches_left"]) == (3, 0)
    assert receipt["usage"]["source"] == "exact"


def test_the_estimate_counts_the_questions_and_is_near_what_a_run_costs(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    service.default = Act(used=None)  # four bytes a token
    guessed = done(repo, "run", "--judge", "anthropic", "--estimate")
    assert guessed["questions"]["read"] == 3
    spent = memrepo(repo, "run", "--judge", "anthropic", now=FIRST).data["tokens"]
    assert 1 / 1.5 < guessed["tokens"]["total"] / spent["total"] < 1.5
    assert done(repo, "status")["budgets"]["tokens"] == spent["total"]


# -- OpenAI -----------------------------------------


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Return how to start a server process with faults; it answers with its address."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(services, "MAX_RETRIES", 0)
    started: list[subprocess.Popen[str]] = []

    def start(*faults: str) -> str:
        argv = [sys.executable, str(HERE / "openai_server.py"), str(tmp_path / "log"), *faults]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"

    yield start
    for process in started:
        process.kill()
        process.communicate()


def with_local_model(base: Path) -> Path:
    """Make a repository whose judge is a model of a local server."""
    repo = begin(base)
    text = (repo / "memrepo.toml").read_text()
    (repo / "memrepo.toml").write_text(f'{text}model = "llama-local:8b"\n')
    git(repo, "commit", "-qam", "model", "--no-verify")
    return repo


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("no-schema", 0),
        ("no-json", 0),
        ("prose", 0),
        ("cut", 0),
        ("new-names", 0),
        ("no-usage", 0),
        ("fence", 0),
        ("wrong-ids", 0),
        ("busy", 4),
        ("error", 4),
        ("silent", 4),
        ("breaks", 4),
        ("reset", 4),
    ],
)
def test_openai(server: Callable[..., str], tmp_path: Path, fault: str, code: int) -> None:
    repo = with_local_model(tmp_path)

    def run(now: str) -> Any:
        return memrepo(repo, "run", "--judge", "openai", now=now)

    git(repo, "config", "memrepo.judge.openai-base-url", server(fault))
    found = run(FIRST)
    assert found.exit == code, found
    if fault == "no-usage":
        assert found.data["tokens"]["total"] > 1000
    if code:
        assert found.data["why"]
        said = memrepo(repo, "status", now=SECOND, as_json=False).out
        assert found.data["why"].split(";")[0] in " ".join(said.split())
    git(repo, "config", "memrepo.judge.openai-base-url", server())
    ends_alike(repo, run)


# -- programs -----------------------------------------


def program(repo: Path, body: str) -> None:
    """Let a program judge. `question` holds what it is asked, `number` counts the questions."""
    head = f"""\
        #!{sys.executable}
        import json, os, pathlib, sys, time
        sys.path.insert(0, {str(HERE)!r})
        from serving import good
        def with_wrong_id(question):
            wrong = json.dumps({{"op": "same", "id": "m99"}})[1:-1]
            return good(question).replace('"op": "add"', wrong, 1)
        question = sys.stdin.read()
        count = pathlib.Path({str(repo.parent / "count")!r})
        number = int(count.read_text()) + 1 if count.exists() else 1
        count.write_text(str(number))
        """
    path = repo.parent / "judge"
    path.write_text(textwrap.dedent(head) + body, encoding="utf-8")
    path.chmod(0o755)
    git(repo, "config", "memrepo.judge.command", str(path))


BODIES: dict[str, tuple[str, int]] = {
    "exit code": ("sys.exit('no') if number == 2 else print(good(question))", 4),
    "silent": ("time.sleep(30) if number == 2 else print(good(question))", 4),
    "cut answer": ("a = good(question); print(a[: len(a) // 2] if number == 2 else a)", 0),
    "fence": ("print('```json\\n' + good(question) + '\\n```')", 0),
    "envelope": ("print(json.dumps({'type': 'result', 'result': good(question)}))", 0),
    "wrong ids": (
        "print(good(question) if 'refused: ' in question else with_wrong_id(question))",
        0,
    ),
    "prose twice": ("print('Keep all.' if number in (2, 3) else good(question))", 4),
    "not UTF-8": (
        "sys.stdout.buffer.write(b'\\xff\\xfe') if number == 1 else print(good(question))",
        0,
    ),
}


@pytest.mark.parametrize("fault", BODIES)
def test_command(tmp_path: Path, fault: str) -> None:
    repo = begin(tmp_path)
    program(repo, BODIES[fault][0])

    def run(now: str) -> Any:
        return memrepo(repo, "run", "--judge", "command", now=now)

    assert run(FIRST).exit == BODIES[fault][1]
    program(repo, "print(good(question))")
    ends_alike(repo, run)


def killed(repo: Path, judge: str, when: Callable[[], bool]) -> None:
    """Start a run and kill it as soon as something is so."""
    argv = [sys.executable, "-m", "memrepo", "-C", str(repo), "--now", FIRST, "run"]
    process = subprocess.Popen([*argv, "--judge", judge], start_new_session=True)
    for _ in range(400):
        if when():
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_run_that_is_killed_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    repo = begin(tmp_path)
    program(repo, "time.sleep(20) if number == 2 else None\nprint(good(question))")
    count = repo.parent / "count"
    killed(repo, "command", lambda: count.exists() and count.read_text() == "2")
    assert stated(repo) == []

    def run(now: str) -> Any:
        return memrepo(repo, "run", "--judge", "command", now=now)

    ends_alike(repo, run)
    assert int(count.read_text()) == 5  # one is lost, then two files and the shelf


# -- the agent itself -----------------------------------------


def test_the_agent_answers_what_next_shows_until_the_run_lands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begin(tmp_path)
    kinds = []
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    found = done(repo, "judge", "next")
    while (question := found["question"]) is not None:
        assert done(repo, "judge", "next")["question"]["id"] == question["id"]
        kinds.append(question["kind"])
        Path("own.json").write_text(good(question["data"]))
        found = done(repo, "judge", "answer", question["id"], "own.json")
    assert kinds == ["read", "read", "read", "shelf"]
    assert stated(repo) == UNCUT
    assert done(repo, "judge", "next")["question"] is None


def test_a_word_of_secrecy_in_a_question_hides_nothing_of_what_stands_beside_it(
    tmp_path: Path,
) -> None:
    text = "# Notes\n\n## Boat shed - 2026\n\n- Olga changed the password of the harbour wifi.\n"
    workspace = write(tmp_path / "workspace", {"MEMORY.md": text.encode()})
    done(tmp_path, "init", tmp_path / "repo", "--from", workspace)
    repo = tmp_path / "repo"
    question = done(repo, "judge", "next")["question"]
    wording = {
        "op": "add",
        "lines": "F1:5",
        "text": "The harbour wifi has a new password.",
        "type": "fact",
    }
    answer = json.dumps({"operations": [wording]})
    (tmp_path / "answer.json").write_text(answer)
    done(repo, "judge", "answer", question["id"], "../answer.json")
    shown = memrepo(repo, "judge", "next", as_json=False).out
    assert "# Verification" in shown
    assert '"Boat shed - 2026"' in shown


def test_an_agent_is_told_what_became_of_an_operation_that_failed_twice(tmp_path: Path) -> None:
    repo = begin(tmp_path)
    told: list[str] = []

    def answer(data: str) -> str:
        said = json.loads(good(data))
        for one in said.get("operations", ()):
            one["text"] = one["text"].replace("buoy number 3", "buoy number 3 of Olga")
        return json.dumps(said)

    found = done(repo, "judge", "next")
    while (question := found["question"]) is not None:
        (tmp_path / "answer.json").write_text(answer(question["data"]))
        found = done(repo, "judge", "answer", question["id"], "../answer.json")
        told += found["refusals"]
    (one,) = told
    assert "F1:5: its lines are quoted (The buoy number 3 of the harbour" in one
    assert "a name that is not in the evidence: Olga" in one
    assert stated(repo) == UNCUT


def test_an_agent_that_answers_badly_is_asked_again(tmp_path: Path) -> None:
    repo = begin(tmp_path)
    answers = [lambda _: "I would keep it all.", wrapped("```json\n", "\n```"), with_wrong_ids]
    found = done(repo, "judge", "next")
    while (question := found["question"]) is not None:
        said = (answers.pop(0) if answers else good)(question["data"])
        (tmp_path / "answer.json").write_text(said)
        found = done(repo, "judge", "answer", question["id"], "../answer.json")
    assert stated(repo) == UNCUT
    assert all("is gone" not in one["reason"] for one in found["run"]["quarantined"])
    assert_sound(repo)


def test_a_dry_run_is_refused_where_landing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begin(tmp_path)
    assert memrepo(repo, "run", "--judge", "offline", "--dry-run").exit == 0

    def refuse(*_: object) -> None:
        raise SecretInText("token", "page.md, line 1,", fix="leave it out")

    monkeypatch.setattr("memrepo.actions.landing.refuse_new_secrets", refuse)
    assert memrepo(repo, "run", "--judge", "offline", "--dry-run").exit == 2
    stale = memrepo(repo, "judge", "answer", "0000", "-", as_json=False)
    assert "or memrepo or its settings did" in stale.err


def test_init_and_the_first_report_say_what_can_judge_here(
    service: Service, tmp_path: Path
) -> None:
    workspace = write(tmp_path / "workspace", FILES)
    said = memrepo(tmp_path, "init", tmp_path / "repo", "--from", workspace, as_json=False).out
    assert 'judge = "anthropic" in [run]' in said
    assert "`memrepo run --estimate`" in said
    assert "`memrepo judge next`" in said
    assert service.asked == []
    first = memrepo(tmp_path / "repo", "run", now=FIRST, as_json=False).out
    assert "A model would name" in first
    assert "A model would name" not in memrepo(tmp_path / "repo", "run", now=SECOND).out
    done(tmp_path / "repo", "schedule", "install", "--launcher")
    prompt = tmp_path / "repo" / ".memrepo" / "incremental-prompt.md"
    assert "run --mode incremental" in prompt.read_text()
    config = tmp_path / "repo" / "memrepo.toml"
    config.write_text(config.read_text().replace('judge = "offline"', 'judge = "session"'))
    done(tmp_path / "repo", "schedule", "install", "--launcher")
    assert "judge answer" in prompt.read_text()
