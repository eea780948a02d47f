/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The top of the page: what was run, the verdict, the key figures, how good the data is. */
#include "html.h"

#include <inttypes.h>

/* More ranges of ranks than this are not spelled out. */
enum { RANGES_SHOWN = 6 };

/* "0–3, 5" */
static void put_rank_ranges(const struct page *page, const struct ta_run_info *run)
{
    size_t ranges = 0;
    for (size_t i = 0; i < run->n_ranks; ranges++) {
        size_t last = i;
        while (last + 1 < run->n_ranks && run->ranks[last + 1] == run->ranks[last] + 1)
            last++;
        if (ranges == RANGES_SHOWN) {
            ta_puts(page->out, ", …");
            return;
        }
        ta_putf(page->out, "%s%" PRId64, ranges ? ", " : "", run->ranks[i]);
        if (last > i)
            ta_putf(page->out, "–%" PRId64, run->ranks[last]);
        i = last + 1;
    }
}

static void put_facts(const struct page *page)
{
    const struct ta_run_info *run = ta_report_run(page->report);
    ta_puts(page->out, "<p class=\"facts\"><span>");
    html_count(page, run->n_ranks, "rank", "ranks");
    if (run->world_size != TA_MISSING && (uint64_t)run->world_size != run->n_ranks)
        ta_putf(page->out, " of a world of %" PRId64, run->world_size);
    if (run->n_ranks > 1) {
        ta_puts(page->out, " (");
        put_rank_ranges(page, run);
        ta_putc(page->out, ')');
    }
    ta_puts(page->out, "</span>");
    if (run->devices && run->devices[0]) {
        ta_puts(page->out, " <span>");
        html_text(page, run->devices);
        ta_puts(page->out, "</span>");
    }
    ta_puts(page->out, "</p>\n");
}

static void put_verdict(const struct page *page)
{
    const struct ta_verdict *verdict = ta_report_verdict(page->report);
    if (!verdict->headline || !verdict->headline[0])
        return;
    ta_puts(page->out, "<p class=\"verdict\"><span class=\"label\">Verdict</span> ");
    html_text(page, verdict->headline);
    if (verdict->bottleneck && ta_report_finding(page->report, verdict->bottleneck)) {
        ta_puts(page->out, " <a href=\"#f-");
        html_text(page, verdict->bottleneck);
        ta_puts(page->out, "\">See the finding</a>");
    }
    ta_puts(page->out, "</p>\n");
}

static void put_tile(const struct page *page, const struct ta_scalar *scalar)
{
    ta_puts(page->out, "<div><dt>");
    html_text(page, scalar->title);
    ta_puts(page->out, "</dt><dd>");
    if (scalar->value.kind == TA_CELL_NULL)
        ta_puts(page->out, "<span class=\"nil\">not recorded</span>");
    else
        html_value(page, &scalar->value, scalar->unit);
    ta_puts(page->out, "</dd>");
    if (scalar->note && scalar->note[0]) {
        ta_puts(page->out, "<dd class=\"note\">");
        html_text(page, scalar->note);
        ta_puts(page->out, "</dd>");
    }
    ta_puts(page->out, "</div>\n");
}

void html_tiles(const struct page *page, const struct ta_section *section)
{
    bool any = false;
    for (size_t i = 0; i < section->n_items; i++) {
        if (section->items[i].kind != TA_ITEM_SCALAR ||
            !ta_scalar_is_shown(page->report, section->items[i].scalar))
            continue;
        if (!any)
            ta_puts(page->out, "<dl class=\"tiles\">\n");
        any = true;
        put_tile(page, section->items[i].scalar);
    }
    if (any)
        ta_puts(page->out, "</dl>\n");
}

static void put_key_figures(const struct page *page)
{
    for (size_t i = 0; i < ta_report_section_count(page->report); i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        if (strcmp(section->id, HTML_OVERVIEW) == 0)
            html_tiles(page, section);
    }
}

/* Marks the codes that were found. */
static void mark_codes(const struct ta_quality_finding *findings, size_t n,
                       bool is_found[TA_QUALITY_ERROR + 1][TA_Q_COUNT])
{
    for (size_t i = 0; i < n; i++)
        is_found[findings[i].severity][findings[i].code] = true;
}

/* Kinds of what was found, however many files have it: losses, and what was mended. */
static void count_kinds(const struct ta_accounts *accounts, size_t *losses, size_t *repairs)
{
    bool is_found[TA_QUALITY_ERROR + 1][TA_Q_COUNT] = {{false}};
    mark_codes(accounts->findings, accounts->n_findings, is_found);
    for (size_t i = 0; i < accounts->n_files; i++)
        mark_codes(accounts->files[i].findings, accounts->files[i].n_findings, is_found);
    for (size_t code = 0; code < TA_Q_COUNT; code++) {
        *losses += is_found[TA_QUALITY_LOSS][code] || is_found[TA_QUALITY_ERROR][code];
        *repairs += is_found[TA_QUALITY_NOTICE][code];
    }
}

static void put_quality_line(const struct page *page)
{
    static const char *const words[] = {
        [TA_QUALITY_CLEAN] = "Data complete",
        [TA_QUALITY_REPAIRED] = "Data repaired, nothing lost",
        [TA_QUALITY_LOSSY] = "Data incomplete",
    };
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    size_t losses = 0, repairs = 0;
    count_kinds(accounts, &losses, &repairs);
    ta_putf(page->out, "<p class=\"quality is-%s\"><strong>",
            ta_quality_status_name(accounts->status));
    ta_puts(page->out, words[accounts->status]);
    ta_puts(page->out, "</strong> <span>");
    html_number(page, accounts->totals.files_used);
    ta_puts(page->out, " of ");
    html_count(page, accounts->totals.files_seen, "file used", "files used");
    ta_puts(page->out, "</span> <span>");
    html_count(page, accounts->totals.events_kept, ta_accounts_noun(accounts, true),
               ta_accounts_noun(accounts, false));
    ta_puts(page->out, "</span>");
    if (losses) {
        ta_puts(page->out, " <span>");
        html_count(page, losses, "kind of loss", "kinds of loss");
        ta_puts(page->out, "</span>");
    }
    if (repairs) {
        ta_puts(page->out, " <span>");
        html_count(page, repairs, "kind of repair", "kinds of repair");
        ta_puts(page->out, "</span>");
    }
    ta_puts(page->out, " <a href=\"#s-" HTML_QUALITY "\">Details</a></p>\n");
}

void html_hero(const struct page *page)
{
    ta_puts(page->out, "<header class=\"hero\">\n<h1>");
    html_name(page, ta_slice_of(ta_report_run(page->report)->title));
    ta_puts(page->out, "</h1>\n");
    put_facts(page);
    put_verdict(page);
    put_key_figures(page);
    put_quality_line(page);
    ta_puts(page->out, "</header>\n");
}
