/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports among the inputs, and the files next to them. */
#include "ingest/inputs/beside.h"

#include "base/context.h"

/* ---- places -------------------------------------------------------------------------------- */

/* "runs/a/" of "runs/a/report.json". */
static struct ta_slice folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (struct ta_slice){path, slash ? (size_t)(slash + 1 - path) : 0};
}

static bool starts_with(const char *path, struct ta_slice start)
{
    return strncmp(path, start.ptr, start.len) == 0;
}

/* The path up to the first dot of the name: products of one report have that in common. */
static struct ta_slice stem_of(const char *path)
{
    const size_t folder = folder_of(path).len;
    return (struct ta_slice){path, folder + strcspn(path + folder, ".")};
}

/* Whether `path` is next to the report where its products are. */
static bool is_at_product(const char *path, const char *report)
{
    static const char *const folders[] = {"tables/", "charts/"};
    const struct ta_slice folder = folder_of(report), stem = stem_of(report);
    if (!starts_with(path, folder))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (starts_with(path + folder.len, ta_slice_of(folders[i])))
            return true;
    return starts_with(path, stem) && path[stem.len] == '.';
}

/* ---- what is a product --------------------------------------------------------------------- */

static bool is_product(const struct ta_inputs *inputs, const struct ta_source *source)
{
    for (size_t i = 0; source->path && i < inputs->reports.n; i++) {
        const char *report = inputs->reports.at[i].path;
        if (is_at_product(source->path, report) ||
            (source->is_ours && starts_with(source->path, folder_of(report))))
            return true;
    }
    return false;
}

/* A page is another form of the report next to it, which has all rows. */
static bool is_page_of(const struct ta_source *page, const struct ta_source *report)
{
    const struct ta_slice stem = stem_of(page->path);
    return ta_slice_ends(ta_slice_of(page->path), ".html") &&
           !ta_slice_ends(ta_slice_of(report->path), ".html") && starts_with(report->path, stem) &&
           report->path[stem.len] == '.';
}

static void leave_out(struct ta_inputs *inputs, const struct ta_source *source, const char *what)
{
    ta_quality_add(&inputs->job, TA_Q_SKIPPED_FILE, TA_NO_OFFSET, "Not read: \"%s\": %s",
                   source->shown, what);
}

static void leave_out_pages(struct ta_inputs *inputs)
{
    const size_t n = inputs->reports.n;
    const struct ta_source *reports = inputs->reports.at;
    inputs->reports.n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n && !is_page_of(&reports[i], &reports[k]))
            k++;
        if (k < n)
            leave_out(inputs, &reports[i], "the page of a report that is read");
        else
            inputs->reports.at[inputs->reports.n++] = reports[i];
    }
}

/* ---- the choice ---------------------------------------------------------------------------- */

/* Whether there is nothing else; products of the reports are taken out of the sources then. */
static bool are_alone(struct ta_inputs *inputs)
{
    struct ta_sources *sources = &inputs->sources;
    for (size_t i = 0; i < sources->list.n; i++)
        if (!is_product(inputs, &sources->list.at[i]))
            return false;
    if (inputs->summaries.n)
        return false;
    for (size_t i = 0; i < sources->list.n; i++)
        leave_out(inputs, &sources->list.at[i], "an output of traceanalyze");
    sources->list.n = 0;
    return true;
}

enum ta_status ta_choose_reports(struct ta_ctx *ctx, const struct ta_run_options *options,
                                 struct ta_inputs *inputs)
{
    struct ta_sources *sources = &inputs->sources;
    const bool alone = are_alone(inputs);
    if (options->reports)
        leave_out_pages(inputs);
    const size_t n = inputs->reports.n;
    inputs->reports.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ta_source report = inputs->reports.at[i];
        bool done = true;
        if (options->reports && (report.is_named || alone))
            inputs->reports.at[inputs->reports.n++] = report;
        else if (report.is_named || alone)
            done = ta_vec_push(&sources->list, report);
        else
            leave_out(inputs, &report, "a report of traceanalyze");
        if (!done)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files");
    }
    return ta_sources_order(sources) ? TA_OK
                                     : ta_fail(ctx, TA_ERR_NOMEM, "Cannot name the input files");
}
