/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.by_rank, .sampling, .limits and .timeline and energy.by_rank: what was sampled during a
 * run.
 *
 * Samples of single devices win over sums and largest values of all of them. A power of 0 is no
 * sample, and a device of which all samples are 0 is none. */
#include "telemetry.h"

#include "stat/dist.h"

#include <stdlib.h>

static const struct ta_ref reads[] = {
    [DIFFUSION_RANK] = {"diffusion.by_rank", "rank"},
    [DIFFUSION_FRAMES] = {"diffusion.by_rank", "frames"},
    [STEP_START] = {"steps.by_step", "host_start_ns"},
    [STEP_TIME] = {"steps.by_step", "host_dur_ns"},
    [STEP_PART] = {"steps.by_step", "part"},
    [TRACE_RANK] = {"gpu_time.program", "rank"},
    [TRACE_DEVICE] = {"gpu_time.program", "device"},
};

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE] = {"device", TA_FIELD_INT},
    [SIGNAL] = {"signal", TA_FIELD_INT},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [READINGS] = {"readings", TA_FIELD_TEXT},
    [COUNT] = {"samples", TA_FIELD_MAX},
    [LEAST] = {"least", TA_FIELD_MAX},
    [MOST] = {"most", TA_FIELD_MAX},
    [SUM] = {"sum", TA_FIELD_MAX},
    [JOULES] = {"joules", TA_FIELD_MAX},
    [COVERED] = {"covered_ns", TA_FIELD_MAX},
    [FIRST] = {"first_ns", TA_FIELD_MAX},
    [LAST] = {"last_ns", TA_FIELD_MAX},
    [STAMPED] = {"stamped", TA_FIELD_MAX},
    [VALUES] = {"values", TA_FIELD_DIST},
    [ORIGIN] = {"origin_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"samples", fields, FIELDS},
    {"sessions", telemetry_session_fields, SESSION_FIELDS},
    {"blocks", telemetry_block_fields, BLOCK_FIELDS},
    {"runs", telemetry_run_fields, RUN_FIELDS},
    {0}};

