"""Operations about one line: what `same` adds, and a line that is cited and quoted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from driving import assert_sound, done, git, memories, memrepo
from serving import Act, Service, good, shown
from workspaces import write

from memrepo.core.judge import Usage
from memrepo.judge import questions
from memrepo.judge.ask import Desk, Reply
from memrepo.judge.documents import Document, pack
from memrepo.judge.interface import Question

NEW = frozenset((1,))


def test_what_same_adds_to_a_memory_of_the_same_night_is_kept(
    service: Service, tmp_path: Path
) -> None:
    short, text = "Ana runs Brevik's harbour.", "Ana runs Brevik's harbour, and speaks Polish."
    padding = "".join(
        f"- Berth {n} of the west quay is let to the sailing club of Holm.\n"
        for n in "ABCDEFGHIJKLMN"
    )
    files = {
        "harbour.md": f"# Harbour\n\n- {short}\n{padding}".encode(),
        "people.md": f"# People\n\n- {text}\n".encode(),
    }
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo, "--from", write(tmp_path / "ws", files))
    config = repo / "memrepo.toml"
    config.write_text(config.read_text().split("\n[judge]")[0] + "\n[judge]\ncontext = 200\n")
    git(repo, "commit", "-qam", "small questions", "--no-verify")

    def answer(question: str) -> str:
        data = shown(question)
        if "people.md" in data and "=== F" in data:
            (id_,) = (
                row.split(" | ")[0] for row in data.splitlines() if row.endswith(f"| {short}")
            )
            op = {"op": "same", "id": id_, "lines": "F1:3", "text": text}
            return json.dumps({"operations": [op]})
        if "=== F" in data and short in data:
            op = {"op": "add", "lines": "F1:3", "text": short, "type": "fact", "subject": "Ana"}
            return json.dumps({"operations": [op]})
        return json.dumps({"operations": []}) if "=== F" in data else good(question)

    service.default = Act(answer=answer)
    found = memrepo(repo, "run", "--judge", "anthropic", now="2026-03-01T09:00:00Z")
    assert found.exit == 0, found
    (grown,) = (m for m in memories(repo).values() if not m.is_note)
    assert (grown.body.strip(), grown.subject) == (text, "Ana")
    assert_sound(repo)


def test_a_line_that_another_text_cites_too_is_kept_as_a_memory(
    service: Service, tmp_path: Path
) -> None:
    letter, lamp = "Ana sends the letter on Mondays.", "The bench lamp of Ana has 5000 kelvin."
    files = {"MEMORY.md": f"# Memory\n\n- {letter}\n- {lamp}\n".encode()}
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo, "--from", write(tmp_path / "ws", files))

    def answer(question: str) -> str:
        if "=== F" not in shown(question):
            return good(question)
        given = (("F1:3-4", "Ana posts the letter on Mondays."), ("F1:4", lamp))
        ops = [
            {"op": "add", "lines": lines, "text": text, "type": "fact", "subject": "Ana"}
            for lines, text in given
        ]
        return json.dumps({"operations": ops})

    service.default = Act(answer=answer)
    done(repo, "run", "--judge", "anthropic", now="2026-03-01T09:00:00Z")
    assert lamp in {m.body.strip() for m in memories(repo).values()}
    assert_sound(repo)


def test_a_memory_that_was_replaced_twice_in_a_run_is_shown_with_its_last_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports = [f"The port of the harbour gateway is {n}." for n in (7001, 7002, 7003)]
    lines = [*ports, "The gateway of the harbour hangs on the pier."]
    pages = [
        Document(resource=f"p{n}.md", name=f"p{n}.md", kind="page", lines=(f"- {x}",), new=NEW)
        for n, x in enumerate(lines)
    ]
    monkeypatch.setattr(questions, "MAX_GROUP", len(ports))
    known: list[str] = []

    class Model:
        name = "scripted/1"

        def ask(self, question: Question) -> Reply:
            if question.kind == "verify":
                return Reply(text=good(question.text), usage=Usage())
            at = next(n for n, line in enumerate(lines) if f"1 - {line}" in question.data)
            rows = (row.split(" | ") for row in question.data.splitlines() if " | " in row)
            shown = {row[-1]: row[0] for row in rows}
            known[:] = shown
            op = {"op": "replace" if shown else "add", "lines": "F1:1", "text": lines[at]}
            op |= {"type": "fact", "subject": "gateway", "id": shown.get(lines[at - 1], "")}
            return Reply(text=json.dumps({"operations": [op] if at < 3 else []}), usage=Usage())

    when = datetime(2026, 3, 1, tzinfo=UTC)
    reading = questions.Reading(Desk(Model()), {}, (), when, lambda *_: ())
    found = reading.read([batch for page in pages for batch in pack([page], 12_000)])
    assert [one.op.op for one in found.settled] == ["add", "replace", "replace"]
    assert known == ports[2:]
