/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why it does not scale: scaling.factors.
 *
 * The parallel efficiency of a run is a product of factors (efficiency.ladder), so its logarithm is
 * their sum, and the change from the base to a larger run is divided among them without a rest. */
#include "scaling/runs.h"

#include "result/report.h"
#include "traceanalyze/columns.h"

#include <math.h>

static const struct ta_column columns[] = {
    {"run", "Run", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Title of the run"},
    TA_COUNT_COLUMN("world_size", "World size", TA_NEUTRAL, "Ranks of the run"),
    {"factor", "Factor", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "Of the parallel efficiency: transfer, host, serialization, balance; parallel is their "
     "product"},
    TA_RATIO_COLUMN("efficiency", "Efficiency", TA_HIGHER,
                    "Of the run, as in its efficiency ladder"),
    TA_RATIO_COLUMN("base_efficiency", "Of the base", TA_HIGHER,
                    "The same of the smallest world size with a ladder"),
    {"change", "Change", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_HIGHER,
     "Logarithm of the one over the other; those of the factors sum to that of parallel"},
    TA_RATIO_COLUMN("share", "Share", TA_NEUTRAL,
                    "Of the change of the parallel efficiency; below 0 it works against it"),
};

static double efficiency_of(const struct ta_table *ladder, struct ta_slice term)
{
    for (size_t i = 0; i < ladder->n_rows; i++)
        if (ta_slice_equal(ta_row_text(ladder, i, "term"), term))
            return ta_row_number(ladder, i, "efficiency", (double)NAN);
    return (double)NAN;
}

static void add_run(struct ta_table_builder *table, const struct scaling_run *run,
                    const struct ta_table *ladder, const struct ta_table *base)
{
    const struct ta_slice parallel = TA_LIT("parallel");
    const double all = log(efficiency_of(ladder, parallel) / efficiency_of(base, parallel));
    for (size_t i = 0; i < ladder->n_rows; i++) {
        const struct ta_slice term = ta_row_text(ladder, i, "term");
        const double own = efficiency_of(ladder, term), before = efficiency_of(base, term);
        const double change = log(own / before);
        TA_ROW(table, ta_text(ta_slice_of(run->title)), ta_int(run->world), ta_text(term),
               ta_num(own), ta_num(before), ta_num(change), ta_num(change / all));
    }
}

void scaling_add_factors(struct scaling *scaling, struct ta_section_builder *section)
{
    struct ta_table_builder *table =
        ta_add_table(section, "scaling.factors", "Why it does not scale", columns,
                     sizeof columns / sizeof *columns);
    const struct ta_table *base = NULL;
    for (size_t i = 0; i < scaling->n; i++) {
        const struct ta_table *ladder =
            ta_report_table(scaling->runs[i].report, "efficiency.ladder");
        if (ladder && base)
            add_run(table, &scaling->runs[i], ladder, base);
        base = base ? base : ladder;
    }
}