const struct signal_info telemetry_signals[TA_SIGNAL_COUNT] = {
    [TA_SIGNAL_GPU_UTILIZATION] = {true, 1e9},
    [TA_SIGNAL_GPU_MEMORY_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_MEMORY_USED] = {true, 1},
    [TA_SIGNAL_GPU_MEMORY_TOTAL] = {true, 1},
    [TA_SIGNAL_GPU_TEMPERATURE] = {true, 1e6},
    [TA_SIGNAL_GPU_POWER] = {true, 1e6},
    [TA_SIGNAL_GPU_CLOCK] = {true, 1},
    [TA_SIGNAL_GPU_MEMORY_CLOCK] = {true, 1},
    [TA_SIGNAL_TORCH_ALLOCATED] = {true, 1},
    [TA_SIGNAL_TORCH_RESERVED] = {true, 1},
    [TA_SIGNAL_CPU_UTILIZATION] = {false, 1e9},
    [TA_SIGNAL_CPU_MEMORY_USED] = {false, 1},
    [TA_SIGNAL_CPU_MEMORY_TOTAL] = {false, 1},
    [TA_SIGNAL_GPU_PCIE_RECEIVED] = {true, 1},
    [TA_SIGNAL_GPU_PCIE_SENT] = {true, 1},
    [TA_SIGNAL_GPU_POWER_LIMIT] = {true, 1e6},
    [TA_SIGNAL_GPU_CLOCK_MAX] = {true, 1},
    [TA_SIGNAL_GPU_POWER_CAP] = {true, 1e9},
    [TA_SIGNAL_GPU_THERMAL_SLOWDOWN] = {true, 1e9},
    [TA_SIGNAL_GPU_HARDWARE_THERMAL_SLOWDOWN] = {true, 1e9},
    [TA_SIGNAL_GPU_HARDWARE_SLOWDOWN] = {true, 1e9},
    [TA_SIGNAL_GPU_POWER_BRAKE] = {true, 1e9},
    [TA_SIGNAL_GPU_CLOCK_SETTING] = {true, 1e9},
    [TA_SIGNAL_GPU_MEMORY_TEMPERATURE] = {true, 1e6},
    [TA_SIGNAL_GPU_GRAPHICS_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_SM_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_SM_OCCUPANCY] = {true, 1e9},
    [TA_SIGNAL_GPU_TENSOR_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_INTEGER_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_FP64_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_FP32_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_FP16_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_DRAM_ACTIVITY] = {true, 1e9},
    [TA_SIGNAL_GPU_NVLINK_RECEIVED] = {true, 1},
    [TA_SIGNAL_GPU_NVLINK_SENT] = {true, 1},
    [TA_SIGNAL_DISK_READ] = {false, 1},
    [TA_SIGNAL_DISK_WRITTEN] = {false, 1},
    [TA_SIGNAL_SWAP_READ] = {false, 1},
    [TA_SIGNAL_SWAP_WRITTEN] = {false, 1},
    [TA_SIGNAL_DISK_WAIT] = {false, 1e9},
};

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_SIGNAL,
    BY_RANK_SAMPLES,
    BY_RANK_MIN,
    BY_RANK_MAX,
    BY_RANK_MEAN,
    BY_RANK_P95,
    BY_RANK_UNIT,
    BY_RANK_SESSION_SHARE
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN_OF("Rank that works on the device; else the rank of the dump"),
    [BY_RANK_DEVICE] =
        TA_DEVICE_COLUMN_OF("Device; empty for the host, and for sums or maxima over all devices"),
    [BY_RANK_SIGNAL] = {"signal", "Signal", TA_WORD, .read_as = TA_AS_SIGNAL,
                        .doc = "What was sampled"},
    [BY_RANK_SAMPLES] = {"samples", "Samples", TA_COUNT, .doc = "Number of samples"},
    [BY_RANK_MIN] = {"min", "Min", TA_NUMBER, .doc = "Smallest sample"},
    [BY_RANK_MAX] = {"max", "Max", TA_NUMBER, .weight = 0.15, .doc = "Largest sample"},
    [BY_RANK_MEAN] = {"mean", "Mean", TA_NUMBER, .weight = 0.5, .read_as = TA_AS_SIGNAL_MEAN,
                      .doc = "Mean of the samples"},
    [BY_RANK_P95] = {"p95", "p95", TA_NUMBER, .weight = 0.1,
                     .doc = "95th percentile of the samples (type 7)"},
    [BY_RANK_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW,
                      .doc = "Unit of min, max, mean and p95"},
    [BY_RANK_SESSION_SHARE] =
        {"session_share", "Share of session", TA_RATIO,
         .doc =
             "Share of the session that the samples cover; empty if they cover the whole session"},
};

static const struct ta_table_def by_rank = {
    "telemetry.by_rank",
    "Device telemetry",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank, device and signal. Samples of single devices are preferred over sums "
           "and maxima over all devices. If one process samples the devices of several ranks whose "
           "traces are read too, each device has the rank that works on it. `unit` is the unit of "
           "min, max, mean and p95; clocks are "
           "in Hz. A timestamped sample in several files counts once. A power of 0 is not a "
           "sample, and a device with only zeros is left out. For series with more than 65 536 "
           "samples in a file, the 95th percentile is within 0.5 %. A profiler that keeps only the "
           "last samples (`max_data_points` of Inferix) has samples from the end of a long "
           "session: all figures are of the time that these cover, nothing is extrapolated, and "
           "`session_share` gives the covered share of the session if more than 5 % of it, and "
           "more than four intervals, are missing.",
    .rank_words = "",
    .brief = &(const struct ta_brief){
        .place = 370,
        .rows = 12,
        .rows_are = "the first ranks and devices",
        .first = {&by_rank_columns[BY_RANK_MEAN], &by_rank_columns[BY_RANK_MAX]},
        .hidden = {&by_rank_columns[BY_RANK_SIGNAL],
                   {"gpu_memory_activity", "gpu_memory_total", "gpu_memory_clock",
                    "cpu_memory_total", "gpu_power_limit", "gpu_clock_max", "gpu_power_cap",
                    "gpu_thermal_slowdown", "gpu_hardware_thermal_slowdown",
                    "gpu_hardware_slowdown", "gpu_power_brake", "gpu_clock_setting",
                    "gpu_memory_temperature", "gpu_graphics_activity", "gpu_integer_activity",
                    "gpu_fp64_activity", "gpu_fp32_activity", "gpu_fp16_activity"}}}};

