#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a diffusion is divided between ranks is named by what they exchange, whatever groups are
called: sequence, ring, pipeline, tensor, guidance, patches of the VAE.  The line that says what
was run has it, but for context: gathered keys look like gathered weights.

usage: test_schemes.py --program TRACEANALYZE
"""
import pathlib
import subprocess
import tempfile

import reports
import small

LAYERS, STEPS = 10, 5
NAMES = {"all_to_all": "SendRecv", "send": "SendRecv", "recv": "SendRecv",
         "allreduce": "AllReduce_Sum_bf16_RING_LL", "_allgather_base": "AllGather_RING_LL"}


class Rank(small.Program):
    """Groups are lists of ranks; all ranks are in step, so that a transfer ends for all at once."""

    def __init__(self, rank, world):
        super().__init__(rank, world)
        self.sequence = {}

    def exchange(self, kind, group, elements, peer=None):
        key = tuple(group)
        self.sequence[key] = self.sequence.get(key, 0) + 1
        facts = {"Collective name": kind, "Group size": len(group), "dtype": "BFloat16",
                 "In msg nelems": elements, "Out msg nelems": elements,
                 "Process Group Name": str(key[0]) + "-" + str(len(key)),
                 "Process Group Description": "undefined",
                 "Process Group Ranks": str(list(group)), "Seq": self.sequence[key]}
        if peer is not None:
            facts |= {"Src Rank": peer} if kind == "recv" else {"Dst Rank": peer}
        self.kernel(f"ncclDevKernel_{NAMES[kind]}(ncclDevKernelArgsStorage<4096ul>)", 30_000,
                    stream=7)
        self.events[-1]["args"].update(facts)

    def transfer(self, group, elements, onward=True):
        """To the next of the group, from the one before; stages at the ends as onward says."""
        place, n = group.index(self.rank), len(group)
        if onward or place < n - 1:
            self.exchange("send", group, elements, group[(place + 1) % n])
        if onward or place > 0:
            self.exchange("recv", group, elements, group[(place - 1) % n])

    def layer(self, within):
        for kernel, ns in small.LAYERS[:3]:
            self.kernel(kernel, ns)
        within(self)

    def run_scheme(self, scheme):
        self.encode()
        for _ in range(STEPS):
            start = self.host
            for _ in range(LAYERS):
                self.layer(scheme.get("layer", lambda rank: None))
            scheme.get("pass", lambda rank: None)(self)
            self.span("dit_forward", "user_annotation", start, self.host, 1)
            scheme.get("step", lambda rank: None)(self)
            self.schedule()
        start = self.host
        for _ in range(6):
            for kernel, ns in small.DECODER[:2]:
                self.kernel(kernel, ns)
            scheme.get("decode", lambda rank: None)(self)
        self.span("vae_decode", "user_annotation", start, self.host, 1)


def many(what, times):
    def do(rank):
        for _ in range(times):
            what(rank)
    return do


def all_of(rank):
    return list(range(rank.world))


def pair(rank):
    """The other half of the world has the other prediction."""
    half = rank.world // 2
    return [rank.rank % half, rank.rank % half + half]


SEQUENCE = {"layer": many(lambda r: r.exchange("all_to_all", all_of(r), 1 << 20), 4)}
RING = {"layer": lambda r: many(lambda r: r.transfer(all_of(r), 1 << 20), r.world - 1)(r)}
PIPELINE = {"pass": lambda r: r.transfer(all_of(r), 1 << 18)}
CLOSED = {"pass": lambda r: many(lambda r: r.transfer(all_of(r), 1 << 18), 2)(r)}
TENSOR = {"layer": many(lambda r: r.exchange("allreduce", all_of(r), 1 << 20), 2)}
CONTEXT = {"layer": lambda r: r.exchange("_allgather_base", all_of(r), 1 << 20)}
GUIDANCE = {"step": lambda r: r.exchange("_allgather_base", pair(r), 1 << 16)}
REDUCED = {"step": lambda r: r.exchange("allreduce", pair(r), 1 << 16)}
PATCHES = {"decode": lambda r: r.transfer(all_of(r), 1 << 14, onward=False)}
GATHERED = {"decode": lambda r: r.exchange("_allgather_base", all_of(r), 1 << 14)}

SAID = {"sequence": "sequence parallel", "ring": "ring attention", "pipeline": "pipeline parallel",
        "tensor": "tensor parallel", "guidance": "CFG parallel", "patches": "patch-parallel VAE"}

CASES = {
    "sequence": (SEQUENCE, (2, 4, 8), "sequence"),
    "ring": (RING, (2, 4), "ring"),
    "pipeline": (PIPELINE, (2, 4, 8), "pipeline"),
    "pipeline in patches": (CLOSED, (2, 4), "pipeline"),
    "tensor": (TENSOR, (2, 4, 8), "tensor"),
    "context": (CONTEXT, (2, 4), "context"),
    "guidance": (GUIDANCE, (2, 4, 8), "guidance"),
    "guidance, added up": (REDUCED, (2, 4), "guidance"),
    "edges of patches": (PATCHES, (2, 4, 8), "patches"),
    "gathered patches": (GATHERED, (2, 4), "patches"),
}


def dimensions(program, folder, scheme, world):
    for number in range(world):
        rank = Rank(number, world)
        rank.run_scheme(scheme)
        rank.write(folder / f"rank{number}.json")
    report = reports.read(program, folder)
    assert report.rows("diffusion.loops")[0]["steps"] == STEPS, report.rows("diffusion.loops")
    said = subprocess.run([program, "report", folder], capture_output=True, text=True, check=True)
    head = " ".join(said.stdout.split("\n\n")[0].split())  # wrapped
    return {row["dimension"] for row in report.rows("collectives.layout")}, head


def is_said(head, world, scheme):
    """Guidance is by two, all other schemes planted here by all ranks."""
    if scheme not in SAID:
        return f"{world} ranks" in head and "parallel" not in head
    by = " by 2" if scheme == "guidance" and world > 2 else ""
    return f"{world} ranks, {SAID[scheme]}{by}" in head


def main():
    program = reports.program_of_arguments()
    wrong = []
    for name, (scheme, worlds, wanted) in CASES.items():
        for world in worlds:
            with tempfile.TemporaryDirectory() as folder:
                found, head = dimensions(program, pathlib.Path(folder), scheme, world)
            if found != {wanted} or not is_said(head, world, wanted):
                wrong.append((name, world, found, head))
    # Two at once: guidance between halves, the sequence within them.
    with tempfile.TemporaryDirectory() as folder:
        def within(rank):
            half = rank.world // 2
            first = rank.rank // half * half
            rank.exchange("all_to_all", list(range(first, first + half)), 1 << 20)
        found, head = dimensions(program, pathlib.Path(folder),
                                 GUIDANCE | {"layer": many(within, 4)}, 8)
        if found != {"sequence", "guidance"} or \
                "8 ranks, sequence parallel by 4 and CFG parallel by 2" not in head:
            wrong.append(("both", 8, found, head))
    if wrong:
        raise AssertionError("\n".join(map(str, wrong)))


main()
