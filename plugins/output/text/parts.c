/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both forms of the summary say: figures, savings, the state of the data. */
#include "report/unit.h"
#include "text.h"

#include <stdio.h>

enum text_style text_severity(enum ta_severity severity)
{
    return severity >= TA_HIGH ? TEXT_BAD : severity == TA_MEDIUM ? TEXT_WARN : TEXT_DIM;
}

const char *text_saving(const struct ta_finding *finding, char text[TEXT_SAVING_MAX])
{
    char saving[TA_SAVING_TEXT_MAX], confidence[TA_UNIT_TEXT_MAX];
    *text = '\0';
    if (finding->saving_high_ns != TA_MISSING)
        snprintf(text, TEXT_SAVING_MAX, "saves %s, confidence %s", ta_saving_text(finding, saving),
                 ta_unit_format_tick(confidence, finding->confidence, 1, TA_UNIT_RATIO, true));
    return text;
}

enum text_style text_quality_style(enum ta_quality_status status)
{
    return status == TA_QUALITY_CLEAN      ? TEXT_GOOD
           : status == TA_QUALITY_REPAIRED ? TEXT_WARN
                                           : TEXT_BAD;
}

const char *text_quality(const struct page *page, char text[TEXT_QUALITY_MAX])
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    const struct ta_account_totals *totals = &accounts->totals;
    const uint64_t counts[] = {totals->files_used, totals->files_seen, totals->events_kept,
                               totals->events_seen};
    char texts[4][TA_UNIT_TEXT_MAX];
    for (size_t i = 0; i < 4; i++)
        ta_unit_format(texts[i], (double)counts[i], TA_UNIT_COUNT);
    snprintf(text, TEXT_QUALITY_MAX, "%s · %s of %s files · %s of %s %s used",
             ta_quality_status_name(accounts->status), texts[0], texts[1], texts[2], texts[3],
             ta_accounts_noun(accounts, totals->events_seen == 1));
    return text;
}
