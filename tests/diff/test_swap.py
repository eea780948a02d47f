#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes the place of what: kernels that do different work are no pair, an exchange of kernels
is told with the work that it brought, and call sites that moved are the same.

usage: test_swap.py --program PROGRAM
"""
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import reports

PROGRAM = None

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
FLASH = "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >(Flash_fwd_params)"
SAGE = "qk_int8_sv_f16_accum_f32_attn_kernel<128u, 64u, 32u, 64u, 128u>"
QUANT = "void QuantInt8Kernel<128u, 64u, true, c10::BFloat16>(c10::BFloat16*)"


def replay(kernels, layers=40):
    """Kernels of a replayed graph: no operator runs them."""
    events, at = [], 100.0
    for step in range(4):
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
             "tid": 1, "ts": at, "dur": 50},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
             "ts": at + 2, "dur": 8, "args": {"correlation": step + 1}}]
        at += 20
        for _ in range(layers):
            for name, dur in kernels:
                events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                               "ts": round(at, 3), "dur": dur,
                               "args": {"device": 0, "stream": 7, "correlation": step + 1,
                                        "graph node id": 1}})
                at += dur + 0.5
        at += 20
    return events


def snapshot(path, folder, line, size):
    """Blocks of two call sites; one of them is in a library."""
    def frame(name, file, at):
        return {"name": name, "filename": file, "line": at}

    sizes = ((1 << 30, frame("encode", f"{folder}/model/vae.py", line)),
             (size, frame("attend", "/usr/lib/python3/attention.py", 88)))
    blocks, entries, at = [], [], 0x7f0000000000
    for number, (nbytes, site) in enumerate(sizes):
        blocks.append({"address": at, "size": nbytes, "requested_size": nbytes,
                       "state": "active_allocated", "frames": [site]})
        entries.append({"action": "alloc", "addr": at, "size": nbytes, "stream": 0,
                        "time_us": 1795222559000000 + number, "frames": [site]})
        at += nbytes
    total = sum(block["size"] for block in blocks)
    document = {"segments": [{"device": 0, "address": 0x7f0000000000, "total_size": total,
                              "allocated_size": total, "active_size": total,
                              "requested_size": total, "stream": 0, "segment_type": "large",
                              "segment_pool_id": (0, 0), "is_expandable": False,
                              "blocks": blocks}],
                "device_traces": [entries]}
    path.write_bytes(pickle.dumps(document))
    return path


class Swaps(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-swap-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, before, after, *options):
        subprocess.run([PROGRAM, "--no-config", "diff", before, after, *options, "-o",
                        self.folder / "out"], check=True, capture_output=True, text=True)
        diff = reports.Report((self.folder / "out/diff.json").read_text(encoding="utf-8"))
        return diff, diff.document["verdict"]["headline"]

    def traces(self, before, after):
        paths = []
        for name, kernels in (("before", before), ("after", after)):
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps({"traceEvents": replay(kernels)}), encoding="utf-8")
        return self.compare(*paths)

    def test_attention(self):
        """Faster or slower by itself is not the point: quantization comes with it."""
        diff, line = self.traces([(GEMM, 100), (FLASH, 230)],
                                 [(GEMM, 100), (QUANT, 60), (QUANT, 60), (SAGE, 235)])
        self.assertRegex(line, r"attention .*flash.* → .*qk_int8.*: its kernels \+5\.00 µs a call, "
                               r"quantization \+19\.2 ms")
        pairs = {(row["name"], row["matched_as"]) for row in diff.rows("diff.kernels")}
        self.assertIn((FLASH, SAGE), pairs)
        self.assertFalse({pair for pair in pairs if QUANT in pair and None not in pair})

    def test_other_work_is_no_pair(self):
        """As alike in name and as often in the same place, and yet another kind of work."""
        norm = "void vendor::fused_forward_kernel_layer_norm<128>(Params)"
        gemm = "void vendor::fused_forward_kernel_gemm<128>(Params)"
        diff, _ = self.traces([(GEMM, 100), (norm, 30)], [(GEMM, 100), (gemm, 30)])
        for row in diff.rows("diff.kernels"):
            self.assertNotEqual((row["name"], row["matched_as"]), (norm, gemm))

    def test_one_run_each(self):
        _, line = self.traces([(GEMM, 100)], [(GEMM, 600)])
        self.assertNotIn("inconclusive", line)
        self.assertIn("one run each", line)

    def test_call_sites_that_moved(self):
        diff, line = self.compare(
            snapshot(self.folder / "a.pickle", "/home/a/checkout", 120, 2 << 30),
            snapshot(self.folder / "b.pickle", "/scratch/b", 127, 5 << 30))
        rows = {row["term"].split(" ")[0]: row for row in diff.rows("diff.memory")}
        self.assertEqual(len(rows), 2, rows)
        self.assertEqual(sorted(row["delta_bytes"] for row in rows.values()), [0, 3 << 30])
        self.assertRegex(line, r"More memory at the peak: .*; 3\.00 GiB more in .*attention\.py:88")
        self.assertFalse(diff.finding("offloading-lost"))


if __name__ == "__main__":
    sys.argv.remove("--program")
    PROGRAM = sys.argv.pop(1)
    unittest.main()
