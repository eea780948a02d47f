/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key figures of the dumps, made from the tables of the other analyses. */
#include "lib/sessions.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdio.h>

enum {
    THROUGHPUT_METRIC,
    THROUGHPUT_BASIS,
    THROUGHPUT_VALUE,
    LOOP_NAME,
    LOOP_RATE,
    SESSION_RANK,
    SESSION_TIME,
    SESSION_KIND,
    MODEL_RANK,
    MODEL_PARAMETERS,
    MEMORY_ALLOCATED,
    MEMORY_RESERVED,
    SAMPLED_SIGNAL,
    SAMPLED_MEAN,
    SAMPLED_MAX,
    SAMPLED_SHARE,
    ENERGY_RANK,
    ENERGY_JOULES,
    ENERGY_SHARE,
    VIDEO_RATIO,
    VIDEO_RATE,
    VIDEO_WAIT,
    METRIC,
    METRIC_MEAN,
    METRIC_MAX
};
static const struct ta_ref reads[] = {
    [THROUGHPUT_METRIC] = {"throughput.values", "metric"},
    [THROUGHPUT_BASIS] = {"throughput.values", "basis"},
    [THROUGHPUT_VALUE] = {"throughput.values", "value"},
    [LOOP_NAME] = {"iterations.by_name", "loop"},
    [LOOP_RATE] = {"iterations.by_name", "per_s"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [SESSION_TIME] = {"run.sessions", "dur_ns"},
    [SESSION_KIND] = {"run.sessions", "kind"},
    [MODEL_RANK] = {"models.parameters", "rank"},
    [MODEL_PARAMETERS] = {"models.parameters", "parameters"},
    [MEMORY_ALLOCATED] = {"memory.by_rank", "peak_allocated_bytes"},
    [MEMORY_RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [SAMPLED_SIGNAL] = {"telemetry.by_rank", "signal"},
    [SAMPLED_MEAN] = {"telemetry.by_rank", "mean"},
    [SAMPLED_MAX] = {"telemetry.by_rank", "max"},
    [SAMPLED_SHARE] = {"telemetry.by_rank", "session_share"},
    [ENERGY_RANK] = {"energy.by_rank", "rank"},
    [ENERGY_JOULES] = {"energy.by_rank", "energy_j"},
    [ENERGY_SHARE] = {"energy.by_rank", "session_share"},
    [VIDEO_RATIO] = {"playback.by_video", "ratio"},
    [VIDEO_RATE] = {"playback.by_video", "rate"},
    [VIDEO_WAIT] = {"playback.by_video", "wait_ns"},
    [METRIC] = {"figures.aggregated", "metric"},
    [METRIC_MEAN] = {"figures.aggregated", "mean"},
    [METRIC_MAX] = {"figures.aggregated", "max"},
};

enum {
    VIDEO_FPS,
    PLAYS_FROM,
    FPS_WALL,
    FPS_CUT,
    FPS_BLOCKS,
    BPS_WALL,
    BPS_BLOCKS,
    FIRST_BLOCK,
    TOKENS,
    ITERATIONS,
    SESSION,
    PARAMETERS,
    ALLOCATED,
    RESERVED,
    USED,
    UTILIZATION,
    TEMPERATURE,
    ENERGY
};

static const struct ta_scalar_def scalars[] = {
    [VIDEO_FPS] = {"video_fps", "Video FPS", TA_UNIT_PER_S, TA_HIGHER,
                   .doc = "Video frames made per second, slowest rank"},
    [PLAYS_FROM] = {"plays_from_ns", "Stall-free start", TA_UNIT_NS, TA_LOWER,
                    .doc = "Earliest start of playback that never stalls, slowest rank",
                    .gate = "plays_from"},
    [FPS_WALL] = {"fps_wall", "FPS of the session", TA_UNIT_PER_S, TA_HIGHER,
                  .doc = "Frames of all blocks over the duration of the session, slowest rank"},
    [FPS_CUT] = {"fps_until_cut", "FPS up to the cut", TA_UNIT_PER_S, TA_HIGHER,
                 .doc = "Frames of the blocks left in a truncated report, over the time until the "
                        "last of them, slowest rank"},
    [FPS_BLOCKS] = {"fps_blocks", "FPS of the blocks", TA_UNIT_PER_S, TA_HIGHER,
                    .doc = "Frames of all blocks over the summed time of the blocks, slowest rank",
                    .gate = "fps"},
    [BPS_WALL] = {"bps_wall", "Blocks per second of the session", TA_UNIT_PER_S, TA_HIGHER,
                  .doc = "Blocks over the duration of the session, slowest rank"},
    [BPS_BLOCKS] = {"bps_blocks", "Blocks per second of the blocks", TA_UNIT_PER_S, TA_HIGHER,
                    .doc = "Blocks over the summed time of the blocks, slowest rank",
                    .gate = "bps"},
    [FIRST_BLOCK] =
        {"first_block_ns", "First block", TA_UNIT_NS, TA_LOWER,
         .doc = "From the start of the session to the end of the first block, slowest rank",
         .gate = "first_block"},
    [TOKENS] = {"tokens_per_s", "Tokens per second", TA_UNIT_PER_S, TA_HIGHER,
                .doc = "Tokens over the time of the sections that generated them, slowest rank"},
    [ITERATIONS] = {"iterations_per_s", "Iterations per second", TA_UNIT_PER_S, TA_HIGHER,
                    .doc = "Iterations per second of iteration time, slowest rank"},
    [SESSION] = {"session_ns", "Session", TA_UNIT_NS, TA_LOWER,
                 .doc = "Duration of the longest session", .gate = "session"},
    [PARAMETERS] = {"parameters", "Parameters", TA_UNIT_COUNT, TA_NEUTRAL,
                    .doc = "Parameters of all models of one rank"},
    [ALLOCATED] = {"peak_allocated_bytes", "Peak memory allocated", TA_UNIT_BYTES, TA_LOWER,
                   .doc = "Most bytes in use by tensors on one device, over all ranks",
                   .read_as = TA_AS_PEAK_ALLOCATED, .gate = "peak_memory"},
    [RESERVED] = {"peak_reserved_bytes", "Peak memory reserved", TA_UNIT_BYTES, TA_LOWER,
                  .doc = "Most bytes held by the allocator on one device, over all ranks, as far "
                         "as it was recorded",
                  .gate = "peak_reserved"},
    [USED] = {"used_gpu_bytes", "Peak GPU memory used", TA_UNIT_BYTES, TA_LOWER,
              .doc = "Most memory of a device in use by all processes, over the ranks that a "
                     "summary over ranks reports"},
    [UTILIZATION] = {"gpu_utilization", "GPU utilization", TA_UNIT_RATIO, TA_HIGHER,
                     .doc = "Share of time in which the device had work, averaged over the samples "
                            "of all devices"},
    [TEMPERATURE] = {"gpu_temperature", "Hottest device", TA_UNIT_CELSIUS, TA_LOWER,
                     .doc = "Highest temperature sampled on any device"},
    [ENERGY] = {"energy_j", "Energy", TA_UNIT_JOULE, TA_LOWER,
                .doc = "Energy of all devices that a rank sees: sampled power integrated over time",
                .gate = "energy"},
};

static void add(struct ta_section_builder *out, size_t scalar, struct ta_cell value,
                const char *title)
{
    if (value.kind != TA_CELL_NULL)
        ta_word_scalar(out, &scalars[scalar], value, title, NULL);
}

static struct ta_cell whole(double value)
{
    return value >= 0 && value < 9e18 ? ta_int(ta_whole(value)) : ta_null();
}

/* The largest and the smallest number of a column; NaN without any. */
static double most_of(const struct ta_refs *in, size_t column)
{
    double found = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++)
        found = fmax(found, ta_ref_number(in, column, i, NAN));
    return found;
}

static double least_of(const struct ta_refs *in, size_t column)
{
    double found = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++)
        found = fmin(found, ta_ref_number(in, column, i, NAN));
    return found;
}

