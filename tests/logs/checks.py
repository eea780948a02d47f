# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks of logs share: the report of a text, and what does not hold of it."""
import reports


class Checks:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.faults = program, scratch, 0

    def expect(self, what, found, expected):
        if found != expected:
            print(f"{what}: {found} instead of {expected}")
            self.faults += 1

    def log_of(self, text):
        path = self.scratch / "run.log"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def read(self, text):
        return reports.read(self.program, self.log_of(text))
