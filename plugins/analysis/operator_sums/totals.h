/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.totals: what the device and the host of each rank worked. */
#ifndef TA_ANALYSIS_OPERATOR_TOTALS_H
#define TA_ANALYSIS_OPERATOR_TOTALS_H

#include "kinds.h"

#include <traceanalyze/partial.h>
#include <traceanalyze/table.h>

enum { TOTALS_FIELDS = 12 };
extern const struct ta_field totals_fields[TOTALS_FIELDS];

void totals_map(struct ta_partial *out, const struct recording *recording,
                const unsigned char *kinds);

/* Times are TA_MISSING where they are unknown. */
struct totals {
    int64_t rank;
    struct ta_slice device; /* "CUDA"; empty when no table names it */
    int64_t device_ns, host_ns, wait_ns;
    int64_t calls, shown_ns; /* rows of calls; host time of all rows */
    bool by_kernels;         /* rows of kernels are added, rows of operators are not */
    bool by_events;          /* device times are those between events around operators */
};

/* One for each rank, in the order of ranks. */
struct all_totals {
    struct totals *at;
    size_t n;
};

/* False without memory. */
bool totals_find(const struct ta_partial *merged, struct all_totals *out);
void totals_free(struct all_totals *totals);
/* Of a rank without rows nothing is known. */
const struct totals *totals_of(const struct all_totals *totals, int64_t rank);

/* ops.totals, and its rows. */
extern const struct ta_table_def operator_totals;
void totals_add(const struct all_totals *totals, struct ta_section_builder *out);

#endif
