/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries: from text to what a run holds. */
#include "analyze/summary/facts.h"
#include "analyze/summary/records.h"
#include "analyze/summary/summary.h"
#include "analyze/summary/table.h"

#include "base/context.h"

#include <inttypes.h>

/* Files that one summary may be of. */
enum { FILES_MOST = 1 << 20 };

bool ta_summary_is(struct ta_slice head)
{
    static const char start[] = "{" TA_SUMMARY_SCHEMA;
    const size_t n = sizeof start - 3; /* of any major version, which is refused by its number */
    return head.len > n && memcmp(head.ptr, start, n) == 0;
}

/* Says what was found wrong, with its place. */
static enum ta_status fail(struct ta_ctx *ctx, const struct ta_pull *pull)
{
    if (pull->arena->failed)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a summary");
    return ta_fail(ctx, TA_ERR_INPUT, "Not a usable summary: %s: byte offset %zu", pull->problem,
                   (size_t)(pull->scan.p - pull->start));
}

/* The opening brace and the schema, which come first in any version. */
static bool open_summary(struct ta_pull *pull)
{
    struct ta_slice key = {"", 0};
    if (!ta_pull_open(pull, '{') || !ta_pull_member(pull, &key) ||
        !ta_slice_equal(key, TA_LIT("schema")))
        return ta_pull_fail(pull, "it does not begin with its schema");
    const char *place = pull->scan.p;
    if (ta_slice_equal(ta_pull_string(pull), TA_LIT("traceanalyze.summary/1")))
        return true;
    if (!pull->problem)
        pull->scan.p = place;
    return ta_pull_fail(pull, "expected the schema \"traceanalyze.summary/1\"");
}

/* ---- the head ------------------------------------------------------------------------------ */

struct files {
    TA_VEC(struct ta_ingested) files;
    TA_VEC(struct ta_source) sources;
};

static void take_files(struct ta_pull *pull, struct files *list)
{
    if (!ta_pull_open(pull, '['))
        return;
    while (ta_pull_item(pull, ']')) {
        if (list->files.n == FILES_MOST || !ta_vec_push(&list->files, ta_ingested_empty) ||
            !ta_vec_push(&list->sources, (struct ta_source){0})) {
            ta_pull_fail(pull, "too many files");
            return;
        }
        ta_summary_take_facts(pull, &list->files.at[list->files.n - 1],
                              &list->sources.at[list->sources.n - 1]);
    }
}

/* A list begins with room for many, and most summaries are of one file. */
static void shrink(struct files *list)
{
    void *files = reallocarray(list->files.at, list->files.n + 1, sizeof *list->files.at);
    list->files.at = files ? files : list->files.at;
    void *sources = reallocarray(list->sources.at, list->sources.n + 1, sizeof *list->sources.at);
    list->sources.at = sources ? sources : list->sources.at;
}

/* Up to the list of files. */
static void take_head(struct ta_pull *pull, struct ta_summary_head *head, struct files *list)
{
    struct ta_slice key;
    if (!open_summary(pull))
        return;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("version"))) {
            head->version = ta_pull_copy(pull);
        } else if (ta_slice_equal(key, TA_LIT("title"))) {
            head->title = ta_pull_copy(pull);
        } else if (ta_slice_equal(key, TA_LIT("job"))) {
            ta_summary_take_findings(pull, &head->job);
        } else if (ta_slice_equal(key, TA_LIT("files"))) {
            take_files(pull, list);
            break;
        } else {
            ta_pull_skip(pull);
        }
    }
    if (!head->version || !head->title || list->files.n == 0)
        ta_pull_fail(pull, "it does not say its title, version and files");
}

enum ta_status ta_summary_read_head(struct ta_ctx *ctx, struct ta_slice text,
                                    struct ta_arena *arena, struct ta_summary_head *head,
                                    bool *more)
{
    struct ta_pull pull = ta_pull_of(text, arena);
    struct files list = {0};
    *head = (struct ta_summary_head){0};
    take_head(&pull, head, &list);
    shrink(&list);
    head->files = list.files.at;
    head->sources = list.sources.at;
    head->n_files = list.sources.n;
    *more = pull.problem && pull.scan.p == pull.scan.end && !arena->failed;
    if (!pull.problem)
        return TA_OK;
    ta_summary_head_free(head);
    return fail(ctx, &pull);
}

