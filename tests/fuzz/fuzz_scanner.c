/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as one trace: reader, chrome_json, normalize.  The frozen trace must keep the promises
 * of model.h, and a document that a strict reader accepts must be read whole and without fault. */
#include "support.h"

#include "analyze/analyze.h"
#include "base/quality.h"
#include "normalize/normalize.h"
#include "ranks/ranks.h"
#include "traceanalyze/input.h"

#include <jansson.h>

/* ---- the strict reader ---------------------------------------------------------------------- */

/* Number of events of a document without any fault, or -1 when it is not one. */
static json_int_t count_strictly(const uint8_t *data, size_t size)
{
    json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *events = json_is_object(root) ? json_object_get(root, "traceEvents") : root;
    json_int_t n = json_is_array(events) ? (json_int_t)json_array_size(events) : -1;
    json_decref(root);
    return n;
}

static void check_no_fault(const struct ta_quality *quality)
{
    static const enum ta_quality_code faults[] = {TA_Q_TRUNCATED,
                                                  TA_Q_SYNTAX,
                                                  TA_Q_COMMA,
                                                  TA_Q_COMMENT,
                                                  TA_Q_TRAILING_TEXT,
                                                  TA_Q_TEXT_ENCODING,
                                                  TA_Q_TEXT_CONTROL,
                                                  TA_Q_TEXT_ESCAPE,
                                                  TA_Q_DUPLICATE_KEY,
                                                  TA_Q_MULTIPLE_DOCUMENTS,
                                                  TA_Q_UNTERMINATED_ARRAY};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        FUZZ_CHECK(ta_quality_count(quality, faults[i]) == 0);
}

/* ---- the frozen trace ----------------------------------------------------------------------- */

static void check_track(const struct ta_trace *trace, const struct ta_spans *spans, uint32_t index)
{
    const struct ta_track *track = &ta_trace_tracks(trace).at[index];
    FUZZ_CHECK(track->first <= spans->n && track->n <= spans->n - track->first);
    for (ta_row i = track->first; i < track->first + track->n; i++) {
        FUZZ_CHECK(spans->track[i] == index);
        if (i == track->first)
            continue;
        FUZZ_CHECK(spans->ts[i - 1] <= spans->ts[i]);
        FUZZ_CHECK(spans->ts[i - 1] < spans->ts[i] || spans->dur[i - 1] >= spans->dur[i]);
    }
}

static void check_span(const struct ta_trace *trace, const struct ta_spans *spans, ta_row i)
{
    int64_t end;
    FUZZ_CHECK(spans->dur[i] >= 0);
    FUZZ_CHECK(!__builtin_add_overflow(spans->ts[i], spans->dur[i], &end));
    FUZZ_CHECK(spans->name[i] < ta_trace_string_count(trace));
    FUZZ_CHECK(spans->cat[i] < ta_trace_categories(trace).n);
    FUZZ_CHECK(spans->track[i] < ta_trace_tracks(trace).n);
    if (!ta_class_is_host(ta_trace_categories(trace).at[spans->cat[i]].class))
        return;
    FUZZ_CHECK(spans->self[i] >= 0 && spans->self[i] <= spans->dur[i]);
    const ta_row parent = spans->parent[i];
    FUZZ_CHECK(parent == TA_NO_ROW || (parent < i && spans->track[parent] == spans->track[i] &&
                                       spans->ts[parent] <= spans->ts[i]));
    FUZZ_CHECK((parent == TA_NO_ROW) == (spans->depth[i] == 0));
}

static void check_trace(const struct ta_trace *trace)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_activities activities = ta_trace_activities(trace);
    for (uint32_t i = 0; i < ta_trace_tracks(trace).n; i++)
        check_track(trace, &spans, i);
    for (ta_row i = 0; i < spans.n; i++)
        check_span(trace, &spans, i);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        FUZZ_CHECK(a->span < spans.n);
        FUZZ_CHECK(a->launch == TA_NO_ROW || a->launch < spans.n);
        FUZZ_CHECK(a->op == TA_NO_ROW || a->op < spans.n);
    }
}

/* ---- the target ------------------------------------------------------------------------------ */

static void finish(struct fuzz_run *run, struct ta_builder *builder)
{
    struct ta_trace *trace;
    FUZZ_CHECK(ta_normalize(&run->ctx, builder, &trace) == TA_OK);
    check_trace(trace);
    ta_trace_free(trace);
}

static void read_trace(struct fuzz_run *run, struct ta_reader *reader, json_int_t strict,
                       const struct ta_plan *plan)
{
    struct ta_builder builder;
    struct ta_quality *quality = ta_reader_quality(reader);
    const struct ta_input_ops *input =
        ta_registry_find(run->registry, TA_KIND_input, "chrome_json")->plugin.input;
    const struct ta_probe probe = ta_reader_probe(reader);
    const int sure = input->sniff(&probe);
    FUZZ_CHECK(sure >= 0 && sure <= 100);
    FUZZ_CHECK(ta_builder_init(&builder, quality, plan->needs, plan->keys, plan->n_keys, SIZE_MAX));
    const enum ta_status status = input->read(&run->ctx, reader, &builder);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    if (strict >= 0) {
        FUZZ_CHECK(builder.kept + builder.dropped == (uint64_t)strict);
        check_no_fault(quality);
    }
    if (status == TA_OK)
        finish(run, &builder);
    ta_builder_free(&builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ta_plan plan;
    struct fuzz_run *run = fuzz_begin();
    struct ta_quality quality;
    if (!plan.n)
        FUZZ_CHECK(ta_plan_make(&run->ctx, run->registry, true, &ta_stages, &plan) == TA_OK);
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&run->ctx, NULL, fuzz_file(data, size), &quality);
    FUZZ_CHECK(reader);
    read_trace(run, reader, count_strictly(data, size), &plan);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return 0;
}
