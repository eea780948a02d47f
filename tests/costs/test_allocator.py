#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""memory.sites, memory.site_phases and memory.peaks of planted histories of an allocator, against a
replay by brute force: after each entry all blocks that are alive are added up."""
import os
import pathlib
import pickle
import random
import tempfile
import unittest

import reports

PROGRAM = os.environ["TA_PROGRAM"]
# Stacks, innermost frame first: file, function, phase.
STACKS = {
    "text encode": [("/app/transformers/models/t5/modeling_t5.py", "forward"),
                    ("/app/diffusers/pipelines/flux/pipeline_flux.py", "encode_prompt")],
    "denoise": [("/app/torch_ops.py", "linear"),
                ("/app/diffusers/models/transformers/transformer_flux.py", "forward"),
                ("/app/diffusers/pipelines/flux/pipeline_flux.py", "__call__")],
    "VAE decode": [("/app/diffusers/models/resnet.py", "forward"),
                   ("/app/diffusers/models/autoencoders/autoencoder_kl.py", "decode")],
    "unknown": [("/app/main.py", "main")],
}


def frames(phase):
    return [{"filename": file, "name": function, "line": 10 + i}
            for i, (file, function) in enumerate(STACKS[phase])]


class History:
    """Blocks of random sizes that live for random times, each asked for in a phase."""

    def __init__(self, seed, n=300):
        rng = random.Random(seed)
        self.entries, self.live, self.peak, self.alive = [], {}, 0, {}
        self.total, at = 64 << 20, 0x7f0000000000
        self.start = at
        self.entry("segment_alloc", at, self.total)
        for number in range(n):
            phase = rng.choice(list(STACKS)[number * 3 // n:number * 3 // n + 2])
            if self.live and rng.random() < 0.45:
                address = rng.choice(sorted(self.live))
                size, _ = self.live.pop(address)
                self.entry("free_requested", address, size)
                self.entry("free_completed", address, size)
            else:
                size = rng.randrange(1, 200) * 512
                self.entry("alloc", at, size, phase)
                self.live[at] = size, phase
                at += size
            held = sum(size for size, _ in self.live.values())  # by brute force
            if held > self.peak:
                self.peak, self.alive = held, dict(self.live)

    def entry(self, action, address, size, phase=None):
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0,
                             "time_us": 1_700_000_000_000_000 + 10 * len(self.entries),
                             "frames": frames(phase) if phase else []})

    def snapshot(self):
        blocks, at = [], self.start
        for address in sorted(self.live):
            size, phase = self.live[address]
            if address > at:
                blocks.append({"address": at, "size": address - at, "requested_size": 0,
                               "state": "inactive", "frames": []})
            blocks.append({"address": address, "size": size, "requested_size": size,
                           "state": "active_allocated", "frames": frames(phase)})
            at = address + size
        end = self.start + self.total
        if at < end:
            blocks.append({"address": at, "size": end - at, "requested_size": 0,
                           "state": "inactive", "frames": []})
        held = sum(size for size, _ in self.live.values())
        return {"segments": [{"device": 0, "address": self.start, "total_size": self.total,
                              "allocated_size": held, "active_size": held, "requested_size": held,
                              "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                              "is_expandable": False, "frames": [], "blocks": blocks}],
                "device_traces": [self.entries]}


class Allocator(unittest.TestCase):
    def test_peaks(self):
        for seed in range(8):
            with self.subTest(seed), tempfile.TemporaryDirectory() as folder:
                history = History(seed)
                path = pathlib.Path(folder) / "memory.pickle"
                path.write_bytes(pickle.dumps(history.snapshot(), protocol=4))
                report = reports.read(PROGRAM, path)
                self.assertEqual(report.row("memory.peaks")["peak_block_bytes"], history.peak)
                wanted = {}
                for size, phase in history.alive.values():
                    n, total = wanted.get(phase, (0, 0))
                    wanted[phase] = n + 1, total + size
                found = {row["phase"]: (row["peak_blocks"], row["peak_block_bytes"])
                         for row in report.rows("memory.site_phases") if row["peak_blocks"]}
                self.assertEqual(found, wanted)
                self.assertEqual(report.total("memory.sites", "peak_block_bytes"), history.peak)
                held = {}
                for size, phase in history.live.values():
                    held[phase] = held.get(phase, 0) + size
                self.assertEqual({row["phase"]: row["held_bytes"]
                                  for row in report.rows("memory.site_phases")
                                  if row["held_bytes"]}, held)

    def test_no_diffusion(self):
        """Without a function that names a phase there is no such table."""
        history = History(3)
        for entry in history.entries:
            entry["frames"] = frames("unknown") if entry["frames"] else []
        history.live = {at: (size, "unknown") for at, (size, _) in history.live.items()}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "memory.pickle"
            path.write_bytes(pickle.dumps(history.snapshot(), protocol=4))
            report = reports.read(PROGRAM, path)
        self.assertNotIn("memory.site_phases", report.tables)
        self.assertEqual(report.row("memory.peaks")["peak_block_bytes"], history.peak)


if __name__ == "__main__":
    unittest.main()
