# SPDX-License-Identifier: GPL-3.0-or-later
"""What a viewer makes of merged traces is what it makes of each trace by itself.

The reader here knows nothing of the program: it goes by the trace event format, as the importers of
viewers do.  Slices lie on the track of their process and thread, flows lead from slice to slice by
their id, processes and threads are named by metadata.
"""
import collections
import gzip
import json
import tarfile
import unittest

from support import SAMPLE, ProcessTest, main


class Loaded:
    """Slices, names and flows of events."""

    def __init__(self, events):
        self.tracks, self.processes, self.threads = collections.defaultdict(list), {}, {}
        self.begun, self.ended, self.broken = {}, {}, []
        for event in events:
            self.take(event)
        for slices in self.tracks.values():
            slices.sort(key=lambda s: (s[0], -s[1]))

    def take(self, event):
        phase, track = event["ph"], (event.get("pid"), event.get("tid"))
        if phase == "X":
            self.tracks[track].append((event["ts"], event["ts"] + event["dur"], event["name"]))
        elif phase == "M" and event["name"] == "process_name":
            self.broken += [f"two names of {event['pid']}"] * (event["pid"] in self.processes)
            self.processes[event["pid"]] = event["args"]["name"]
        elif phase == "M" and event["name"] == "thread_name":
            self.threads[track] = event["args"]["name"]
        elif phase in "sf":
            ends = self.begun if phase == "s" else self.ended
            key = (event["cat"], event["name"], event["id"])
            self.broken += [f"two {phase} of {key}"] * (key in ends)
            ends[key] = (track, event["ts"])

    def slice_at(self, place):
        """The name of the innermost slice of a track at a time."""
        track, time = place
        inside = [s for s in self.tracks.get(track, ()) if s[0] <= time <= s[1]]
        return max(inside)[2] if inside else None

    def links(self):
        """(process it begins in, slice, process it ends in, slice) of each whole flow."""
        return [(begin[0][0], self.slice_at(begin), self.ended[key][0][0],
                 self.slice_at(self.ended[key]))
                for key, begin in self.begun.items() if key in self.ended]


def read(file):
    return json.loads(file.read())["traceEvents"]


class Loading(ProcessTest):
    def setUp(self):
        super().setUp()
        self.sources = []
        (self.folder / "in").mkdir()
        for path in sorted(SAMPLE.glob("*.json.gz"))[:3]:
            with gzip.open(path) as file:
                document = json.load(file)
            kept = document["traceEvents"][:6000]
            kept += [e for e in document["traceEvents"][6000:] if e["ph"] == "M"]
            document["traceEvents"] = kept
            name = path.name.removesuffix(".gz")
            (self.folder / "in" / name).write_text(json.dumps(document))
            self.sources.append(Loaded(kept))

    def check(self, merged, rank_of):
        """`rank_of` takes a name of a process of the merged file."""
        self.assertEqual(merged.broken, [])
        used = {pid for pid, _ in merged.tracks}
        self.assertLessEqual(used, set(merged.processes))
        of_rank = collections.defaultdict(list)
        for begin, first, end, second in merged.links():
            rank = rank_of(merged.processes[begin])
            self.assertEqual(rank, rank_of(merged.processes[end]))
            of_rank[rank].append((first, second))
        slices = collections.defaultdict(collections.Counter)
        for (pid, _), of in merged.tracks.items():
            slices[rank_of(merged.processes[pid])].update(name for *_, name in of)
        for rank, source in enumerate(self.sources):
            links = [(first, second) for _, first, _, second in source.links()]
            self.assertGreater(len(links), 300)
            self.assertEqual(sorted(map(str, of_rank[rank])), sorted(map(str, links)))
            expected = collections.Counter(
                name for of in source.tracks.values() for *_, name in of)
            self.assertEqual(slices[rank], expected)
        self.assertEqual(collections.Counter(merged.threads.values()),
                         sum((collections.Counter(source.threads.values())
                              for source in self.sources), collections.Counter()))

    def test_one_file(self):
        self.expect(0, "merge", "in", "-q", "-o", "merged.json")
        with open(self.folder / "merged.json", encoding="utf-8") as file:
            merged = Loaded(read(file))
        self.check(merged, lambda name: int(name.split()[1].strip(":")))

    def test_archive(self):
        """Each file is a trace by itself, and the manifest names them all."""
        self.expect(0, "merge", "in", "-q", "-o", "merged.tar")
        with tarfile.open(self.folder / "merged.tar") as archive:
            names = archive.getnames()
            manifest = json.load(archive.extractfile(names[0]))
            for rank, name in enumerate(names[1:]):
                loaded = Loaded(read(archive.extractfile(name)))
                self.assertEqual(loaded.broken, [])
                self.assertEqual(
                    sorted(map(str, ((a, b) for _, a, _, b in loaded.links()))),
                    sorted(map(str, ((a, b) for _, a, _, b in self.sources[rank].links()))))
        text = json.dumps(manifest)
        for name in names[1:]:
            self.assertIn(name, text)


if __name__ == "__main__":
    main()
