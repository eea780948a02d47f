/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks of rules at more than one cell. */
#ifndef TA_RECOMMEND_RULE_H
#define TA_RECOMMEND_RULE_H

#include "traceanalyze/rule.h"

/* Whether a row is one that the look is about and has a number in its column. */
bool ta_look_takes(const struct ta_refs *in, const struct ta_look *look, size_t row);

double ta_look_most(const struct ta_refs *in, const struct ta_look *look, int64_t rank);

/* The cell that a look finds in a row with the rank and device of `place`, of any table. */
bool ta_look_same(const struct ta_refs *in, const struct ta_look *look,
                  const struct ta_place *place, struct ta_place *same);

/* Memory ran out: the report fails after the rule. */
void ta_advice_fail(struct ta_advice *advice);

#endif
