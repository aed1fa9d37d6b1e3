"""How surviving candidates become clusters."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from memrepo.core.judge import Candidate, PromotionScores, Verdict
from memrepo.core.memory import Source
from memrepo.purify.clusters import clusters, shared_entities

SCORES = PromotionScores(
    durability=0.6,
    future_judgment_value=0.6,
    action_value=0.6,
    identity_relationship_weight=0.2,
    cross_time_persistence=0.2,
    noise_risk=0.1,
)


def candidate(id_, resource="MEMORY.md", line=1, text="Some text", hint="fact"):
    source = Source(resource=resource, lines=(line, line))
    return Candidate(candidate_id=id_, text=text, type_hint=hint, sources=(source,))


def verdict(id_, word="promote", strength=2.0, **changes):
    made = Verdict(candidate_id=id_, scores=SCORES, strength=strength, verdict=word)
    return replace(made, **changes)


def ids(found):
    return [[c.candidate_id for c in cluster.candidates] for cluster in found]


def test_what_was_rejected_or_deferred_forms_no_cluster():
    found = clusters(
        [candidate("a"), candidate("b"), candidate("c")],
        [verdict("a", "reject"), verdict("b"), verdict("c", "defer")],
    )
    assert ids(found) == [["b"]]


def test_merge_links_join_across_a_chain():
    found = clusters(
        [candidate("c"), candidate("b"), candidate("a"), candidate("z", line=9)],
        [
            verdict("a", "merge", merge_with=("b",)),
            verdict("b", "merge", merge_with=("c",)),
            verdict("c", "merge", merge_with=("b",), strength=3.0),
            verdict("z"),
        ],
    )
    assert ids(found) == [["a", "b", "c"], ["z"]]
    assert found[0].strength == 3.0


def test_a_compressed_candidate_is_evidence_of_its_target():
    found = clusters(
        [candidate("a", line=7), candidate("b", line=3)],
        [verdict("a", "compress", compress_into="b", strength=1.0), verdict("b")],
    )
    assert ids(found) == [["a", "b"]]
    assert found[0].strength == 2.0
    assert [s.lines[0] for c in found[0].candidates for s in c.sources] == [7, 3]


def test_links_to_what_did_not_survive_join_nothing():
    found = clusters(
        [candidate("a"), candidate("b")],
        [verdict("a", "merge", merge_with=("b",)), verdict("b", "defer")],
    )
    assert ids(found) == [["a"]]


def test_clusters_stand_in_the_order_of_their_first_evidence():
    found = clusters(
        [candidate("a", "z.md", 1), candidate("b", "a.md", 20), candidate("c", "a.md", 3)],
        [verdict("a"), verdict("b"), verdict("c")],
    )
    assert ids(found) == [["c"], ["b"], ["a"]]


def test_the_order_of_input_changes_nothing():
    candidates = [candidate("a", line=4), candidate("b", line=2), candidate("c", line=3)]
    verdicts = [verdict("a", "merge", merge_with=("c",)), verdict("b"), verdict("c")]
    results = {clusters(c, v) for c in permutations(candidates) for v in permutations(verdicts)}
    assert len(results) == 1


def test_the_id_follows_the_members_alone():
    [one] = clusters([candidate("a", line=4)], [verdict("a")])
    [other] = clusters([candidate("a", line=9, text="Else")], [verdict("a", strength=3.0)])
    [third] = clusters([candidate("b", line=4)], [verdict("b")])
    assert one.cluster_id == other.cluster_id != third.cluster_id
    assert one.cluster_id.startswith("clust-")
    assert len(one.cluster_id) == len("clust-") + 16


@pytest.mark.parametrize(
    ("hints", "type_hint", "home"),
    [
        (("lesson", "fact", "fact"), "fact", "LTMEMORY.md"),
        (("method", "lesson"), "method", "PLAYBOOKS.md"),
        (("unknown",), "unknown", ""),
    ],
)
def test_the_hint_of_most_members_wins_and_the_first_on_a_tie(hints, type_hint, home):
    names = ["a", "b", "c"][: len(hints)]
    others = [tuple(n for n in names if n != name) for name in names]
    [found] = clusters(
        [candidate(name, hint=hint) for name, hint in zip(names, hints, strict=True)],
        [verdict(n, merge_with=o) for n, o in zip(names, others, strict=True)],
    )
    assert (found.type_hint, found.home_hint) == (type_hint, home)


@pytest.mark.parametrize(
    ("texts", "entities"),
    [
        (["Anna uses Docker on web-1."], ("Anna", "Docker")),
        (["Anna uses Docker.", "At night Docker is restarted"], ("Docker",)),
        (["The Port is 80"], ("Port",)),
        (["Äpfel mag Ölaf", "Ölaf"], ("Ölaf",)),
        (["用户喜欢绿茶"], ()),
        ([], ()),
    ],
)
def test_entities_are_the_names_that_every_text_holds(texts, entities):
    assert shared_entities(texts) == entities