void ta_summary_head_free(struct ta_summary_head *head)
{
    for (size_t i = 0; i < head->n_files; i++)
        ta_quality_free(&head->files[i].quality);
    ta_quality_free(&head->job);
    free(head->files);
    free(head->sources);
    *head = (struct ta_summary_head){0};
}

/* ---- the body ------------------------------------------------------------------------------ */

/* One way through a whole text. */
struct body {
    struct ta_summary_in in;
    TA_VEC(struct ta_slice) texts;
    const struct ta_plan *plan;
    struct ta_partial_set *partials; /* NULL: only checking */
    struct ta_ingested *files;
    bool *seen; /* by analysis of the plan */
    bool check_only;
};

static void take_texts(struct body *body)
{
    struct ta_pull *pull = &body->in.pull;
    if (!ta_pull_open(pull, '['))
        return;
    while (ta_pull_item(pull, ']'))
        if (!ta_vec_push(&body->texts, ta_pull_string(pull)))
            ta_pull_fail(pull, "no memory for it");
    body->in.texts = body->texts.at;
    body->in.n_texts = body->texts.n;
}

static void take_records(struct body *body)
{
    struct ta_pull *pull = &body->in.pull;
    if (!ta_pull_open(pull, '['))
        return;
    while (ta_pull_item(pull, ']')) {
        struct ta_trace *trace = ta_summary_take_records(&body->in, body->check_only);
        if (!trace)
            continue;
        struct ta_ingested *file = &body->files[trace->view.rank];
        trace->view.base_ns = file->base_ns;
        trace->dump.set = file->set;
        trace->view.file = (struct ta_trace_file){.path = file->source->shown,
                                                  .format = file->format,
                                                  .bytes = file->bytes,
                                                  .raw_bytes = file->raw_bytes,
                                                  .events = file->events,
                                                  .records = file->kept + file->dropped,
                                                  .number = trace->view.rank};
        ta_trace_free(file->dump); /* of a text that names a file twice */
        file->dump = trace;
    }
}

static size_t find_analysis(const struct ta_plan *plan, struct ta_slice id)
{
    for (size_t i = 0; i < plan->n; i++)
        if (ta_slice_equal(id, ta_slice_of(plan->analyses[i]->plugin.id)))
            return i;
    return SIZE_MAX;
}

static void take_tables(struct body *body, size_t analysis)
{
    struct ta_pull *pull = &body->in.pull;
    const struct ta_analysis_ops *ops = body->plan->analyses[analysis]->plugin.analysis;
    const struct ta_partial_def *defs = ops->partials;
    struct ta_slice key;
    size_t next = 0;
    if (!ta_pull_open(pull, '{'))
        return;
    for (; ta_pull_member(pull, &key); next++) {
        if (!defs || !defs[next].name || !ta_slice_equal(key, ta_slice_of(defs[next].name))) {
            ta_pull_fail(pull, "the tables of an analysis are not those of this version");
            return;
        }
        ta_summary_take_table(
            &body->in, ops, next,
            body->check_only ? NULL : ta_partial_set_table(body->partials, analysis, next));
    }
    if (defs && defs[next].name)
        ta_pull_fail(pull, "the tables of an analysis are not those of this version");
}

/* Whether the analysis was told what it is told in this run.  One that maps nothing has left
 * nothing here, so what it was told is of no matter. */
static void check_options(struct ta_pull *pull, const struct ta_entry *entry)
{
    const struct ta_option *options = entry->plugin.options;
    const bool matters = entry->plugin.analysis->map != NULL;
    struct ta_slice key;
    size_t next = 0;
    bool same = ta_pull_open(pull, '{');
    for (; same && ta_pull_member(pull, &key); next++) {
        const double value = ta_pull_real(pull);
        same = options && options[next].name &&
               ta_slice_equal(key, ta_slice_of(options[next].name)) &&
               (!matters || value == entry->option_values[next]);
    }
    if (!same || (options && options[next].name))
        ta_pull_fail(pull, "an analysis had other options (--set) than it has here");
}

static void take_analysis(struct body *body, size_t analysis)
{
    struct ta_pull *pull = &body->in.pull;
    const struct ta_entry *entry = body->plan->analyses[analysis];
    struct ta_slice key;
    bool has_version = false, has_options = false;
    if (!ta_pull_open(pull, '{'))
        return;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("version"))) {
            has_version = ta_slice_equal(ta_pull_string(pull), ta_slice_of(entry->plugin.version));
        } else if (ta_slice_equal(key, TA_LIT("options")) && has_version) {
            check_options(pull, entry);
            has_options = true;
        } else if (ta_slice_equal(key, TA_LIT("tables")) && has_version && has_options) {
            take_tables(body, analysis);
            body->seen[analysis] = true;
        } else {
            ta_pull_skip(pull);
        }
    }
}

