#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes data/*.json: what scipy, numpy or a plain loop over the definition says of small samples.

usage: tables.py            writes the tables beside this script
       tables.py --check    compares them with what it would write; ends with 1 when they differ,
                            with 77 where numpy or scipy is missing

Every case names a call, its samples ("x", "y", …), its options ("with") and the figures expected;
null is "not defined" (NaN), "inf" is infinite.  test_tables.c runs them.
"""
import itertools
import json
import math
import pathlib
import sys

try:
    import numpy as np
    from scipy import interpolate, optimize, signal, special, stats
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parent / "data"
RANDOM = np.random.RandomState(20240601)
TABLES = {}


def case(table, call, expect, rel=1e-12, near=0.0, options=None, **samples):
    """`rel` is relative to the figure; `near` is a distance that is always fine."""
    entry = {"call": call}
    entry.update({name: [float(v) for v in values] for name, values in samples.items()})
    if options:
        entry["with"] = options
    entry["expect"] = expect
    entry["rel"] = rel
    if near:
        entry["near"] = near
    TABLES.setdefault(table, []).append(entry)


def rounded(values, digits=6):
    return [float(f"{v:.{digits}g}") for v in values]


def normal(n, mean=1000.0, sd=30.0):
    return rounded(RANDOM.normal(mean, sd, n))


def lognormal(n, scale=40.0, sigma=0.5):
    return rounded(scale * RANDOM.lognormal(0, sigma, n))


def tied(n, kinds=6):
    return [float(v) for v in RANDOM.randint(0, kinds, n)]


def chain(n, rho, mean=100.0):
    """AR(1)."""
    noise, values = RANDOM.normal(0, 1, n), []
    for e in noise:
        values.append((values[-1] if values else 0) * rho + e)
    return rounded([mean + v for v in values])


SAMPLES = [[5.0], [3.0, 4.0], [1.0, 2.0, 10.0], [7.0] * 6, normal(5), normal(29), lognormal(60),
           tied(40), [1e15 + v for v in range(9)], [-3.5, 0.0, 2.0, 2.0, 1e6], lognormal(300),
           [5.0] * 6 + [9.0, 4.0]]


# ---- one sample --------------------------------------------------------------------------

def moments():
    for x in SAMPLES:
        a, n = np.array(x, dtype=np.longdouble), len(x)
        expect = {"mean": float(a.mean()), "min": min(x), "max": max(x)}
        if n < 2:
            expect.update(variance=None, skewness=None, kurtosis=None)
        else:
            expect["variance"] = float(a.var(ddof=1))
            level = a.var() == 0
            ratio = (n - 1) / n
            expect["skewness"] = None if level else float(stats.skew(a)) * ratio ** 1.5
            expect["kurtosis"] = (None if level else
                                  float(stats.kurtosis(a, fisher=False)) * ratio ** 2 - 3)
        case("sample", "moments", expect, near=1e-12, x=x)


def quantile_interval():
    for x, q, level in itertools.product(SAMPLES, (0.5, 0.9, 0.95), (0.95, 0.8)):
        s, n = sorted(x), len(x)
        best = None
        below = [float(stats.binom.cdf(k - 1, n, q)) for k in range(n + 2)]
        for j in range(1, n + 1):
            for k in range(j + 1, n + 1):
                mass = below[k] - below[j]
                shorter = best is None or k - j < best[0]
                surer = not shorter and k - j == best[0] and mass > best[1] + 1e-12
                if mass >= level and (shorter or surer):
                    best = (k - j, mass, j, k)
        case("sample", "quantile_interval",
             {"value": float(np.quantile(x, q)), "low": best and s[best[2] - 1],
              "high": best and s[best[3] - 1]}, options={"share": q, "confidence": level}, x=x)


def qn_by_definition(x):
    """Rousseeuw & Croux 1993, with the factors for small samples of R's robustbase."""
    n = len(x)
    apart = sorted(abs(a - b) for a, b in itertools.combinations(x, 2))
    h = n // 2 + 1
    raw = apart[h * (h - 1) // 2 - 1]
    small = [0.399356, 0.99365, 0.51321, 0.84401, 0.61220, 0.85877, 0.66993, 0.87344, 0.72014,
             0.88906, 0.75743]
    if n <= 12:
        factor = small[n - 2]
    elif n % 2:
        factor = 1 / (1 + (1.60188 + (-2.1284 - 5.172 / n) / n) / n)
    else:
        factor = 1 / (1 + (3.67561 + (1.9654 + (6.987 - 77 / n) / n) / n) / n)
    return 2.21914446598508 * factor * raw


def spread():
    for x in SAMPLES:
        middle = float(np.median(x))
        mad = float(stats.median_abs_deviation(x))
        scaled = float(stats.median_abs_deviation(x, scale="normal"))
        case("sample", "mad", {"mad": mad, "robust_cv": scaled / abs(middle) if middle else None},
             x=x, near=1e-13)
        for share in (0.0, 0.1, 0.25):
            case("sample", "trimmed_mean", {"value": float(stats.trim_mean(x, share))},
                 options={"share": share}, x=x)
        # The constant is printed with five digits by the authors, with more by GSL.
        case("sample", "qn", {"value": qn_by_definition(x) if len(x) > 1 else None}, rel=2e-5,
             x=x)


def hampel():
    series = [normal(40), lognormal(60), [5.0] * 20 + [5.01, 5.2] + [5.0] * 9, chain(50, 0.6),
              [1.0, 2.0], [1.0, 9.0, 1.0]]
    series[0][7] = 5000.0
    series[0][39] = 1.0
    for x in series:
        for width in (11, 5):
            marks = []
            for i, v in enumerate(x):
                w = x[max(0, i - width // 2):i + width // 2 + 1]
                middle = float(np.median(w))
                sigma = float(stats.median_abs_deviation(w, scale="normal"))
                far = abs(v - middle) > 3 * sigma
                if sigma == 0:
                    far = far and abs(v - middle) > 0.01 * abs(middle)
                marks.append(float(far and len(x) >= 3))
            case("sample", "hampel", {"marks": marks, "n": sum(marks)},
                 options={"window": width, "t": 3}, x=x)


def modified_z():
    for x in SAMPLES:
        at = [x[0], float(np.median(x)), 0.0, 2e6]
        if len(x) < 5:
            expect = [None] * 4
        else:
            middle, mad = np.median(x), stats.median_abs_deviation(x)
            unit = mad / 0.6745 if mad else 1.253314 * np.mean(np.abs(np.array(x) - middle))
            expect = [0.0 if v == middle else
                      ("inf" if v > middle else "-inf") if unit == 0 else
                      float((v - middle) / unit) for v in at]
        case("sample", "modified_z", {"z": expect}, x=x, at=at)


def tukey():
    for x in SAMPLES:
        low, high = np.quantile(x, 0.25), np.quantile(x, 0.75)
        r = high - low
        case("sample", "tukey", {"mild_low": float(low - 1.5 * r),
                                 "mild_high": float(high + 1.5 * r),
                                 "severe_low": float(low - 3 * r),
                                 "severe_high": float(high + 3 * r)}, x=x, near=1e-9)


def two_classes():
    mixed = lognormal(30, 10, 0.1) + lognormal(12, 90, 0.2)
    for x in [mixed, lognormal(50), [1.0, 1.0, 8.0], [2.0, 2.0, 9.0, 9.0], [4.0] * 5, [3.0],
              [1.0, 2.0], [0.0, 1.0, 2.0], normal(30, 10, 0.1)]:
        s = sorted(x)
        logs, best = np.log(s) if s[0] > 0 else None, None
        for cut in range(1, len(s)):
            if s[0] <= 0 or s[cut] == s[cut - 1]:
                continue
            low, high = logs[:cut], logs[cut:]
            between = cut * (len(s) - cut) * (low.mean() - high.mean()) ** 2
            if best is None or between > best[0] * (1 + 1e-13):
                best = (between, cut)
        if best is None:
            expect = {"threshold": None, "mean_low": None, "mean_high": None, "n_low": 0,
                      "separation": None, "valid": 0}
        else:
            cut = best[1]
            low, high = logs[:cut], logs[cut:]
            low_var = 0.0 if s[0] == s[cut - 1] else low.var()
            high_var = 0.0 if s[cut] == s[-1] else high.var()
            root = math.sqrt((low_var + high_var) / 2)
            apart = "inf" if root == 0 else float((high.mean() - low.mean()) / root)
            valid = (apart == "inf" or apart > 2) and cut >= 2 and len(s) - cut >= 2
            expect = {"threshold": math.sqrt(s[cut - 1] * s[cut]),
                      "mean_low": float(stats.gmean(s[:cut])),
                      "mean_high": float(stats.gmean(s[cut:])), "n_low": cut,
                      "separation": apart, "valid": int(valid)}
        case("sample", "two_classes", expect, x=x, rel=1e-11)


def bins():
    for x in SAMPLES:
        wide = len(set(x)) > 1 and np.quantile(x, 0.75) > np.quantile(x, 0.25)
        found = len(np.histogram_bin_edges(x, "fd")) - 1 if wide else 0
        n = 1 if len(set(x)) == 1 else 200 if not wide else min(max(found, 10), 200)
        counts, edges = np.histogram(x, bins=n, range=(min(x), max(x)))
        if len(set(x)) == 1:
            edges = [x[0], x[0]]
        case("sample", "bins", {"n": n, "counts": [int(c) for c in counts],
                                "edges": [float(e) for e in edges]}, x=x, near=1e-9)
    for x in [lognormal(80), lognormal(40, 1e6, 2.0)]:
        logs = np.log(x)
        n = min(max(len(np.histogram_bin_edges(logs, "fd")) - 1, 10), 200)
        counts, edges = np.histogram(logs, bins=n)
        case("sample", "bins_log", {"n": n, "counts": [int(c) for c in counts],
                                    "edges": [float(e) for e in np.exp(edges)]}, x=x)


# ---- two samples -------------------------------------------------------------------------

PAIRS = [(normal(4), normal(4, 1050)), (normal(3), normal(3)), ([1.0], [2.0]),
         (normal(7), normal(8, 1020)), (normal(8), normal(40, 1010)), (normal(30), normal(35)),
         (lognormal(60), lognormal(50, 55)), (tied(20), tied(25)), (tied(6), tied(6)),
         ([5.0] * 4, [5.0] * 5), ([1.0, 2.0], [1.0, 2.0]), (normal(9), normal(9)),
         ([0.0, 1.0], [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]), (normal(2), normal(90)),
         ([1e-9, 3e-9, 2e-9, 7e-9, 5e-9], [1e9, 2e9, 5e9, 4e9])]


def ways_to_u(n, m):
    """Number of ways to each U, by the recurrence over the largest value."""
    table = {}
    for a in range(n + 1):
        for b in range(m + 1):
            if a == 0 or b == 0:
                table[a, b] = [1] + [0] * (a * b)
                continue
            row = [0] * (a * b + 1)
            for u, ways in enumerate(table[a - 1, b]):
                row[u + b] += ways
            for u, ways in enumerate(table[a, b - 1]):
                row[u] += ways
            table[a, b] = row
    return table[n, m]


def rank_of_interval(n, m, level):
    tail = (1 - level) / 2
    if min(n, m) <= 8:
        c, total = 0, 0
        ways = ways_to_u(n, m)
        while c < n * m // 2 and (total + ways[c]) / sum(ways) <= tail:
            total += ways[c]
            c += 1
        return c
    sd = math.sqrt(n * m * (n + m + 1) / 12)
    return max(0, math.floor(n * m / 2 - sd * stats.norm.isf(tail) + 0.5))


def interval(ordered, c):
    return {"value": float(np.median(ordered)), "low": ordered[c - 1] if c else None,
            "high": ordered[-c] if c else None}


def shift():
    for (x, y), level in itertools.product(PAIRS, (0.95, 0.9)):
        c = rank_of_interval(len(x), len(y), level)
        case("compare", "shift", interval(sorted(b - a for a in x for b in y), c),
             options={"confidence": level}, x=x, y=y)
        if min(x + y) > 0:
            logs = interval(sorted(math.log(b) - math.log(a) for a in x for b in y), c)
            case("compare", "shift_ratio",
                 {k: None if v is None else math.exp(v) for k, v in logs.items()},
                 options={"confidence": level}, x=x, y=y)


def center():
    for x, level in itertools.product(SAMPLES + [normal(6), normal(50), normal(51)], (0.95, 0.8)):
        n, tail = len(x), (1 - level) / 2
        walsh = sorted((x[i] + x[j]) / 2 for i in range(n) for j in range(i, n))
        if n <= 50:
            sums = [1] + [0] * (n * (n + 1) // 2)
            for r in range(1, n + 1):
                for v in range(len(sums) - 1, r - 1, -1):
                    sums[v] += sums[v - r]
            c, total = 0, 0
            while c < len(walsh) // 2 and (total + sums[c]) / 2 ** n <= tail:
                total += sums[c]
                c += 1
        else:
            sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
            c = max(0, math.floor(len(walsh) / 2 - sd * stats.norm.isf(tail) + 0.5))
        case("compare", "center", interval(walsh, c), options={"confidence": level}, x=x)


def mann_whitney():
    for x, y in PAIRS:
        found = stats.mannwhitneyu(y, x, method="auto")
        n, m = len(x), len(y)
        u = sum((b > a) + (b == a) / 2 for a in x for b in y)
        assert u == found.statistic
        _, counts = np.unique(x + y, return_counts=True)
        big = n + m
        ties = sum(t ** 3 - t for t in map(int, counts)) / (big * (big - 1))
        sd = math.sqrt(n * m / 12 * (big + 1 - ties))
        level = len(set(x + y)) == 1
        case("compare", "mann_whitney",
             {"u": u, "cliff": 2 * u / (n * m) - 1, "z": 0 if level else (u - n * m / 2) / sd,
              "p": 1.0 if level else float(found.pvalue),
              "exact": int(min(n, m) <= 8 and len(counts) == big)}, x=x, y=y, near=1e-14)


def welch():
    for (x, y), level in itertools.product(PAIRS, (0.95, 0.9)):
        if min(x + y) <= 0 or len(x) < 2 or len(y) < 2 or max(len(set(x)), len(set(y))) < 2:
            expect = {"ratio": (float(stats.gmean(y) / stats.gmean(x))
                                if min(x + y) > 0 and len(x) > 1 and len(y) > 1 else None),
                      "low": None, "high": None, "t": None, "df": None, "p": None}
        else:
            a, b = np.log(x), np.log(y)
            t, p = stats.ttest_ind(b, a, equal_var=False)
            va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
            df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
            reach = stats.t.ppf((1 + level) / 2, df) * math.sqrt(va + vb)
            d = b.mean() - a.mean()
            expect = {"ratio": math.exp(d), "low": math.exp(d - reach),
                      "high": math.exp(d + reach), "t": float(t), "df": float(df),
                      "p": float(p)}
        case("compare", "welch", expect, rel=1e-9, near=1e-12, options={"confidence": level},
             x=x, y=y)


def log_spread():
    for x, y in PAIRS:
        groups = [np.log(v) for v in (x, y) if len(v) > 1 and min(v) > 0]
        df = sum(len(g) - 1 for g in groups)
        squares = sum(float(((g - g.mean()) ** 2).sum()) for g in groups)
        case("compare", "log_spread", {"sd": math.sqrt(squares / df) if df else None,
                                       "df": df or None}, rel=1e-9, near=1e-15, x=x, y=y)


def spread_ratio():
    for (x, y), (sd, df), level in itertools.product(
            [([3.0], [4.0]), ([3.0, 3.1], [2.0]), ([5.0, 5.5, 4.9], [5.2, 5.1, 5.6, 5.0]),
             ([1.0], [0.0]), ([], [1.0])],
            [(0.03, 4), (0.2, float("inf")), (0.0, 3), (0.1, 1)], (0.95, 0.9)):
        expect = dict.fromkeys(("ratio", "low", "high", "t", "df", "p"))
        if x and min(x + y) > 0:
            d = float(np.log(y).mean() - np.log(x).mean())
            error = sd * math.sqrt(1 / len(x) + 1 / len(y))
            expect["ratio"] = math.exp(d)
            if error:
                law = stats.norm() if math.isinf(df) else stats.t(df)
                reach = float(law.ppf((1 + level) / 2)) * error
                expect.update(low=math.exp(d - reach), high=math.exp(d + reach), t=d / error,
                              df="inf" if math.isinf(df) else df,
                              p=2 * float(law.sf(abs(d / error))))
        case("compare", "spread_ratio", expect, rel=1e-9, near=1e-12,
             options={"confidence": level, "sd": sd, "df": -1 if math.isinf(df) else df}, x=x, y=y)


def benjamini_hochberg():
    for p in [rounded(RANDOM.uniform(0, 1, 20) ** 3), [0.01], [0.02, 0.02, 0.5, 1.0], [],
              [0.001, float("nan"), 0.04, float("nan"), 0.03], [0.0, 0.9, 0.0]]:
        known = [v for v in p if not math.isnan(v)]
        q = []
        for v in p:
            # The least level at which this test is among those rejected.
            later = [min(1.0, len(known) * t / sum(k <= t for k in known))
                     for t in known if t >= v]
            q.append(None if math.isnan(v) else min(later))
        entry = [None if math.isnan(v) else v for v in p]
        case("compare", "benjamini_hochberg", {"q": q}, p=known)
        TABLES["compare"][-1]["p"] = entry


def detectable():
    for sd, a, b, alpha, power in [(1, 3, 3, 0.05, 0.8), (0.2, 5, 9, 0.01, 0.9),
                                   (0, 2, 2, 0.05, 0.8), (1, 0, 2, 0.05, 0.8)]:
        z = stats.norm.isf(alpha / 2) + stats.norm.ppf(power)
        case("compare", "detectable",
             {"value": float(z * sd * math.sqrt(1 / a + 1 / b)) if a else None},
             options={"sd": sd, "a": a, "b": b, "alpha": alpha, "power": power})


# ---- resampling --------------------------------------------------------------------------

class Words:
    """The generator as the header of the library tells it."""

    def __init__(self, seed):
        self.state = np.random.RandomState(seed)

    def below(self, n):
        scale = 0xffffffff // n
        while True:
            k = int(self.state.randint(0, 2 ** 32, dtype=np.uint32)) // scale
            if k < n:
                return k

    def sample(self, x, block):
        out = []
        while len(out) < len(x):
            at = self.below(len(x) - block + 1)
            out += x[at:at + block]
        return out[:len(x)]


def lag_1(x):
    a = np.array(x) - np.mean(x)
    return 0.0 if not a.any() else float((a[1:] * a[:-1]).sum() / (a * a).sum())


def block_of(x):
    return math.ceil(round(len(x) ** (1 / 3), 9)) if lag_1(x) > 0.2 else 1


def bootstrap():
    samples = [normal(12), lognormal(25), tied(15), chain(64, 0.6), chain(65, 0.7), [2.0] * 5]
    for x, name, bca in itertools.product(samples, ("mean", "median"), (True, False)):
        f = {"mean": np.mean, "median": np.median}[name]
        words, rounds, level = Words(91), 400, 0.95
        block = min(block_of(x), len(x))
        theta = f(x)
        again = np.array([f(words.sample(x, block)) for _ in range(rounds)])
        # Means of the same values in another order differ by rounding; they are the same figure.
        again[np.abs(again - theta) < 1e-12 * abs(theta)] = theta
        tails = [(1 - level) / 2, (1 + level) / 2]
        share = (np.sum(again < theta) + np.sum(again <= theta)) / (2 * rounds)
        if bca and 0 < share < 1:
            left_out = np.array([f(x[:i] + x[i + 1:]) for i in range(len(x))])
            d = left_out.mean() - left_out
            a = (d ** 3).sum() / (6 * (d ** 2).sum() ** 1.5) if np.ptp(left_out) > 1e-12 else 0.0
            z0 = special.ndtri(share)
            z = z0 + special.ndtri(tails)
            tails = special.ndtr(z0 + z / (1 - a * z))
        low, high = np.quantile(again, tails)
        case("resample", "bootstrap", {"value": float(theta), "low": float(low),
                                       "high": float(high)}, rel=1e-10,
             options={"statistic": name, "rounds": rounds, "seed": 91, "confidence": level,
                      "percentile": int(not bca), "block": 0}, x=x)


def bootstrap_ratio():
    for x, y in [(normal(9), normal(14, 1100)), (lognormal(20), lognormal(20, 60))]:
        words, rounds = Words(7), 300
        ratios = []
        for _ in range(rounds):
            base = np.median(words.sample(x, 1))
            ratios.append(np.median(words.sample(y, 1)) / base)
        low, high = np.quantile(ratios, [0.05, 0.95])
        case("resample", "bootstrap_ratio", {"value": float(np.median(y) / np.median(x)),
                                             "low": float(low), "high": float(high)},
             options={"rounds": rounds, "seed": 7, "confidence": 0.9, "block": 1}, x=x, y=y)


def permutation():
    small = [(normal(4), normal(5, 1060)), (tied(4), tied(4)), ([1.0], [2.0]),
             (normal(8), normal(8))]
    for x, y in small:
        seen, pool = np.median(y) - np.median(x), x + y
        far = total = 0
        for base in itertools.combinations(range(len(pool)), len(x)):
            chosen = set(base)
            d = (np.median([v for i, v in enumerate(pool) if i not in chosen]) -
                 np.median([pool[i] for i in base]))
            far += abs(d) >= abs(seen)
            total += 1
        case("resample", "permutation", {"difference": float(seen), "p": far / total,
                                         "exact": 1},
             options={"rounds": 20000, "block": 1, "seed": 1}, x=x, y=y)
    for (x, y), block in itertools.product([(normal(20), normal(25, 1015)),
                                            (chain(30, 0.6), chain(31, 0.6))], (1, 4)):
        words, rounds = Words(11), 500
        seen = np.median(y) - np.median(x)
        blocks = [s[i:i + block] for s in (x, y) for i in range(0, len(s), block)]
        far = 0
        for _ in range(rounds):
            for i in range(len(blocks) - 1, 0, -1):
                j = words.below(i + 1)
                blocks[i], blocks[j] = blocks[j], blocks[i]
            pool = sum(blocks, [])
            far += abs(np.median(pool[len(x):]) - np.median(pool[:len(x)])) >= abs(seen)
        case("resample", "permutation", {"difference": float(seen), "exact": 0,
                                         "p": (1 + far) / (1 + rounds)},
             options={"rounds": rounds, "block": block, "seed": 11}, x=x, y=y)


# ---- series ------------------------------------------------------------------------------

SERIES = [chain(60, 0.6), chain(200, 0.95), normal(30), tied(40), [3.0] * 8, [1.0, 2.0], [1.0],
          [float(i) for i in range(180)], chain(90, -0.5), [1.0, 5.0, 2.0, 2.0]]


def dependence():
    for x in SERIES:
        n, a = len(x), np.array(x) - np.mean(x)
        level = not a.any()
        size = float(n)
        if n >= 3 and not level:
            rho = signal.correlate(a, a, method="direct")[n - 1:] / (a * a).sum()
            time = 1.0
            for k in range(1, n):
                if rho[k] <= 0:
                    break
                time += 2 * rho[k] * (1 - k / n)
            size = max(1.0, n / time)
        case("series", "effective_size", {"value": size, "lag_1": None if level else lag_1(x)},
             rel=1e-10, near=1e-12, x=x)


def mann_kendall():
    for x in SERIES:
        n = len(x)
        if n < 3:
            case("series", "mann_kendall", {"s": 0, "tau": None, "z": None, "p": None}, x=x)
            continue
        s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
        _, counts = np.unique(x, return_counts=True)
        var = (n * (n - 1) * (2 * n + 5) -
               sum(t * (t - 1) * (2 * t + 5) for t in map(int, counts))) / 18
        z = 0.0 if var == 0 else (s - np.sign(s)) / math.sqrt(var)
        if len(counts) == n:
            tau = stats.kendalltau(range(n), x)[0]
            assert abs(tau - s / (n * (n - 1) / 2)) < 1e-12
        case("series", "mann_kendall", {"s": int(s), "tau": float(s / (n * (n - 1) / 2)),
                                        "z": float(z), "p": float(2 * stats.norm.sf(abs(z)))},
             x=x)


def theil_sen():
    lines = []
    for n in (2, 3, 5, 12, 60):
        x = rounded(RANDOM.uniform(0, 100, n))
        lines.append((x, rounded([3 * v + e for v, e in zip(x, RANDOM.standard_t(2, n))])))
    lines.append((tied(30), tied(30)))
    lines.append(([1.0, 1.0], [2.0, 3.0]))
    lines.append(([1.7e15 + 7 * v for v in range(20)], normal(20)))
    for x, y in lines:
        if len(set(x)) < 2:
            expect = {"slope": None, "low": None, "high": None, "intercept": None}
        else:
            slope, intercept, low, high = stats.theilslopes(y, x, 0.95, method="separate")
            n = len(x)
            pairs = sum(a != b for a, b in itertools.combinations(x, 2))
            var = n * (n - 1) * (2 * n + 5)
            for side in (x, y):
                _, counts = np.unique(side, return_counts=True)
                var -= sum(t * (t - 1) * (2 * t + 5) for t in map(int, counts))
            reach = stats.norm.isf(0.025) * math.sqrt(var / 18)
            # scipy gives the range of the slopes where they do not reach far enough.
            enough = np.round((pairs - reach) / 2) >= 1 and \
                np.round((pairs + reach) / 2) + 1 <= pairs
            expect = {"slope": float(slope), "low": float(low) if enough else None,
                      "high": float(high) if enough else None, "intercept": float(intercept)}
        case("series", "theil_sen", expect, rel=1e-9 if x[0] > 1e12 else 1e-12, near=1e-12,
             options={"confidence": 0.95}, x=x, y=y)


def scaled_for_changes(x):
    steps = np.diff(x)
    sigma = stats.median_abs_deviation(steps, scale="normal") / math.sqrt(2)
    if sigma == 0:
        sigma = 1.253314 * np.mean(np.abs(steps - np.median(steps))) / math.sqrt(2)
    if sigma == 0:
        return 0.0, None
    held = []
    for i, v in enumerate(x):
        middle = np.median(x[max(0, i - 5):i + 6])
        held.append(min(max(v, middle - 50 * sigma), middle + 50 * sigma) / sigma)
    return float(sigma), held


def change_points():
    """Optimal partition: every start for every end."""
    noise = lambda n, mean: rounded(RANDOM.normal(mean, 1, n))
    for x in [noise(28, 100), noise(14, 100) + noise(14, 112), noise(20, 50) + noise(5, 56) +
              noise(30, 50), [9000.0] + noise(30, 100) + noise(30, 96), [5.0] * 10, [1.0, 2.0],
              [3.0] * 9 + [4.0] * 9, tied(60), noise(3, 0) + noise(3, 20), chain(100, 0.5),
              sum((noise(9, 10 * (i % 3)) for i in range(12)), []),
              # Five outliers of two kinds: all beyond the bound, so one segment.
              noise(20, 100) + [1100.0, 1101.0, 1102.0, 5100.0, 5101.0] + noise(20, 100)]:
        n = len(x)
        if n < 6:
            case("series", "change_points", {"at": [], "sigma": None}, x=x)
            continue
        sigma, held = scaled_for_changes(x)
        cuts = []
        if held:
            beta = 3 * math.log(n)
            cost = lambda a, b: float(np.sum((np.array(held[a:b]) - np.mean(held[a:b])) ** 2))
            best, last = {0: -beta}, {}
            for end in range(3, n + 1):
                options = [(best[s] + cost(s, end) + beta, s) for s in range(end - 2)
                           if s in best]
                best[end], last[end] = min(options)
            end = n
            while last[end]:
                end = last[end]
                cuts.insert(0, end)
        case("series", "change_points", {"at": cuts, "sigma": sigma}, x=x)


def warm_up():
    for x in SERIES + [[9.0, 8.0, 4.0] + normal(30, 2, 0.1), normal(40), [10.0] + [1.0] * 9,
                       [5.0, 1.0, 1.0]]:
        n, cut = len(x), 0
        if n >= 4:
            score = [np.var(x[d:]) / (n - d) for d in range(n // 2 + 1)]
            cut = int(np.argmin(score))
        rest = x[cut:]
        case("series", "warm_up", {"cut": cut, "steady": int(n >= 4 and cut < n // 2),
                                   "mean": float(np.mean(rest)),
                                   "stddev": float(np.std(rest, ddof=1)) if len(rest) > 1
                                   else None}, near=1e-12, x=x)


# ---- fits --------------------------------------------------------------------------------

def bisquare_line(x, y):
    """Iteratively reweighted least squares until nothing changes."""
    design = np.column_stack([np.ones(len(x)), x])
    y = np.array(y)
    q, _ = np.linalg.qr(design)
    leverage = np.minimum((q * q).sum(axis=1), 0.9999)
    factor = 1 / np.sqrt(1 - leverage)
    at, n, p, tune = np.linalg.lstsq(design, y, rcond=None)[0], len(x), 2, 4.685
    for _ in range(1000):
        r = (y - design @ at) * factor
        scale = np.median(np.sort(np.abs(r))[p - 1:]) / 0.6745
        u = r / (max(scale, 1e-6 * np.std(y, ddof=1)) * tune)
        root = np.sqrt(np.where(np.abs(u) < 1, (1 - u * u) ** 2, 0))
        old, at = at, np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        if np.allclose(old, at, rtol=1e-14, atol=0):
            break
    # The error of DuMouchel & O'Brien 1989, which leans towards least squares.
    r = y - design @ at
    scale = np.median(np.sort(np.abs(r))[p - 1:]) / 0.6745 * tune
    u = r * factor / scale
    inside = np.abs(u) < 1
    psi = np.where(inside, u * (1 - u * u) ** 2, 0)
    slope = np.where(inside, (1 - u * u) * (1 - 5 * u * u), 0).mean()
    robust = (1 + p / n * (1 - slope) / slope) * scale / slope * \
        math.sqrt(((1 - leverage) * psi ** 2).sum() / (n - p))
    plain = np.linalg.lstsq(design, y, rcond=None)[1][0] / (n - p)
    sigma = max(robust, math.sqrt((p * p * plain + n * robust ** 2) / (p * p + n)))
    reach = stats.t.ppf(0.975, n - p) * sigma * math.sqrt(np.linalg.inv(design.T @ design)[1, 1])
    return at, sigma, reach


def robust_line():
    for n in (6, 12, 50):
        x = rounded(RANDOM.uniform(0, 10, n))
        y = rounded([5 + 2 * a + e for a, e in zip(x, RANDOM.normal(0, 0.3, n))])
        y[n // 2] += 40 if n > 6 else 0
        at, sigma, reach = bisquare_line(x, y)
        case("fit", "robust_line", {"method": 3, "intercept": float(at[0]),
                                    "slope": float(at[1]), "low": float(at[1] - reach),
                                    "high": float(at[1] + reach), "sigma": float(sigma)},
             rel=1e-6, x=x, y=y)
    for x, y in [([1.0, 3.0], [2.0, 8.0]), ([1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 30.0, 9.5])]:
        slope, intercept, _, _ = stats.theilslopes(y, x, method="separate")
        case("fit", "robust_line", {"method": 1 if len(x) == 2 else 2, "slope": float(slope),
                                    "intercept": float(intercept)}, near=1e-12, x=x, y=y)
    case("fit", "robust_line", {"method": 0, "slope": None, "intercept": None},
         x=[2.0] * 8, y=normal(8))


def spearman():
    for x, y in [(normal(5), normal(5)), (tied(30), tied(30)), (normal(40), normal(40)),
                 ([1.0, 2.0], [3.0, 4.0]), ([1.0] * 12, normal(12)),
                 ([float(i) for i in range(12)], [float(i * i) for i in range(12)])]:
        if len(x) < 3 or len(set(x)) == 1:
            expect = {"rho": None, "p": None}
        else:
            rho, p = stats.spearmanr(x, y)
            expect = {"rho": float(rho), "p": float(p) if len(x) >= 10 else None}
        case("fit", "spearman", expect, rel=1e-9, near=1e-12, x=x, y=y)


def amdahl_law(n, s):
    return 1 / (s + (1 - s) / n)


def usl_law(n, sigma, kappa):
    return n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def scaling():
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    for true in (0.05, 0.3, 0.001):
        y = np.array(rounded(amdahl_law(sizes, true) * RANDOM.normal(1, 0.01, 6)))
        (s,), cov = optimize.curve_fit(amdahl_law, sizes, y, [true], xtol=1e-15, ftol=1e-15,
                                       gtol=1e-15)
        if not 0 < s < 1:
            continue
        case("fit", "amdahl", {"serial": float(s), "se": float(math.sqrt(cov[0, 0])),
                               "ceiling": float(1 / s)}, rel=1e-6, x=sizes, y=y)
    case("fit", "amdahl", {"serial": 0, "se": None, "ceiling": "inf"}, x=sizes, y=1.1 * sizes)
    case("fit", "amdahl", {"serial": 1, "se": None, "ceiling": 1}, x=sizes, y=0.8 * sizes ** 0)
    for true in ((0.05, 0.002), (0.1, 0.01), (0.02, 0.0005)):
        y = np.array(rounded(usl_law(sizes, *true) * RANDOM.normal(1, 0.005, 6)))
        (a, b), cov = optimize.curve_fit(usl_law, sizes, y, true, xtol=1e-15, ftol=1e-15,
                                         gtol=1e-15)
        assert 0 <= a <= 1 and b > 0
        case("fit", "usl", {"sigma": float(a), "kappa": float(b),
                            "se_sigma": float(math.sqrt(cov[0, 0])),
                            "se_kappa": float(math.sqrt(cov[1, 1])),
                            "peak": float(math.sqrt((1 - a) / b)), "is_amdahl": 0}, rel=1e-6,
             x=sizes, y=y)
    y = rounded(amdahl_law(sizes, 0.1) * (1 + 0.001 * sizes))
    (s,), cov = optimize.curve_fit(amdahl_law, sizes, y, [0.1], xtol=1e-15, ftol=1e-15,
                                   gtol=1e-15)
    case("fit", "usl", {"sigma": float(s), "kappa": 0, "se_sigma": float(math.sqrt(cov[0, 0])),
                        "se_kappa": None, "peak": "inf", "is_amdahl": 1}, rel=1e-6, x=sizes, y=y)
    y = np.array(rounded(usl_law(sizes, 0, 0.004) * (1 + 0.01 * np.sqrt(sizes))))
    alone = lambda n, kappa: usl_law(n, 0, kappa)
    (k,), cov = optimize.curve_fit(alone, sizes, y, [0.004], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    case("fit", "usl", {"sigma": 0, "kappa": float(k), "se_sigma": None,
                        "se_kappa": float(math.sqrt(cov[0, 0])), "peak": float(k ** -0.5),
                        "is_amdahl": 0}, rel=1e-6, x=sizes, y=y)
    for n, s in ((4.0, 3.0), (8.0, 8.0), (2.0, 1.0)):
        case("fit", "karp_flatt", {"value": (1 / s - 1 / n) / (1 - 1 / n)},
             options={"size": n, "speedup": s})
    case("fit", "karp_flatt", {"value": None}, options={"size": 1.0, "speedup": 1.0})


def steffen(x, y):
    """The slopes of Steffen 1990, eq. 11 and 26, for a cubic Hermite spline."""
    h, s = np.diff(x), np.diff(y) / np.diff(x)
    slopes = [s[0]]
    for i in range(1, len(x) - 1):
        p = (s[i - 1] * h[i] + s[i] * h[i - 1]) / (h[i - 1] + h[i])
        slopes.append((np.sign(s[i - 1]) + np.sign(s[i])) *
                      min(abs(s[i - 1]), abs(s[i]), 0.5 * abs(p)))
    slopes.append(s[-1])
    return interpolate.CubicHermiteSpline(x, y, slopes)


def curves():
    x = rounded(np.cumsum(RANDOM.uniform(0.5, 2, 12)))
    y = normal(12, 300, 20)
    for a, b in ((x[0], x[-1]), (x[2] + 0.1, x[7] - 0.2), (x[3], x[3])):
        inner = [a] + [v for v in x if a < v < b] + [b]
        case("fit", "integral", {"value": float(np.trapz(np.interp(inner, x, y), inner))},
             options={"from": a, "to": b}, x=x, y=y)
    case("fit", "integral", {"value": None}, options={"from": x[0] - 1, "to": x[1]}, x=x, y=y)
    at = rounded(RANDOM.uniform(x[0] + 0.01, x[-1] - 0.01, 30), 12)
    case("fit", "curve", {"value": [float(v) for v in steffen(x, y)(at)] + [None] * 2}, x=x, y=y,
         at=at + [x[0] - 0.1, x[-1] + 0.1])


ALL = [moments, quantile_interval, spread, hampel, modified_z, tukey, two_classes, bins, shift,
       center, mann_whitney, welch, log_spread, spread_ratio, benjamini_hochberg, detectable,
       bootstrap, bootstrap_ratio, permutation, dependence, mann_kendall, theil_sen, change_points,
       warm_up, robust_line, spearman, scaling, curves]


# ---- files -------------------------------------------------------------------------------

def differences(ours, theirs, where, rel):
    """Places where two tables differ by more than another version of numpy explains."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for key in ours:
            yield from differences(ours[key], theirs[key], f"{where}.{key}", rel)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, f"{where}[{i}]", rel)
    elif isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        if abs(ours - theirs) > rel * max(abs(ours), abs(theirs)) + 1e-13:
            yield f"{where}: {theirs} in the table, {ours} made now"
    elif ours != theirs:
        yield f"{where}: {theirs!r} in the table, {ours!r} made now"


def text_of(table):
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in table)
    return f'{{"made_by": "tests/stat/tables.py", "cases": [\n{lines}\n]}}\n'


def main(arguments):
    for make in ALL:
        make()
    faults = []
    for name, table in TABLES.items():
        path = FOLDER / f"{name}.json"
        if "--check" not in arguments:
            path.write_text(text_of(table), encoding="utf-8")
            continue
        there = json.loads(path.read_text(encoding="utf-8"))["cases"]
        faults += differences(json.loads(text_of(table))["cases"], there, name, 1e-9)
    for fault in faults[:20]:
        print(fault)
    print(f"{sum(map(len, TABLES.values()))} cases, {len(faults)} differences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
