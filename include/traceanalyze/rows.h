/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What analyses of dump rows (dump.h) share: which rank a row belongs to, the place of a row among
 * all files, and real numbers in the integer cells of a partial. */
#ifndef TRACEANALYZE_ROWS_H
#define TRACEANALYZE_ROWS_H

#include "dump.h"
#include "partial.h"
#include "result.h"

#include <math.h>

TA_BEGIN_DECLS

/* The rank of a row, for a field of kind TA_FIELD_RANK. */
static inline struct ta_key ta_row_rank(const struct ta_trace *trace, int64_t rank)
{
    return ta_key_int(ta_rank_of_row(trace, rank));
}

/* The file of a row, for a field of kind TA_FIELD_FILE: files by name, whatever their ranks are. */
static inline struct ta_key ta_row_file(const struct ta_trace *trace)
{
    return ta_key_int(ta_trace_rank(trace));
}

/* Place of a row among the rows of all files, for a field of kind TA_FIELD_PLACE: files by
 * name, then order in the file. */
static inline int64_t ta_row_place(const struct ta_trace *trace, size_t index)
{
    return (int64_t)((uint64_t)ta_trace_rank(trace) << 32 | (uint32_t)index);
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

/* Null instead of an empty text, which means one that was not recorded. */
static inline struct ta_cell ta_text_or_null(struct ta_slice text)
{
    return text.len ? ta_text(text) : ta_null();
}

TA_END_DECLS

#endif
