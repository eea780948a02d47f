/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether two readings of one file are the same: every fact, finding, table and row; texts by
 * their bytes, never by their ids. */
#ifndef TA_ORACLE_COMPARE_H
#define TA_ORACLE_COMPARE_H

#include "reading.h"

struct difference {
    char what[1024]; /* "spans row 7: ts is 5, expected 6" */
    ta_row span;     /* the row, when it lies in the spans; TA_NO_ROW otherwise */
    int64_t ts;      /* of a row that is no span, or TA_MISSING */
};

/* Compares with what is expected.  `told` demands the same texts of findings and refusals as
 * well, which only the same program can give. */
bool outcome_same(const struct outcome *expected, const struct outcome *found, bool told,
                  struct difference *difference);
/* The same for traces alone. */
bool trace_same(const struct ta_trace *expected, const struct ta_trace *found,
                struct difference *difference);
/* Findings alone. */
bool quality_same(const struct ta_quality *expected, const struct ta_quality *found, bool told,
                  struct difference *difference);

#endif
