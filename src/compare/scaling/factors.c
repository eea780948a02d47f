/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why it does not scale: scaling.factors.
 *
 * The parallel efficiency of a run is a product of factors, so its logarithm is
 * their sum, and the change from the base to a larger run is divided among them without a rest. */
#include "compare/scaling/runs.h"

#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>

enum { RUN, WORLD_SIZE, FACTOR, EFFICIENCY, BASE_EFFICIENCY, CHANGE, SHARE };

static const struct ta_column scaling_factor_table_columns[] = {
    [RUN] = {"run", "Run", TA_TEXT, .doc = "Title of the run"},
    [WORLD_SIZE] = {"world_size", "World size", TA_COUNT, .doc = "Ranks of the run"},
    [FACTOR] = {"factor", "Factor", TA_WORD,
                .doc = "Factor of the parallel efficiency: transfer, host, serialization, balance; "
                       "or parallel, their product"},
    [EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                    .doc = "This efficiency in the run"},
    [BASE_EFFICIENCY] = {"base_efficiency", "Base efficiency", TA_RATIO, .better = TA_HIGHER,
                         .doc = "This efficiency at the smallest world size that has one; for a "
                                "single rank only host and serialization can be below 1"},
    [CHANGE] = {"change", "Change", TA_NUMBER, .better = TA_HIGHER,
                .doc = "Natural logarithm of efficiency over base efficiency; the factors add up "
                       "to parallel"},
    [SHARE] = {"share", "Share", TA_RATIO,
               .doc = "Part of the change of the parallel efficiency due to this factor; below 0 "
                      "it works against the change"},
};

const struct ta_table_def scaling_factor_table = {
    "scaling.factors", "Why it does not scale", TA_COLUMNS(scaling_factor_table_columns),
    .doc = "One row per run and factor of `efficiency.ladder`, for runs larger than the smallest "
           "one that has these factors: which factors reduce the parallel efficiency as the world "
           "size grows. A single rank has no transfer and no balance to lose: its `host` is the "
           "window without idle time caused by the host, over the window; its `serialization` is "
           "the compute time over that.",
    .brief = &(const struct ta_brief){.place = 150,
                                      .rows = 25,
                                      .first = {&scaling_factor_table_columns[RUN],
                                                &scaling_factor_table_columns[FACTOR],
                                                &scaling_factor_table_columns[EFFICIENCY],
                                                &scaling_factor_table_columns[BASE_EFFICIENCY],
                                                &scaling_factor_table_columns[SHARE]}}};

/* ---- of one run ---------------------------------------------------------------------------- */

enum { PARALLEL = 4, FACTORS };

static const char *const names[FACTORS] = {"transfer", "host", "serialization", "balance",
                                           "parallel"};

/* Efficiencies of a run, the product of the others last. */
struct factors {
    double at[FACTORS];
};

static bool read_ladder(const struct ta_refs *in, struct factors *factors)
{
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_FACTOR); row++)
        for (size_t i = 0; i < FACTORS; i++)
            if (ta_ref_reads(in, TA_AS_FACTOR, row, names[i]))
                factors->at[i] = ta_ref_number(in, TA_AS_FACTOR_EFFICIENCY, row, NAN);
    return ta_ref_table(in, TA_AS_FACTOR);
}

/* Idle time of the only device since its host has launched nothing. */
static double late_of(const struct ta_refs *in)
{
    static const enum ta_reading of_host[] = {TA_AS_IDLE_DISPATCH, TA_AS_IDLE_HOST, TA_AS_IDLE_SYNC,
                                              TA_AS_IDLE_SETUP, TA_AS_IDLE_INPUT};
    double late = 0;
    for (size_t i = 0; ta_ref_rows(in, TA_AS_IDLE_HOST) == 1 && i < TA_LENGTH(of_host); i++)
        late += ta_ref_number(in, of_host[i], 0, 0);
    return late;
}

/* A rank alone has nobody to send to or to wait for: its host is late, or its device does something
 * else than to compute. */
static bool read_alone(const struct ta_refs *in, const struct scaling_run *run,
                       struct factors *factors)
{
    if (run->world != 1 || ta_ref_rows(in, TA_AS_DEVICE_WINDOW) != 1)
        return false;
    const double whole = ta_ref_number(in, TA_AS_DEVICE_WINDOW, 0, NAN);
    const double compute = ta_ref_number(in, TA_AS_DEVICE_COMPUTE, 0, NAN);
    const double no_host = fmax(compute, whole - late_of(in));
    *factors = (struct factors){{1, no_host / whole, compute / no_host, 1, compute / whole}};
    return compute > 0;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void add_run(struct ta_section_builder *out, const struct scaling_run *run,
                    const struct factors *of, const struct factors *base)
{
    const double all = log(of->at[PARALLEL] / base->at[PARALLEL]);
    for (size_t i = 0; i < FACTORS; i++) {
        const double change = log(of->at[i] / base->at[i]);
        TA_ROW(out, scaling_factor_table, [RUN] = ta_text(ta_slice_of(run->title)),
               [WORLD_SIZE] = ta_int(run->world), [FACTOR] = ta_text(ta_slice_of(names[i])),
               [EFFICIENCY] = ta_num(of->at[i]), [BASE_EFFICIENCY] = ta_num(base->at[i]),
               [CHANGE] = ta_num(change), [SHARE] = ta_num(change / all));
    }
}

void scaling_add_factors(struct scaling *scaling, struct ta_section_builder *out)
{
    struct factors base;
    bool has_base = false;
    for (size_t i = 0; i < scaling->n; i++) {
        struct factors of = {{NAN, NAN, NAN, NAN, NAN}};
        const struct scaling_run *run = &scaling->runs[i];
        struct ta_refs in;
        ta_readings_open(&in, scaling->registry, run->report);
        if (!read_ladder(&in, &of) && !read_alone(&in, run, &of))
            continue;
        if (has_base)
            add_run(out, run, &of, &base);
        base = has_base ? base : of;
        has_base = true;
    }
}
