/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units and how their numbers read: the only place where a number becomes text for people. */
#include "report/unit.h"
#include "traceanalyze/output.h"

#include "base/decimal.h"

#include <math.h>
#include <stdio.h>

/* U+202F, a thin space that does not break. */
#define GROUP "\xe2\x80\xaf"

/* Longest number that is written out in groups. */
#define LARGEST_GROUPED 1e15

/* One prefix of a unit: used from `from` on, its numbers are value / scale. */
struct prefix {
    double from, scale;
    const char *symbol;
};

struct unit {
    const char *name;
    const char *symbol;            /* of numbers below the first prefix */
    double scale;                  /* of the same, 0 is 1 */
    const struct prefix *prefixes; /* ascending, ends with a NULL symbol */
    bool is_change;                /* numbers above 0 have a sign as well */
};

#define SI(base)                                                                                   \
    {1e3, 1e3, "k" base}, {1e6, 1e6, "M" base}, {1e9, 1e9, "G" base}, {1e12, 1e12, "T" base},      \
        {1e15, 1e15, "P" base}, {1e18, 1e18, "E" base},                                            \
    {                                                                                              \
        0, 0, NULL                                                                                 \
    }

#define KIB 1024.0

/* Ten minutes and more read better as minutes; 90 s does not, next to other seconds. */
static const struct prefix times[] = {
    {1e3, 1e3, "µs"}, {1e6, 1e6, "ms"}, {1e9, 1e9, "s"}, {600e9, 60e9, "min"}, {0, 0, NULL}};
static const struct prefix sizes[] = {{KIB, KIB, "KiB"},
                                      {KIB * KIB, KIB *KIB, "MiB"},
                                      {KIB * KIB * KIB, KIB *KIB *KIB, "GiB"},
                                      {KIB * KIB * KIB * KIB, KIB *KIB *KIB *KIB, "TiB"},
                                      {0, 0, NULL}};
static const struct prefix rates[] = {SI("B/s")};
static const struct prefix watts[] = {SI("W")};
static const struct prefix joules[] = {SI("J")};
static const struct prefix flops[] = {SI("FLOP")};
static const struct prefix flop_rates[] = {SI("FLOP/s")};
/* Clocks of devices are told in MHz whatever their size, as by the tools of their makers. */
static const struct prefix clocks[] = {{1e3, 1e3, "kHz"}, {1e6, 1e6, "MHz"}, {0, 0, NULL}};

static const struct unit units[TA_UNIT_COUNT_OF_UNITS] = {
    [TA_UNIT_NONE] = {"none", "", 0, NULL, false},
    [TA_UNIT_NS] = {"ns", "ns", 0, times, false},
    [TA_UNIT_BYTES] = {"bytes", "B", 0, sizes, false},
    [TA_UNIT_COUNT] = {"count", "", 0, NULL, false},
    [TA_UNIT_RATIO] = {"ratio", "%", 0.01, NULL, false},
    [TA_UNIT_PER_S] = {"per_s", "/s", 0, NULL, false},
    [TA_UNIT_BYTES_PER_S] = {"bytes_per_s", "B/s", 0, rates, false},
    [TA_UNIT_CELSIUS] = {"celsius", "°C", 0, NULL, false},
    [TA_UNIT_WATT] = {"watt", "W", 0, watts, false},
    [TA_UNIT_JOULE] = {"joule", "J", 0, joules, false},
    [TA_UNIT_FLOP] = {"flop", "FLOP", 0, flops, false},
    [TA_UNIT_FLOP_PER_S] = {"flop_per_s", "FLOP/s", 0, flop_rates, false},
    [TA_UNIT_HERTZ] = {"per_s", "Hz", 0, clocks, false},
    [TA_UNIT_NS_CHANGE] = {"ns", "ns", 0, times, true},
    [TA_UNIT_BYTES_CHANGE] = {"bytes", "B", 0, sizes, true},
    [TA_UNIT_COUNT_CHANGE] = {"count", "", 0, NULL, true},
    [TA_UNIT_RATIO_CHANGE] = {"ratio", "%", 0.01, NULL, true},
    [TA_UNIT_CHANGE] = {"none", "", 0, NULL, true},
    [TA_UNIT_POINTS_CHANGE] = {"ratio", "pp", 0.01, NULL, true},
    [TA_UNIT_PER_S_CHANGE] = {"per_s", "/s", 0, NULL, true},
    [TA_UNIT_BYTES_PER_S_CHANGE] = {"bytes_per_s", "B/s", 0, rates, true},
    [TA_UNIT_CELSIUS_CHANGE] = {"celsius", "°C", 0, NULL, true},
    [TA_UNIT_WATT_CHANGE] = {"watt", "W", 0, watts, true},
    [TA_UNIT_JOULE_CHANGE] = {"joule", "J", 0, joules, true},
    [TA_UNIT_FLOP_CHANGE] = {"flop", "FLOP", 0, flops, true},
    [TA_UNIT_FLOP_PER_S_CHANGE] = {"flop_per_s", "FLOP/s", 0, flop_rates, true},
    [TA_UNIT_HERTZ_CHANGE] = {"per_s", "Hz", 0, clocks, true},
};

