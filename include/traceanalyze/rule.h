/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules share: finding the worst cell of a table, and turning it into a finding. */
#ifndef TRACEANALYZE_RULE_H
#define TRACEANALYZE_RULE_H

#include "analysis.h"

TA_BEGIN_DECLS

/* Traces that are trusted less than this give hints, not findings: their severity is `info`. */
#define TA_TRUST_LEAST 0.5

/* `steps_ns` of a finding whose saving is of no block or step: encoding, loading, set-up.  It makes
 * the run shorter, but not more frames or blocks per second.  Of a finding with a goal `steps_ns`
 * is the time of the blocks that the goal is about. */
#define TA_OUTSIDE_LOOP (-INT64_C(1))

/* Which cells a rule looks at: the cells of a column, in the rows whose texts are these. Columns
 * are references of the rule, all to one table. */
struct ta_look {
    size_t cells;
    struct {
        size_t column;
        const char *text; /* NULL: no such condition */
    } where[2];
    bool lowest; /* the smallest value is the worst one */
};

struct ta_place {
    const struct ta_table *table; /* NULL when nothing was found */
    size_t row, column;
    double value;
};

/* The cell with the worst number, the first of equals; false when no row has one. */
TA_API bool ta_look_worst(const struct ta_refs *in, const struct ta_look *look,
                          struct ta_place *place);

/* Sum, and largest, of the numbers that a look takes in the rows of a rank; of all rows for
 * TA_MISSING.  0 without any. */
TA_API double ta_look_sum(const struct ta_refs *in, const struct ta_look *look, int64_t rank);

/* The sum of a column over all rows; 0 without any. */
static inline double ta_ref_sum(const struct ta_refs *in, size_t ref)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, ref); row++)
        sum += ta_ref_number(in, ref, row, 0);
    return sum;
}

/* The cell of a row as evidence, with the unit of the column or of the row; without such a column
 * its value is null. */
TA_API struct ta_evidence ta_ref_evidence(const struct ta_refs *in, size_t ref, size_t row);

/* The number of a column in a row; its table is NULL when there is none. */
TA_API struct ta_place ta_place_at(const struct ta_refs *in, size_t ref, size_t row);

/* The same in the row of a place, whose table is the table of the reference. */
static inline struct ta_place ta_place_beside(const struct ta_refs *in,
                                              const struct ta_place *place, size_t ref)
{
    if (place->table && place->table == ta_ref_table(in, ref))
        return ta_place_at(in, ref, place->row);
    return (struct ta_place){.table = NULL};
}

/* The text of a column in the row of a place, shortened to what fits a title; "" without. */
TA_API const char *ta_place_text(struct ta_advice *advice, const struct ta_refs *in,
                                 const struct ta_place *place, size_t ref);

/* The cell as evidence, with the unit of the column or of the row; none without a table, which a
 * finding leaves out of its evidence. */
TA_API struct ta_evidence ta_place_evidence(const struct ta_place *place);

/* " (rank 3, device 1)", as far as the run has several ranks or devices and the row says it; else
 * "". */
TA_API const char *ta_place_owner(struct ta_advice *advice, const struct ta_report *report,
                                  const struct ta_place *place);

/* A number for people that lives as long as the advice. */
TA_API const char *ta_advice_number(struct ta_advice *advice, double value, enum ta_unit unit);

/* "113 s of 160 s": both in one unit where they are not far apart. */
TA_API const char *ta_advice_part(struct ta_advice *advice, double part, double whole,
                                  enum ta_unit unit);

/* A rule about one cell: the worst one, against a threshold. */
struct ta_cell_rule {
    struct ta_look look;
    const char *finding, *rule;
    const char *before, *after; /* title: before, value, after, owner */
    const char *advice;
    const char *predicate;     /* "temperature": the threshold reads "temperature > 85 °C" */
    enum ta_severity severity; /* when the rule fires */
    double confidence;
};

/* Gives the finding when the place, of a cell that the rule has found, is beyond the threshold, one
 * severity higher when it is beyond `severe`; says whether it did. */
TA_API bool ta_advise_place(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_cell_rule *rule, const struct ta_place *place,
                            double threshold, double severe);

/* The same of the worst cell that the rule looks at. */
static inline bool ta_advise_cell(const struct ta_refs *in, struct ta_advice *advice,
                                  const struct ta_cell_rule *rule, double threshold, double severe)
{
    struct ta_place place;
    return ta_look_worst(in, &rule->look, &place) &&
           ta_advise_place(in, advice, rule, &place, threshold, severe);
}

TA_END_DECLS

#endif
