"""Every campaign of the reliability page runs, in its shortest form, and finds nothing."""

import pytest
import reliability


@pytest.mark.parametrize("campaign", [one for one in reliability.CAMPAIGNS if one.test], ids=lambda one: one.name)
def test_campaign_finds_nothing(campaign):
    outcome = reliability.run(campaign, "test")
    assert outcome.well, outcome.sentence
    assert outcome.sentence


def test_every_hunt_is_in_the_page():
    commands = {path.relative_to(reliability.ROOT / "tests").as_posix() for path in reliability.hunts()}
    assert commands == {campaign.file for campaign in reliability.CAMPAIGNS}


def test_a_campaign_that_fails_is_told(monkeypatch, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "hunt_nothing.py").write_text(
        '"""Is it?"""\nprint("1 thing: 1 wrong")\nraise SystemExit(1)\n'
    )
    monkeypatch.setattr(reliability, "ROOT", tmp_path)
    outcome = reliability.run(reliability.Campaign("nothing", "hunt_nothing.py", 1, 1, 1), "test")
    assert not outcome.well
    page = reliability.document([outcome], "short", 0)
    assert "1 of them found something wrong" in page
    assert "| Is it? | 1 thing: 1 wrong |" in page
