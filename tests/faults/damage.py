# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces that are cut, overwritten, mixed up or written in other ways: how many events remain."""
import codecs
import gzip
import io
import json
import random
import struct
import zlib

from judge import Case
from made import LAYOUTS, members, trace, write

FILES = 40  # damaged files that one run reads


def folder_of(files):
    """A builder of a folder with these files."""
    def build(folder):
        place = folder / "run"
        place.mkdir()
        for name, data in files.items():
            (place / name).write_bytes(data)
        return place
    return build


def one(data, name="trace.json"):
    def build(folder):
        path = folder / name
        path.write_bytes(data)
        return path
    return build


# ---- many damaged files in one run: each is judged by itself -----------------------------------

def check_each(expected):
    """What is wrong with the accounts of files: name to (least kept, most kept, lossy)."""
    def check(run):
        if not run.report:
            return None
        accounts = {file["file"].split("/")[-1]: file
                    for file in run.report["data_quality"]["files"]}
        wrong = []
        for name, (least, most, lossy) in expected.items():
            file = accounts.get(name)
            if file is None:
                wrong.append(f"{name} is not named")
                continue
            lost = any(f["severity"] in ("loss", "error") for f in file["findings"])
            told = [(f["code"], f["count"], f["byte_offset"]) for f in file["findings"]]
            if not least <= file["events_kept"] <= most:
                wrong.append(f"{name}: {file['events_kept']} kept, not {least}..{most}: {told}")
            if lossy and not lost and file["events_kept"] < most:
                wrong.append(f"{name}: loses in silence: {told}")
            if lossy is False and lost:
                wrong.append(f"{name}: nothing is lost, but {told}")
        return "; ".join(wrong)
    return check


def batch(name, made, **options):
    """One case over files: made is a list of (bytes, least, most, lossy)."""
    files, expected = {}, {}
    for i, (data, least, most, lossy) in enumerate(made):
        # A name that is no rank, else the order of files would matter.
        files[f"f{i:03}x.json"] = data
        expected[f"f{i:03}x.json"] = (least, most, lossy)
    return Case(name, folder_of(files), exits=(0, 3), check=check_each(expected), **options)


def cuts(chance):
    for layout in LAYOUTS:
        made = []
        for i in range(FILES):
            whole = trace(chance.random(), chance.randint(6, 40), layout)
            place = chance.randrange(whole.events[0][1], whole.array_end)
            kept = whole.before(place)
            made.append((whole.text[:place], kept, kept, layout != "array" or None))
        yield batch(f"cut-{layout}", made)


TOKENS = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\0", b"\n", b"\xff", b"\xc3",
          b"\xed\xa0\x80",
          b"\xef\xbf\xbe", b"//", b"/*", b"*/", b"'", b"NaN", b"-Infinity", b"1e999", b"null",
          b"\\u12",
          b"\\ud800", b'"ph":', b'{"ph":"X"', b"<b>", b"\x1b[31m", b"\r", b"\xe2\x80\xae", b"}}}}",
          b"]]]]",
          b'{"traceEvents":[', b"]}"]


def overwritten(chance):
    """A token written over, into, or in place of a stretch: all but what it touches is kept, and
    one event more where two run together."""
    for layout in LAYOUTS:
        made = []
        for i in range(FILES):
            whole = trace(chance.random(), 30, layout)
            start = chance.randrange(whole.events[2][0], whole.events[-3][1])
            end = min(start + chance.choice([0, 0, 1, 1, 2, 5, 40, 300]), whole.events[-2][0])
            token = chance.choice(TOKENS) * chance.choice([1, 1, 1, 2, 7])
            data = whole.text[:start] + token + whole.text[end:]
            least = whole.apart(start - 1, end + 1) - 1
            made.append((data, least, whole.n + 1, None))
        yield batch(f"overwritten-{layout}", made)