/* ---- what counts --------------------------------------------------------------------------- */

static bool is_zero(const struct all *all, const struct series *series)
{
    for (size_t i = series->first; i < series->end; i++)
        if (all->readings[i].value != 0)
            return false;
    return series->summary.n == 0 || (series->summary.least == 0 && series->summary.most == 0);
}

/* A series over all devices is not used where the rank has one per device, of any signal: the sum
 * is of the same samples. */
static void drop_sums(struct all *all)
{
    for (size_t first = 0, end; first < all->n; first = end) {
        bool named = false;
        for (end = first; end < all->n && all->at[end].rank == all->at[first].rank; end++)
            named |= all->at[end].used && all->at[end].device != TA_MISSING &&
                     telemetry_signals[all->at[end].signal].of_gpu;
        for (size_t i = first; named && i < end; i++)
            if (all->at[i].device == TA_MISSING && telemetry_signals[all->at[i].signal].of_gpu)
                all->at[i].used = false;
    }
}

/* ---- by rank ------------------------------------------------------------------------------- */

/* Values of a series, some of which stand for several samples. */
struct weighted {
    double value;
    int64_t n;
};

struct weights {
    struct weighted *at;
    size_t n;
    double scale;
    int64_t below; /* samples of the distribution that were added */
};

static void count_bucket(void *user, int64_t value, int64_t at_or_below)
{
    (void)value;
    (void)at_or_below;
    ++*(size_t *)user;
}

static void add_bucket(void *user, int64_t value, int64_t at_or_below)
{
    struct weights *weights = user;
    weights->at[weights->n++] =
        (struct weighted){(double)value / weights->scale, at_or_below - weights->below};
    weights->below = at_or_below;
}

static int by_value(const void *left, const void *right)
{
    const struct weighted *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* The value of sample number `index` of them all, ascending. */
static double value_number(const struct weights *weights, int64_t index)
{
    size_t i = 0;
    for (int64_t seen = weights->at[0].n; seen <= index && i + 1 < weights->n;)
        seen += weights->at[++i].n;
    return weights->at[i].value;
}

/* The 95th percentile where not all samples were kept; NAN without memory. */
static double quantile_of_many(const struct all *all, const struct series *series,
                               const struct summary *sums)
{
    size_t n = series->end - series->first;
    struct weights weights = {.scale = telemetry_signals[series->signal].steps};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = series->first_row; i < series->end_row; i++) {
            const int64_t *row = ta_partial_at(all->partial, i);
            weights.below = 0;
            if (row[COUNT] != TA_MISSING && !all->dropped[i])
                ta_dist_walk(ta_partial_dist_at(all->partial, row, VALUES),
                             pass ? add_bucket : count_bucket,
                             pass ? (void *)&weights : (void *)&n);
        }
        if (pass == 0)
            weights.at = calloc(n + 1, sizeof *weights.at);
        if (!weights.at)
            return NAN;
    }
    for (size_t i = series->first; i < series->end; i++)
        weights.at[weights.n++] = (struct weighted){all->readings[i].value, 1};
    qsort(weights.at, weights.n, sizeof *weights.at, by_value);
    const double place = 0.95 * (double)(sums->n - 1), low = floor(place);
    const double below = value_number(&weights, ta_whole(low));
    const double above = value_number(&weights, ta_whole(ceil(place)));
    free(weights.at);
    return fmin(fmax(below + (above - below) * (place - low), sums->least), sums->most);
}

