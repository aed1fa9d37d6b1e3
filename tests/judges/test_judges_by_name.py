"""Judges by name: the openai SDK against a local server process, Claude Code and OpenClaw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai_server
import pytest
import real_clients
from driving import assert_sound, done, git, memories, memrepo
from scripted_model import model
from serving import good
from workspaces import growing

LATER = "2026-03-02T10:00:00Z"
Start = Callable[..., Path]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    return tmp_path / "repo"


@pytest.fixture
def start(place: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a server with faults, and return the log of its requests."""
    running = []

    def serve(*faults: str) -> Path:
        log = tmp_path / f"asked-{len(running)}.jsonl"
        command = [sys.executable, openai_server.__file__, str(log), *faults]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        git(place, "config", "memrepo.judge.openai-base-url", f"http://127.0.0.1:{port}/v1")
        done(place, "config", "set", "run.judge", "openai")
        done(place, "config", "set", "judge.model", openai_server.MODEL)
        return log

    yield serve
    for process in running:
        process.kill()
        process.communicate()


def requests(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def forms(log: Path) -> list[str]:
    return [r.get("response_format", {}).get("type", "text") for r in requests(log)]


def knows_beds(repo: Path) -> bool:
    return any("raised beds" in m.body for m in memories(repo).values())


def test_a_local_server_judges_a_whole_run_with_the_schema(place: Path, start: Start) -> None:
    log = start()
    data = done(place, "run")
    assert (data["status"], data["tokens"]["source"]) == ("ok", "exact")
    assert data["tokens"]["total"] == 490 * len(requests(log))
    assert set(forms(log)) == {"json_schema"}
    assert knows_beds(place)
    assert_sound(place)


@pytest.mark.parametrize(
    ("faults", "tried"),
    [
        (("no-schema",), ["json_schema", "json_object", "json_object"]),
        (("no-schema", "no-json"), ["json_schema", "json_object", "text", "text"]),
    ],
)
def test_a_server_that_knows_no_schema_is_told_it_in_words(
    place: Path, start: Start, faults: tuple[str, ...], tried: list[str]
) -> None:
    log = start(*faults)
    assert done(place, "run")["status"] == "ok"
    assert forms(log)[: len(tried)] == tried
    assert '"verdicts"' in requests(log)[0]["messages"][0]["content"]
    assert knows_beds(place)


def test_prose_is_asked_for_once_more_and_both_answers_are_paid_for(
    place: Path, start: Start
) -> None:
    log = start("prose")
    data = done(place, "run")
    assert data["status"] == "ok"
    assert [len(r["messages"]) for r in requests(log)[:2]] == [2, 4]
    assert data["tokens"]["total"] == 490 * len(requests(log))
    assert knows_beds(place)


def test_an_answer_that_breaks_off_leaves_its_lines_for_the_next_run(
    place: Path, start: Start
) -> None:
    start("breaks")
    answer = memrepo(place, "run")
    assert answer.exit == 4
    start()
    assert done(place, "run", now=LATER)["status"] == "ok"
    assert knows_beds(place)


def test_a_wrong_model_names_those_that_the_server_has(place: Path, start: Start) -> None:
    start()
    done(place, "config", "set", "judge.model", "gpt-nine")
    answer = memrepo(place, "run")
    assert answer.exit == 4
    assert "model 'gpt-nine' not found" in answer.data["partial"]
    shown = memrepo(place, "run", as_json=False, now=LATER)
    assert "gpt-nine" in shown.out + shown.err


def test_another_model_verifies(place: Path, start: Start) -> None:
    log = start("words")
    done(place, "config", "set", "judge.verify_model", "tiny")
    answer = memrepo(place, "run")
    asked = [(r["model"], '"items"' in r["messages"][1]["content"]) for r in requests(log)]
    assert asked[:3] == [*[(openai_server.MODEL, False)] * 2, ("tiny", True)]
    assert (answer.exit, "model 'tiny' not found" in answer.data["partial"]) == (4, True)
    assert not [m for m in memories(place).values() if "as noted" in m.body]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "judge.model is not set"),
        ({"judge.model": "qwen3:8b"}, "neither a server nor a key"),
    ],
)
def test_what_the_openai_judge_lacks_is_named(place: Path, keys: dict[str, str], says: str) -> None:
    done(place, "config", "set", "run.judge", "openai")
    for name, value in keys.items():
        done(place, "config", "set", name, value)
    answer = memrepo(place, "run")
    assert answer.exit in (2, 4)
    assert says in answer.out + answer.err


