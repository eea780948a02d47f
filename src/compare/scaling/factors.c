/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why it does not scale: scaling.factors.
 *
 * The parallel efficiency of a run is a product of factors (efficiency.ladder), so its logarithm is
 * their sum, and the change from the base to a larger run is divided among them without a rest. */
#include "compare/scaling/runs.h"

#include "report/report.h"
#include "traceanalyze/columns.h"

#include <math.h>

static const struct ta_column columns[] = {
    {"run", "Run", TA_TEXT, .doc = "Title of the run"},
    {"world_size", "World size", TA_COUNT, .doc = "Ranks of the run"},
    {"factor", "Factor", TA_WORD,
     .doc = "Of the parallel efficiency: transfer, host, serialization, balance; parallel is their "
            "product"},
    {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
     .doc = "Of the run, as in its efficiency ladder"},
    {"base_efficiency", "Of the base", TA_RATIO, .better = TA_HIGHER,
     .doc = "The same of the smallest world size with a ladder; of one rank alone its host "
            "and the rest of its device"},
    {"change", "Change", TA_NUMBER, .better = TA_HIGHER,
     .doc = "Logarithm of the one over the other; those of the factors sum to that of parallel"},
    {"share", "Share", TA_RATIO,
     .doc = "Of the change of the parallel efficiency; below 0 it works against it"},
};

/* ---- of one run ---------------------------------------------------------------------------- */

enum { PARALLEL = 4, FACTORS };

static const char *const names[FACTORS] = {"transfer", "host", "serialization", "balance",
                                           "parallel"};

/* Efficiencies of a run, the product of the others last. */
struct factors {
    double at[FACTORS];
};

static bool read_ladder(const struct ta_report *report, struct factors *factors)
{
    const struct ta_table *ladder = ta_report_table(report, "efficiency.ladder");
    for (size_t row = 0; ladder && row < ladder->n_rows; row++)
        for (size_t i = 0; i < FACTORS; i++)
            if (ta_row_reads(ladder, row, "term", names[i]))
                factors->at[i] = ta_row_number(ladder, row, "efficiency", NAN);
    return ladder != NULL;
}

/* Idle time of a device since its host has launched nothing. */
static double late_of(const struct ta_table *idle)
{
    static const char *const columns_of_host[] = {"dispatch_ns", "host_ns", "sync_ns", "setup_ns",
                                                  "input_ns"};
    double late = 0;
    for (size_t i = 0; idle && i < sizeof columns_of_host / sizeof *columns_of_host; i++)
        late += ta_row_number(idle, 0, columns_of_host[i], 0);
    return late;
}

/* A rank alone has nobody to send to or to wait for: its host is late, or its device does something
 * else than to compute. */
static bool read_alone(const struct scaling_run *run, struct factors *factors)
{
    const struct ta_table *gpu = ta_report_table(run->report, "gpu_time.by_rank");
    const struct ta_table *idle = ta_report_table(run->report, "gpu_idle.by_rank");
    if (run->world != 1 || !gpu || gpu->n_rows != 1)
        return false;
    const double whole = ta_row_number(gpu, 0, "window_ns", NAN);
    const double compute = ta_row_number(gpu, 0, "compute_ns", NAN);
    const double no_host = fmax(compute, whole - late_of(idle && idle->n_rows == 1 ? idle : NULL));
    *factors = (struct factors){{1, no_host / whole, compute / no_host, 1, compute / whole}};
    return compute > 0;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void add_run(struct ta_table_builder *table, const struct scaling_run *run,
                    const struct factors *of, const struct factors *base)
{
    const double all = log(of->at[PARALLEL] / base->at[PARALLEL]);
    for (size_t i = 0; i < FACTORS; i++) {
        const double change = log(of->at[i] / base->at[i]);
        TA_CELLS(table, ta_text(ta_slice_of(run->title)), ta_int(run->world),
                 ta_text(ta_slice_of(names[i])), ta_num(of->at[i]), ta_num(base->at[i]),
                 ta_num(change), ta_num(change / all));
    }
}

void scaling_add_factors(struct scaling *scaling, struct ta_section_builder *section)
{
    struct ta_table_builder *table =
        ta_add_table(section, "scaling.factors", "Why it does not scale", columns,
                     sizeof columns / sizeof *columns);
    struct factors base;
    bool has_base = false;
    for (size_t i = 0; i < scaling->n; i++) {
        struct factors of = {{NAN, NAN, NAN, NAN, NAN}};
        const struct scaling_run *run = &scaling->runs[i];
        if (!read_ladder(run->report, &of) && !read_alone(run, &of))
            continue;
        if (has_base)
            add_run(table, run, &of, &base);
        base = has_base ? base : of;
        has_base = true;
    }
}
