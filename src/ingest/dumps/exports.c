/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports of one run that hold each other.
 *
 * A file is an earlier export of another one when its stages are the first of the other's: the same
 * names and durations in the same order.  Two runs of one program have the same names, but hardly
 * ever the same durations.  Sorted by folder, rank and length, the longest export comes first and
 * is compared with all that are shorter. */
#include "ingest/dumps/dumps.h"

#include "discover/discover.h"

#include <stdio.h>
#include <stdlib.h>

struct exported {
    struct ta_kept *file;
    size_t n;                     /* stages */
    const struct exported *later; /* the longest one that begins with these; NULL: none does */
    size_t n_earlier;             /* how many it is the later one of */
};

static const struct ta_timed_stage *stage_at(const struct exported *export, size_t i)
{
    return ta_dump_row(&export->file->trace->dump, TA_DUMP_stage, i);
}

/* Texts made for people have durations with four decimals of a second. */
#define TEXT_ROUNDING_NS 50000

static int64_t rounding_of(const struct exported *export)
{
    return export->file->trace->dump.exactness <= TA_EXACT_TEXT ? TEXT_ROUNDING_NS : 0;
}

static bool is_same_stage(const struct exported *a, const struct exported *b, size_t i,
                          int64_t tolerance)
{
    const struct ta_timed_stage *left = stage_at(a, i), *right = stage_at(b, i);
    if (!ta_slice_equal(ta_trace_text(a->file->trace, left->name),
                        ta_trace_text(b->file->trace, right->name)))
        return false;
    if (left->total_ns == TA_MISSING || right->total_ns == TA_MISSING)
        return left->total_ns == right->total_ns;
    return left->total_ns <= ta_add_sat(right->total_ns, tolerance) &&
           right->total_ns <= ta_add_sat(left->total_ns, tolerance);
}

/* Durations that all round to nothing are alike in any two runs. */
static bool begins_with(const struct exported *longer, const struct exported *shorter)
{
    const int64_t tolerance = ta_max_i64(rounding_of(longer), rounding_of(shorter));
    int64_t longest = 0;
    for (size_t i = 0; i < shorter->n; i++) {
        if (!is_same_stage(longer, shorter, i, tolerance))
            return false;
        longest = ta_max_i64(longest, stage_at(shorter, i)->total_ns);
    }
    return longest > tolerance;
}

bool ta_is_export(const struct ta_trace *trace)
{
    return trace && trace->dump.is_growing && trace->dump.rows[TA_DUMP_stage].n;
}

bool ta_exports_repeat(const struct ta_trace *a, const struct ta_trace *b)
{
    struct ta_kept files[] = {{.trace = (struct ta_trace *)a}, {.trace = (struct ta_trace *)b}};
    const struct exported x = {.file = &files[0], .n = a->dump.rows[TA_DUMP_stage].n},
                          y = {.file = &files[1], .n = b->dump.rows[TA_DUMP_stage].n};
    return x.n >= y.n ? begins_with(&x, &y) : begins_with(&y, &x);
}

/* ---- finding ------------------------------------------------------------------------------- */

static int by_place(const struct exported *a, const struct exported *b)
{
    const int order =
        ta_slice_compare(ta_copy_folder(a->file->shown), ta_copy_folder(b->file->shown));
    return order ? order : (a->file->rank > b->file->rank) - (a->file->rank < b->file->rank);
}

/* Files are given in order of their names, so their addresses are as well. */
static int by_length(const void *left, const void *right)
{
    const struct exported *a = left, *b = right;
    const enum ta_exactness exact_a = a->file->trace->dump.exactness;
    const enum ta_exactness exact_b = b->file->trace->dump.exactness;
    const int order = by_place(a, b);
    if (order)
        return order;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    if (exact_a != exact_b)
        return exact_a > exact_b ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* The exports of one folder and rank, the longest first. */
static void find_later(struct exported *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i && at[k].n > at[i].n && !at[i].later; k++)
            if (!at[k].later && begins_with(&at[k], &at[i])) {
                at[i].later = &at[k];
                at[k].n_earlier++;
            }
}

/* ---- dropping ------------------------------------------------------------------------------ */

static bool keeps_none(void *user, const void *row)
{
    (void)user;
    (void)row;
    return false;
}

/* Whether it is the most exact form of its export: forms of one length are adjacent. */
static bool is_first_form(const struct exported *at, size_t i)
{
    return i == 0 || at[i - 1].n != at[i].n || at[i - 1].later != at[i].later;
}

static void say(struct ta_quality *quality, const struct exported *later,
                const char *const named[2])
{
    char second[300] = "", rest[40] = "";
    const size_t n = later->n_earlier, more = n - (named[1] ? 2 : 1);
    if (named[1])
        snprintf(second, sizeof second, "%s \"%s\"", more ? "," : " and", named[1]);
    if (more)
        snprintf(rest, sizeof rest, " and %zu more file%s", more, more > 1 ? "s" : "");
    ta_quality_add(
        quality, TA_Q_EARLIER_EXPORT, TA_NO_OFFSET,
        "\"%s\"%s%s %s the first of the %zu sections that \"%s\" holds; each counts once", named[0],
        second, rest, n > 1 ? "repeat" : "repeats", later->n, later->file->shown);
}

/* Drops the earlier exports of one, from the shortest on. */
static void drop_earlier(const struct exported *at, size_t n, const struct exported *later,
                         struct ta_quality *quality)
{
    const char *named[2] = {NULL, NULL};
    size_t n_named = 0;
    for (size_t i = n; i-- > 0;) {
        if (at[i].later != later)
            continue;
        if (n_named < 2 && is_first_form(at, i))
            named[n_named++] = at[i].file->shown;
        struct ta_dump *dump = &at[i].file->trace->dump;
        for (int table = 0; table < TA_DUMP_COUNT; table++)
            ta_dump_filter(dump, (enum ta_dump_table)table, keeps_none, NULL);
    }
    say(quality, later, named);
}

bool ta_drop_earlier_exports(struct ta_kept *files, size_t n, struct ta_quality *quality)
{
    struct exported *exports = reallocarray(NULL, n + 1, sizeof *exports);
    if (!exports)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (ta_is_export(files[i].trace))
            exports[used++] = (struct exported){.file = &files[i],
                                                .n = files[i].trace->dump.rows[TA_DUMP_stage].n};
    }
    qsort(exports, used, sizeof *exports, by_length);
    for (size_t first = 0, end; first < used; first = end) {
        for (end = first; end < used && by_place(&exports[first], &exports[end]) == 0; end++)
            ;
        find_later(&exports[first], end - first);
        for (size_t i = first; i < end; i++)
            if (exports[i].n_earlier)
                drop_earlier(&exports[first], end - first, &exports[i], quality);
    }
    free(exports);
    return true;
}
