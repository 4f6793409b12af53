"""A clock whose hand moves by one at every reading: a limit is a number of readings, and no test is timed."""

import signal

import pytest

from maxmargin.run import control as clock_module


class Hand:
    """The hand of a clock, and the work that was done since it was last read."""

    def __init__(self):
        self.readings, self.alarm, self.since, self.most, self.after_alarm = 0, None, 0, 0, 0

    def perf_counter(self):
        self.readings += 1
        self.most, self.since = max(self.most, self.since), 0
        if self.readings == self.alarm:
            signal.raise_signal(signal.SIGINT)
        return float(self.readings)

    def works(self, amount):
        self.since += amount
        if self.alarm is not None and self.readings >= self.alarm:
            self.after_alarm += amount

    def counts(self, monkeypatch, owner, name, amount):
        """Let a function tell the hand how much work it does."""
        plain = getattr(owner, name)

        def works(*args, **kwargs):
            self.works(amount(*args, **kwargs))
            return plain(*args, **kwargs)

        monkeypatch.setattr(owner, name, works)


@pytest.fixture
def hand(monkeypatch):
    hand = Hand()
    monkeypatch.setattr(clock_module, "time", hand)
    monkeypatch.setattr(clock_module.Clock, "is_limited", True)  # so that it is read at every check
    monkeypatch.setattr("maxmargin.data.executor.cores", lambda: 1)
    return hand