def test_a_repository_names_no_server(place: Path) -> None:
    path = place / "memrepo.toml"
    line = '[judge]\nopenai_base_url = "http://evil.example/v1"'
    path.write_text(path.read_text().replace("[judge]", line, 1))
    answer = memrepo(place, "run", "--judge", "openai")
    assert answer.exit == 2
    assert "is not read from a repository" in answer.err


def scripted(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, body: str) -> Path:
    """Put a program of this name first on the path, and return the log of its arguments."""
    log, here = folder / "argv.jsonl", str(Path(openai_server.__file__).parent)
    head = f"#!{sys.executable}\nimport json, sys\nsys.path.insert(0, {here!r})\n"
    head += "from serving import good\n"
    head += f"open({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
    bin_ = folder / "bin"
    bin_.mkdir()
    (bin_ / name).write_text(head + body)
    (bin_ / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    return log


ENVELOPE = """
used = {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 20}
used |= {"cache_creation_input_tokens": 0}
said = {"type": "result", "is_error": False, "result": good(sys.stdin.read()), "usage": used}
print(json.dumps(said))
"""


def test_claude_code_judges_by_its_own_login_with_one_setting(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = scripted(tmp_path, monkeypatch, "claude", ENVELOPE)
    done(place, "config", "set", "run.judge", "claude")
    done(place, "config", "set", "judge.verify_model", "haiku")
    data = done(place, "run")
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert data["tokens"]["source"] == "exact"
    assert data["tokens"]["total"] == 170 * len(calls)
    assert all(call[call.index("--tools") + 1] == "" for call in calls)
    assert all(call[call.index("--setting-sources") + 1] == "" for call in calls)
    assert "--model" not in calls[0]
    assert not any("raised beds" in part for call in calls for part in call)
    assert knows_beds(place)
    assert_sound(place)


def test_a_claude_that_is_not_logged_in_says_how(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = 'print(json.dumps({"is_error": True, "result": "Please run /login"}))\nsys.exit(1)\n'
    scripted(tmp_path, monkeypatch, "claude", body)
    answer = memrepo(place, "run", "--judge", "claude")
    assert answer.exit == 4
    assert "Please run /login" in answer.data["partial"]


def test_openclaw_is_asked_with_the_question_as_its_prompt(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "text = good(sys.argv[sys.argv.index('--prompt') + 1])\n"
    body += 'print(json.dumps({"ok": True, "outputs": [{"text": text}]}))\n'
    log = scripted(tmp_path, monkeypatch, "openclaw", body)
    done(place, "config", "set", "run.judge", "openclaw")
    assert done(place, "run")["status"] == "ok"
    assert json.loads(log.read_text().splitlines()[0])[:4] == ["infer", "model", "run", "--json"]
    assert knows_beds(place)


def test_doctor_and_init_say_which_judges_can_run_here_and_what_a_night_costs(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(tmp_path, monkeypatch, "claude", "")
    checks = {c["name"]: c for c in memrepo(place, "doctor").data["checks"]}
    said = checks["judges"]["message"]
    assert "claude: usable, about" in said
    assert "for a night of 8 new lines" in said
    assert "set ANTHROPIC_API_KEY" in said
    made = done(tmp_path, "init", "another")
    assert {j["judge"]: j["ready"] for j in made["judges"]}["claude"] is True
    shown = memrepo(tmp_path, "init", "third", as_json=False).out
    assert "`memrepo config set run.judge claude`" in shown


class _Judging:
    """A Messages API whose answers are those of `serving.good`."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Answer what is fenced as data."""
        texts = [part["text"] for m in request["messages"] for part in m["content"]]
        question = next((text for text in texts if text.startswith("<<<data")), "")
        self.asked += bool(question)
        return [{"type": "text", "text": good(question) if question else "{}"}]


def test_the_real_claude_code_judges_against_a_scripted_service(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = real_clients.installed("claude-code", ".bin/claude")

    judging = _Judging()
    with model() as script:
        monkeypatch.setattr(script, "answer", judging.answer)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", script.address)
        monkeypatch.setenv("DISABLE_AUTOUPDATER", "1")
        data = done(place, "run", "--judge", "claude")
    assert data["status"] == "ok"
    assert data["tokens"] == {
        "prompt": 10 * judging.asked,
        "completion": 10 * judging.asked,
        "total": 20 * judging.asked,
        "source": "exact",
    }
    assert knows_beds(place)
