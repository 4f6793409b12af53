"""Every campaign of the reliability page runs, in its shortest form, and finds nothing."""

import re

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
    row = reliability.row_of(outcome, "short", 3)
    page = reliability.document([row])
    assert "1 campaigns, 1 of them found something wrong" in page
    assert f"| Is it? | {reliability.WRONG} 1 thing: 1 wrong |" in page
    assert "short, seed 3 |" in page
    assert reliability.rows_of(page) == {"hunt_nothing.py": row}


def test_one_campaign_replaces_its_line_on_the_same_machine_only(monkeypatch, tmp_path):
    (tmp_path / "tests").mkdir()
    for name in ("one", "two"):
        (tmp_path / "tests" / f"hunt_{name}.py").write_text(f'"""Is it {name}?"""\nprint("nothing")\n')
    monkeypatch.setattr(reliability, "ROOT", tmp_path)
    campaigns = [reliability.Campaign(name, f"hunt_{name}.py", 1, 1, 1) for name in ("one", "two")]
    monkeypatch.setattr(reliability, "CAMPAIGNS", campaigns)
    page = tmp_path / "RELIABILITY.md"

    def told(*arguments):
        monkeypatch.setattr("sys.argv", ["reliability.py", *arguments])
        assert reliability.main() == 0
        return re.findall(r"Is it (\w+)\?.* seed (\d) \|", page.read_text())

    assert told() == [("one", "0"), ("two", "0")]
    assert told("--only", "one", "--seed", "5") == [("one", "5"), ("two", "0")]
    monkeypatch.setattr(reliability, "machine", lambda: "another machine")
    assert told("--only", "two", "--seed", "6") == [("one", "5"), ("two", "0")]
