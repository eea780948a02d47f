/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The top of the page: what was run, the verdict, the key figures, how good the data is. */
#include "html.h"
#include "lib/scheme.h"
#include "report/tables.h"

#include <traceanalyze/table.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* More ranges of ranks than this are not spelled out. */
enum { RANGES_SHOWN = 6 };

/* Of figures on the first screen. */
enum { TILES_SHOWN = 6 };

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
        html_put(page, ranges ? ", %ld" : "%ld", run->ranks[i]);
        if (last > i)
            html_put(page, "–%ld", run->ranks[last]);
        i = last + 1;
    }
}

/* ---- what was run with what ------------------------------------------------------------------ */

enum { TAG_KEY, TAG_VALUE, LOOP };
static const struct ta_ref reads[] = {[TAG_KEY] = {"run.tags", "key"},
                                      [TAG_VALUE] = {"run.tags", "value"},
                                      [LOOP] = {"diffusion.loops", "loop"}};

/* A tag of the files, the first one with this key; empty without. */
static struct ta_slice tag_of(const struct ta_refs *in, const char *key)
{
    for (size_t i = 0; i < ta_ref_rows(in, TAG_KEY); i++)
        if (ta_ref_reads(in, TAG_KEY, i, key))
            return ta_ref_text(in, TAG_VALUE, i);
    return TA_LIT("");
}

/* "CUDA 12.8", "HIP 7.13": versions are numbers, in which the major one is times `major`. */
static void put_version(const struct page *page, const struct ta_refs *in, const char *name,
                        const char *key, long major, long minor)
{
    char text[24];
    const struct ta_slice tag = tag_of(in, key);
    if (tag.len == 0 || tag.len >= sizeof text)
        return;
    snprintf(text, sizeof text, "%.*s", (int)tag.len, tag.ptr);
    char *end;
    const long version = strtol(text, &end, 10);
    if (*end == '\0' && version >= major)
        html_put(page, " <span>%s %ld.%ld</span>", name, version / major, version % major / minor);
}

static void put_recorded(const struct page *page, const struct ta_refs *in)
{
    static const struct {
        const char *key, *what;
    } options[] = {
        {"with_stack", "Python stacks"}, {"record_shapes", "shapes"}, {"profile_memory", "memory"}};
    const char *before = " <span>recorded with ";
    for (size_t i = 0; i < TA_LENGTH(options); i++)
        if (ta_slice_equal(tag_of(in, options[i].key), TA_LIT("1"))) {
            ta_puts(page->out, before);
            ta_puts(page->out, options[i].what);
            before = ", ";
        }
    if (*before == ',')
        ta_puts(page->out, "</span>");
}

static void put_environment(const struct page *page)
{
    struct ta_refs in;
    ta_refs_open(&in, page->report, reads, TA_LENGTH(reads));
    if (ta_ref_rows(&in, LOOP) && ta_ref_text(&in, LOOP, 0).len) {
        ta_puts(page->out, " <span>");
        ta_put_html(page->out, ta_ref_text(&in, LOOP, 0));
        ta_puts(page->out, "</span>");
    }
    put_version(page, &in, "CUDA", "cuda_runtime_version", 1000, 10);
    put_version(page, &in, "HIP", "hip_runtime_version", 10000000, 100000);
    put_recorded(page, &in);
}

static void put_verdict(const struct page *page)
{
    const struct ta_verdict *verdict = ta_report_verdict(page->report);
    if (!verdict->headline || !verdict->headline[0])
        return;
    ta_puts(page->out, "<p class=\"verdict\"><span class=\"label\">Verdict</span> ");
    html_prose(page, verdict->headline);
    if (verdict->bottleneck && ta_report_finding(page->report, verdict->bottleneck))
        html_put(page, " <a href=\"#f-%s\">See the finding</a>", verdict->bottleneck);
    ta_puts(page->out, "</p>\n");
}