static void add_throughput(struct ta_section_builder *out, const struct ta_refs *in)
{
    static const struct {
        size_t scalar;
        const char *metric, *basis;
        bool smallest;
        const char *latent; /* title where frames are latent ones */
    } rates[] = {
        {FPS_WALL, "fps", "wall", true, "Latent FPS, session"},
        {FPS_CUT, "fps", "until_cut", true, "Latent FPS, cut"},
        {FPS_BLOCKS, "fps", "blocks", true, "Latent FPS, blocks"},
        {BPS_WALL, "bps", "wall", true, NULL},
        {BPS_BLOCKS, "bps", "blocks", true, NULL},
        {FIRST_BLOCK, "first_block_ns", "wall", false, NULL},
        {TOKENS, "tokens_per_s", "sections", true, NULL},
    };
    const bool is_timed = ta_ref_rows(in, SESSION_TIME) > 0;
    const bool is_latent = most_of(in, VIDEO_RATIO) > 1;
    add(out, VIDEO_FPS, ta_num(least_of(in, VIDEO_RATE)), NULL);
    add(out, PLAYS_FROM, whole(most_of(in, VIDEO_WAIT)), NULL);
    for (size_t i = 0; i < TA_LENGTH(rates); i++) {
        /* The worst of all ranks: the smallest rate, the longest time; NaN without one. */
        const bool smallest = rates[i].smallest;
        double found = NAN;
        for (size_t k = 0; k < ta_ref_rows(in, THROUGHPUT_VALUE); k++) {
            if (!ta_ref_reads(in, THROUGHPUT_METRIC, k, rates[i].metric) ||
                !ta_ref_reads(in, THROUGHPUT_BASIS, k, rates[i].basis))
                continue;
            const double value = ta_ref_number(in, THROUGHPUT_VALUE, k, NAN);
            if (isnan(found) || (smallest ? value < found : value > found))
                found = value;
        }
        add(out, rates[i].scalar, ta_num(found),
            is_latent                                  ? rates[i].latent
            : rates[i].scalar == BPS_WALL && !is_timed ? "Blocks per second"
                                                       : NULL);
    }
}

