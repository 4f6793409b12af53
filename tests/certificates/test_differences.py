"""The one verification refuses whatever the verifiers refused that it replaced: some forgeries, counted in no time."""

from certificates.hunt_differences import hunt


def test_nothing_is_believed_that_was_refused_before():
    tally = hunt(600, seed=1, fits=8, every=False)
    assert tally.wrong == []
    assert tally.counts["honest: accepted"] > 20
    assert tally.counts["forged: refused"] > 300
    assert tally.counts["forged: accepted"] > 20