const char *ta_unit_name(enum ta_unit unit)
{
    return units[unit].name;
}

bool ta_unit_is_change(enum ta_unit unit)
{
    return units[unit].is_change;
}

bool ta_unit_is_symbol(struct ta_slice word)
{
    for (size_t i = 0; word.len && i < sizeof units / sizeof *units; i++) {
        bool found = ta_slice_equal(word, ta_slice_of(units[i].symbol));
        for (const struct prefix *p = units[i].prefixes; p && p->symbol; p++)
            found |= ta_slice_equal(word, ta_slice_of(p->symbol));
        if (found)
            return true;
    }
    return false;
}

/* ---- digits in groups ----------------------------------------------------------------- */

static char *put(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    *at = '\0';
    return at;
}

/* An integer below LARGEST_GROUPED. */
static char *put_grouped(char *at, double value)
{
    char digits[24];
    const int n = (int)(ta_decimal_integer(digits, ta_whole(value)) - digits);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            at = put(at, GROUP);
        *at++ = digits[i];
    }
    *at = '\0';
    return at;
}

/* ---- values for people --------------------------------------------------------------- */

/* The largest prefix whose numbers start at or below the magnitude. */
static struct prefix prefix_for(double magnitude, enum ta_unit unit)
{
    const struct unit *u = &units[unit];
    struct prefix chosen = {0, u->scale > 0 ? u->scale : 1, u->symbol};
    for (const struct prefix *p = u->prefixes; p && p->symbol; p++) {
        /* 999.6 µs would read "1000 µs": what rounds up to the next prefix takes it. */
        if (rint(magnitude / chosen.scale) * chosen.scale < p->from)
            break;
        chosen = *p;
    }
    return chosen;
}

/* Three significant digits; every digit of what is at least 1000. */
static char *put_rounded(char *at, double magnitude)
{
    if (magnitude == 0)
        return put(at, "0");
    struct ta_decimal d = ta_decimal_of(magnitude, 3);
    if (magnitude >= LARGEST_GROUPED || (magnitude < TA_SMALLEST_FIXED && d.point < -3))
        return ta_decimal_put_scientific(at, &d);
    if (d.point > 3)
        return put_grouped(at, rint(magnitude));
    return ta_decimal_put_fixed(at, &d);
}

/* Shares below one percent get two decimals: a thousandth of a percent is noise. */
static char *put_small_share(char *at, double percent)
{
    const int hundredths = ta_whole_int(percent * 100 + 0.5);
    if (hundredths == 0)
        return put(at, "<0.01");
    return at + snprintf(at, 8, "%d.%02d", hundredths / 100, hundredths % 100);
}

static char *put_symbol(char *at, const char *symbol)
{
    if (!*symbol)
        return at;
    *at++ = ' ';
    return put(at, symbol);
}

static char *put_value(char text[TA_UNIT_TEXT_MAX], double value, enum ta_unit unit,
                       struct prefix prefix)
{
    const double magnitude = fabs(value);
    char *at = text;
    if (value < 0)
        *at++ = '-';
    else if (value > 0 && units[unit].is_change)
        *at++ = '+';
    if (prefix.scale == 1 && magnitude == trunc(magnitude) && magnitude < LARGEST_GROUPED)
        at = unit == TA_UNIT_NONE ? ta_decimal_integer(at, ta_whole(magnitude))
                                  : put_grouped(at, magnitude);
    else if (units[unit].scale > 0 && magnitude > 0 && magnitude < 0.01)
        at = put_small_share(at, magnitude / prefix.scale);
    else
        at = put_rounded(at, magnitude / prefix.scale);
    put_symbol(at, prefix.symbol);
    return text;
}

char *ta_unit_format(char text[TA_UNIT_TEXT_MAX], double value, enum ta_unit unit)
{
    text[0] = '\0';
    return isfinite(value) ? put_value(text, value, unit, prefix_for(fabs(value), unit)) : text;
}

/* ---- pairs ---------------------------------------------------------------------------- */

/* The prefix of a value that is compared with another one: both have the prefix of the smaller one,
 * or else of the larger one; values far apart have their own. */
static struct prefix shared_prefix(double value, double other, enum ta_unit unit)
{
    /* Numbers beyond this are hard to read; below that, most digits are zeros. */
    static const double readable = 1000, least = 0.1;
    const double a = fabs(value), b = fabs(other);
    const double smaller = a < b ? a : b, larger = a < b ? b : a;
    const struct prefix low = prefix_for(smaller > 0 ? smaller : larger, unit);
    const struct prefix high = prefix_for(larger, unit);
    return larger / low.scale < readable   ? low
           : smaller / high.scale >= least ? high
                                           : prefix_for(a, unit);
}