/* Figures that say nothing of how well the run goes, or what another one says. */
static bool is_for_lookup(const struct ta_scalar *scalar)
{
    static const char *const ids[] = {"kernels", "events", "gpu_compute_share", "gpu_window_ns",
                                      "parameters"};
    for (size_t i = 0; i < TA_LENGTH(ids); i++)
        if (strcmp(scalar->id, ids[i]) == 0)
            return true;
    return false;
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

/* Of the figures of the run `most`. */
static void put_tiles(const struct page *page, const struct ta_section *section, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items && n < most; i++) {
        const struct ta_scalar *scalar = section->items[i].scalar;
        if (section->items[i].kind != TA_ITEM_SCALAR || !ta_scalar_is_shown(page->report, scalar))
            continue;
        if (most != SIZE_MAX && is_for_lookup(scalar))
            continue;
        if (n++ == 0)
            ta_puts(page->out, "<dl class=\"tiles\">\n");
        put_tile(page, scalar, most == SIZE_MAX);
    }
    if (n)
        ta_puts(page->out, "</dl>\n");
}

void html_tiles(const struct page *page, const struct ta_section *section)
{
    put_tiles(page, section, SIZE_MAX);
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
        const struct ta_finding of_run = {.saving_low_ns = finding->saving_low_ns,
                                          .saving_high_ns = finding->saving_high_ns};
        if (n++ == 0)
            ta_puts(page->out, "<ol class=\"first\" aria-label=\"First findings\">\n");
        html_put(page, "<li class=\"is-%s\"><a href=\"#f-%s\">",
                 ta_severity_name(finding->severity), finding->id);
        html_prose(page, finding->title);
        ta_puts(page->out, "</a>");
        if (*ta_saving_text(&of_run, saving))
            html_put(page, " <span class=\"gain\">saves %s</span>", saving);
        if (finding->advice) {
            ta_puts(page->out, " <span class=\"do\">");
            html_prose(page, finding->advice);
            ta_puts(page->out, "</span>");
        }
        ta_puts(page->out, "</li>\n");
    }
    if (n)
        ta_puts(page->out, "</ol>\n");
    for (size_t i = 0; n && i < ta_report_section_count(page->report); i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        if (strcmp(section->id, HTML_FINDINGS) == 0 && section->summary)
            html_put(page, "<p class=\"sum\">%s</p>\n", section->summary);
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

/* Names are those of folders: what is no letter of a URL is written by its number. */
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
    char scheme[TA_SCHEME_TEXT_MAX];
    ta_puts(page->out, "<header class=\"hero\">\n<h1>");
    html_name(page, ta_slice_of(run->title));
    ta_puts(page->out, "</h1>\n<p class=\"facts\">");
    if (run->n_ranks) { /* several runs have none together */
        ta_puts(page->out, "<span>");
        html_count(page, run->n_ranks, "rank", "ranks");
        if (run->world_size != TA_MISSING && (uint64_t)run->world_size != run->n_ranks)
            html_put(page, " of a world of %ld", run->world_size);
        if (run->n_ranks > 1) {
            ta_puts(page->out, " (");
            put_rank_ranges(page, run);
            ta_putc(page->out, ')');
        }
        if (*ta_scheme_say(scheme, page->report))
            html_put(page, ", %s", scheme);
        ta_puts(page->out, "</span>");
    }
    if (run->devices && run->devices[0])
        html_put(page, " <span>%s</span>", run->devices);
    put_environment(page);
    ta_puts(page->out, "</p>\n");
    put_recordings(page);
    put_verdict(page);
    put_runs(page);
    const enum ta_status status = html_picture(page);
    if (ta_report_kind(page->report) == TA_REPORT_RUN)
        put_first_findings(page);
    for (size_t i = 0; i < ta_report_section_count(page->report); i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        if (strcmp(section->id, HTML_OVERVIEW) == 0)
            put_tiles(page, section, TILES_SHOWN);
    }

    put_quality_line(page);
    ta_puts(page->out, "</header>\n");
    return status;
}
