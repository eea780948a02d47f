/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partial results: small keyed tables whose columns say how they merge.
 *
 * map() fills one set per trace; the core merges sets over files, threads and processes, in any
 * order, with the same outcome to the bit; finish() reads the merged set.  A field is a key or a
 * value; keys come first.  TA_MISSING is the identity of every merge. */
#ifndef TRACEANALYZE_PARTIAL_H
#define TRACEANALYZE_PARTIAL_H

#include "base.h"
#include "model.h"
#include "stat.h"

#include <math.h>
#include <string.h>

TA_BEGIN_DECLS

enum ta_field_kind {
    TA_FIELD_RANK, /* key: ta_trace_rank(), ta_rank_of_row(); the rank itself in finish() */
    TA_FIELD_INT,  /* key: integer; TA_MISSING is a value like any other */
    TA_FIELD_TEXT, /* key: text */
    TA_FIELD_SUM,
    TA_FIELD_MIN,
    TA_FIELD_MAX,
    TA_FIELD_DIST, /* a distribution, see stat.h */
    TA_FIELD_FILE, /* key: ta_row_file(); the place of the file among all by name */
    TA_FIELD_PLACE /* the least ta_row_place(): files by name, then order in the file */
};

struct ta_field {
    const char *name;
    enum ta_field_kind kind;
};

/* Keys that a table may have. */
#define TA_PARTIAL_KEYS_MAX 16

/* A keyed table of an analysis; lists of them end with a NULL name. */
struct ta_partial_def {
    const char *name;
    const struct ta_field *fields;
    size_t n_fields;
};

/* Rows may come from a saved summary, which is input like any other.  Where finish() takes a cell
 * for an index, as one of an enumeration, a bound says of how many: the core refuses summaries with
 * other values than 0 … below − 1, TA_MISSING among them. */
struct ta_bound {
    size_t table, field; /* places in the lists of the analysis and of the table */
    int64_t below;
};

/* Ends a list of bounds. */
#define TA_BOUNDS_END                                                                              \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

struct ta_partial;

/* The value of one key field. */
struct ta_key {
    int64_t i;
    struct ta_slice text;
};

static inline struct ta_key ta_key_int(int64_t value)
{
    return (struct ta_key){.i = value};
}

static inline struct ta_key ta_key_text(struct ta_slice text)
{
    return (struct ta_key){.text = text};
}

/* The row with these key values, added with all values missing when it is new.  Cells of
 * TA_FIELD_SUM, _MIN and _MAX are written directly: they are merged with the cells of other rows
 * later, so use ta_sum() and friends or keep TA_MISSING in mind.  The address is stable.  Never
 * NULL: after an allocation failure the partial is marked and a scratch row is returned. */
TA_API int64_t *ta_partial_row(struct ta_partial *partial, const struct ta_key *keys);

/* ta_partial_row() with the keys in place: TA_PARTIAL_ROW(out, ta_key_int(rank), …). */
#define TA_PARTIAL_ROW(partial, ...) ta_partial_row((partial), (const struct ta_key[]){__VA_ARGS__})

/* ta_partial_row() with a cache: `id` replaces the keys within one trace, such as a pair of
 * interned ids, and saves hashing texts per event. */
TA_API int64_t *ta_partial_cached(struct ta_partial *partial, struct ta_map *cache, uint64_t id,
                                  const struct ta_key *keys);

/* The distribution in a cell of kind TA_FIELD_DIST; never NULL. */
TA_API struct ta_dist *ta_partial_dist(struct ta_partial *partial, int64_t *row, size_t field);

static inline void ta_sum(int64_t *cell, int64_t value)
{
    if (value != TA_MISSING)
        *cell = *cell == TA_MISSING ? value : ta_add_sat(*cell, value);
}

static inline void ta_least(int64_t *cell, int64_t value)
{
    if (value != TA_MISSING && (*cell == TA_MISSING || value < *cell))
        *cell = value;
}

static inline void ta_most(int64_t *cell, int64_t value)
{
    if (value != TA_MISSING && (*cell == TA_MISSING || value > *cell))
        *cell = value;
}

/* ---- ranks ------------------------------------------------------------------------------ */