/* Largest value of a column, of the samples of a signal when one is given. */
static double largest(const struct ta_refs *in, size_t column, const char *signal)
{
    double found = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++) {
        const double value = ta_ref_number(in, column, i, NAN);
        if ((!signal || ta_ref_reads(in, SAMPLED_SIGNAL, i, signal)) && !isnan(value) &&
            !(value <= found))
            found = value;
    }
    return found;
}

/* Sum of a column over the rows of a rank, which follow each other, of the rank that has most: each
 * rank sees all models, and all devices of its host. */
static double most_of_a_rank(const struct ta_refs *in, size_t rank, size_t column)
{
    double found = NAN, sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++) {
        if (i == 0 || ta_ref_number(in, rank, i, NAN) != ta_ref_number(in, rank, i - 1, NAN))
            sum = 0;
        const double value = ta_ref_number(in, column, i, NAN);
        sum += isnan(value) ? 0 : value;
        found = isnan(found) || sum > found ? sum : found;
    }
    return found;
}

/* Mean over all devices of the means of a signal. */
static double mean_of_devices(const struct ta_refs *in, const char *signal)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SAMPLED_MEAN); i++) {
        const double mean = ta_ref_number(in, SAMPLED_MEAN, i, NAN);
        if (!ta_ref_reads(in, SAMPLED_SIGNAL, i, signal) || isnan(mean))
            continue;
        sum += mean;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The rate of the slowest rank of a run with a single loop: a rate over several loops means
 * nothing. */
static double iteration_rate(const struct ta_refs *in)
{
    double slowest = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, LOOP_RATE); i++) {
        if (!ta_slice_equal(ta_ref_text(in, LOOP_NAME, i), ta_ref_text(in, LOOP_NAME, 0)))
            return NAN;
        slowest = fmin(slowest, ta_ref_number(in, LOOP_RATE, i, NAN));
    }
    return slowest;
}

