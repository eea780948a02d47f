# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the ways of another tool makes a figure differ from ours."""
import dataclasses

from .ledger import agree, is_number


def blame(causes, settings, value_with, theirs, within=0.0):
    """[(rule, their figure)] when the settings of the other tool give its figure. The rule is that
    of the setting whose absence changes the figure most; without one, there is none."""
    value = value_with(settings)
    if value is None or not agree(theirs, value, within):
        return []
    found, most = None, 0.0
    for name, rule in causes.items():
        if not getattr(settings, name):
            continue
        without = value_with(dataclasses.replace(settings, **{name: False}))
        if without == value:
            continue
        change = abs((without or 0) - value) if is_number(value) else 1.0
        if found is None or change > most:
            found, most = rule, change
    return [(found, theirs)] if found else []
