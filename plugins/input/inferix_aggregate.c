/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The aggregated report of Inferix: smallest, largest, mean and sum of each metric over the flat
 * summaries of all ranks.  It does not say which rank had what, so all of it is as reported and
 * of no rank.  Made from session reports it is empty. */
#include "lib/inferix.h"

static const char *const keys[] = {"aggregated_gpu_metrics", "aggregated_cpu_metrics",
                                   "total_reports",          "rank_count",
                                   "reports_summary",        NULL};

static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    return found & 3 ? (found & (found - 1) ? 95 : 60) : (found & 28) == 28 ? 80 : 0;
}

/* A key is a metric and what was made of it: memory_used_mb_max. */
static void take_metrics(struct inferix *in, const char *of, json_t *metrics)
{
    const char *key;
    json_t *value;
    json_object_foreach(metrics, key, value)
    {
        const struct ta_slice whole = ta_slice_of(key);
        const char *last = memrchr(whole.ptr, '_', whole.len);
        const size_t stem = last ? (size_t)(last - whole.ptr) : whole.len;
        if (inferix_figure_of(in, TA_NO_RANK, "aggregate", ta_slice_of(of),
                              ta_slice_part(whole, 0, stem), ta_slice_from(whole, stem),
                              ta_document_text(value)))
            in->kept++;
        else
            inferix_drop(in, "An aggregated metric is not a number");
    }
}

static enum ta_status read_aggregate(struct ta_ctx *ctx, struct ta_reader *reader,
                                     struct ta_builder *builder)
{
    struct inferix in = inferix_begin(ctx, reader, builder);
    json_t *document = ta_document_read(ctx, reader, builder);
    if (!document)
        return ta_ctx_status(ctx);
    ta_builder_set_copy(builder, TA_LIT("aggregate"), TA_EXACT_FULL);
    take_metrics(&in, "gpu", inferix_object(&in, document, "aggregated_gpu_metrics"));
    take_metrics(&in, "cpu", inferix_object(&in, document, "aggregated_cpu_metrics"));
    size_t i;
    json_t *summary;
    json_array_foreach(inferix_array(&in, document, "reports_summary"), i, summary)
    {
        /* Sessions that were not found read "unknown" and 0. */
        const int64_t rank = ta_document_integer(json_object_get(summary, "rank"));
        const int64_t duration = inferix_decimal(&in, summary, "duration", 9);
        if (rank < 0 || duration <= 0)
            continue;
        inferix_add_figure(&in, rank, "aggregate", TA_LIT("duration_ns"), (double)duration,
                           TA_UNIT_NS);
        in.kept++;
    }
    const bool is_whole = json_object_get(document, "total_reports") != NULL;
    json_decref(document);
    if (in.status == TA_OK && in.kept + in.dropped == 0 && is_whole) {
        ta_quality_add(in.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET,
                       "No metric was aggregated, as happens with session reports: read those "
                       "instead");
        return TA_OK;
    }
    return inferix_end(&in, "aggregated metric");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_aggregate};

TA_PLUGIN(input, inferix_aggregate, &ops, .title = "Inferix aggregated report",
          .summary = "Metrics over all ranks, as Inferix aggregates them", .version = "1");
