/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first lines: what was run, and the verdict. */
#include "lib/identity.h"
#include "text.h"

#include <stdio.h>

static void put_verdict(const struct page *page)
{
    text_style(page, TEXT_BOLD);
    text_wrap(page, ta_report_verdict(page->report)->headline, 0);
    text_reset(page);
}

/* What files are that are not simply ranks of the run. */
static void put_recordings(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    for (size_t i = 0; i < accounts->n_findings; i++) {
        const struct ta_quality_finding *finding = &accounts->findings[i];
        if (finding->code != TA_Q_RECORDINGS || !finding->text)
            continue;
        text_style(page, TEXT_DIM);
        text_wrap(page, finding->text, 0);
        text_reset(page);
    }
}

void text_head(const struct page *page)
{
    const struct ta_run_info *run = ta_report_run(page->report);
    char parts[TA_IDENTITY_TEXT_MAX], line[TA_IDENTITY_TEXT_MAX + 512];
    struct ta_identity identity;
    ta_identity_say(&identity, page->report);
    snprintf(line, sizeof line, TEXT_SIGNATURE "%s · %s%s%s", page->options->version, run->title,
             identity.n ? " · " : "", ta_identity_line(&identity, parts));
    text_wrap(page, line, 0);
    put_recordings(page);
    ta_putc(page->out, '\n');
    put_verdict(page);
}
