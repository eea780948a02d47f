# SPDX-License-Identifier: GPL-3.0-or-later
"""The same content as other systems, versions and people write it."""
import codecs
import csv
import gzip
import io
import json

WORDS = ["denoise", "vae", "clip", "t5", "dit", "unet", "save", "load", "warm", "prompt", "decode",
         "attn", "mlp", "шаг", "步骤", "größe", "a b", 'x"y', "comma,semi;", "per%cent", "<b>&"]


def new_name(chance, taken):
    """A name that nothing else has and no reader knows."""
    while True:
        name = "%s%s%s%d" % (chance.choice(WORDS), chance.choice("_-. "), chance.choice(WORDS),
                             chance.randrange(1000))
        if name not in taken:
            taken.add(name)
            return name


def shuffled(chance, value, ordered=()):
    """The keys of all objects in another order, but of those that `ordered` names."""
    if isinstance(value, list):
        return [shuffled(chance, v, ordered) for v in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chance.shuffle(keys)
    return {key: value[key] if key in ordered else shuffled(chance, value[key], ordered)
            for key in keys}


def add_unknown(chance, value):
    """Keys of a version to come."""
    for key in ("future", "x-%d" % chance.randrange(100)):
        if chance.random() < 0.3:
            value[key] = chance.choice([None, [], {"a": [1, {"b": None}]}, "text", 1e300, True])
    return value


def write_bytes(chance, path, data):
    """Returns the path below which the file is, which may be packed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if chance.random() < 0.1 else data)


def write_text(chance, path, text):
    end = chance.choice(["\n", "\n", "\r\n"])
    data = text.replace("\r\n", "\n").replace("\n", end).encode()
    if chance.random() < 0.15:
        data = codecs.BOM_UTF8 + data
    write_bytes(chance, path, data)


def write_json(chance, path, value, ordered=()):
    style = chance.choice([{"indent": 2}, {"indent": 4}, {"indent": "\t"}, {},
                           {"separators": (",", ":")}])
    if chance.random() < 0.5:
        value = shuffled(chance, value, ordered)
    write_text(chance, path,
               json.dumps(value, ensure_ascii=chance.random() < 0.5, **style))


def write_csv(chance, path, rows, may_reorder=True):
    """Rows are dicts of texts with the same keys; the header may come again in the middle."""
    keys = list(rows[0])
    if may_reorder and chance.random() < 0.5:
        chance.shuffle(keys)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n",
                        quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    lines = [keys] + [[row[key] for key in keys] for row in rows]
    if chance.random() < 0.4:
        lines.insert(1 + chance.randrange(len(rows)), keys)
    writer.writerows(lines)
    write_text(chance, path, out.getvalue())
