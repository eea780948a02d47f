/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key figures of a run, made from the tables of the other analyses. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

struct sums {
    double window, busy, compute, comm, memcpy, longest;
};

/* Sum of a column over all rows; 0 when it is not there. */
static double total(const struct ta_table *table, const char *key, double *largest)
{
    const size_t column = ta_table_column(table, key);
    double sum = 0;
    for (size_t i = 0; column != SIZE_MAX && i < table->n_rows; i++) {
        const double value = ta_cell_number(ta_table_cell(table, i, column), 0);
        sum += value;
        if (largest && value > *largest)
            *largest = value;
    }
    return sum;
}

static void add(struct ta_section_builder *out, const char *id, const char *title, double value,
                enum ta_unit unit, enum ta_polarity polarity, const char *note)
{
    ta_add_scalar(out, &(struct ta_scalar){.id = id,
                                           .title = title,
                                           .value = ta_num(value),
                                           .unit = unit,
                                           .polarity = polarity,
                                           .note = note});
}

static void add_count(struct ta_section_builder *out, const char *id, const char *title,
                      double value, const char *note)
{
    ta_add_scalar(out, &(struct ta_scalar){.id = id,
                                           .title = title,
                                           .value = ta_int(ta_whole(value)),
                                           .unit = TA_UNIT_COUNT,
                                           .polarity = TA_NEUTRAL,
                                           .note = note});
}

static void add_gpu(struct ta_section_builder *out, const struct ta_table *gpu)
{
    struct sums s = {0};
    s.window = total(gpu, "window_ns", &s.longest);
    s.busy = total(gpu, "busy_ns", NULL);
    s.compute = total(gpu, "compute_ns", NULL);
    s.comm = total(gpu, "comm_exposed_ns", NULL);
    s.memcpy = total(gpu, "memcpy_exposed_ns", NULL);
    if (s.window <= 0)
        return;
    add(out, "gpu_busy_share", "GPU busy", s.busy / s.window, TA_UNIT_RATIO, TA_HIGHER,
        "Busy time over window, all ranks together");
    add(out, "gpu_compute_share", "Computing", s.compute / s.window, TA_UNIT_RATIO, TA_HIGHER,
        "Time with a compute kernel over window, all ranks together");
    add(out, "comm_exposed_share", "Exposed communication", s.comm / s.window, TA_UNIT_RATIO,
        TA_LOWER, "Communication that no compute covers, over window");
    add(out, "memcpy_exposed_share", "Exposed copies", s.memcpy / s.window, TA_UNIT_RATIO, TA_LOWER,
        "Copies that nothing covers, over window");
    ta_add_scalar(out, &(struct ta_scalar){.id = "gpu_window_ns",
                                           .title = "GPU window",
                                           .value = ta_int(ta_whole(s.longest)),
                                           .unit = TA_UNIT_NS,
                                           .polarity = TA_LOWER,
                                           .note = "First to last device activity, the longest "
                                                   "of all ranks"});
}

/* Whether any step is timed by its device work. */
static bool has_device_times(const struct ta_table *steps)
{
    for (size_t i = 0; i < steps->n_rows; i++)
        if (ta_row_number(steps, i, "counted_ns", 0) > ta_row_number(steps, i, "host_dur_ns", 0))
            return true;
    return false;
}

/* Median of the times of the steps that count: the markers of all, where none says otherwise. */
static bool add_step_time(struct ta_section_builder *out, const struct ta_table *steps)
{
    static const char *const columns[] = {"counted_ns", "host_dur_ns"};
    size_t n = 0;
    double *values = malloc(steps->n_rows * sizeof *values);
    if (!values)
        return false;
    for (size_t c = 0; c < 2 && n == 0; c++)
        for (size_t i = 0; i < steps->n_rows; i++) {
            const double value = ta_row_number(steps, i, columns[c], NAN);
            if (!isnan(value))
                values[n++] = value;
        }
    ta_sort_numbers(values, n);
    const double median = ta_quantile(values, n, 0.5);
    free(values);
    add(out, "step_time_p50_ns", "Step time p50", median, TA_UNIT_NS, TA_LOWER,
        has_device_times(steps)
            ? "Median of the time that a marked step keeps the device busy, all "
              "ranks: the markers cover only the launches"
            : "Median host duration of the marked steps, all ranks");
    return true;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_table *gpu = ta_report_table(in->report, "gpu_time.by_rank");
    const struct ta_table *steps = ta_report_table(in->report, "steps.by_step");
    const struct ta_table *kernels = ta_report_table(in->report, "kernels.by_name");
    const struct ta_table *files = ta_report_table(in->report, "run.files");
    if (gpu)
        add_gpu(out, gpu);
    if (steps && !add_step_time(out, steps))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the steps");
    if (kernels)
        add_count(out, "kernels", "Kernels", total(kernels, "calls", NULL),
                  "Kernel executions on all ranks");
    if (files && (total(files, "events", NULL) > 0 || ta_report_is_of_traces(in->report)))
        add_count(out, "events", "Events", total(files, "events", NULL),
                  "Event records read from all files");
    return TA_OK;
}

static const char *const after[] = {"gpu_time", "steps", "kernels_by_name", "files", NULL};

static const struct ta_analysis_ops ops = {.after = after,
                                           .section = "overview",
                                           .has_figures = true,
                                           .finish = finish,
                                           .of_tables = true};

TA_PLUGIN(analysis, overview, &ops, .title = "Overview",
          .summary = "Key figures of the run: GPU busy share, exposed communication, step time",
          .version = "1");