/* Those that this run has no use for are passed over. */
static void take_analyses(struct body *body)
{
    struct ta_slice key;
    if (!ta_pull_open(&body->in.pull, '{'))
        return;
    while (ta_pull_member(&body->in.pull, &key)) {
        const size_t analysis = find_analysis(body->plan, key);
        if (analysis == SIZE_MAX || body->seen[analysis])
            ta_pull_skip(&body->in.pull);
        else
            take_analysis(body, analysis);
    }
}

/* Analyses compare with what devices can do while they read traces. */
static void check_hardware(struct body *body)
{
    struct ta_pull *pull = &body->in.pull;
    const char *here = body->in.ctx->shared->hardware_choice;
    const char *there = ta_pull_copy(pull);
    const bool same = !here || !there ? here == there : strcmp(here, there) == 0;
    if (!same && body->plan->n)
        ta_pull_fail(pull, "it was made with another --hardware than is given here");
}

static void take_body(struct body *body)
{
    struct ta_pull *pull = &body->in.pull;
    struct ta_slice key;
    if (!open_summary(pull))
        return;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("hardware")))
            check_hardware(body);
        else if (ta_slice_equal(key, TA_LIT("texts")))
            take_texts(body);
        else if (ta_slice_equal(key, TA_LIT("records")))
            take_records(body);
        else if (ta_slice_equal(key, TA_LIT("analyses")))
            take_analyses(body);
        else
            ta_pull_skip(pull);
    }
    if (!pull->problem && !ta_pull_at_end(pull))
        ta_pull_fail(pull, "something follows its end");
}

/* Analyses that are younger than a summary have nothing of its files; with none at all it is of no
 * use. */
static enum ta_status check_seen(struct ta_ctx *ctx, const struct body *body)
{
    for (size_t i = 0; i < body->plan->n; i++)
        if (body->seen[i])
            return TA_OK;
    return body->plan->n == 0
               ? TA_OK
               : ta_fail(ctx, TA_ERR_INPUT,
                         "Not a usable summary: it has nothing of what this version needs; write "
                         "it again with `traceanalyze reduce`");
}

/* Notes with each file which analyses know nothing of it. */
static void account_missing(const struct body *body)
{
    for (size_t i = 0; i < body->plan->n; i++) {
        const struct ta_plugin *plugin = &body->plan->analyses[i]->plugin;
        for (size_t f = 0; f < body->in.n_files && !body->seen[i] && plugin->analysis->map; f++)
            ta_quality_add(&body->files[body->in.index_of[f]].quality, TA_Q_ANALYSIS_MISSING,
                           TA_NO_OFFSET,
                           "The summary has nothing of the analysis \"%s\" of this version: write "
                           "it again with `traceanalyze reduce`",
                           plugin->id);
    }
}

/* One pass: whatever is wrong is found by the first, so that the second cannot stop half way. */
static enum ta_status pass(struct ta_ctx *ctx, struct ta_slice text, struct body *body)
{
    struct ta_arena arena = {0};
    body->in.pull = ta_pull_of(text, &arena);
    body->texts.n = 0;
    memset(body->seen, 0, body->plan->n * sizeof *body->seen);
    take_body(body);
    enum ta_status status = body->in.pull.problem ? fail(ctx, &body->in.pull) : TA_OK;
    if (status == TA_OK)
        status = check_seen(ctx, body);
    ta_arena_free(&arena);
    return status;
}

enum ta_status ta_summary_merge(struct ta_ctx *ctx, struct ta_slice text, const size_t *index_of,
                                size_t n_files, struct ta_ingested *files,
                                const struct ta_plan *plan, struct ta_partial_set *partials)
{
    struct body body = {.in = {.ctx = ctx, .index_of = index_of, .n_files = n_files},
                        .plan = plan,
                        .partials = partials,
                        .files = files,
                        .check_only = true,
                        .seen = calloc(plan->n + 1, sizeof *body.seen)};
    enum ta_status status =
        body.seen ? pass(ctx, text, &body) : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a summary");
    body.check_only = false;
    if (status == TA_OK)
        status = pass(ctx, text, &body);
    if (status == TA_OK)
        account_missing(&body);
    free(body.in.samples.at);
    free(body.in.counts.at);
    free(body.texts.at);
    free(body.seen);
    return status;
}
