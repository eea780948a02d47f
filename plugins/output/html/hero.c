/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The top of the page: what was run, the verdict, the key figures, how good the data is. */
#include "html.h"
#include "lib/identity.h"
#include "lib/short_finding.h"
#include "report/sections.h"
#include "report/tables.h"

#include <traceanalyze/table.h>

#include <ctype.h>

/* A longer part of the identity may be broken at the end of a line. */
enum { WHOLE_MOST = 24 };

static void put_identity(const struct page *page)
{
    struct ta_identity identity;
    ta_identity_say(&identity, page->report);
    ta_puts(page->out, "<p class=\"facts\">");
    for (size_t i = 0; i < identity.n; i++) {
        const bool is_whole = strlen(identity.parts[i]) <= WHOLE_MOST;
        ta_puts(page->out, i ? " " : "");
        ta_puts(page->out, is_whole ? "<span class=\"whole\">" : "<span>");
        ta_put_html(page->out, ta_slice_of(identity.parts[i]));
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
    html_prose(page, verdict->headline);
    ta_puts(page->out, "</p>\n");
}

static void put_tile(const struct page *page, const struct ta_scalar *scalar, bool with_note)
{
    html_put(page, "<div><dt>%s</dt><dd>", scalar->title);
    if (scalar->value.kind == TA_CELL_NULL)
        ta_puts(page->out, "<span class=\"nil\">not recorded</span>");
    else
        html_value(page, &scalar->value, scalar->unit);
    ta_puts(page->out, "</dd>");
    if (with_note && scalar->note && scalar->note[0])
        html_put(page, "<dd class=\"note\">%s</dd>", scalar->note);
    ta_puts(page->out, "</div>\n");
}

void html_tiles(const struct page *page, const struct ta_section *section)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++) {
        const struct ta_scalar *scalar = section->items[i].scalar;
        if (section->items[i].kind != TA_ITEM_SCALAR || !ta_scalar_is_shown(page->report, scalar))
            continue;
        if (n++ == 0)
            ta_puts(page->out, "<dl class=\"tiles\">\n");
        put_tile(page, scalar, true);
    }
    if (n)
        ta_puts(page->out, "</dl>\n");
}

/* The figures of the first screen. */
static void put_figures(const struct page *page)
{
    const struct ta_scalar *figures[TA_FIGURES_MOST];
    const size_t n = ta_report_figures(page->report, figures);
    if (n)
        ta_puts(page->out, "<dl class=\"tiles\">\n");
    for (size_t i = 0; i < n; i++)
        put_tile(page, figures[i], false);
    if (n)
        ta_puts(page->out, "</dl>\n");
}

/* What has room in one line of the widest page. */
enum { ADVICE_MOST = 130 };

/* How many more findings there are, and what all of them come to. */
static void put_sum(const struct page *page, size_t more)
{
    const char *summary = NULL;
    for (size_t i = 0; i < ta_report_section_count(page->report) && !summary; i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        summary = strcmp(section->id, TA_SECTION_FINDINGS) == 0 ? section->summary : NULL;
    }
    if (!more && !summary)
        return;
    ta_puts(page->out, "<p class=\"sum\">");
    if (more)
        html_put(page, "<a href=\"#g-%s\">%zu more finding%s</a>. ",
                 ta_chapter_id(TA_CHAPTER_FINDINGS), more, more == 1 ? "" : "s");
    if (summary)
        html_put(page, "%s", summary);
    ta_puts(page->out, "</p>\n");
}