char *ta_unit_format_compared(char text[TA_UNIT_TEXT_MAX], double value, double other,
                              enum ta_unit unit)
{
    if (!isfinite(value) || !isfinite(other))
        return ta_unit_format(text, value, unit);
    return put_value(text, value, unit, shared_prefix(value, other, unit));
}

static char *put_plain(char *at, double value, const struct prefix *prefix, bool symbol)
{
    const double magnitude = fabs(value) / prefix->scale;
    struct ta_decimal d = ta_decimal_trimmed(ta_decimal_of(magnitude, 3));
    if (value < 0)
        *at++ = '-';
    if (magnitude == 0)
        at = put(at, "0");
    else if (magnitude >= LARGEST_GROUPED || magnitude < TA_SMALLEST_FIXED)
        at = ta_decimal_put_scientific(at, &d);
    else if (d.point > 3)
        at = put_grouped(at, rint(magnitude));
    else
        at = ta_decimal_put_fixed(at, &d);
    return symbol ? put_symbol(at, prefix->symbol) : at;
}

char *ta_unit_format_change(char text[TA_UNIT_TEXT_MAX], double change, double before, double after,
                            enum ta_unit unit)
{
    if (!isfinite(change) || !isfinite(before) || !isfinite(after))
        return ta_unit_format(text, change, unit);
    const struct prefix own = prefix_for(fabs(change), unit);
    const struct prefix first = shared_prefix(before, after, unit);
    const struct prefix second = shared_prefix(after, before, unit);
    const struct prefix largest = first.scale > second.scale ? first : second;
    return put_value(text, change, unit, own.scale > largest.scale ? largest : own);
}

char *ta_unit_format_pair(char text[TA_UNIT_PAIR_MAX], double before, double after,
                          enum ta_unit unit)
{
    *text = '\0';
    if (!isfinite(before) || !isfinite(after))
        return text;
    const struct prefix first = shared_prefix(before, after, unit);
    const struct prefix second = shared_prefix(after, before, unit);
    char *at = put_plain(text, before, &first, true);
    at = put(at, " → ");
    put_plain(at, after, &second, true);
    return text;
}

/* ---- axes ---------------------------------------------------------------------------- */

/* Ticks are round in powers of ten, so times on an axis stop at seconds. */
static struct prefix tick_prefix(double largest, enum ta_unit unit)
{
    double magnitude = fabs(largest);
    if (unit == TA_UNIT_NS && magnitude > 1e9)
        magnitude = 1e9;
    return prefix_for(magnitude, unit);
}

char *ta_unit_format_tick(char text[TA_UNIT_TEXT_MAX], double value, double largest,
                          enum ta_unit unit, bool suffix)
{
    const struct prefix prefix = tick_prefix(largest, unit);
    double magnitude = fabs(value) / prefix.scale;
    struct ta_decimal d = ta_decimal_trimmed(ta_decimal_of(magnitude, 6));
    char *at = text;
    if (value < 0 && magnitude > 0)
        *at++ = '-';
    if (magnitude >= LARGEST_GROUPED || (magnitude > 0 && magnitude < TA_SMALLEST_FIXED))
        at = ta_decimal_put_scientific(at, &d);
    else if (d.point > 3 && d.n <= d.point)
        at = put_grouped(at, rint(magnitude));
    else
        at = ta_decimal_put_fixed(at, &d);
    if (suffix)
        put_symbol(at, prefix.symbol);
    return text;
}

const char *ta_unit_symbol(double largest, enum ta_unit unit)
{
    return tick_prefix(largest, unit).symbol;
}

/* ---- cells for people ---------------------------------------------------------------- */

struct ta_slice ta_cell_text(const struct ta_cell *cell, enum ta_unit unit,
                             char buffer[TA_UNIT_TEXT_MAX])
{
    switch (cell->kind) {
    case TA_CELL_UNSET:
    case TA_CELL_NULL:
        return TA_LIT("");
    case TA_CELL_TEXT:
        return cell->text;
    case TA_CELL_BOOL:
        return cell->b ? TA_LIT("yes") : TA_LIT("no");
    case TA_CELL_INT:
        if (unit == TA_UNIT_NONE) {
            const char *const end = ta_decimal_integer(buffer, cell->i);
            return (struct ta_slice){buffer, (size_t)(end - buffer)};
        }
        return ta_slice_of(ta_unit_format(buffer, (double)cell->i, unit));
    case TA_CELL_NUM:
        return ta_slice_of(ta_unit_format(buffer, cell->f, unit));
    }
    return TA_LIT("");
}
