/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of tables: a value of some type, with a unit that says how it looks. */
#ifndef TRACEANALYZE_CELL_H
#define TRACEANALYZE_CELL_H

#include "base.h"

TA_BEGIN_DECLS

/* ---- units --------------------------------------------------------------------------- */

/* Units, polarities, and the only place where a number becomes text for people. */

enum ta_unit {
    TA_UNIT_NONE,
    TA_UNIT_NS,    /* shown as ns, µs, ms, s or min */
    TA_UNIT_BYTES, /* shown as B, KiB, MiB, GiB */
    TA_UNIT_COUNT, /* shown with thin groups of three digits */
    TA_UNIT_RATIO, /* 0…1, shown as a percentage */
    TA_UNIT_PER_S,
    TA_UNIT_BYTES_PER_S, /* shown as kB/s to TB/s, powers of ten as in data sheets */
    TA_UNIT_CELSIUS,
    TA_UNIT_WATT,
    TA_UNIT_JOULE,
    TA_UNIT_FLOP,
    TA_UNIT_FLOP_PER_S,
    TA_UNIT_HERTZ, /* a clock: "per_s" in report.json, shown as MHz */
    /* Differences: their names in report.json are the names of what is compared, they are shown
     * with their sign, "+1.25 ms". */
    TA_UNIT_NS_CHANGE,
    TA_UNIT_BYTES_CHANGE,
    TA_UNIT_COUNT_CHANGE,
    TA_UNIT_RATIO_CHANGE,  /* relative to something: +5 % */
    TA_UNIT_CHANGE,        /* of values whose unit is in the row */
    TA_UNIT_POINTS_CHANGE, /* a ratio minus another: +5 pp */
    TA_UNIT_PER_S_CHANGE,
    TA_UNIT_BYTES_PER_S_CHANGE,
    TA_UNIT_CELSIUS_CHANGE,
    TA_UNIT_WATT_CHANGE,
    TA_UNIT_JOULE_CHANGE,
    TA_UNIT_FLOP_CHANGE,
    TA_UNIT_FLOP_PER_S_CHANGE,
    TA_UNIT_HERTZ_CHANGE,
    TA_UNIT_COUNT_OF_UNITS
};

/* Which way a value is better. */
enum ta_polarity { TA_NEUTRAL, TA_LOWER, TA_HIGHER };

/* Room for any number that ta_unit_format() writes, terminator included. */
#define TA_UNIT_TEXT_MAX 48

/* Name of the unit in report.json ("bytes_per_s"); a constant. */
TA_API const char *ta_unit_name(enum ta_unit unit);

/* "neutral", "lower" or "higher". */
static inline const char *ta_polarity_name(enum ta_polarity polarity)
{
    return polarity == TA_LOWER ? "lower" : polarity == TA_HIGHER ? "higher" : "neutral";
}

/* Writes a value for people: three significant digits and the fitting prefix ("412 ms",
 * "1.25 GiB", "18.4 %"; shares below 1 % get two decimals, counts all their digits).  Never
 * depends on the locale; "" for what is not finite.  Returns `text`. */
TA_API char *ta_unit_format(char text[TA_UNIT_TEXT_MAX], double value, enum ta_unit unit);

/* ta_unit_format() of a value that is compared with another one: both have the prefix of the
 * smaller one as long as that leaves the larger one readable, else the prefix of the larger one
 * unless the smaller one is tiny in it. */
TA_API char *ta_unit_format_compared(char text[TA_UNIT_TEXT_MAX], double value, double other,
                                     enum ta_unit unit);

/* Room for what ta_unit_format_pair() writes. */
#define TA_UNIT_PAIR_MAX 104

/* Writes the shortest decimal text that reads back as the same double, without exponent
 * sign surprises ("1e+20" is "1e20"); not finite values are the caller's error. */
TA_API char *ta_number_format(char text[TA_UNIT_TEXT_MAX], double value);

/* ---- values -------------------------------------------------------------------------- */

enum ta_type {
    TA_TYPE_STRING, /* a text shown as it is, such as a name from the input */
    TA_TYPE_INTEGER,
    TA_TYPE_NUMBER,
    TA_TYPE_BOOLEAN,
    TA_TYPE_WORD, /* a string; a word of ours for programs ("gpu_power"), shown by ta_word_text() */
    TA_TYPE_ID,   /* a string; for programs alone, another column says it to people */
    TA_TYPE_SENTENCE /* a string; words that may be broken into lines, not cut in the middle */
};

enum ta_cell_kind {
    TA_CELL_UNSET, /* of memory that nobody wrote: no row has such a cell */
    TA_CELL_NULL,
    TA_CELL_TEXT,
    TA_CELL_INT,
    TA_CELL_NUM,
    TA_CELL_BOOL
};

struct ta_cell {
    enum ta_cell_kind kind;
    union {
        struct ta_slice text; /* UTF-8, may hold any code point, NUL included */
        int64_t i;
        double f;
        bool b;
    };
};

static inline struct ta_cell ta_null(void)
{
    return (struct ta_cell){.kind = TA_CELL_NULL};
}

static inline struct ta_cell ta_text(struct ta_slice text)
{
    return (struct ta_cell){.kind = TA_CELL_TEXT, .text = text};
}

/* Null instead of an empty text, which means one that was not recorded. */
static inline struct ta_cell ta_text_or_null(struct ta_slice text)
{
    return text.len ? ta_text(text) : ta_null();
}

/* A text that may be NULL or empty, which becomes null. */
static inline struct ta_cell ta_string(const char *text)
{
    return text && text[0] ? ta_text(ta_slice_of(text)) : ta_null();
}

/* TA_MISSING becomes null. */
static inline struct ta_cell ta_int(int64_t value)
{
    if (value == TA_MISSING)
        return ta_null();
    return (struct ta_cell){.kind = TA_CELL_INT, .i = value};
}

/* What is too large to be a count of anything, such as TA_NO_OFFSET, becomes null. */
static inline struct ta_cell ta_count(uint64_t n)
{
    return n > INT64_MAX ? ta_null() : ta_int((int64_t)n);
}

/* NaN and infinities become null: a report never holds them. */
static inline struct ta_cell ta_num(double value)
{
    if (!(value - value == 0.0))
        return ta_null();
    return (struct ta_cell){.kind = TA_CELL_NUM, .f = value};
}

static inline struct ta_cell ta_bool(bool value)
{
    return (struct ta_cell){.kind = TA_CELL_BOOL, .b = value};
}

/* The value of an INT or NUM cell; `otherwise` for all others. */
static inline double ta_cell_number(const struct ta_cell *cell, double otherwise)
{
    if (cell->kind == TA_CELL_INT)
        return (double)cell->i;
    return cell->kind == TA_CELL_NUM ? cell->f : otherwise;
}

/* Whether two cells hold the same; NaN is no cell, and an integer is no number. */
static inline bool ta_cell_equal(const struct ta_cell *a, const struct ta_cell *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TA_CELL_UNSET:
    case TA_CELL_NULL:
        return true;
    case TA_CELL_TEXT:
        return ta_slice_equal(a->text, b->text);
    case TA_CELL_INT:
        return a->i == b->i;
    case TA_CELL_NUM:
        return a->f == b->f;
    case TA_CELL_BOOL:
        return a->b == b->b;
    }
    return false;
}

TA_END_DECLS

#endif
