/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report that Inferix writes at the end of a session: stages, denoising steps, blocks, models,
 * telemetry, what it made of them, and its advice.
 *
 * Events carry the time at which they were recorded, the end of what they measure.  The telemetry
 * begins with the samples of earlier sessions of the same process, which are left out.  A device
 * that is missing leaves samples full of zeros, and so does a power that cannot be read. */
#include "base/quality.h"
#include "report.h"

enum { SESSION_INFO, EVENTS, SUMMARY };

static const char *const keys[] = {
    [SESSION_INFO] = "session_info",
    [EVENTS] = "events",
    [SUMMARY] = "summary",
    "gpu_metrics",
    "cpu_metrics",
    "stage_analysis",
    "recommendations",
    "streaming_analysis",
    "computation_analysis",
    "cache_analysis",
    "diffusion_analysis",
    "model_analysis",
    "block_analysis",
    NULL,
};

/* Sorted or cut reports lack the first key as far as one can see; other dumps have a summary and
 * events as well. */
static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    const unsigned own = found & ~(1u << EVENTS | 1u << SUMMARY);
    if (own & 1u << SESSION_INFO)
        return found & (found - 1) ? 95 : 60;
    return own & (own - 1) ? 85 : own ? 50 : 0;
}

/* ---- the session ----------------------------------------------------------------------------- */

/* Whether events are lost that the file had: something was, and where the file only ends early, no
 * member that a whole file has after its events is there. */
static bool has_lost_events(const struct inferix *in, const json_t *document)
{
    const uint64_t ends = ta_quality_count(in->quality, TA_Q_TRUNCATED) +
                          ta_quality_count(in->quality, TA_Q_GZIP_TRUNCATED);
    const bool is_behind = json_object_get(document, "recommendations") != NULL;
    return ta_quality_reaches(in->quality, TA_QUALITY_LOSS) &&
           !(ends && is_behind && ta_quality_count(in->quality, TA_Q_SYNTAX) == 0);
}

/* Returns when the session began. */
static int64_t take_session(struct inferix *in, json_t *document)
{
    json_t *info = inferix_object(in, document, "session_info");
    const struct ta_slice id = ta_document_text(json_object_get(info, "id"));
    const struct ta_session session = {.rank = TA_MISSING,
                                       .id = inferix_intern(in, id),
                                       .start_ns = inferix_decimal(in, info, "start_time", 9),
                                       .end_ns = inferix_decimal(in, info, "end_time", 9),
                                       .dur_ns = inferix_decimal(in, info, "duration", 9),
                                       .is_cut = has_lost_events(in, document)};
    if (!info)
        return TA_MISSING;
    INFERIX_ADD(in, session, &session);
    in->kept++;
    inferix_tags(in, inferix_object(in, info, "tags"));
    if (id.ptr) /* the raw dump of the session has its telemetry as well, and per device */
        ta_builder_set_copy(in->builder, id, TA_EXACT_FULL);
    return session.start_ns;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void take_stage(struct inferix *in, const char *name, json_t *stage)
{
    struct ta_timed_stage row = ta_unknown_stage();
    row.name = inferix_intern(in, ta_slice_of(name));
    row.calls = inferix_count(in, stage, "call_count");
    row.total_ns = inferix_decimal(in, stage, "total_time", 9);
    row.min_ns = inferix_decimal(in, stage, "min_time", 9);
    row.max_ns = inferix_decimal(in, stage, "max_time", 9);
    INFERIX_ADD(in, stage, &row);
    in->kept++;
    inferix_figure(in, "stage", ta_slice_of(name), TA_LIT("percentage_of_total"),
                   ta_document_text(json_object_get(stage, "percentage_of_total")));
}

static void take_stages(struct inferix *in, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "stage_analysis");
    const char *name;
    json_t *stage;
    json_object_foreach(inferix_object(in, analysis, "stages"), name, stage)
    {
        if (json_is_object(stage))
            take_stage(in, name, stage);
        else
            inferix_drop(in, "A stage is not an object");
    }
    inferix_figures(in, "stage", analysis, false);
}

/* ---- what the report worked out -------------------------------------------------------------- */

/* The share of small allocations is one figure for all allocators. */
static void take_allocations(struct inferix *in, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "memory_analysis");
    json_t *fragmentation = inferix_object(in, analysis, "fragmentation_analysis");
    json_t *patterns = inferix_object(in, analysis, "allocation_patterns");
    const char *name;
    json_t *pattern;
    json_object_foreach(patterns, name, pattern)
    {
        const struct ta_allocation_pattern row = {
            .rank = TA_MISSING,
            .allocator = inferix_intern(in, ta_slice_of(name)),
            .allocations = inferix_integer(in, pattern, "total_allocations"),
            .deallocations = inferix_integer(in, pattern, "total_deallocations"),
            .bytes = inferix_decimal(in, pattern, "total_bytes_allocated", 0),
            .min_bytes = inferix_decimal(in, pattern, "min_allocation_size_bytes", 0),
            .max_bytes = inferix_decimal(in, pattern, "max_allocation_size_bytes", 0),
            .small_ratio = json_object_size(patterns) == 1
                               ? inferix_real(in, fragmentation, "small_allocation_ratio")
                               : (double)NAN};
        INFERIX_ADD(in, allocation, &row);
        in->kept++;
    }
    inferix_figures(in, "allocation", fragmentation, false);
}

static void take_rest(struct inferix *in, json_t *document)
{
    json_t *cache = inferix_object(in, document, "cache_analysis");
    json_t *streaming = inferix_object(in, document, "streaming_analysis");
    inferix_figures(in, "cache", inferix_object(in, cache, "cache_performance"), false);
    inferix_figures(in, "cache", inferix_object(in, cache, "cache_efficiency"), false);
    /* One event has no rate, which is then written as 0. */
    if (inferix_integer(in, streaming, "total_streaming_events") < 2)
        json_object_del(streaming, "current_fps");
    inferix_figures(in, "streaming", streaming, false);
    size_t i;
    json_t *advice;
    json_array_foreach(inferix_array(in, document, "recommendations"), i, advice)
    {
        const struct ta_given_advice row = {
            .rank = TA_MISSING,
            .category = inferix_text(in, json_object_get(advice, "category")),
            .priority = inferix_text(in, json_object_get(advice, "priority")),
            .issue = inferix_text(in, json_object_get(advice, "issue")),
            .suggestion = inferix_text(in, json_object_get(advice, "suggestion"))};
        if (row.issue == TA_STR_ABSENT && row.suggestion == TA_STR_ABSENT) {
            inferix_drop(in, "A recommendation says nothing");
            continue;
        }
        INFERIX_ADD(in, advice, &row);
        in->kept++;
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum ta_status read_report(struct ta_ctx *ctx, struct ta_reader *reader,
                                  struct ta_builder *builder)
{
    struct inferix in = inferix_begin(ctx, reader, builder);
    json_t *document = ta_document_read(ctx, reader, builder);
    if (!document)
        return ta_ctx_status(ctx);
    const int64_t start_ns = take_session(&in, document);
    take_stages(&in, document);
    inferix_report_events(&in, document);
    take_allocations(&in, document);
    take_rest(&in, document);
    inferix_report_telemetry(&in, document, start_ns);
    json_decref(document);
    return inferix_end(&in, "session, stage, event, sample or recommendation");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_report};

TA_PLUGIN(input, inferix_report, &ops, .title = "Inferix report",
          .summary = "Session reports of Inferix: stages, denoising steps, blocks, telemetry",
          .version = "1");
