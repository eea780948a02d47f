/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules found, in one sentence. */
#include "report/tables.h"
#include "traceanalyze/table.h"

#include <stdio.h>

enum { OUTCOME };
static const struct ta_ref reads[] = {[OUTCOME] = {"findings.rules", "outcome"}};

static size_t count(const struct ta_refs *in, const char *outcome)
{
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, OUTCOME); row++)
        n += ta_ref_reads(in, OUTCOME, row, outcome);
    return n;
}

const char *ta_rules_said(const struct ta_report *report, char text[TA_RULES_TEXT_MAX])
{
    struct ta_refs in;
    ta_refs_open(&in, report, reads, TA_LENGTH(reads));
    const size_t nothing = count(&in, "nothing"), no_data = count(&in, "no data");
    const char *more = count(&in, "found") > 0 ? "more " : "";
    char needs[TA_RULES_TEXT_MAX / 2] = "";
    *text = '\0';
    if (no_data)
        snprintf(needs, sizeof needs, "; %zu need%s data that was not recorded", no_data,
                 no_data == 1 ? "s" : "");
    if (nothing)
        snprintf(text, TA_RULES_TEXT_MAX, "%zu %srule%s found nothing to improve%s.", nothing, more,
                 nothing == 1 ? "" : "s", needs);
    return text;
}
