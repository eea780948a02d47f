/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analysis at the end of a run, and the summary of the aggregation. */
#include "console.h"

/* A label and the key that a report has for the same figure. */
struct label {
    enum part part;
    const char *label, *group, *key;
};

static const struct label labels[] = {
    {OF_DIFFUSION, "Total Steps", "diffusion", "total_steps"},
    {OF_DIFFUSION, "FPS", "diffusion", "fps"},
    {OF_DIFFUSION, "BPS", "diffusion", "bps"},
    {OF_DIFFUSION, "Average Block Size", "diffusion", "avg_block_size"},
    {OF_DIFFUSION, "Average Step Time", "diffusion", "avg_computation_time_ms"},
    {OF_BLOCKS, "Total Blocks", "block", "total_blocks"},
    {OF_BLOCKS, "Block FPS", "block", "fps"},
    {OF_BLOCKS, "Block BPS", "block", "bps"},
    {OF_BLOCKS, "Peak Memory Usage", "block", "peak_memory_usage_mb"},
    {OF_BLOCKS, "Average Block Time", "block", "avg_computation_time_ms"},
    {OF_STREAMING, "Current FPS", "streaming", "current_fps"},
    {OF_STREAMING, "Average FPS", "streaming", "avg_fps"},
    {OF_STREAMING, "FPS", "streaming", "current_fps"},
    {OF_STREAMING, "Total Frames", "streaming", "total_frames_streamed"},
    {OF_STREAMING, "Dropped Frames", "streaming", "total_dropped_frames"},
    {OF_STREAMING, "Drop Rate", "streaming", "drop_rate_percent"},
    {OF_STREAMING, "Average Encoding Time", "streaming", "avg_encoding_time_ms"},
    {OF_STREAMING, "Average Network Latency", "streaming", "avg_network_latency_ms"},
    {OF_EXTRACT, "Block FPS", "block", "fps"},
    {OF_EXTRACT, "Blocks Per Second", "diffusion", "bps"},
    {OF_EXTRACT, "Block Computation", "block", "avg_computation_time_ms"},
    {OF_EXTRACT, "Generation", "diffusion", "avg_computation_time_ms"},
    {OF_AGGREGATION, "Total reports processed", "aggregate", "total_reports"},
    {OF_AGGREGATION, "Ranks", "aggregate", "rank_count"},
};

/* "- Label (what it means): number unit" */
static bool split_label(struct ta_slice line, struct ta_slice *label, struct ta_slice *number)
{
    struct ta_slice text = ta_text_trim(line);
    while (text.len && memchr("-* ", *text.ptr, 3)) {
        text.ptr++;
        text.len--;
    }
    if (!console_before(&text, ":", label))
        return false;
    const char *meaning = memmem(label->ptr, label->len, " (", 2);
    if (meaning)
        label->len = (size_t)(meaning - label->ptr);
    *number = console_number_at(text);
    return number->len > 0;
}

/* The extract says 0 for what it did not find. */
void console_take_figure(struct console *c)
{
    const enum part part = console_stream(c)->part;
    struct ta_slice label, number;
    if (!split_label(c->line, &label, &number))
        return;
    c->is_ours |= part == OF_EXTRACT; /* which nobody else may take for memory of 0 */
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (labels[i].part != part || !ta_slice_equal(label, ta_slice_of(labels[i].label)) ||
            (part == OF_EXTRACT && !(ta_text_double(number) > 0)))
            continue;
        inferix_figure_of(&c->in, part == OF_AGGREGATION ? TA_NO_RANK : c->in.rank, labels[i].group,
                          TA_LIT(""), ta_slice_of(labels[i].key), TA_LIT(""), number);
        c->in.kept++;
        return;
    }
}

/* GPU Memory - Min: 7200.0MB, Max: 9800.0MB, Avg: 8420.0MB */
void console_take_aggregate(struct console *c)
{
    static const char *const metrics[][3] = {
        {"GPU Memory - ", "gpu", "memory_used_mb"},
        {"GPU Utilization - ", "gpu", "utilization_percent"},
        {"CPU Usage - ", "cpu", "usage_percent"},
        {"Memory Usage - ", "cpu", "memory_used_mb"},
    };
    static const char *const sums[][2] = {{"Min: ", "_min"}, {"Max: ", "_max"}, {"Avg: ", "_avg"}};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        struct ta_slice text = c->line;
        if (!console_behind(&text, metrics[i][0]))
            continue;
        for (size_t s = 0; s < sizeof sums / sizeof *sums; s++)
            if (console_behind(&text, sums[s][0])) {
                inferix_figure_of(&c->in, TA_NO_RANK, "aggregate", ta_slice_of(metrics[i][1]),
                                  ta_slice_of(metrics[i][2]), ta_slice_of(sums[s][1]),
                                  console_number_at(text));
                c->in.kept++;
            }
        return;
    }
}
