/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first lines: what was run, and the verdict. */
#include "lib/scheme.h"
#include "text.h"

#include <stdio.h>

/* The answer of a comparison comes first: it is pasted elsewhere. */
static void put_headline(const struct page *page)
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
    char here[TA_UNIT_TEXT_MAX], world[TA_UNIT_TEXT_MAX], line[2048];
    const bool known = run->world_size != TA_MISSING;
    const bool devices = run->devices && *run->devices;
    char ranks[2 * TA_UNIT_TEXT_MAX + TA_SCHEME_TEXT_MAX + 16] = "", scheme[TA_SCHEME_TEXT_MAX];
    ta_scheme_say(scheme, page->report);
    if (run->n_ranks) /* several runs have none together */
        snprintf(ranks, sizeof ranks, " · %s%s%s rank%s%s%s",
                 ta_unit_format(here, (double)run->n_ranks, TA_UNIT_COUNT), known ? " of " : "",
                 known ? ta_unit_format(world, (double)run->world_size, TA_UNIT_COUNT) : "",
                 (known ? run->world_size : (int64_t)run->n_ranks) == 1 ? "" : "s",
                 *scheme ? ", " : "", scheme);
    snprintf(line, sizeof line, TEXT_SIGNATURE "%s · %s%s%s%s", page->options->version, run->title,
             ranks, devices ? " · " : "", devices ? run->devices : "");
    if (ta_report_kind(page->report) == TA_REPORT_DIFF) {
        put_headline(page);
        text_style(page, TEXT_DIM);
        text_wrap(page, line, 0);
        text_reset(page);
    } else {
        text_wrap(page, line, 0);
        put_recordings(page);
        ta_putc(page->out, '\n');
        put_headline(page);
    }
}