def noise(chance):
    """Bytes of another file, or noise, behind, before or between whole events."""
    for layout in LAYOUTS:
        made = []
        for i in range(FILES):
            whole = trace(chance.random(), 20, layout)
            before = chance.randrange(2, whole.n - 2)
            place = whole.events[before][1]
            junk = bytes(chance.randrange(256) for _ in range(chance.choice([1, 3, 10, 100, 5000])))
            made.append((whole.text[:place] + junk + whole.text[place:], whole.n - 2, whole.n + 1,
                         None))
        yield batch(f"noise-{layout}", made)


def interleaved(chance):
    """Two writers whose blocks alternate: what stands whole in a block of its own is kept."""
    made = []
    for _ in range(FILES):
        first, second = trace(chance.random(), 25), trace(chance.random(), 25)
        a, b = first.text[:first.array_end], second.text[second.events[0][0]:second.array_end]
        size = chance.choice([700, 1000, 4096])
        blocks = []
        while a or b:
            blocks.append(a[:size])
            blocks.append(b[:size])
            a, b = a[size:], b[size:]
        made.append((b"".join(blocks) + b"]}", 4, first.n + second.n, True))
    yield batch("interleaved", made)


# ---- forms that are whole: every event is kept --------------------------------------------------

def forms(chance):
    whole = trace(chance.random(), 25)
    n, text = whole.n, whole.text.decode()
    bare = trace(3, 25, "array")
    same = {
        "utf16-le": codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        "utf16-be": codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        "utf8-bom": codecs.BOM_UTF8 + whole.text,
        "crlf": whole.text.replace(b"\n", b"\r\n"),
        "cr": whole.text.replace(b"\n", b"\r"),
        "indent-tabs": json.dumps(json.loads(text), indent="\t").encode(),
        "escapes": json.dumps(json.loads(text), ensure_ascii=True).encode(),
        "sorted": json.dumps(json.loads(text), sort_keys=True).encode(),
        "spaces-before": b" \n\t\r" * 4000 + whole.text,
        "spaces-behind": whole.text + b" \n" * 70000,
        "bare-open": bare.text[:bare.array_end],
    }
    for name, data in same.items():
        codes = ("utf16",) if "utf16" in name else ()
        yield Case(f"form-{name}", one(data), kept=(n, n) if "bare" not in name else
                   (bare.n, bare.n), dropped=(0, 0), codes=codes, clean=True)
    shuffled = []
    for member in json.loads(text)["traceEvents"]:
        pairs = list(member.items())
        chance.shuffle(pairs)
        shuffled.append(dict(pairs))
    yield Case("form-shuffled", one(write(shuffled).text), kept=(n, n), clean=True)
    latin = text.encode("latin-1")
    yield Case("form-latin1", one(latin), kept=(n, n), codes=("text-encoding",) if b"\xf6" in latin
               else (), clean=True)
    for name, encoding in (("utf16-le", "utf-16-le"), ("utf32-le", "utf-32-le")):
        yield Case(f"no-bom-{name}", one(text.encode(encoding)), exits=(3,),
                   says=("trace.json",), product=None)
    odd = codecs.BOM_UTF16_LE + text.encode("utf-16-le")
    place = 2 * whole.events[7][1] + 3
    yield Case("form-utf16-cut", one(odd[:place]), kept=(7, 8), codes=("utf16", "truncated"))
    lone = text.replace("mark", "\ud800mark", 1).encode("utf-16-le", "surrogatepass")
    yield Case("form-utf16-lone-surrogate", one(codecs.BOM_UTF16_LE + lone), kept=(n, n),
               codes=("utf16", "text-encoding"), clean=True)


# ---- gzip ----------------------------------------------------------------------------------------

def member(data, level=6, **header):
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=level, mtime=1, **header) as file:
        file.write(data)
    return buffer.getvalue()


