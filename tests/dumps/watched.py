# SPDX-License-Identifier: GPL-3.0-or-later
"""A video played frame by frame, in exact numbers: what the tests of playback compare with."""
import fractions

SECOND = 10**9


def play(ready, rate, start):
    """Shows frame after frame; `ready` has when each frame is ready."""
    now, stalls = fractions.Fraction(max(start, ready[0])), []
    for moment in ready:
        if moment > now:
            stalls.append(moment - now)
            now = fractions.Fraction(moment)
        now += fractions.Fraction(SECOND, rate)
    return stalls


def first_start(ready, rate):
    """The smallest start without a stall, by halving."""
    low, high = fractions.Fraction(ready[0]), fractions.Fraction(ready[-1])
    if not play(ready, rate, low):
        return low
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if play(ready, rate, middle) else (low, middle)
    return high
