# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of each figure of another tool: equal to ours, or why not."""
import collections
import dataclasses
import math

from reports import leaves

EQUAL, RESTATED, DIFFERS, THEIRS, OTHER, DESCRIBES = (
    "equal", "restated", "differs", "theirs only", "not comparable", "describes")

VERDICTS = {
    EQUAL: "the same figure is in our report",
    RESTATED: "follows from figures of our report by the definition of the other tool",
    DIFFERS: "ours is another, for a reason that is given; computed the way of the other tool, "
             "the trace gives the other tool's",
    THEIRS: "we have no such figure; the definition of the other tool gives it from the trace",
    OTHER: "another question, or a result that hangs on what the tool does inside",
    DESCRIBES: "no measurement: names, counts of rows, settings, messages",
}


@dataclasses.dataclass(frozen=True)
class Rule:
    """Why a figure is not simply equal. `proved` tells that a figure counts under the rule only
    when the trace, taken the way of the other tool, gives it."""
    verdict: str
    title: str
    why: str
    proved: bool = True


@dataclasses.dataclass
class Entry:
    trace: str
    path: tuple
    theirs: object
    verdict: str
    rule: Rule = None
    ours: object = None

    @property
    def difference(self):
        """How far apart the two figures are, as the logarithm of their ratio."""
        if not all(isinstance(x, (int, float)) for x in (self.theirs, self.ours)):
            return 0.0
        low, high = sorted((abs(self.theirs), abs(self.ours)))
        return math.log((high + 1e-3) / (low + 1e-3))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def agree(theirs, ours, within=0.0):
    """Goldens are rounded to a millionth; times of ours are whole nanoseconds."""
    if is_number(theirs) and is_number(ours):
        return math.isclose(theirs, ours, rel_tol=1e-8, abs_tol=1.1e-6 + within)
    return theirs == ours


class Case:
    """The golden of one trace; each of its leaves is claimed once."""

    def __init__(self, trace, golden):
        self.trace, self.golden = trace, golden
        self.leaves = dict(leaves(golden))
        self.entries = {}
        self._below = collections.defaultdict(list)
        for leaf in self.leaves:
            for length in range(len(leaf) + 1):
                self._below[leaf[:length]].append(leaf)

    def at(self, *path):
        value = self.golden
        for part in path:
            value = value[part]
        return value

    def has(self, *path):
        try:
            self.at(*path)
        except (LookupError, TypeError):
            return False
        return True

    def _enter(self, path, verdict, rule=None, ours=None):
        self.entries[path] = Entry(self.trace, path, self.leaves[path], verdict, rule, ours)
        return verdict

    def check(self, path, ours=None, ways=(), within=0.0):
        """Claims a leaf: ours, or what one of the ways - pairs of rule and value - gives."""
        path = tuple(path)
        theirs = self.leaves[path]
        if ours is not None and agree(theirs, ours, within):
            return self._enter(path, EQUAL, None, ours)
        for rule, value in ways:
            if agree(theirs, value, within):
                return self._enter(path, rule.verdict, rule, ours)
        return None

    def below(self, *path):
        return self._below.get(path, [])

    def say(self, rule, *path):
        """Claims all that nothing claimed so far below a path."""
        for leaf in self.below(*path):
            if leaf not in self.entries:
                self._enter(leaf, rule.verdict, rule)

    def put(self, rule, leaf):
        """Claims one leaf, if nothing has."""
        if leaf not in self.entries:
            self._enter(leaf, rule.verdict, rule)

    def label(self, *path):
        """Claims texts, flags and nulls below a path that stand beside claimed figures."""
        beside = {leaf[:-1] for leaf in self.entries}
        for leaf in self.below(*path):
            if leaf not in self.entries and leaf[:-1] in beside and \
                    not is_number(self.leaves[leaf]):
                self._enter(leaf, DESCRIBES)

    def unexplained(self):
        return [(path, value) for path, value in self.leaves.items() if path not in self.entries]


class Ledger:
    """The cases of one tool."""

    def __init__(self, name):
        self.name, self.cases = name, []

    @property
    def entries(self):
        return [entry for case in self.cases for entry in case.entries.values()]

    def counts(self):
        return collections.Counter(entry.verdict for entry in self.entries)

    def by_rule(self):
        """Entries by rule, most first."""
        groups = collections.defaultdict(list)
        for entry in self.entries:
            if entry.rule:
                groups[entry.rule].append(entry)
        return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0].title))
