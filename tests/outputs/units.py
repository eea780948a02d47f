# SPDX-License-Identifier: GPL-3.0-or-later
"""How a number of report.json reads to people, written a second time so that the outputs are not
compared with the code that made them."""
import decimal
import math
import re

K = 1024.0
TIMES = [(1e3, 1e3, "µs"), (1e6, 1e6, "ms"), (1e9, 1e9, "s"), (600e9, 60e9, "min")]
SIZES = [(K ** power, K ** power, unit)
         for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), 1)]
CLOCKS = [(1e3, 1e3, "kHz"), (1e6, 1e6, "MHz")]


def decimal_prefixes(unit):
    return [(1000.0 ** power, 1000.0 ** power, letter + unit)
            for power, letter in enumerate("kMGTPE", 1)]


# Units of report.json: (scale and symbol of small numbers, prefixes); several where one name
# stands for several ways to write a number.
UNITS = {
    "none": [(1, "", [])],
    "count": [(1, "", [])],
    "ns": [(1, "ns", TIMES)],
    "bytes": [(1, "B", SIZES)],
    "ratio": [(0.01, "%", []), (0.01, "pp", [])],
    "per_s": [(1, "/s", []), (1, "Hz", CLOCKS)],
    "bytes_per_s": [(1, "B/s", decimal_prefixes("B/s"))],
    "celsius": [(1, "°C", [])],
    "watt": [(1, "W", decimal_prefixes("W"))],
    "joule": [(1, "J", decimal_prefixes("J"))],
    "flop": [(1, "FLOP", decimal_prefixes("FLOP"))],
    "flop_per_s": [(1, "FLOP/s", decimal_prefixes("FLOP/s"))],
}


def plain(text):
    """The text with ordinary blanks: thin ones group digits, and some do not break."""
    return re.sub("[\u00a0\u202f\u2009]", " ", text)


def grouped(number):
    return f"{number:,}".replace(",", " ")


def three_digits(magnitude):
    """Three significant digits; every digit of 1000 and more."""
    rounded = decimal.Context(prec=3).create_decimal(decimal.Decimal(magnitude))
    if rounded.adjusted() >= 3:
        return grouped(round(magnitude))
    if rounded.adjusted() < -4:
        digits = "".join(map(str, rounded.as_tuple().digits)).ljust(3, "0")
        return f"{digits[0]}.{digits[1:]}e{rounded.adjusted()}"
    return f"{rounded:.{2 - rounded.adjusted()}f}"


def one_way(value, scale, symbol, prefixes, is_plain):
    magnitude = abs(value)
    chosen = (scale, symbol)
    for start, next_scale, next_symbol in prefixes:
        if round(magnitude / chosen[0]) * chosen[0] < start:
            break
        chosen = (next_scale, next_symbol)
    scaled = magnitude / chosen[0]
    if chosen[0] == 1 and magnitude == int(magnitude) and magnitude < 1e15:
        digits = str(int(magnitude)) if is_plain else grouped(int(magnitude))
    elif scale != 1 and 0 < magnitude < 0.01:
        hundredths = int(scaled * 100 + 0.5)
        digits = f"{hundredths // 100}.{hundredths % 100:02}" if hundredths else "<0.01"
    elif magnitude == 0:
        digits = "0"
    elif scaled >= 1e15:
        digits = f"{scaled:.2e}".replace("e+", "e")
    else:
        digits = three_digits(scaled)
    return f"{digits} {chosen[1]}".strip()


def texts(value, unit):
    """All texts that a number may have: of a change, numbers above 0 have a sign as well."""
    if not math.isfinite(value):
        return {""}
    ways = {one_way(value, *way, unit == "none") for way in UNITS.get(unit, UNITS["none"])}
    if value < 0:
        return {"-" + way for way in ways}
    return ways | {"+" + way for way in ways} if value > 0 else ways
