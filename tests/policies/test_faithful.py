"""A wording may turn its evidence round; it may not add, exchange, negate or bound anew."""

from __future__ import annotations

import faithful_rounds
import faithful_table
import pytest
from faithful_table import Row

from memrepo.policies.faithful import Evidence, unfaithful

FALSE = (*faithful_table.FALSE, *faithful_rounds.FALSE)
TRUE = (*faithful_table.TRUE, *faithful_rounds.TRUE)
REFUSED = (*faithful_table.REFUSED, *faithful_rounds.REFUSED)


def fault(row: Row) -> str:
    return unfaithful(row[1], Evidence(texts=(row[0],), beside=row[2:]))


@pytest.mark.parametrize("row", FALSE, ids=[row[1] for row in FALSE])
def test_a_falsehood_is_refused(row: Row) -> None:
    assert fault(row)


@pytest.mark.parametrize("row", TRUE, ids=[row[1] for row in TRUE])
def test_a_true_paraphrase_passes(row: Row) -> None:
    assert fault(row) == ""


@pytest.mark.parametrize("row", [*FALSE, *TRUE], ids=[row[0] for row in (*FALSE, *TRUE)])
def test_evidence_in_its_own_words_passes(row: Row) -> None:
    assert unfaithful(row[0], Evidence(texts=(row[0],))) == ""


def test_few_true_paraphrases_are_refused_and_each_is_listed() -> None:
    assert all(map(fault, REFUSED))
    assert len(REFUSED) <= 0.06 * (len(TRUE) + len(REFUSED))