/* A value of TA_FIELD_RANK below this is the placeholder of a file (ta_trace_rank()); from here on
 * it is a rank that a row of a table names itself, plus this number.  TA_MISSING is no rank: what
 * belongs to none, or to all. */
#define TA_RANK_NAMED (INT64_C(1) << 40)

/* The value of a TA_FIELD_RANK for a row that says its rank, TA_MISSING when it does not, or
 * TA_NO_RANK (dump.h). */
static inline int64_t ta_rank_of_row(const struct ta_trace *trace, int64_t row_rank)
{
    if (row_rank == TA_MISSING)
        return ta_trace_rank(trace);
    return row_rank < 0 || row_rank > INT32_MAX ? TA_MISSING : TA_RANK_NAMED + row_rank;
}

/* ---- reading, in finish() -------------------------------------------------------------- */

/* Number of rows. */
TA_API size_t ta_partial_rows(const struct ta_partial *partial);
/* Rows are ordered by their keys: integers ascending (missing first), texts by bytes. */
TA_API const int64_t *ta_partial_at(const struct ta_partial *partial, size_t index);
TA_API struct ta_slice ta_partial_text(const struct ta_partial *partial, const int64_t *row,
                                       size_t field);

/* Rows that are alike in the first keys are next to each other: the first row after `first` that is
 * unlike it in a key up to field `key`.  For a loop over the groups, each once:
 *   for (size_t first = 0, end; first < ta_partial_rows(of); first = end) {
 *       end = ta_partial_group_end(of, first, NAME); */
static inline size_t ta_partial_group_end(const struct ta_partial *partial, size_t first,
                                          size_t key)
{
    const int64_t *row = ta_partial_at(partial, first);
    const size_t n = ta_partial_rows(partial), size = (key + 1) * sizeof *row;
    size_t end = first + 1;
    while (end < n && memcmp(ta_partial_at(partial, end), row, size) == 0)
        end++;
    return end;
}

/* NULL when the cell never got a sample. */
TA_API const struct ta_dist *ta_partial_dist_at(const struct ta_partial *partial,
                                                const int64_t *row, size_t field);

/* ==== rows of dumps =========================================================================== */

/* What analyses of dump rows (dump.h) share: which rank a row belongs to, the place of a row among
 * all files, and real numbers in the integer cells of a partial. */

/* The rank of a row, for a field of kind TA_FIELD_RANK. */
static inline struct ta_key ta_row_rank(const struct ta_trace *trace, int64_t rank)
{
    return ta_key_int(ta_rank_of_row(trace, rank));
}

/* The file of a row, for a field of kind TA_FIELD_FILE: files by name, whatever their ranks are. */
static inline struct ta_key ta_row_file(const struct ta_trace *trace)
{
    return ta_key_int(ta_trace_file(trace).number);
}

/* Place of a row among the rows of all files, for a field of kind TA_FIELD_PLACE: files by
 * name, then order in the file. */
static inline int64_t ta_row_place(const struct ta_trace *trace, size_t index)
{
    return (int64_t)((uint64_t)ta_trace_file(trace).number << 32 | (uint32_t)index);
}

/* The name of a file as a label: without folders, and without the suffixes of packing and pickle.
 */
static inline struct ta_slice ta_row_file_label(const struct ta_trace *trace)
{
    static const char *const suffixes[] = {".gz", ".pickle", ".pkl"};
    const char *path = ta_trace_file(trace).path;
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct ta_slice name = ta_slice_of(slash ? slash + 1 : path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(suffixes[i]);
        if (name.len > n && memcmp(ta_slice_end(name) - n, suffixes[i], n) == 0)
            name.len -= n;
    }
    return name;
}

/* A real number in a cell of kind TA_FIELD_MAX that only one row writes: such numbers are kept, not
 * compared.  What is not finite counts as missing. */
static inline int64_t ta_real_cell(double value)
{
    int64_t cell;
    if (!isfinite(value))
        return TA_MISSING;
    value += 0.0; /* −0 has the bits of TA_MISSING */
    memcpy(&cell, &value, sizeof cell);
    return cell;
}

static inline double ta_real_of(int64_t cell)
{
    double value;
    if (cell == TA_MISSING)
        return NAN;
    memcpy(&value, &cell, sizeof value);
    return value;
}

TA_END_DECLS

#endif