/* The first findings in short, each a link to the whole one. */
static void put_first_findings(const struct page *page)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    size_t n = 0;
    while (n < HTML_FIRST_FINDINGS &&
           (item = ta_report_next(page->report, TA_ITEM_FINDING, &walk)) != NULL) {
        const struct ta_finding *finding = item->finding;
        char saving[TA_SAVING_TEXT_MAX];
        struct ta_short_finding words;
        ta_finding_shorten(&words, page->report, finding);
        const struct ta_finding of_run = {.saving_low_ns = finding->saving_low_ns,
                                          .saving_high_ns = finding->saving_high_ns};
        if (n++ == 0)
            ta_puts(page->out, "<ol class=\"first\" aria-label=\"First findings\">\n");
        html_put(page, "<li class=\"is-%s\"><a href=\"#f-%s\">",
                 ta_severity_name(finding->severity), finding->id);
        html_prose(page, words.title);
        ta_puts(page->out, "</a>");
        if (*ta_saving_text(&of_run, saving))
            html_put(page, " <span class=\"gain\">saves %s</span>", saving);
        if (words.advice) {
            char advice[TA_SENTENCE_MAX];
            snprintf(advice, sizeof advice, "%.*s",
                     (int)ta_sentences_within(words.advice, ADVICE_MOST), words.advice);
            ta_puts(page->out, " <span class=\"do\">");
            html_prose(page, advice);
            ta_puts(page->out, "</span>");
        }
        ta_puts(page->out, "</li>\n");
    }
    if (n == 0)
        return;
    size_t more = 0;
    while (ta_report_next(page->report, TA_ITEM_FINDING, &walk) != NULL)
        more++;
    ta_puts(page->out, "</ol>\n");
    put_sum(page, more);
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
        [TA_QUALITY_CLEAN] = "All data read",
        [TA_QUALITY_REPAIRED] = "Data repaired, nothing lost",
        [TA_QUALITY_LOSSY] = "Data incomplete",
    };
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    size_t losses = 0, repairs = 0;
    count_kinds(accounts, &losses, &repairs);
    html_put(page, "<p class=\"quality is-%s\"><strong>%s</strong> <span>",
             ta_quality_status_name(accounts->status), words[accounts->status]);
    html_number(page, accounts->totals.files_used);
    ta_puts(page->out, " of ");
    html_count(page, accounts->totals.files_seen, "file used", "files used");
    ta_puts(page->out, "</span> <span>");
    html_count(page, accounts->totals.events_kept, ta_accounts_noun(accounts, true),
               ta_accounts_noun(accounts, false));
    if (losses) {
        ta_puts(page->out, "</span> <span>");
        html_count(page, losses, "kind of loss", "kinds of loss");
    }
    if (repairs) {
        ta_puts(page->out, "</span> <span>");
        html_count(page, repairs, "kind of repair", "kinds of repair");
    }
    ta_puts(page->out, "</span> <a href=\"#s-" HTML_QUALITY "\">Details</a></p>\n");
}

/* What files are that are not simply ranks of the run. */
static void put_recordings(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    for (size_t i = 0; i < accounts->n_findings; i++)
        if (accounts->findings[i].code == TA_Q_RECORDINGS && accounts->findings[i].text)
            html_put(page, "<p class=\"facts\">%s</p>\n", accounts->findings[i].text);
}

/* Names are folder names: characters that a URL does not allow are written by their numbers. */
static void put_url(struct ta_file *out, const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (isalnum(*c) || strchr("-_.", *c))
            ta_putc(out, (char)*c);
        else
            ta_putf(out, "%%%02X", *c);
}

/* Links to the reports of several runs. */
static void put_runs(const struct page *page)
{
    const char *const *runs = page->options->runs;
    if (!runs)
        return;
    ta_puts(page->out, "<p class=\"facts\">");
    for (; *runs; runs++) {
        ta_puts(page->out, "<span><a href=\"");
        put_url(page->out, *runs);
        html_put(page, "/report.html\">%s</a></span> ", *runs);
    }
    ta_puts(page->out, "</p>\n");
}

enum ta_status html_hero(const struct page *page)
{
    const struct ta_run_info *run = ta_report_run(page->report);
    ta_puts(page->out, "<header class=\"hero\">\n<h1>");
    html_name(page, ta_slice_of(run->title));
    ta_puts(page->out, "</h1>\n");
    put_identity(page);
    put_recordings(page);
    put_verdict(page);
    put_runs(page);
    const enum ta_status status = html_picture(page);
    put_first_findings(page);
    put_figures(page);
    put_quality_line(page);
    ta_puts(page->out, "</header>\n");
    return status;
}
