# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact figures of what was written: from the decimal text of numbers, not their binary form."""
import decimal
import fractions

MIB = 1024 * 1024


def text_of(value):
    """The text that a document has for a number."""
    return value if isinstance(value, str) else str(value)


def number(value):
    """A finite number, of a number or its text; None for anything else."""
    if value is None or isinstance(value, bool):
        return None
    try:
        exact = decimal.Decimal(text_of(value))
    except (decimal.InvalidOperation, TypeError):
        return None
    return exact if exact.is_finite() else None


def scaled(value, factor):
    """A number times a factor as an integer, halves away from zero; None without a number."""
    exact = number(value)
    if exact is None:
        return None
    with decimal.localcontext() as context:
        context.prec = 60
        return int((exact * factor).to_integral_value(rounding=decimal.ROUND_HALF_UP))


def plain(value):
    """A cell: integers stay, other numbers become floating-point numbers."""
    exact = number(value) if not isinstance(value, fractions.Fraction) else value
    if exact is None:
        return None
    return int(exact) if exact == int(exact) else float(exact)


def mean(values):
    return fractions.Fraction(sum(fractions.Fraction(v) for v in values), len(values))


def quantile(values, share):
    """Linear between the closest ranks (type 7)."""
    ordered = sorted(fractions.Fraction(v) for v in values)
    place = (len(ordered) - 1) * fractions.Fraction(share).limit_denominator(1000)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def rate(amount, dur_ns):
    return plain(fractions.Fraction(amount * 10**9, dur_ns)) if dur_ns else None


def stage(rank, name, calls, total, low, high, samples=()):
    """A row of stages.by_name; samples are there when the dump keeps every call."""
    return {"rank": rank, "stage": name, "calls": calls, "total_ns": total,
            "mean_ns": plain(fractions.Fraction(total, calls)) if calls else None,
            "min_ns": low, "max_ns": high,
            "p50_ns": plain(quantile(samples, 0.5)) if samples else None,
            "p95_ns": plain(quantile(samples, 0.95)) if samples else None}


def stage_of_samples(rank, name, samples):
    return stage(rank, name, len(samples), sum(samples), min(samples), max(samples), samples)


def signal(rank, device, name, unit, values):
    """Rows of telemetry.by_rank, none without a value."""
    if not values:
        return []
    return [{"rank": rank, "device": device, "signal": name, "samples": len(values),
             "min": plain(fractions.Fraction(min(values))),
             "max": plain(fractions.Fraction(max(values))),
             "mean": plain(mean(values)), "p95": plain(quantile(values, 0.95)), "unit": unit}]
