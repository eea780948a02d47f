/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A figure that a profiler reports, without a sentence of its own. */
#include "report/words.h"

#include <traceanalyze/headline.h>
#include <traceanalyze/output.h>

#include <math.h>

enum { VALUE, FIGURE };
static const struct ta_ref reads[] = {
    [VALUE] = {"figures.reported", "value"},
    [FIGURE] = {"figures.reported", "figure"},
};

/* A figure without a sentence of its own. */
static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    char name[TA_WORD_TEXT_MAX], value[TA_UNIT_TEXT_MAX];
    if (ta_ref_rows(in, VALUE) == 0)
        return;
    const struct ta_slice words = ta_word_text(ta_ref_text(in, FIGURE, 0), name);
    const enum ta_unit unit = ta_table_unit(ta_ref_table(in, VALUE), 0, ta_ref_column(in, VALUE));
    bool has_times = false;
    for (size_t row = 0; row < ta_ref_rows(in, VALUE); row++)
        has_times |=
            ta_table_unit(ta_ref_table(in, VALUE), row, ta_ref_column(in, VALUE)) == TA_UNIT_NS;
    ta_say(line, "The profiler itself reports %zu figure%s%s: %.*s is %s.", ta_ref_rows(in, VALUE),
           ta_ref_rows(in, VALUE) > 1 ? "s" : "", has_times ? "" : " and no times", (int)words.len,
           words.ptr, ta_unit_format(value, ta_ref_number(in, VALUE, 0, NAN), unit));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 8, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, reported, &ops, .title = "Reported figures",
          .summary = "A figure that a profiler reports", .version = "1");
