"""The benchmark of the offline judge runs on a workspace of our own and says what it finds."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import facts, noise, offline_judge, recall, turns

FACTS = {
    "Ada": (
        "Ada keeps three beehives on the roof of the library in Kiel. (D1:1)",
        "Ada is planning to open a small bakery beside the harbour in June. (D1:2)",
        "Ada attended a course in welding because her old boat needs repairs. (D1:3)",
        "Ada enjoys long walks with her children in the beech forest. (D1:4)",
        "Ada started to learn the cello during the winter of last year. (D1:5)",
        "Ada bought a green bicycle for the ride to the observatory. (D1:6)",
    ),
    "Tom": (
        "Tom repairs church organs and wants to write a book about them. (D2:1)",
        "Tom is thankful for the help of his neighbours after the flood. (D2:2)",
        "Tom finished the restoration of the town clock in 2023. (D2:3)",
        "Tom often visits his mother in the mountains with two dogs. (D2:4)",
        "Tom believes that every village should have a library of its own. (D2:5)",
        "Tom received a medal for the rescue of a drowning sailor. (D2:6)",
    ),
}
ASKED = (
    ("Where does Ada keep her beehives?", "D1:1", 4),
    ("What will Ada open in June?", "D1:2", 2),
    ("Why did Ada learn welding?", "D1:3", 1),
    ("What did Tom restore?", "D2:3", 4),
    ("What medal did Tom get?", "D2:6", 4),
    ("Whose bicycle is red?", "D1:6", 5),
)
SAID = (
    ("Hey Tom, how have you been?", False),
    ("I put three beehives on the roof of the library in Kiel last spring.", True),
    ("Wow, that's awesome!", False),
    ("My sister and I are learning to weld, because the boat needs repairs.", True),
    ("Great! What is the boat called?", False),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    workspace = folder / "talk"
    (workspace / "episodes").mkdir(parents=True)
    lines = ["# MEMORY.md", ""]
    for name, said in FACTS.items():
        lines += [f"## {name}", "", *(f"- [2024-03-04] {fact}" for fact in said), ""]
    (workspace / "MEMORY.md").write_text("\n".join(lines), encoding="utf-8")
    story = "Ada and Tom met at the harbour and spoke of bees, bread and organs. " * 12
    (workspace / "episodes" / "2024-03-04.md").write_text(f"# A day\n\n{story}\n", encoding="utf-8")
    qa = [{"question": q, "evidence": [e], "category": c, "answer": ""} for q, e, c in ASKED]
    (folder / "talk.gold.json").write_text(json.dumps({"qa": qa}), encoding="utf-8")
    talks = []
    for name in ("one", "two"):
        session = [
            {"dia_id": f"D1:{n}", "text": t, "speaker": "Ada"}
            for n, (t, _) in enumerate(SAID, start=1)
        ]
        cited = [["a fact", f"D1:{n}"] for n, (_, yes) in enumerate(SAID, start=1) if yes]
        talks.append(
            {
                "sample_id": name,
                "conversation": {"session_1": session, "session_1_date_time": ""},
                "observation": {"session_1_observation": {"Ada": cited}},
            }
        )
    (tmp_path / "tiny.json").write_text(json.dumps(talks), encoding="utf-8")
    return folder


def test_a_workspace_with_noise_is_measured(data: Path):
    workspace = data / "talk"
    before = {p: p.read_bytes() for p in workspace.rglob("*.md")}
    qa = json.loads((data / "talk.gold.json").read_bytes())["qa"]
    found = offline_judge.measure(workspace, qa, 1.0)
    assert set(found.injected) == set(noise.KINDS)
    assert {kind: found.alive.get(kind, 0) for kind in ("repeat", "chatter", "superseded")} == {
        "repeat": 0,
        "chatter": 0,
        "superseded": 0,
    }
    assert found.gone >= 0.9
    assert found.ratio >= 0.97
    assert (found.kept, found.bullets) == (12, 12)
    assert (found.too_long, found.mixed) == (0, 0)
    assert found.memories < found.units
    assert {p: p.read_bytes() for p in workspace.rglob("*.md")} == before


def test_the_report_names_every_kind_of_noise(data: Path, capsys: pytest.CaptureFixture[str]):
    assert offline_judge.main(["--locomo", str(data), "--curve", "0,0.7", "--leaks"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {kind}: " in said for kind in noise.KINDS)
    assert "memories/unit" in said
    assert "refitted leave-one-out" in said


@pytest.mark.parametrize(
    ("program", "options"), [(offline_judge, ["--locomo"]), (facts, [])], ids=["judge", "facts"]
)
def test_a_folder_without_workspaces_is_an_error(program, options: list[str], tmp_path: Path):
    with pytest.raises(SystemExit):
        program.main([*options, str(tmp_path)])


def test_facts_are_found_through_the_command_line(data: Path, capsys: pytest.CaptureFixture[str]):
    assert facts.main([str(data)]) == 0
    said = capsys.readouterr().out
    assert all(said.count(way) == 1 for way in facts.WAYS)
    ways = len(facts.WAYS)
    assert said.count("R@20 1.000") == 4 * ways
    assert said.count(f"{'talk':14} {5:9}") == ways
    assert said.count(f"{'  multi-hop':14} {1:9}") == 2 * ways


@pytest.mark.parametrize(
    ("resource", "lines", "expected"),
    [
        ("sources/MEMORY.md", [3, 3], {"b"}),
        ("sources/MEMORY.md", [1, 9], {"a", "b"}),
        ("sources/MEMORY.md", [0, 0], set()),
        ("sources/memory/2024-03-04.md", [3, 3], set()),
    ],
)
def test_a_hit_holds_the_bullets_on_the_lines_it_cites(resource, lines, expected):
    bullets = {("sources/MEMORY.md", 2): "a", ("sources/MEMORY.md", 3): "b"}
    hit = {"sources": [{"resource": resource, "lines": lines}]}
    assert facts.held(hit, bullets) == expected


def test_noise_stands_where_it_says(data: Path):
    workspace = data / "talk"
    added = noise.inject(workspace, 12)
    rows = {
        (name, at): row
        for name in {name for name, _ in added.lines}
        for at, row in enumerate((workspace / name).read_text("utf-8").splitlines(), start=1)
    }
    own = {f"- [2024-03-04] {fact}" for facts in FACTS.values() for fact in facts}
    for place, kind in added.lines.items():
        assert (rows[place] in own) is (kind == "repeat")
        assert ("**" in rows[place]) is (kind == "superseded")
    facts = [row for place, row in rows.items() if place not in added.lines]
    assert own <= set(facts)


def test_no_noise_changes_nothing(data: Path):
    before = (data / "talk" / "MEMORY.md").read_text("utf-8")
    assert noise.inject(data / "talk", 0).lines == {}
    assert (data / "talk" / "MEMORY.md").read_text("utf-8") == before


@pytest.mark.parametrize("seed", range(5))
def test_a_paraphrase_differs_and_keeps_its_day(seed: int):
    row = "- [2024-03-04] Ada attended a course in welding because her old boat needs repairs. (D1)"
    said = noise.paraphrase(row, random.Random(seed))
    assert said.startswith("- [2024-03-04] ")
    assert said != row
    assert noise.paraphrase("- too short", random.Random(seed)) == ""


def test_questions_without_an_answering_bullet_and_trick_questions_are_left_out(data: Path):
    bullets = recall.gold_bullets(data / "talk")
    qa = json.loads((data / "talk.gold.json").read_bytes())["qa"]
    qa.append({"question": "Who knows?", "evidence": ["D9:9"], "category": 4})
    asked = recall.questions(qa, bullets.values())
    assert len(bullets) == 12
    assert [q.text for q in asked] == [q for q, _, category in ASKED if category != 5]


@pytest.mark.parametrize(
    ("values", "wanted", "expected"),
    [
        ([1, 2, 3, 4], [False, False, True, True], 1.0),
        ([1, 2, 3, 4], [True, True, False, False], 0.0),
        ([1, 1, 1], [True, False, True], 0.5),
        ([3, 1, 2], [True, True, False], 0.5),
        ([1, 2], [True, True], 0.5),
    ],
)
def test_area_under_the_curve(values, wanted, expected):
    assert turns.area(values, wanted) == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12))
def test_the_area_is_the_share_of_pairs_in_order(rows):
    yes = [v for v, hit in rows if hit]
    no = [v for v, hit in rows if not hit]
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in yes for b in no]
    expected = sum(pairs) / len(pairs) if pairs else 0.5
    assert turns.area([v for v, _ in rows], [h for _, h in rows]) == pytest.approx(expected)


def test_turns_that_tell_a_fact_are_stronger_than_the_rest(data: Path):
    talks = turns.read(data.with_name("tiny.json"))
    assert {name: sum(t.cited for t in talk) for name, talk in talks.items()} == {
        "one": 2,
        "two": 2,
    }
    for under in (False, True):
        assert set(turns.areas(talks, under=under).values()) == {1.0}
        assert set(turns.left_out(talks, under=under).values()) == {1.0}
