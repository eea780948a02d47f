/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a run took, whatever it was recorded with. */
#include "plugin/registry.h"

#include <stdlib.h>

static int64_t largest(const struct ta_refs *in, size_t ref)
{
    int64_t most = TA_MISSING;
    for (size_t i = 0; i < ta_ref_rows(in, ref); i++)
        most = ta_max_i64(most, ta_ref_integer(in, ref, i));
    return most;
}

struct stage {
    int64_t rank, ns;
};

static int by_rank(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Sum of the stages that are in no other, which have a share, of the rank where it is largest. */
static int64_t stages_time(const struct ta_refs *in)
{
    const size_t rows = ta_ref_rows(in, TA_AS_STAGE_TIME);
    struct stage *stages = rows ? calloc(rows, sizeof *stages) : NULL;
    int64_t most = TA_MISSING, sum = 0;
    size_t n = 0;
    for (size_t i = 0; stages && i < rows; i++) {
        const int64_t ns = ta_ref_integer(in, TA_AS_STAGE_TIME, i);
        if (ns != TA_MISSING && ta_ref_number(in, TA_AS_STAGE_SHARE, i, -1) >= 0)
            stages[n++] = (struct stage){ta_ref_rank(in, TA_AS_STAGE, i), ns};
    }
    if (n)
        qsort(stages, n, sizeof *stages, by_rank);
    for (size_t i = 0; i < n; i++) {
        sum = i && stages[i].rank == stages[i - 1].rank ? ta_add_sat(sum, stages[i].ns)
                                                        : stages[i].ns;
        most = ta_max_i64(most, sum);
    }
    free(stages);
    return most;
}

int64_t ta_run_time(const struct ta_registry *registry, const struct ta_report *report)
{
    struct ta_refs refs;
    const struct ta_refs *const in = &refs;
    ta_readings_open(&refs, registry, report);
    int64_t time = largest(in, TA_AS_DEVICE_WINDOW);
    if (time == TA_MISSING)
        time = largest(in, TA_AS_SESSION_TIME);
    if (time == TA_MISSING)
        time = stages_time(in);
    if (time == TA_MISSING)
        time = largest(in, TA_AS_TRACE_WINDOW);
    return time;
}