/* Whether a rank has several. */
static bool has_several_sessions(const struct ta_refs *in)
{
    for (size_t i = 1; i < ta_ref_rows(in, SESSION_RANK); i++)
        if (ta_ref_integer(in, SESSION_RANK, i) == ta_ref_integer(in, SESSION_RANK, i - 1))
            return true;
    return false;
}

/* A figure of samples, whose title says so when they are of a part of the session only. */
static void add_sampled(struct ta_section_builder *out, const struct ta_refs *in, size_t scalar,
                        double value, size_t share, const char *signal)
{
    char title[96];
    double least = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, share); i++)
        if (!signal || ta_ref_reads(in, SAMPLED_SIGNAL, i, signal))
            least = fmin(least, ta_ref_number(in, share, i, NAN));
    snprintf(title, sizeof title, "%s (%.0f %% sampled)", scalars[scalar].title, 100 * least);
    add(out, scalar, ta_num(value), isnan(least) ? NULL : title);
}

/* What a summary over ranks says of a metric; NaN without one. */
static double aggregated(const struct ta_refs *in, const char *metric, size_t column)
{
    for (size_t i = 0; i < ta_ref_rows(in, METRIC); i++)
        if (ta_ref_reads(in, METRIC, i, metric))
            return ta_ref_number(in, column, i, NAN);
    return NAN;
}

/* The figures of a summary over ranks, which comes without the recordings that it is of. */
static void add_aggregated(struct ta_section_builder *out, const struct ta_refs *in)
{
    if (ta_ref_rows(in, SESSION_TIME) == 0)
        add(out, SESSION, whole(aggregated(in, "session_duration", METRIC_MAX)), "Longest session");
    add(out, USED, whole(aggregated(in, "gpu_memory_used_bytes", METRIC_MAX)), NULL);
    if (ta_ref_rows(in, SAMPLED_SIGNAL))
        return;
    add(out, UTILIZATION, ta_num(aggregated(in, "gpu_utilization_ratio", METRIC_MEAN)), NULL);
    add(out, TEMPERATURE, ta_num(aggregated(in, "gpu_temperature_celsius", METRIC_MAX)), NULL);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    add_throughput(out, in);
    if (!ta_ref_table(in, THROUGHPUT_VALUE))
        add(out, ITERATIONS, ta_num(iteration_rate(in)), NULL);
    const bool are_requests = strcmp(ta_session_word(in, SESSION_KIND), "request") == 0;
    add(out, SESSION, whole(largest(in, SESSION_TIME, NULL)),
        has_several_sessions(in) ? are_requests ? "Longest request" : "Longest session"
        : are_requests           ? "Request"
                                 : NULL);
    add(out, PARAMETERS, whole(most_of_a_rank(in, MODEL_RANK, MODEL_PARAMETERS)), NULL);
    add(out, ALLOCATED, whole(largest(in, MEMORY_ALLOCATED, NULL)), NULL);
    /* Where what is held is known at snapshots only, more may have been in use between two. */
    const double reserved = largest(in, MEMORY_RESERVED, NULL);
    add(out, RESERVED, whole(reserved),
        reserved < largest(in, MEMORY_ALLOCATED, NULL) ? "Most reserved at a snapshot" : NULL);
    add_sampled(out, in, UTILIZATION, mean_of_devices(in, "gpu_utilization"), SAMPLED_SHARE,
                "gpu_utilization");
    add_sampled(out, in, TEMPERATURE, largest(in, SAMPLED_MAX, "gpu_temperature"), SAMPLED_SHARE,
                "gpu_temperature");
    add_sampled(out, in, ENERGY, most_of_a_rank(in, ENERGY_RANK, ENERGY_JOULES), ENERGY_SHARE,
                NULL);
    add_aggregated(out, in);
    return TA_OK;
}

static const struct ta_analysis_ops ops = {.section = "overview",
                                           .place = 1,
                                           TA_SCALARS(scalars),
                                           .finish = finish,
                                           .of_tables = true,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, overview_dumps, &ops, .title = "Overview",
          .summary = "Key figures of the dumps: throughput, parameters, memory, energy",
          .version = "1");