def with_fields(data):
    """A member with a name, a comment, extra fields and a checksum of its header."""
    head = b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03" + struct.pack("<H", 6) + b"AB\x02\0xy" + \
        b"n\xff\x1b[31m.json\0" + b"comment\0"
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    return head + raw.compress(data) + raw.flush() + struct.pack("<II", zlib.crc32(data),
                                                                len(data) & 0xFFFFFFFF)


def packed(chance):
    whole = trace(chance.random(), 40)
    data, n = whole.text, whole.n
    gz = member(data)
    half = whole.events[n // 2][0] + 5
    many = b"".join(member(data[i:i + 97], chance.choice([0, 1, 9]))
                    for i in range(0, len(data), 97))
    good = {"plain": gz, "stored": member(data, 0), "fields": with_fields(data), "members": many,
            "empty-members": member(b"") * 50 + gz + member(b"") * 50,
            "zeros-behind": gz + b"\0" * 100000,
            "split": member(data[:half]) + member(data[half:])}
    for name, packed_ in good.items():
        for inflater in ("isal", "zlib"):
            yield Case(f"gzip-{name}-{inflater}", one(packed_, "trace.json.gz"), kept=(n, n),
                       args=(*Case.args, "--inflater", inflater), clean=True,
                       without=("gzip-trailing", "gzip-checksum", "gzip-truncated"))
    wrong = {"crc": (gz[:-8] + b"\1\2\3\4" + gz[-4:], "gzip-checksum", n),
             "length": (gz[:-4] + b"\xff\xff\xff\xff", "gzip-checksum", n),
             "no-trailer": (gz[:-8], "gzip-truncated", n),
             "part-of-trailer": (gz[:-3], "gzip-truncated", n),
             "behind": (gz + b"\x1f\x8c garbage", "gzip-trailing", n),
             "name-of-another": (gz + b"\x1f\x8b\x08\x08\0\0\0\0\0\x03name", "gzip-truncated", n),
             "header-behind": (gz + gz[:10], "gzip-truncated", n),
             "header-of-another": (gz + b"\x1f\x8b\x09\xff" + bytes(20), "gzip-corrupt", n),
             "method-of-another": (gz + gz[:2] + b"\x09" + gz[3:], "gzip-corrupt", n),
             "flags-of-another": (gz + gz[:3] + b"\x20" + gz[4:], "gzip-corrupt", n),
             "crc-of-first": (member(data[:half])[:-8] + bytes(8) + member(data[half:]),
                              "gzip-checksum", n)}
    for name, (packed_, code, kept) in wrong.items():
        for inflater in ("isal", "zlib"):
            yield Case(f"gzip-{name}-{inflater}", one(packed_, "t.json.gz"), kept=(kept, kept),
                       args=(*Case.args, "--inflater", inflater), codes=(code,))
    for name, place, byte in (("method", 2, b"\x07"), ("flags", 3, b"\x80")):
        yield Case(f"gzip-{name}-of-first", one(gz[:place] + byte + gz[place + 1:], "t.json.gz"),
                   exits=(3,), says=(f"byte offset {place}", "t.json.gz"), product=None)
    stored = member(data, 0)
    for i in range(6):
        place = chance.randrange(12, len(gz) - 8)
        yield Case(f"gzip-cut-{i}", one(gz[:place], "t.json.gz"), exits=(0, 3), kept=(0, n),
                   codes=("gzip-truncated",), check=prefix_of(data, gz[:place], whole))
        place = chance.randrange(20 + whole.events[2][0], len(stored) - 30)
        yield Case(f"gzip-stored-flip-{i}", one(stored[:place] + bytes([stored[place] ^ 0x10]) +
                                                stored[place + 1:], "t.json.gz"),
                   kept=(n - 2, n + 1), codes=("gzip-checksum",))


def prefix_of(data, cut, whole):
    """Every event that zlib gives of a cut file is kept."""
    inflated = zlib.decompressobj(31).decompress(cut)
    assert data.startswith(inflated)
    events = whole.before(len(inflated))

    def check(run):
        kept = run.report["data_quality"]["totals"]["events_kept"] if run.report else 0
        return None if kept == events else f"{kept} events of {events} that can be inflated"
    return check


# ---- several documents, other texts, other formats -----------------------------------------------

def containers(chance):
    whole = trace(chance.random(), 12)
    n, text = whole.n, whole.text
    yield Case("three-documents", one(text + b"\n" + text + text), kept=(3 * n, 3 * n),
               codes=("multiple-documents",), clean=True)
    yield Case("log-behind", one(text + b"\n[rank0]:W0612 warning: something\nDone.\n"),
               kept=(n, n), codes=("trailing-text",))
    lines = b"\n".join(json.dumps(member_).encode() for member_ in members(5, 30))
    yield Case("ndjson", one(lines), kept=(31, 31), clean=True)
    yield Case("ndjson-blank-lines", one(lines.replace(b"\n", b"\r\n\r\n") + b"\r\n"),
               kept=(31, 31), clean=True)
    foreign = {
        "zip": b"PK\x03\x04" + bytes(100), "zstd": b"\x28\xb5\x2f\xfd" + bytes(60),
        "xz": b"\xfd7zXZ\0" + bytes(60), "bzip2": b"BZh91AY&SY" + bytes(60),
        "elf": b"\x7fELF\x02\x01\x01" + bytes(200), "png": b"\x89PNG\r\n\x1a\n" + bytes(80),
        "pdf": b"%PDF-1.4\n" + bytes(80), "sqlite": b"SQLite format 3\0" + bytes(100),
        "html": b"<!DOCTYPE html><html><body>404</body></html>",
        "xml": b"<?xml version='1.0'?><a/>",
        "text": b"Traceback (most recent call last):\n", "yaml": b"a: 1\nb:\n  - 2\n",
        "protobuf": b"\n\x0e\n\x04\x08\x01\x10\x02" * 30, "zeros": bytes(5000), "one-nul": b"\0",
        "tar": b"trace.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(248),
        "bom-only": b"\xef\xbb\xbf",
        "utf16-bom-only": b"\xff\xfe", "space": b" ", "true": b"true", "number": b"12",
        "string": b'"a"',
        "object": b"{}", "null": b"null", "open": b"{", "quote": b'"', "lots-of-open": b"{[" * 3000,
        "gzip-of-zip": gzip.compress(b"PK\x03\x04" + bytes(40)), "gzip-header": b"\x1f\x8b",
        "gzip-twice": gzip.compress(gzip.compress(text)), "comma": b",", "minus": b"-",
        "other-json": b'{"a": [1, 2, {"b": null}]}', "list-of-lists": b"[[[]]]",
        "open-list": b"[", "open-list-blank": b"[ \r\n\t", "gzip-of-open-list": member(b"[")}
    for name, data in foreign.items():
        yield Case(f"no-trace-{name}", one(data, "rank0.json"), exits=(3,), says=("rank0.json",),
                   product=None)
        # Beside a good one it costs nothing but itself.
        yield Case(f"beside-{name}", folder_of({"rank0.json": text, "rank1.json": data}),
                   kept=(n, n), says=("rank1.json",))
    yield Case("no-trace-folder-of-open-lists",
               folder_of({"rank0.json": b"[", "rank1.json": b"[ \n", "a.json.gz": member(b"[")}),
               exits=(3,), says=("rank0.json", "rank1.json", "a.json.gz"), product=None)
    for name, data in {"empty-list": b"[]", "empty-events": b'{"traceEvents": []}',
                       "spaces": b'{ "traceEvents" : [ ] }\n'}.items():
        yield Case(f"no-events-{name}", one(data), kept=(0, 0), codes=("no-events",), clean=True)


def cases(chance):
    for group in (cuts, overwritten, noise, interleaved, forms, packed, containers):
        yield from group(random.Random(chance.random()))
