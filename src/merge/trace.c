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

/* The value of a key, or NULL. */
static const char *find_member(const struct merge_members *members, const char *key)
{
    for (size_t i = 0; i < members->n; i++)
        if (strcmp(members->at[i].key, key) == 0)
            return members->at[i].value;
    return NULL;
}

/* What every product says itself.  Of a trace that was merged before it stays true. */
static bool is_of_merge(struct ta_slice key, bool was_merged)
{
    return ta_slice_equal(key, TA_LIT(TA_MERGE_AGAIN)) ||
           (!was_merged &&
            (ta_slice_equal(key, TA_LIT(TA_MERGE_MEMBER)) || ta_slice_starts(key, TA_MERGE_TRACE)));
}

/* What is true of one trace and not of the run. */
static bool is_of_trace(struct ta_slice key, bool was_merged)
{
    static const char *const keys[] = {"distributedInfo", "baseTimeNanoseconds", "traceName",
                                       "trace_id"};
    if (was_merged) /* the head says it */
        return ta_slice_equal(key, TA_LIT("baseTimeNanoseconds"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
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

/* The first value of a key counts for all traces; where others differ, theirs are kept apart. False
 * without memory. */
static bool take_member(struct ta_json *json, struct ta_clean *clean, struct merge_members *members,
                        struct merge_members *own, bool was_merged)
{
    const struct ta_slice name = ta_json_text(json, &json->member.key);
    if (is_of_merge(name, was_merged))
        return true;
    const bool is_of_one = own && is_of_trace(name, was_merged);
    char *key = copy_value(json, &json->member.key, clean);
    char *value = key ? copy_value(json, &json->member.value, clean) : NULL;
    const char *known = value ? find_member(members, key) : NULL;
    struct merge_members *into = is_of_one || known ? own : members;
    const bool is_new = value && into && !(known && strcmp(known, value) == 0) &&
                        (into == members || !find_member(into, key));
    const size_t bytes = is_new ? strlen(key) + strlen(value) : 0;
    const bool fits = is_new && bytes <= MEMBERS_MOST - into->bytes;
    const bool done = value && (!fits || ta_vec_push(into, (struct merge_member){key, value}));
    if (fits && done) {
        into->bytes += bytes;
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
    struct merge_members *members, *own;
    struct merge_selection selection;
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
            done = take_member(json, &p->writer->clean, p->members, p->own,
                               p->trace->rank == TA_MISSING);
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
                           struct merge_members *members, struct merge_members *own)
{
    struct passing p = {.ctx = ctx,
                        .merge = merge,
                        .trace = trace,
                        .writer = writer,
                        .members = members,
                        .own = own};
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
