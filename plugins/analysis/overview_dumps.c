/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key figures of the dumps, made from the tables of the other analyses. */
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
    ENERGY_SHARE
};
static const struct ta_ref reads[] = {
    [THROUGHPUT_METRIC] = {"throughput.values", "metric"},
    [THROUGHPUT_BASIS] = {"throughput.values", "basis"},
    [THROUGHPUT_VALUE] = {"throughput.values", "value"},
    [LOOP_NAME] = {"iterations.by_name", "loop"},
    [LOOP_RATE] = {"iterations.by_name", "per_s"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [SESSION_TIME] = {"run.sessions", "dur_ns"},
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
};

static void add(struct ta_section_builder *out, const char *id, const char *title,
                struct ta_cell value, enum ta_unit unit, enum ta_polarity polarity,
                const char *note)
{
    if (value.kind != TA_CELL_NULL)
        ta_add_scalar(out, &(struct ta_scalar){.id = id,
                                               .title = title,
                                               .value = value,
                                               .unit = unit,
                                               .polarity = polarity,
                                               .note = note});
}

/* The worst of all ranks: the smallest rate, the longest time; NaN without one. */
static double worst(const struct ta_refs *in, const char *metric, const char *basis, bool smallest)
{
    double found = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, THROUGHPUT_VALUE); i++) {
        if (!ta_ref_reads(in, THROUGHPUT_METRIC, i, metric) ||
            !ta_ref_reads(in, THROUGHPUT_BASIS, i, basis))
            continue;
        const double value = ta_ref_number(in, THROUGHPUT_VALUE, i, NAN);
        if (isnan(found) || (smallest ? value < found : value > found))
            found = value;
    }
    return found;
}

static void add_throughput(struct ta_section_builder *out, const struct ta_refs *in)
{
    add(out, "fps_wall", "FPS of the session", ta_num(worst(in, "fps", "wall", true)),
        TA_UNIT_PER_S, TA_HIGHER,
        "Frames of the blocks over the time of the session, slowest rank");
    add(out, "fps_until_cut", "FPS up to the cut", ta_num(worst(in, "fps", "until_cut", true)),
        TA_UNIT_PER_S, TA_HIGHER,
        "Frames of the blocks that are left of a report that is cut, over the time up to the last "
        "of them, slowest rank");
    add(out, "fps_blocks", "FPS of the blocks", ta_num(worst(in, "fps", "blocks", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Frames over the time of their blocks, slowest rank");
    add(out, "bps_wall", "BPS of the session", ta_num(worst(in, "bps", "wall", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Blocks over the time of the session, slowest rank");
    add(out, "bps_blocks", "BPS of the blocks", ta_num(worst(in, "bps", "blocks", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Blocks over their time, slowest rank");
    add(out, "first_block_ns", "First block", ta_num(worst(in, "first_block_ns", "wall", false)),
        TA_UNIT_NS, TA_LOWER, "Start of the session to the end of the first block, slowest rank");
    add(out, "tokens_per_s", "Tokens per second",
        ta_num(worst(in, "tokens_per_s", "sections", true)), TA_UNIT_PER_S, TA_HIGHER,
        "Tokens over the time of the sections that generated them, slowest rank");
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

/* The rate of the slowest rank of a run with a single loop: that of several tells nothing. */
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

static struct ta_cell whole(double value)
{
    return value >= 0 && value < 9e18 ? ta_int(ta_whole(value)) : ta_null();
}

/* The title of a figure of samples, which may be of a part of the session only. */
static const char *sampled_title(char text[96], const char *title, const struct ta_refs *in,
                                 size_t share, const char *signal)
{
    double least = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, share); i++)
        if (!signal || ta_ref_reads(in, SAMPLED_SIGNAL, i, signal))
            least = fmin(least, ta_ref_number(in, share, i, NAN));
    if (isnan(least))
        snprintf(text, 96, "%s", title);
    else
        snprintf(text, 96, "%s (%.0f %% sampled)", title, 100 * least);
    return text;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    add_throughput(out, in);
    if (!ta_ref_table(in, THROUGHPUT_VALUE))
        add(out, "iterations_per_s", "Iterations per second", ta_num(iteration_rate(in)),
            TA_UNIT_PER_S, TA_HIGHER, "Iterations over their time, slowest rank");
    add(out, "session_ns", has_several_sessions(in) ? "Longest session" : "Session",
        whole(largest(in, SESSION_TIME, NULL)), TA_UNIT_NS, TA_LOWER,
        "Duration of the longest session");
    add(out, "parameters", "Parameters", whole(most_of_a_rank(in, MODEL_RANK, MODEL_PARAMETERS)),
        TA_UNIT_COUNT, TA_NEUTRAL, "Parameters of all models of a rank");
    add(out, "peak_allocated_bytes", "Peak memory allocated",
        whole(largest(in, MEMORY_ALLOCATED, NULL)), TA_UNIT_BYTES, TA_LOWER,
        "Largest memory in use by tensors, of all ranks and devices");
    /* Where what is held is known at snapshots only, more may have been in use between two of them.
     */
    const double reserved = largest(in, MEMORY_RESERVED, NULL);
    const bool is_peak = !(reserved < largest(in, MEMORY_ALLOCATED, NULL));
    add(out, "peak_reserved_bytes",
        is_peak ? "Peak memory reserved" : "Most reserved at a snapshot", whole(reserved),
        TA_UNIT_BYTES, TA_LOWER,
        "Largest memory held by the allocator, of all ranks and devices, as far as it was "
        "recorded");
    char title[96];
    /* Mean over all devices of the means of a signal. */
    double sum = 0, n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SAMPLED_MEAN); i++) {
        const double mean = ta_ref_number(in, SAMPLED_MEAN, i, NAN);
        if (!ta_ref_reads(in, SAMPLED_SIGNAL, i, "gpu_utilization") || isnan(mean))
            continue;
        sum += mean;
        n++;
    }
    add(out, "gpu_utilization",
        sampled_title(title, "Devices in use", in, SAMPLED_SHARE, "gpu_utilization"),
        ta_num(n > 0 ? sum / n : NAN), TA_UNIT_RATIO, TA_HIGHER,
        "Share of time with work on the device, mean of its samples and of all devices");
    add(out, "gpu_temperature",
        sampled_title(title, "Hottest device", in, SAMPLED_SHARE, "gpu_temperature"),
        ta_num(largest(in, SAMPLED_MAX, "gpu_temperature")), TA_UNIT_CELSIUS, TA_LOWER,
        "Largest sample of all devices");
    add(out, "energy_j", sampled_title(title, "Energy", in, ENERGY_SHARE, NULL),
        ta_num(most_of_a_rank(in, ENERGY_RANK, ENERGY_JOULES)), TA_UNIT_JOULE, TA_LOWER,
        "Power integrated over the times of its samples, all devices that a rank sees");
    return TA_OK;
}

static const char *const behind[] = {"overview", NULL};

static const struct ta_analysis_ops ops = {.behind = behind,
                                           .section = "overview",
                                           .has_figures = true,
                                           .finish = finish,
                                           .of_tables = true,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, overview_dumps, &ops, .title = "Overview",
          .summary = "Key figures of the dumps: throughput, parameters, memory, energy",
          .version = "1");
