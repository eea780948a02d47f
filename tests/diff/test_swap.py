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
SOFTMAX = "void (anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>(int)"
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


def attention(kernels, gap_us=0.5, op="aten::_scaled_dot_product_flash_attention"):
    """Kernels of an operator of attention, step by step, with the time that the device idles."""
    events, at, number = [], 100.0, 0
    for step in range(4):
        start = at
        for _ in range(20):
            events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": at,
                           "dur": 8 * len(kernels) + 2})
            for place, (name, dur) in enumerate(kernels):
                number += 1
                events += [
                    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                     "tid": 1, "ts": at + 1 + 8 * place, "dur": 4, "args": {"correlation": number}},
                    {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                     "ts": at + 60 + sum(dur for _, dur in kernels[:place]), "dur": dur,
                     "args": {"device": 0, "stream": 7, "correlation": number}}]
            at += 60 + sum(dur for _, dur in kernels) + gap_us
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                       "pid": 1, "tid": 1, "ts": start, "dur": at - start})
    return events


def snapshot(path, folder, line, size, first=1 << 30):
    """Blocks of two call sites; one of them is in a library."""
    def frame(name, file, at):
        return {"name": name, "filename": file, "line": at}

    sizes = ((first, frame("encode", f"{folder}/model/vae.py", line)),
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

    def events(self, before, after):
        paths = []
        for name, events in (("before", before), ("after", after)):
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        return self.compare(*paths)

    def traces(self, before, after):
        return self.events(replay(before), replay(after))

    def test_attention(self):
        """Faster or slower by itself is not the point: quantization comes with it."""
        diff, line = self.traces([(GEMM, 100), (FLASH, 230)],
                                 [(GEMM, 100), (QUANT, 60), (QUANT, 60), (SAGE, 235)])
        self.assertRegex(line, r"attention, which runs \S*qk_int8\S* instead of \S*flash\S*: its "
                               r"kernels take 5\.00 µs more a call, and quantization kernels take "
                               r"19\.2 ms more\.$")
        pairs = {(row["name"], row["matched_as"]) for row in diff.rows("diff.kernels")}
        self.assertIn((FLASH, SAGE), pairs)
        self.assertFalse({pair for pair in pairs if QUANT in pair and None not in pair})

    def test_attention_of_many_kernels(self):
        """Separate GEMMs and softmax against one kernel are no pair; the kinds of attention are."""
        _, line = self.events(attention([(GEMM, 300), (SOFTMAX, 200), (GEMM, 300)],
                                        op="aten::_scaled_dot_product_attention_math"),
                              attention([(FLASH, 230)]))
        self.assertRegex(line, r"less time .*attention, which runs flash 2\S* instead of math: its "
                               r"kernels take 18.4 ms instead of 64 ms\.$")

    def test_idle_time(self):
        """All of it is the cause, and what the host did most in it a part."""
        _, line = self.events(attention([(FLASH, 230)], 400), attention([(FLASH, 230)]))
        self.assertRegex(line, r"less time .*idle time of the GPU, which is \S+ ms instead of \S+ "
                               r"ms, "
                               r"mainly for \D+ \(\S+ .s instead of \S+ ms\)\.$")

    def test_clock(self):
        names = [f"{GEMM}_{word}" for word in ("a", "b", "c", "d", "e")]
        _, line = self.traces([(name, 100) for name in names], [(name, 80) for name in names])
        self.assertIn("all 5 kernels, which take 64 ms instead of 80 ms, all alike (device or "
                      "clock)", line)

    def test_two_sites(self):
        _, line = self.compare(snapshot(self.folder / "a.pickle", "/app", 3, 1 << 30),
                               snapshot(self.folder / "b.pickle", "/app", 3, 3 << 30, 3 << 30))
        self.assertRegex(line, r"All of it comes from \S+ \(\w+\) \(\+2.00 GiB\) and \S+ \(\w+\) "
                               r"\(\+2.00 GiB\)\.$")

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
        self.assertRegex(line, r"^The memory peak is 6\.00 GiB instead of 3\.00 GiB: 3\.00 GiB "
                               r"more\. All of it comes from \S*attention\.py:88 ")
        self.assertFalse(diff.finding("offloading-lost"))


if __name__ == "__main__":
    sys.argv.remove("--program")
    PROGRAM = sys.argv.pop(1)
    unittest.main()
