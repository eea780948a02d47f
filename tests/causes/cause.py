# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cause is."""
import dataclasses

from pipeline import Pipeline

LEAST_GAIN, MOST_GAIN = 0.03, 0.95  # of the run; what is smaller nobody looks for


@dataclasses.dataclass(frozen=True)
class Cause:
    """`plant` draws (fixed values of the plan, defect) of a trace, `write` files next to or instead
    of one.  A finding with one of `ids` whose title holds `said` names the cause."""
    title: str
    ids: tuple
    said: str
    plant: object = None
    write: object = None
    alone: bool = False  # does not go with others
    least: float = LEAST_GAIN
    most: float = MOST_GAIN
    # Of the causes in planted.py, which have a control.
    defect: str = ""         # as what the defect is in the plan
    kind: type = Pipeline    # that runs the plan
    mended: object = None    # the plan of the program without it
    control: object = None   # as `plant`, of a run in which it is absent or does not matter
    amounts: object = None   # column → (value, tolerance) of the evidence, by the ranks that ran
    action: str = ""         # what the advice holds
    worth: object = None     # whether a run is worth a look, by its ranks
    good: object = None      # the same of a control
    places: int = 1          # findings among which it has to be
    verdict: str = ""        # or what the verdict says of it
