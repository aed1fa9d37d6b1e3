"""Operations about one line: what `same` adds, and a line that is cited and quoted."""

from __future__ import annotations

import json
from pathlib import Path

from driving import assert_sound, done, git, memories, memrepo
from serving import Act, Service, good, shown
from workspaces import write


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
