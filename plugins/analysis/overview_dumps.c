/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key figures of the dumps, made from the tables of the other analyses. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdio.h>

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

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NAN);
}

/* The worst of all ranks: the smallest rate, the longest time; NaN without one. */
static double worst(const struct ta_table *values, const char *metric, const char *basis,
                    bool smallest)
{
    double found = NAN;
    for (size_t i = 0; values && i < values->n_rows; i++) {
        if (!ta_row_reads(values, i, "metric", metric) || !ta_row_reads(values, i, "basis", basis))
            continue;
        const double value = number(values, i, "value");
        if (isnan(found) || (smallest ? value < found : value > found))
            found = value;
    }
    return found;
}

static void add_throughput(struct ta_section_builder *out, const struct ta_table *values)
{
    add(out, "fps_wall", "FPS of the session", ta_num(worst(values, "fps", "wall", true)),
        TA_UNIT_PER_S, TA_HIGHER,
        "Frames of the blocks over the time of the session, slowest rank");
    add(out, "fps_until_cut", "FPS up to the cut", ta_num(worst(values, "fps", "until_cut", true)),
        TA_UNIT_PER_S, TA_HIGHER,
        "Frames of the blocks that are left of a report that is cut, over the time up to the last "
        "of them, slowest rank");
    add(out, "fps_blocks", "FPS of the blocks", ta_num(worst(values, "fps", "blocks", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Frames over the time of their blocks, slowest rank");
    add(out, "bps_wall", "BPS of the session", ta_num(worst(values, "bps", "wall", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Blocks over the time of the session, slowest rank");
    add(out, "bps_blocks", "BPS of the blocks", ta_num(worst(values, "bps", "blocks", true)),
        TA_UNIT_PER_S, TA_HIGHER, "Blocks over their time, slowest rank");
    add(out, "first_block_ns", "First block",
        ta_num(worst(values, "first_block_ns", "wall", false)), TA_UNIT_NS, TA_LOWER,
        "Start of the session to the end of the first block, slowest rank");
    add(out, "tokens_per_s", "Tokens per second",
        ta_num(worst(values, "tokens_per_s", "sections", true)), TA_UNIT_PER_S, TA_HIGHER,
        "Tokens over the time of the sections that generated them, slowest rank");
}

/* Largest value of a column, by the text of another one when `key` is given. */
static double largest(const struct ta_table *table, const char *column, const char *key,
                      const char *text)
{
    double found = NAN;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const double value = number(table, i, column);
        if ((!key || ta_row_reads(table, i, key, text)) && !isnan(value) && !(value <= found))
            found = value;
    }
    return found;
}

/* Sum of a column over the rows of a rank, which stand together, of the rank that has most: each
 * rank sees all models, and all devices of its host. */
static double most_of_a_rank(const struct ta_table *table, const char *column)
{
    double found = NAN, sum = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (i == 0 || number(table, i, "rank") != number(table, i - 1, "rank"))
            sum = 0;
        const double value = number(table, i, column);
        sum += isnan(value) ? 0 : value;
        found = isnan(found) || sum > found ? sum : found;
    }
    return found;
}

/* Mean over all devices of the means of a signal. */
static double mean_of_devices(const struct ta_table *telemetry, const char *signal)
{
    double sum = 0, n = 0;
    for (size_t i = 0; telemetry && i < telemetry->n_rows; i++) {
        if (!ta_row_reads(telemetry, i, "signal", signal) || isnan(number(telemetry, i, "mean")))
            continue;
        sum += number(telemetry, i, "mean");
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The rate of the slowest rank of a run with a single loop: that of several tells nothing. */
static double iteration_rate(const struct ta_table *loops)
{
    double slowest = NAN;
    for (size_t i = 0; loops && i < loops->n_rows; i++) {
        if (!ta_slice_equal(ta_row_text(loops, i, "loop"), ta_row_text(loops, 0, "loop")))
            return NAN;
        slowest = fmin(slowest, number(loops, i, "per_s"));
    }
    return slowest;
}

/* Whether a rank has several. */
static bool has_several_sessions(const struct ta_table *sessions)
{
    for (size_t i = 1; sessions && i < sessions->n_rows; i++)
        if (ta_row_integer(sessions, i, "rank") == ta_row_integer(sessions, i - 1, "rank"))
            return true;
    return false;
}

static struct ta_cell whole(double value)
{
    return value >= 0 && value < 9e18 ? ta_int(ta_whole(value)) : ta_null();
}

/* Where what is held is known at snapshots only, more may have been in use between two of them. */
static void add_reserved(struct ta_section_builder *out, const struct ta_table *memory)
{
    const double reserved = largest(memory, "peak_reserved_bytes", NULL, NULL);
    const bool is_peak = !(reserved < largest(memory, "peak_allocated_bytes", NULL, NULL));
    add(out, "peak_reserved_bytes",
        is_peak ? "Peak memory reserved" : "Most reserved at a snapshot", whole(reserved),
        TA_UNIT_BYTES, TA_LOWER,
        "Largest memory held by the allocator, of all ranks and devices, as far as it was "
        "recorded");
}

/* The title of a figure of samples, which may be of a part of the session only. */
static const char *sampled_title(char text[96], const char *title, const struct ta_table *table,
                                 const char *signal)
{
    double least = NAN;
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (!signal || ta_row_reads(table, i, "signal", signal))
            least = fmin(least, number(table, i, "session_share"));
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
    const struct ta_table *memory = ta_report_table(in->report, "memory.by_rank");
    const struct ta_table *telemetry = ta_report_table(in->report, "telemetry.by_rank");
    const struct ta_table *sessions = ta_report_table(in->report, "run.sessions");
    add_throughput(out, ta_report_table(in->report, "throughput.values"));
    if (!ta_report_table(in->report, "throughput.values"))
        add(out, "iterations_per_s", "Iterations per second",
            ta_num(iteration_rate(ta_report_table(in->report, "iterations.by_name"))),
            TA_UNIT_PER_S, TA_HIGHER, "Iterations over their time, slowest rank");
    add(out, "session_ns", has_several_sessions(sessions) ? "Longest session" : "Session",
        whole(largest(sessions, "dur_ns", NULL, NULL)), TA_UNIT_NS, TA_LOWER,
        "Duration of the longest session");
    add(out, "parameters", "Parameters",
        whole(most_of_a_rank(ta_report_table(in->report, "models.parameters"), "parameters")),
        TA_UNIT_COUNT, TA_NEUTRAL, "Parameters of all models of a rank");
    add(out, "peak_allocated_bytes", "Peak memory allocated",
        whole(largest(memory, "peak_allocated_bytes", NULL, NULL)), TA_UNIT_BYTES, TA_LOWER,
        "Largest memory in use by tensors, of all ranks and devices");
    add_reserved(out, memory);
    const struct ta_table *energy = ta_report_table(in->report, "energy.by_rank");
    char title[96];
    add(out, "gpu_utilization",
        sampled_title(title, "Devices in use", telemetry, "gpu_utilization"),
        ta_num(mean_of_devices(telemetry, "gpu_utilization")), TA_UNIT_RATIO, TA_HIGHER,
        "Share of time with work on the device, mean of its samples and of all devices");
    add(out, "gpu_temperature",
        sampled_title(title, "Hottest device", telemetry, "gpu_temperature"),
        ta_num(largest(telemetry, "max", "signal", "gpu_temperature")), TA_UNIT_CELSIUS, TA_LOWER,
        "Largest sample of all devices");
    add(out, "energy_j", sampled_title(title, "Energy", energy, NULL),
        ta_num(most_of_a_rank(energy, "energy_j")), TA_UNIT_JOULE, TA_LOWER,
        "Power integrated over the times of its samples, all devices that a rank sees");
    return TA_OK;
}

static const char *const after[] = {"overview", "throughput", "iterations", "models",
                                    "memory",   "telemetry",  "sessions",   NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "overview", .finish = finish, .of_tables = true};

TA_PLUGIN(analysis, overview_dumps, &ops, .title = "Overview",
          .summary = "Key figures of the dumps: throughput, parameters, memory, energy",
          .version = "1");
