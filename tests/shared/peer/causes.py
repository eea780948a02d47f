# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the ways of another tool makes a figure differ from ours."""
import dataclasses

from .ledger import agree, is_number


def blame(causes, settings, value_with, theirs, ours=None, within=0.0):
    """[(rule, their figure)] when the settings of the other tool give its figure, and the same
    definition without them gives ours; else nothing. The rule is that of the setting whose absence
    changes the figure most."""
    value = value_with(settings)
    if value is None or not agree(theirs, value, within):
        return []
    active = [name for name in causes if getattr(settings, name)]
    plain = value_with(dataclasses.replace(settings, **dict.fromkeys(active, False)))
    if plain == value or (ours is not None and not agree(ours, plain, within)):
        return []

    def change(name):
        without = value_with(dataclasses.replace(settings, **{name: False}))
        return abs((without or 0) - value) if is_number(value) else without != value

    return [(causes[max(active, key=change)], theirs)]
