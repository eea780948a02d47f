/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries in a worker. */
#include "ingest/summary_files.h"

#include "base/quality.h"
#include "ingest/inputs/inputs.h"
#include "model/trace.h"
#include "read/reader.h"

#include <inttypes.h>

/* ---- writing ------------------------------------------------------------------------------- */

enum ta_status ta_summary_write_packed(struct ta_ctx *ctx, const struct ta_summary_scope *scope,
                                       struct ta_text *packed)
{
    struct ta_text text = {0};
    enum ta_status status = ta_summary_write(ctx, scope, &text);
    if (status == TA_OK)
        status = ta_summary_pack(ctx, ta_text_slice(&text), packed);
    free(text.bytes.at);
    return status;
}

enum ta_status ta_summary_file_write(struct ta_worker *w, struct ta_ingested *file)
{
    const size_t index = (size_t)(file - w->job->files);
    const struct ta_summary_scope scope = {.version = w->job->options->version,
                                           .title = w->job->options->title,
                                           .hardware = w->job->options->hardware,
                                           .files = w->job->files,
                                           .n_files = w->job->n_files,
                                           .chosen = &index,
                                           .n_chosen = 1,
                                           .plan = w->job->plan,
                                           .partials = w->partials};
    enum ta_status status = ta_summary_write_packed(&w->ctx, &scope, &file->packed);
    ta_trace_free(file->dump);
    file->dump = NULL;
    ta_partial_set_free(w->partials);
    w->partials = ta_partial_set_new(w->job->plan);
    if (status == TA_OK && !w->partials)
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the results of a file");
    ta_times_lap(&w->ctx.times, TA_STAGE_ANALYZE);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The text of a whole summary; TA_ERR_INPUT when the file is damaged: half of it is of no use. */
static enum ta_status read_text(struct ta_worker *w, const struct ta_summary_file *summary,
                                struct ta_text *text)
{
    enum { STEP = 1 << 20, MOST = 256 << 20 };
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&w->ctx, summary->path, -1, &quality);
    enum ta_status status = reader ? TA_OK : w->ctx.status;
    for (size_t got = 1; status == TA_OK && got; text->bytes.n += got) {
        if (text->bytes.n == text->bytes.max) {
            const size_t more = text->bytes.max ? 2 * text->bytes.max : STEP;
            char *grown = more > MOST ? NULL : realloc(text->bytes.at, more);
            if (!grown) {
                status = more > MOST ? ta_fail(&w->ctx, TA_ERR_INPUT,
                                               "Too large for a summary: it inflates to more than "
                                               "%d MiB",
                                               MOST >> 20)
                                     : ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold a summary");
                break;
            }
            text->bytes.at = grown;
            text->bytes.max = more;
        }
        got =
            ta_reader_read(reader, text->bytes.at + text->bytes.n, text->bytes.max - text->bytes.n);
    }
    if (status == TA_OK &&
        (ta_reader_ended_early(reader) || ta_quality_reaches(&quality, TA_QUALITY_LOSS)))
        status = ta_fail(&w->ctx, TA_ERR_INPUT,
                         "Not a usable summary: the file is damaged or cut: inflated=%zu bytes",
                         text->bytes.n);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return status;
}

/* What the summary said of them holds no longer. */
static enum ta_status refuse_files(struct ta_worker *w, const struct ta_summary_file *summary)
{
    for (size_t i = 0; i < summary->head.n_files; i++) {
        struct ta_ingested *file = &w->job->files[summary->index_of[i]];
        const char *refusal = ta_arena_printf(w->arena, "The summary \"%s\" cannot be used: %s",
                                              summary->shown, ta_ctx_causes(&w->ctx));
        if (!refusal)
            return ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold a message");
        ta_ingested_refuse(file, refusal);
    }
    return TA_OK;
}

enum ta_status ta_summary_file_read(struct ta_worker *w, struct ta_ingested *file)
{
    const struct ta_summary_file *summary = file->source->summary;
    struct ta_text text = {0};
    ta_times_start(&w->ctx.times);
    enum ta_status status = read_text(w, summary, &text);
    ta_times_lap(&w->ctx.times, TA_STAGE_READ);
    if (status == TA_OK)
        status = ta_summary_merge(&w->ctx, ta_text_slice(&text), summary->index_of,
                                  summary->head.n_files, w->job->files, w->job->plan, w->partials);
    ta_times_lap(&w->ctx.times, TA_STAGE_ANALYZE);
    free(text.bytes.at);
    return status == TA_ERR_INPUT ? refuse_files(w, summary) : status;
}
