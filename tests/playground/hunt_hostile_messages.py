"""Random and damaged messages to the playground: is each answered, or refused with a sentence, and does memory stay?

PYTHONPATH=src:tests python tests/playground/hunt_hostile_messages.py [MESSAGES] [SEED]     50000 and 0 by default
"""

import asyncio
import sys

from playground.test_fuzz import MOST_GROWTH, is_answered, messages, resident_bytes, told_by_a_session

from maxmargin.playground import fits


async def listen(count, seed):
    """How many were answered, and by how much memory grew after the first quarter."""
    answered = before = 0
    number = -1
    async for message, told in told_by_a_session(messages(seed, count)):
        number += 1
        if number == count // 4:
            before = resident_bytes()
        answered += is_answered(message, told)
    return number + 1, answered, resident_bytes() - before


def main(count=50_000, seed=0):
    fits.MOST_SECONDS = 0.05
    heard, answered, growth = asyncio.run(listen(count, seed))
    print(
        f"{count:,} messages: {answered:,} answered, {heard - answered:,} refused with a sentence, {count - heard:,} "
        f"without an answer; memory grew by {growth / 2**20:+.1f} MiB"
    )
    return 1 if heard < count or growth > MOST_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