static void add_ranks(struct ta_section_builder *out, const struct all *all, double *values)
{
    for (size_t s = 0; s < all->n; s++)
        if (all->at[s].used) {
            const struct series *series = &all->at[s];
            const size_t n = series->end - series->first;
            struct summary all_of =
                telemetry_sum_up((struct readings){all->readings + series->first, n}, values);
            telemetry_join(&all_of, &series->summary);
            const double part = telemetry_covered_share(all, series, &all_of);
            struct summary sums = {.n = (int64_t)n};
            for (size_t i = 0; i < n; i++)
                values[i] = all->readings[series->first + i].value;
            ta_sort_numbers(values, n);
            for (size_t i = 0; i < n; i++)
                sums.sum += values[i];
            sums.least = n ? values[0] : NAN;
            sums.most = n ? values[n - 1] : NAN;
            telemetry_join(&sums, &series->summary);
            if (sums.n == 0)
                continue;
            const double p95 = series->summary.n ? quantile_of_many(all, series, &sums)
                                                 : ta_quantile(values, n, 0.95);
            const char *name = ta_signal_name(series->signal);
            const char *unit = ta_unit_name(ta_signal_unit(series->signal));
            TA_ROW(
                out, by_rank, [BY_RANK_RANK] = ta_int(series->rank),
                [BY_RANK_DEVICE] = ta_int(series->device),
                [BY_RANK_SIGNAL] = ta_text(ta_slice_of(name)), [BY_RANK_SAMPLES] = ta_int(sums.n),
                [BY_RANK_MIN] = ta_num(sums.least), [BY_RANK_MAX] = ta_num(sums.most),
                [BY_RANK_MEAN] = ta_num(sums.sum / (double)sums.n), [BY_RANK_P95] = ta_num(p95),
                [BY_RANK_UNIT] = ta_text(ta_slice_of(unit)),
                [BY_RANK_SESSION_SHARE] = ta_num(part));
        }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct all all = {
        .partial = merged[0], .sessions = merged[1], .blocks = merged[2], .runs = merged[3]};
    bool done = telemetry_find_series(&all);
    double *values = calloc(all.n_readings + 1, sizeof *values);
    int64_t *times = calloc(all.n_readings + 1, sizeof *times);
    done = done && values && times;
    if (done) {
        /* Where there is no device, profilers write zeros. */
        for (size_t first = 0, end; first < all.n; first = end) {
            bool any = false;
            end = telemetry_device_end(&all, first);
            for (size_t i = first; i < end; i++)
                any |= telemetry_signals[all.at[i].signal].of_gpu && !is_zero(&all, &all.at[i]);
            for (size_t i = first; i < end; i++)
                all.at[i].used = any || !telemetry_signals[all.at[i].signal].of_gpu;
        }
        drop_sums(&all);
        telemetry_find_owners(&all, in);
        telemetry_add_window(out, &all);
        add_ranks(out, &all, values);
        telemetry_add_energy(out, &all, in, values);
        telemetry_add_sampling(out, &all, values);
        /* The last: it puts the means of several files in order. */
        done = telemetry_add_timeline(out, &all, times) && telemetry_add_limits(out, &all, in) &&
               telemetry_add_disks(out, &all);
    }
    free(all.readings);
    free(all.at);
    free(all.dropped);
    free(all.unpacked);
    free(all.row_first);
    free(values);
    free(times);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the telemetry");
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, SIGNAL, TA_SIGNAL_COUNT}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {
    &telemetry_window, &by_rank,         &telemetry_energy,   &telemetry_sampling,
    &telemetry_limits, &telemetry_disks, &telemetry_timeline, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "telemetry",
                                           .partials = partials,
                                           .map = telemetry_map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, telemetry, &ops, .title = "Device telemetry",
          .summary = "Samples of devices and host, and energy: telemetry.by_rank, "
                     "telemetry.sampling, telemetry.limits, telemetry.timeline, energy.by_rank",
          .version = "2");
