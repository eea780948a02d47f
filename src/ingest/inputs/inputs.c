/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a run, before any is read.
 *
 * A placeholder of a rank is the place of a file by name.  So the files that summaries are of have
 * to be known, and in order with all others, before partials are merged: the heads of summaries are
 * read first (ADR 17). */
#include "ingest/inputs/inputs.h"

#include "base/context.h"
#include "read/reader.h"
#include "ingest/inputs/beside.h"
#include "ingest/inputs/saved.h"

#include <stdlib.h>

/* ---- copies -------------------------------------------------------------------------------- */

static enum ta_status note_copies(struct ta_ctx *ctx, const struct ta_run_options *options,
                                  struct ta_sources *sources)
{
    const size_t n = sources->list.n;
    size_t *original = reallocarray(NULL, n + 1, sizeof *original);
    if (!original)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of files: files=%zu", n);
    enum ta_status status = ta_check_rank_pattern(ctx, options->rank_regex);
    if (status == TA_OK)
        status = ta_find_duplicates(ctx, sources, options->rank_regex, original);
    for (size_t i = 0; status == TA_OK && i < n; i++)
        if (original[i] != i)
            sources->list.at[i].copy_of = sources->list.at[original[i]].shown;
    free(original);
    return status == TA_OK ? ta_find_combined(ctx, sources) : status;
}

/* ---- summaries ----------------------------------------------------------------------------- */

/* Text of a file that grows from the front, as much as its head takes. */
struct front {
    struct ta_reader *reader;
    struct ta_text text;
    bool ended;
};

static bool read_more(struct front *front)
{
    enum { STEP = 256 * 1024 };
    const size_t wanted = front->text.bytes.n ? 2 * front->text.bytes.n : STEP;
    char *grown = realloc(front->text.bytes.at, wanted);
    if (!grown)
        return false;
    front->text.bytes.at = grown;
    front->text.bytes.max = wanted;
    size_t got;
    do {
        got = ta_reader_read(front->reader, grown + front->text.bytes.n,
                             wanted - front->text.bytes.n);
        front->text.bytes.n += got;
    } while (got && front->text.bytes.n < wanted);
    front->ended = !got;
    return true;
}

static enum ta_status read_head(struct ta_ctx *ctx, struct ta_sources *sources, struct front *front,
                                struct ta_summary_head *head)
{
    enum ta_status status = TA_OK;
    bool more = true;
    do {
        status = read_more(front) ? ta_summary_read_head(ctx, ta_text_slice(&front->text),
                                                         &sources->arena, head, &more)
                                  : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the head of a summary");
    } while (status == TA_ERR_INPUT && more && !front->ended);
    return status;
}

/* A summary for the source, or NULL with TA_OK when it is none; it may be a report then. */
static enum ta_status open_summary(struct ta_ctx *ctx, struct ta_sources *sources,
                                   struct ta_source *source, struct ta_summary_file **summary,
                                   bool *is_report)
{
    struct ta_quality ignored; /* the worker that reads the whole says what is wrong */
    struct front front = {0};
    struct ta_summary_head head = {0};
    enum ta_status status = TA_OK;
    *summary = NULL;
    *is_report = false;
    ta_quality_init(&ignored);
    front.reader = ta_reader_open(ctx, source->path, -1, &ignored);
    if (!front.reader && ta_ctx_status(ctx) == TA_ERR_NOMEM)
        status = TA_ERR_NOMEM;
    if (front.reader && ta_summary_is(ta_reader_probe(front.reader).head))
        status = read_head(ctx, sources, &front, &head);
    else if (front.reader)
        *is_report = ta_saved_is_head(ta_reader_probe(front.reader).head);
    if (front.reader)
        source->is_ours = ta_describe_ours(ta_reader_probe(front.reader).head);
    if (front.reader)
        ta_reader_uncount(front.reader);
    ta_reader_close(front.reader);
    ta_quality_free(&ignored);
    free(front.text.bytes.at);
    if (status == TA_ERR_INPUT) {
        source->damage = ta_arena_printf(&sources->arena, "%s", ta_ctx_causes(ctx));
        return source->damage ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a message");
    }
    if (status != TA_OK || !head.n_files)
        return status;
    *summary = ta_arena_alloc(&sources->arena, sizeof **summary);
    size_t *index_of = ta_arena_alloc(&sources->arena, head.n_files * sizeof *index_of);
    if (!*summary || !index_of) {
        ta_summary_head_free(&head);
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the head of a summary");
    }
    **summary = (struct ta_summary_file){source->path, source->shown, source->size, head, index_of};
    return TA_OK;
}

static bool add_members(struct ta_sources *sources, struct ta_summary_file *summary)
{
    for (size_t i = 0; i < summary->head.n_files; i++) {
        struct ta_source member = summary->head.sources[i];
        member.path = summary->path;
        member.summary = summary;
        member.member = i;
        member.size = i ? 0 : summary->size; /* the first one represents the work */
        if (!ta_vec_push(&sources->list, member))
            return false;
    }
    return true;
}

