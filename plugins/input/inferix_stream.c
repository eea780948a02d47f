/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The extract that Inferix's streaming benchmark makes of a report: its figures once more.  Zeros
 * are what it asked for and did not find. */
#include "lib/inferix.h"

static const char *const keys[] = {"block_level", "segment_level", "overall", "system_info", NULL};

static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    return (found & 3) == 3 ? 95 : found & 3 && found & 12 ? 80 : 0;
}

/* Figures of blocks are among the figures of steps. */
static const struct {
    const char *key, *group, *name;
} figures[] = {
    {"total_steps", "diffusion", "total_steps"},
    {"avg_block_size", "diffusion", "avg_block_size"},
    {"fps", "diffusion", "fps"},
    {"bps", "diffusion", "bps"},
    {"avg_step_time_ms", "diffusion", "avg_computation_time_ms"},
    {"total_blocks", "block", "total_blocks"},
    {"block_fps", "block", "fps"},
    {"peak_memory_mb", "block", "peak_memory_usage_mb"},
    {"avg_block_time_ms", "block", "avg_computation_time_ms"},
};

static enum ta_status read_extract(struct ta_ctx *ctx, struct ta_reader *reader,
                                   struct ta_builder *builder)
{
    struct inferix in = inferix_begin(ctx, reader, builder);
    json_t *document = ta_document_read(ctx, reader, builder);
    if (!document)
        return ta_ctx_status(ctx);
    ta_builder_set_copy(builder, TA_LIT("extract"), TA_EXACT_TABLE);
    json_t *blocks = inferix_object(&in, document, "block_level");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        json_t *value = json_object_get(blocks, figures[i].key);
        if (!(ta_document_double(value) > 0))
            continue;
        inferix_figure(&in, figures[i].group, TA_LIT(""), ta_slice_of(figures[i].name),
                       ta_document_text(value));
        in.kept++;
    }
    inferix_figures(&in, "segment", inferix_object(&in, document, "segment_level"), true);
    inferix_figures(&in, "overall", inferix_object(&in, document, "overall"), true);
    const bool is_whole = blocks != NULL;
    json_decref(document);
    if (in.status == TA_OK && in.kept == 0 && is_whole) {
        ta_quality_add(in.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "Every figure in it is 0");
        return TA_OK;
    }
    return inferix_end(&in, "figure of blocks");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_extract};

TA_PLUGIN(input, inferix_stream, &ops, .title = "Inferix streaming extract",
          .summary = "Benchmark results that Inferix extracts from a report", .version = "1");
