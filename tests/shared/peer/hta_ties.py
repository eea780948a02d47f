# SPDX-License-Identifier: GPL-3.0-or-later
"""Running sums of Holistic Trace Analysis 0.6.1 whose order at equal times is open: between what
the two orders give in which all that falls, or all that rises, comes first."""
import itertools

from .hta_model import describe
from .ledger import THEIRS, Rule

TIES = Rule(
    THEIRS, "Order of equal times left open",
    "Running sums over changes sorted by time: where several coincide the order is that of the "
    "sorting, and so are the values in between. Theirs lie between those of both orders.")


def running(changes, first):
    """Sums after each change, the greatest first; `first` is the sign of what comes first where
    several coincide."""
    ordered = sorted(changes, key=lambda change: (change[0], -first * change[1]))
    return sorted(itertools.accumulate(step for _, step in ordered), reverse=True)


def bounds(changes, floor=None):
    """The least and the greatest that each statistic of the sums above `floor` can be. In any
    order each sum lies between those of the two; so does the k-th greatest."""
    low, high = running(changes, -1), running(changes, 1)
    least, most = len(low), len(high)
    if floor is not None:
        least, most = (sum(value > floor for value in values) for values in (low, high))
    if not least:
        return {}
    below, above = describe(low[:most]), describe(high[:least])
    out = {key: (below[key], above[key]) for key in below}
    out["count"] = least, most
    squares = [sum(max(value, 0) ** 2 for value in values) for values in (low, high)]
    spread = (squares[0] / most - above["mean"] ** 2) * least / max(least - 1, 1), \
        (squares[1] / least - max(below["mean"], 0) ** 2) * most / max(most - 1, 1)
    out["std"] = tuple(max(value, 0) ** .5 for value in spread)
    return out


def check(case, at, prefix, changes, floor=None):
    """Claims the statistics below `at` that lie within their bounds."""
    for key, (low, high) in bounds(changes, floor).items():
        leaf = (*at, prefix + key)
        theirs = case.leaves.get(leaf)
        if leaf not in case.entries and theirs is not None and \
                low - 1e-5 * abs(low) - 1e-6 <= theirs <= high + 1e-5 * abs(high) + 1e-6:
            case.check(leaf, None, [(TIES, theirs)])