/* Takes the summaries out of the sources, and the reports. */
static enum ta_status take_summaries(struct ta_ctx *ctx, struct ta_inputs *inputs)
{
    struct ta_sources *sources = &inputs->sources;
    const size_t n = sources->list.n;
    enum ta_status status = TA_OK;
    sources->list.n = 0;
    for (size_t i = 0; status == TA_OK && i < n; i++) {
        struct ta_source source = sources->list.at[i];
        struct ta_summary_file *summary = NULL;
        bool is_report = false;
        if (source.path && !source.refusal && !source.copy_of)
            status = open_summary(ctx, sources, &source, &summary, &is_report);
        if (is_report) {
            if (!ta_vec_push(&inputs->reports, source))
                status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of reports");
        } else if (!summary) {
            sources->list.at[sources->list.n++] = source;
        } else if (!ta_vec_push(&inputs->summaries, summary)) {
            ta_summary_head_free(&summary->head);
            status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the list of summaries");
        }
    }
    return status;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the file that a summary is of is read itself. */
static bool is_read(const struct ta_sources *sources, const struct ta_summary_head *head, size_t i)
{
    const struct ta_source *member = &head->sources[i];
    for (size_t k = 0; k < sources->list.n; k++) {
        const struct ta_source *file = &sources->list.at[k];
        if (file->mtime_s == member->mtime_s && file->size == head->files[i].bytes &&
            strcmp(base_name(file->shown), base_name(member->shown)) == 0)
            return true;
    }
    return false;
}

/* Leaves out summaries next to the traces that they were made from. */
static void leave_out_copies(struct ta_inputs *inputs)
{
    size_t kept = 0;
    for (size_t i = 0; i < inputs->summaries.n; i++) {
        struct ta_summary_file *summary = inputs->summaries.at[i];
        size_t n = 0;
        while (n < summary->head.n_files && is_read(&inputs->sources, &summary->head, n))
            n++;
        if (n < summary->head.n_files) {
            inputs->summaries.at[kept++] = summary;
            continue;
        }
        ta_quality_add(&inputs->job, TA_Q_SKIPPED_FILE, TA_NO_OFFSET,
                       "Not read: \"%s\" is a summary of traces that are read", summary->shown);
        ta_summary_head_free(&summary->head);
    }
    inputs->summaries.n = kept;
}

/* Puts the files of the summaries in their place. */
static enum ta_status unfold(struct ta_ctx *ctx, struct ta_inputs *inputs)
{
    struct ta_sources *sources = &inputs->sources;
    bool done = true;
    for (size_t i = 0; done && i < inputs->summaries.n; i++) {
        struct ta_summary_file *summary = inputs->summaries.at[i];
        if (i == 0)
            inputs->title = summary->head.title;
        else if (inputs->title && strcmp(inputs->title, summary->head.title) != 0)
            inputs->title = NULL; /* not all have the same */
        ta_quality_merge(&inputs->job, &summary->head.job);
        done = add_members(sources, summary);
    }
    if (!done || (inputs->summaries.n && !ta_sources_order(sources)))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the files of the summaries");
    for (size_t i = 0; i < sources->list.n; i++) {
        const struct ta_source *source = &sources->list.at[i];
        if (source->summary)
            source->summary->index_of[source->member] = i;
        else
            inputs->title = NULL;
    }
    return TA_OK;
}

/* Traces are summed up, summaries already are: from an earlier run in the same folder. */
static void pass_over(struct ta_ctx *ctx, struct ta_inputs *inputs)
{
    for (size_t i = 0; i < inputs->summaries.n; i++) {
        struct ta_summary_file *summary = inputs->summaries.at[i];
        ta_log(ctx, TA_LOG_WARNING, "Not read: \"%s\" is a summary already", summary->shown);
        ta_summary_head_free(&summary->head);
    }
    inputs->summaries.n = 0;
}

/* ---- the whole ----------------------------------------------------------------------------- */

enum ta_status ta_inputs_find(struct ta_ctx *ctx, const struct ta_run_options *options,
                              struct ta_inputs *inputs)
{
    *inputs = (struct ta_inputs){.sources = {.quality = NULL}};
    inputs->sources.quality = &inputs->job;
    ta_quality_init(&inputs->job);
    enum ta_status status = ta_discover(ctx, options->inputs, options->n_inputs, &inputs->sources);
    if (status == TA_OK)
        ta_leave_out_pages(ctx, &inputs->sources);
    if (status == TA_OK)
        status = note_copies(ctx, options, &inputs->sources);
    if (status == TA_OK)
        status = take_summaries(ctx, inputs);
    if (status == TA_OK && inputs->reports.n)
        status = ta_choose_reports(ctx, options, inputs);
    if (status == TA_OK && options->summaries)
        pass_over(ctx, inputs);
    if (status == TA_OK)
        leave_out_copies(inputs);
    if (status == TA_OK)
        status = unfold(ctx, inputs);
    ta_times_lap(&ctx->times, TA_STAGE_DISCOVER);
    return status;
}

void ta_inputs_free(struct ta_inputs *inputs)
{
    for (size_t i = 0; i < inputs->summaries.n; i++)
        ta_summary_head_free(&inputs->summaries.at[i]->head);
    free(inputs->summaries.at);
    free(inputs->reports.at);
    ta_sources_free(&inputs->sources);
    ta_quality_free(&inputs->job);
}
