"""Seats are taken, kept, found again and given away; and work is done in their turns."""

import threading
import time

import pytest

from maxmargin.playground import seats as module
from maxmargin.playground.seats import IDLE_SECONDS, KEPT_SECONDS, MOST_PAGES, NoSeat, Seats, Turns

MOST_BYTES_OF_A_REASON = 123  # of a websocket that is closed


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def room(clock):
    return Seats(2, clock)


def refused(room, name, page):
    with pytest.raises(NoSeat) as caught:
        room.enter(name, page)
    sentence = str(caught.value)
    assert len(sentence.encode()) <= MOST_BYTES_OF_A_REASON
    return sentence


def test_pages_of_a_browser_share_a_seat(room):
    ada, _ = room.enter("ada", "page 1")
    assert room.enter("ada", "page 2") == (ada, set())
    assert room.enter("ben", "page 3")[0] is not ada
    assert refused(room, "cleo", "page 4") == (
        "All 2 seats are taken. This page tries again by itself, and goes on when there is a place."
    )


def test_a_browser_without_a_name_is_somebody_new_and_keeps_nothing(room):
    seats = [room.enter(None, page)[0] for page in ("page 1", "page 2")]
    assert seats[0] is not seats[1]
    refused(room, None, "page 3")
    room.leave(seats[0], "page 1")
    assert room.enter(None, "page 3")[1] == set()


def test_a_seat_is_kept_for_a_moment_and_then_free(room, clock):
    ada, _ = room.enter("ada", "page 1")
    room.enter("ben", "page 2")
    room.leave(ada, "page 1")
    clock.now = KEPT_SECONDS - 0.1
    refused(room, "cleo", "page 3")
    assert room.enter("ada", "page 4")[0] is ada
    room.leave(ada, "page 4")
    clock.now += KEPT_SECONDS + 0.1
    room.enter("cleo", "page 3")
    refused(room, "ada", "page 5")


def test_with_one_page_of_two_gone_a_seat_is_taken_however_long(room, clock):
    ada, _ = room.enter("ada", "page 1")
    room.enter("ada", "page 2")
    room.enter("ben", "page 3")
    room.leave(ada, "page 1")
    clock.now = IDLE_SECONDS - 0.1
    refused(room, "cleo", "page 4")


def test_only_the_longest_idle_seat_is_given_away_and_only_if_needed(room, clock):
    ada, _ = room.enter("ada", "page 1")
    clock.now = 10.0
    ben, _ = room.enter("ben", "page 2")
    clock.now = 20.0
    ada.was_heard()
    clock.now = 10.0 + IDLE_SECONDS
    assert room.enter("cleo", "page 3")[1] == {"page 2"}
    room.leave(ben, "page 2")  # its line is closed afterwards, and takes nobody's seat
    assert set(room.taken) == {"ada", "cleo"}
    refused(room, "ben", "page 4")


def test_a_browser_has_only_so_many_pages(room):
    ada, _ = room.enter("ada", 0)
    for page in range(1, MOST_PAGES):
        room.enter("ada", page)
    assert "pages of this browser are open already" in refused(room, "ada", "one more")
    room.leave(ada, 0)
    assert room.enter("ada", "one more")[0] is ada


def test_the_longest_sentence_fits_into_a_closing_line():
    room = Seats(200)
    for page in range(200):
        room.enter(None, page)
    refused(room, None, "one more")


# Turns.


def waiting(turns):
    return sum(map(len, turns.lines.values()))


def until(condition):
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_seat_with_many_questions_has_no_more_turns_than_the_others():
    turns, served = Turns(1), []

    def work(seat):
        with turns.at_work(seat):
            served.append(seat)

    turns.take("the first")
    threads = []
    for seat in ("ada", "ada", "ada", "ben", "cleo", "ben"):
        threads.append(threading.Thread(target=work, args=(seat,)))
        threads[-1].start()
        until(lambda: waiting(turns) == len(threads))
    turns.give_back()
    for thread in threads:
        thread.join(30.0)
    assert served == ["ada", "ben", "cleo", "ada", "ben", "ada"]
    assert (turns.free, turns.lines) == (1, {})


def test_a_long_answer_lets_the_others_go_first_and_goes_on(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 0.0)
    turns, events = Turns(1), []

    def quick(seat):
        with turns.at_work(seat):
            events.append(seat)

    with turns.at_work("long") as others_first:
        others_first()  # nobody waits
        threads = [threading.Thread(target=quick, args=(seat,)) for seat in ("ada", "ben")]
        for thread in threads:
            thread.start()
        until(lambda: waiting(turns) == 2)
        others_first()
        events.append("long")
    assert events == ["ada", "ben", "long"]
    assert (turns.free, turns.lines) == (1, {})


def test_no_more_than_the_places_are_at_work_at_once():
    turns, lock, at_work, most = Turns(3), threading.Lock(), [0], [0]

    def work(seat):
        for _ in range(20):
            with turns.at_work(seat) as others_first:
                with lock:
                    at_work[0] += 1
                    most[0] = max(most[0], at_work[0])
                time.sleep(0.0005)
                with lock:
                    at_work[0] -= 1
                others_first()

    threads = [threading.Thread(target=work, args=(seat,)) for seat in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert most[0] == 3
    assert (turns.free, turns.lines) == (3, {})


def test_a_place_is_given_back_by_work_that_fails():
    turns = Turns(1)
    with pytest.raises(ZeroDivisionError), turns.at_work("ada"):
        raise ZeroDivisionError
    assert turns.free == 1
