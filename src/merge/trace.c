/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a trace and writing what is wanted of it, event by event. */
#include "merge/trace.h"

#include "base/context.h"
#include "base/quality.h"
#include "merge/select.h"
#include "read/reader.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- members of documents ------------------------------------------------------------------ */

/* Bytes of all members of a file that are kept. */
#define MEMBERS_MOST ((size_t)16 << 20)

void merge_members_free(struct merge_members *members)
{
    for (size_t i = 0; i < members->n; i++) {
        free(members->at[i].key);
        free(members->at[i].value);
    }
    free(members->at);
    *members = (struct merge_members){0};
}

void merge_members_put(const struct merge_members *members, struct ta_file *out)
{
    for (size_t i = 0; i < members->n; i++) {
        ta_puts(out, ",\n");
        ta_puts(out, members->at[i].key);
        ta_puts(out, ": ");
        ta_puts(out, members->at[i].value);
    }
}

static bool is_member(const struct merge_members *members, const char *key)
{
    for (size_t i = 0; i < members->n; i++)
        if (strcmp(members->at[i].key, key) == 0)
            return true;
    return false;
}

/* What is true of one trace and not of the run, after what every product says itself. */
static bool is_left_out(struct ta_slice key, bool common)
{
    static const char *const keys[] = {MERGE_MEMBER, "distributedInfo", "baseTimeNanoseconds",
                                       "traceName", "trace_id"};
    for (size_t i = 0; i < (common ? sizeof keys / sizeof *keys : 1); i++)
        if (ta_slice_equal(key, ta_slice_of(keys[i])))
            return true;
    return false;
}

/* A copy of a value's text as JSON, or NULL without memory. */
static char *copy_value(struct ta_json *json, const struct ta_token *value, struct ta_clean *clean)
{
    clean->n = 0;
    return ta_clean_value(json, value, clean) ? strndup(clean->at, clean->n) : NULL;
}

/* False without memory. */
static bool take_member(struct ta_json *json, struct ta_clean *clean, struct merge_members *members,
                        bool common)
{
    if (is_left_out(ta_json_text(json, &json->member.key), common))
        return true;
    char *key = copy_value(json, &json->member.key, clean);
    const bool is_new = key && !is_member(members, key);
    char *value = is_new ? copy_value(json, &json->member.value, clean) : NULL;
    const size_t bytes = value ? strlen(key) + strlen(value) : 0;
    const bool fits = value && bytes <= MEMBERS_MOST - members->bytes;
    const bool done = key && (!is_new || value) &&
                      (!fits || ta_vec_push(members, (struct merge_member){key, value}));
    if (fits && done) {
        members->bytes += bytes;
    } else {
        free(key);
        free(value);
    }
    return done;
}

/* ---- events -------------------------------------------------------------------------------- */

struct passing {
    struct ta_ctx *ctx;
    const struct ta_merge *merge;
    struct ta_merge_trace *trace;
    struct merge_writer *writer;
    struct merge_members *members;
    struct merge_selection selection;
    bool common;
};

/* False without memory. */
static bool pass_event(struct passing *p)
{
    struct ta_merge_counts *counts = &p->trace->counts;
    int64_t ts_ns;
    switch (merge_select(&p->selection, p->writer->json, &ts_ns)) {
    case MERGE_KEEP:
        counts->kept++;
        return merge_writer_put(p->writer, ts_ns);
    case MERGE_OUT_OF_RANGE:
        counts->out_of_range++;
        break;
    case MERGE_OF_CATEGORY:
        counts->of_category++;
        break;
    case MERGE_LOST:
        counts->lost++;
        break;
    }
    return !p->selection.failed;
}

static enum ta_status pass_items(struct passing *p, struct ta_json *json)
{
    enum { LOOK_EVERY = 4096 };
    for (uint64_t i = 0;; i++) {
        enum ta_json_item item;
        bool done = true;
        const enum ta_status status = ta_json_next(p->ctx, json, &item);
        if (status != TA_OK || item == TA_JSON_END)
            return status;
        if (item == TA_JSON_RECORD)
            done = pass_event(p);
        else if (item == TA_JSON_MEMBER)
            done = take_member(json, &p->writer->clean, p->members, p->common);
        else
            p->trace->counts.lost++;
        if (!done)
            return ta_fail(p->ctx, TA_ERR_NOMEM, "Cannot hold what is merged");
        if (i % LOOK_EVERY)
            continue;
        if (ta_ctx_canceled(p->ctx))
            return ta_fail(p->ctx, TA_ERR_CANCELED, "Interrupted");
        if (p->merge->progress)
            p->merge->progress(p->merge->progress_user, (size_t)(p->trace - p->merge->traces));
    }
}

enum ta_status merge_trace(struct ta_ctx *ctx, const struct ta_merge *merge,
                           struct ta_merge_trace *trace, struct merge_writer *writer,
                           struct merge_members *members, bool common)
{
    struct passing p = {.ctx = ctx,
                        .merge = merge,
                        .trace = trace,
                        .writer = writer,
                        .members = members,
                        .common = common};
    struct ta_quality quality; /* the accounts were made when the file was read before */
    ta_quality_init(&quality);
    trace->counts = (struct ta_merge_counts){0};
    struct ta_reader *reader = ta_reader_open(ctx, trace->path, -1, &quality);
    enum ta_status status = reader ? TA_OK : ctx->status;
    if (reader && ctx->helpers)
        ta_reader_read_ahead(reader);
    if (reader && !merge_selection_init(&p.selection, merge, trace,
                                        (size_t)ta_ctx_limit(ctx, TA_LIMIT_NAMES)))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold what is merged");
    struct ta_json *json = status == TA_OK ? ta_json_new(ctx, reader, &merge_schema) : NULL;
    if (json) {
        merge_writer_start(writer, json);
        status = pass_items(&p, json);
        ta_json_free(json);
    } else if (status == TA_OK) {
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the window of a file");
    }
    if (status == TA_OK) {
        /* What an earlier reading found must be there again: the file may have changed since, or
         * its disk fails. */
        const struct ta_merge_counts *counts = &trace->counts;
        const uint64_t n = counts->kept + counts->out_of_range + counts->of_category + counts->lost;
        if (n < trace->events)
            status = ta_fail(ctx, TA_ERR_INPUT,
                             "Another reading of the file gave fewer events: before=%" PRIu64
                             ", now=%" PRIu64,
                             trace->events, n);
    }
    if (reader)
        merge_selection_free(&p.selection);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return status == TA_OK ? status : ta_cause(ctx, status, "Cannot merge \"%s\"", trace->shown);
}

/* ---- what is said of it -------------------------------------------------------------------- */

void merge_trace_describe(const struct ta_merge_trace *trace, struct ta_file *out)
{
    ta_putf(out, "{\"rank\": %" PRId64 ", \"file\": ", trace->rank);
    ta_put_json(out, ta_slice_of(trace->shown), false);
    ta_putf(out,
            ", \"offset_ns\": %" PRId64 ", \"drift_ppt\": %" PRId64 ", \"origin_ns\": %" PRId64,
            trace->clock.offset_ns, trace->clock.drift_ppt, trace->clock.origin_ns);
    if (trace->uncertainty_ns != TA_MISSING)
        ta_putf(out, ", \"uncertainty_ns\": %" PRId64, trace->uncertainty_ns);
    if (trace->from_ns != TA_MISSING)
        ta_putf(out, ", \"from_ns\": %" PRId64 ", \"to_ns\": %" PRId64, trace->from_ns,
                trace->to_ns);
    ta_puts(out, "}");
}
