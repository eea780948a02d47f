/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key figures of a run, made from the tables of the other analyses. */
#include "lib/damage.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/rule.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    GPU_WINDOW,
    PROGRAM_WINDOW,
    GPU_BUSY,
    GPU_COMPUTE,
    GPU_COMM,
    GPU_MEMCPY,
    STEP_COUNTED,
    STEP_HOST,
    STEP_RANK,
    STEP_PART,
    STEP_KERNELS,
    STEP_LOST,
    STEP_WORK_NS,
    KIND_PHASE,
    KIND_STEPS,
    KIND_P50,
    KIND_WIDTH,
    KERNEL_CALLS,
    FILE_EVENTS,
    BUSY_RANK,
    BUSY_NS,
    HOST_WINDOW,
    LOOP_RANK,
    LOOP_IMAGES,
    LOOP_BLOCKS,
    LOOP_IMAGE_NS,
    LOOP_BATCH,
    LOOP_FRAMES,
    WAIT_NS,
    IDLE_OWNER,
    IDLE_NS,
    EDGE_CAUSE,
    EDGE_NS,
    DAMAGE,
    DAMAGE_SHARE
};

static const struct ta_ref reads[] = {
    [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [PROGRAM_WINDOW] = {"gpu_time.program", "window_ns"},
    [GPU_BUSY] = {"gpu_time.by_rank", "busy_ns"},
    [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [GPU_COMM] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [GPU_MEMCPY] = {"gpu_time.by_rank", "memcpy_exposed_ns"},
    [STEP_COUNTED] = {"steps.by_step", "counted_ns"},
    [STEP_HOST] = {"steps.by_step", "host_dur_ns"},
    [STEP_RANK] = {"steps.by_step", "rank"},
    [STEP_PART] = {"steps.by_step", "part"},
    [STEP_KERNELS] = {"steps.by_step", "kernels"},
    [STEP_LOST] = {"steps.by_step", "lost"},
    [STEP_WORK_NS] = {"steps.by_step", "gpu_busy_ns"},
    [KIND_PHASE] = {"steps.by_kind", "phase"},
    [KIND_STEPS] = {"steps.by_kind", "steps"},
    [KIND_P50] = {"steps.by_kind", "p50_ns"},
    [KIND_WIDTH] = {"steps.by_kind", "width"},
    [KERNEL_CALLS] = {"kernels.by_name", "calls"},
    [FILE_EVENTS] = {"run.files", "events"},
    [BUSY_RANK] = {"gpu_time.program", "rank"},
    [BUSY_NS] = {"gpu_time.program", "busy_ns"},
    [HOST_WINDOW] = {"run.window", "window_ns"},
    [LOOP_RANK] = {"diffusion.loops", "rank"},
    [LOOP_IMAGES] = {"diffusion.loops", "images"},
    [LOOP_BLOCKS] = {"diffusion.loops", "blocks"},
    [LOOP_IMAGE_NS] = {"diffusion.loops", "image_ns"},
    [LOOP_BATCH] = {"diffusion.loops", "batch"},
    [LOOP_FRAMES] = {"diffusion.loops", "frames"},
    [WAIT_NS] = {"collectives.exposed", "wait_ns"},
    [IDLE_OWNER] = {"gpu_idle.by_owner", "owner"},
    [IDLE_NS] = {"gpu_idle.by_owner", "total_ns"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_NS] = {"gpu_idle.edges", "total_ns"},
    [DAMAGE] = {"health.damage", "damage"},
    [DAMAGE_SHARE] = {"health.damage", "share"},
};

static double shortest(const struct ta_refs *in, size_t ref)
{
    double least = INFINITY;
    for (size_t i = 0; i < ta_ref_rows(in, ref); i++)
        least = fmin(least, ta_ref_number(in, ref, i, INFINITY));
    return least;
}

static double longest(const struct ta_refs *in, size_t ref)
{
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, ref); i++)
        most = fmax(most, ta_ref_number(in, ref, i, 0));
    return most;
}

enum {
    BUSY,
    COMPUTE,
    COMM,
    MEMCPY,
    PROGRAM,
    WINDOW,
    HOST,
    IMAGES,
    IMAGE_BUSY,
    STEP_TIME,
    STEP_WORK,
    KERNELS,
    EVENTS
};

static const struct ta_scalar_def scalars[] = {
    [BUSY] = {"gpu_busy_share", "GPU busy", TA_UNIT_RATIO, TA_HIGHER,
              .doc = "Time with any GPU work, divided by the program's window, all ranks together",
              .gate = "gpu_busy"},
    [COMPUTE] = {"gpu_compute_share", "Computing", TA_UNIT_RATIO, TA_HIGHER,
                 .doc = "Time with a compute kernel running, divided by the program's window, all "
                        "ranks together"},
    [COMM] = {"comm_exposed_share", "Exposed communication", TA_UNIT_RATIO, TA_LOWER,
              .doc = "Communication not hidden by compute, divided by the program's window, all "
                     "ranks together",
              .gate = "comm_exposed"},
    [MEMCPY] = {"memcpy_exposed_share", "Exposed copies", TA_UNIT_RATIO, TA_LOWER,
                .doc = "Copies not hidden by other GPU work, divided by the program's window, all "
                       "ranks together"},
    [PROGRAM] =
        {"program_window_ns", "Window", TA_UNIT_NS, TA_LOWER,
         .doc = "From the first to the last work of the program on host and devices, longest rank",
         .read_as = TA_AS_PROGRAM_WINDOW},
    [WINDOW] = {"gpu_window_ns", "GPU window", TA_UNIT_NS, TA_LOWER,
                .doc = "From the first to the last device activity, longest rank; left out if "
                       "within 1 % of the program's window"},
    [STEP_TIME] = {"step_time_p50_ns", "Step time p50", TA_UNIT_NS, TA_LOWER,
                   .doc =
                       "Median host duration of the marked steps, all ranks, without set-up steps",
                   .gate = "step_time.p50"},
    [HOST] = {"host_window_ns", "Window", TA_UNIT_NS, TA_LOWER,
              .doc = "From the first to the last work of the program on the host, longest rank; "
                     "shown if no device activity was recorded"},
    [IMAGES] = {"image_rate", "Images per second", TA_UNIT_PER_S, TA_HIGHER,
                .doc = "Images per second of the diffusion, slowest rank"},
    [IMAGE_BUSY] = {"image_gpu_busy_ns", "GPU work per image", TA_UNIT_NS, TA_LOWER,
                    .doc = "GPU busy time per image of the diffusion, rank with the most"},
    [STEP_WORK] = {"step_gpu_busy_ns", "GPU work per step", TA_UNIT_NS, TA_LOWER,
                   .doc = "Median GPU busy time of the steps that the step time is of, rank with "
                          "the most"},
    [KERNELS] = {"kernels", "Kernels", TA_UNIT_COUNT, TA_NEUTRAL,
                 .doc = "Kernels executed on all ranks"},
    [EVENTS] = {"events", "Events", TA_UNIT_COUNT, TA_NEUTRAL,
                .doc = "Event records read from all files"},
};

/* Whether the one marked step of each rank is a request from beginning to end: no step time. */
static bool is_whole_request(const struct ta_refs *in)
{
    bool any = false;
    for (size_t i = 0; i < ta_ref_rows(in, KIND_WIDTH); i++)
        any |= ta_ref_integer(in, KIND_WIDTH, i) != TA_MISSING;
    for (size_t i = 1; any && i < ta_ref_rows(in, STEP_RANK); i++)
        any = ta_ref_integer(in, STEP_RANK, i) != ta_ref_integer(in, STEP_RANK, i - 1);
    return any;
}

/* Where prompts are read and tokens written, the steps of which there are most; false where all are
 * of one phase. */
static bool add_phase_time(struct ta_section_builder *out, const struct ta_refs *in)
{
    const size_t n = ta_ref_rows(in, KIND_PHASE);
    size_t most = 0;
    bool differ = false;
    for (size_t i = 1; i < n; i++) {
        differ |= !ta_slice_equal(ta_ref_text(in, KIND_PHASE, i), ta_ref_text(in, KIND_PHASE, 0));
        if (ta_ref_integer(in, KIND_STEPS, i) > ta_ref_integer(in, KIND_STEPS, most))
            most = i;
    }
    if (!differ)
        return false;
    const struct ta_slice phase = ta_ref_text(in, KIND_PHASE, most);
    char title[64];
    snprintf(title, sizeof title, "Step time p50, %.*s", (int)phase.len,
             phase.len ? phase.ptr : "");
    ta_word_scalar(out, &scalars[STEP_TIME], ta_num(ta_ref_number(in, KIND_P50, most, 0)),
                   phase.len ? title : NULL, "Median time of the most frequent kind of step");
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A median this far from the mean is not what one step of many takes: their range is said. */
#define UNEQUAL 0.05
/* From this share on, steps fill their window. */
#define FILLED 0.9
/* Recordings of ranks that differ by more have windows of their own. */
#define ALIKE 0.99
/* A larger share of the window in which ranks wait for each other is named. */
#define LEAST_WAIT 0.01

/* The steps that figures are of. */
struct counted {
    size_t column;        /* of their times */
    bool has_kernels;     /* steps that launch nothing are rests of the recording */
    size_t n, ranks, all; /* `all`: with those that are left out */
    double sum;           /* of their times */
    double least, most;   /* of their times */
    double time;          /* of all */
    bool of_device;
};

/* Not a marker around the steps, which has no time of its own. */
static bool is_step(const struct ta_refs *in, const struct counted *steps, size_t row)
{
    return steps->column == STEP_HOST || !isnan(ta_ref_number(in, STEP_COUNTED, row, NAN)) ||
           ta_ref_number(in, STEP_LOST, row, 0) > 0 ||
           ta_ref_cell(in, STEP_PART, row)->kind != TA_CELL_NULL ||
           ta_ref_number(in, STEP_KERNELS, row, 0) <= 0;
}

static bool is_counted(const struct ta_refs *in, const struct counted *steps, size_t row)
{
    return !isnan(ta_ref_number(in, steps->column, row, NAN)) &&
           ta_ref_cell(in, STEP_PART, row)->kind == TA_CELL_NULL &&
           (!steps->has_kernels || ta_ref_number(in, STEP_KERNELS, row, 0) > 0);
}

/* The times that the analysis of steps says; the markers of all, where it says nothing. */
static struct counted find_counted(const struct ta_refs *in)
{
    static const size_t columns[] = {STEP_COUNTED, STEP_HOST};
    struct counted steps = {.has_kernels = longest(in, STEP_KERNELS) > 0};
    for (size_t c = 0; c < TA_LENGTH(columns) && steps.n == 0; c++) {
        int64_t last = TA_MISSING;
        steps.column = columns[c];
        for (size_t i = 0; i < ta_ref_rows(in, STEP_HOST); i++) {
            if (!is_counted(in, &steps, i))
                continue;
            const int64_t rank = ta_ref_integer(in, STEP_RANK, i);
            const double time = ta_ref_number(in, steps.column, i, 0);
            steps.ranks += steps.n == 0 || rank != last;
            steps.of_device |= time > ta_ref_number(in, STEP_HOST, i, 0);
            steps.sum += time;
            steps.least = steps.n ? fmin(steps.least, time) : time;
            steps.most = fmax(steps.most, time);
            steps.n++;
            last = rank;
        }
    }
    for (size_t i = 0; i < ta_ref_rows(in, STEP_HOST); i++)
        if (is_step(in, &steps, i)) {
            const double marked = ta_ref_number(in, STEP_HOST, i, 0);
            steps.all++;
            steps.time += ta_ref_number(in, steps.column, i, marked);
        }
    return steps;
}

/* Median of the values of a column, of the steps in [from, to) that count; NaN without any. */
static double median_of(const struct ta_refs *in, const struct counted *steps, size_t column,
                        size_t from, size_t to, double *values)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const double value = ta_ref_number(in, column, i, NAN);
        if (!isnan(value) && is_counted(in, steps, i))
            values[n++] = value;
    }
    ta_sort_numbers(values, n);
    return n ? ta_quantile(values, n, 0.5) : NAN;
}

/* Whether blocks of videos are made, which any rank may show. */
static bool makes_blocks(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, LOOP_RANK); i++)
        if (ta_ref_number(in, LOOP_BLOCKS, i, 1) > ta_ref_number(in, LOOP_IMAGES, i, 1))
            return true;
    return false;
}

/* Whether a marked step is a block of a video. */
static bool are_blocks(const struct ta_refs *in)
{
    return makes_blocks(in) && ta_ref_sum(in, LOOP_BLOCKS) == (double)ta_ref_rows(in, STEP_HOST);
}

enum { TITLE_MAX = 320 };

/* "Step time (p50 of 6)", "Step time (p50 of 5 of 6)", "Step time (p50 of 5, 0.12 s to 1.05 s)",
 * "Block time (p50 of 4 × 4 ranks)": so that nobody takes it times the number of steps for the run.
 */
static void title_step(char title[TITLE_MAX], const struct ta_refs *in, const struct counted *steps,
                       double median)
{
    const double mean = steps->sum / (double)steps->n;
    const bool is_unequal = steps->n > steps->ranks && fabs(mean - median) > UNEQUAL * median;
    char of[64] = "", range[2 * TA_UNIT_TEXT_MAX + 8] = "", least[TA_UNIT_TEXT_MAX],
         most[TA_UNIT_TEXT_MAX];
    if (is_unequal)
        snprintf(range, sizeof range, ", %s to %s",
                 ta_unit_format_compared(least, steps->least, steps->most, TA_UNIT_NS),
                 ta_unit_format_compared(most, steps->most, steps->least, TA_UNIT_NS));
    if (steps->n < steps->all)
        snprintf(of, sizeof of, "%zu of %zu", steps->n, steps->all);
    else if (steps->n == steps->ranks)
        snprintf(of, sizeof of, "%zu ranks", steps->ranks);
    else if (steps->ranks > 1 && steps->n % steps->ranks == 0)
        snprintf(of, sizeof of, "%zu × %zu ranks", steps->n / steps->ranks, steps->ranks);
    else
        snprintf(of, sizeof of, "%zu", steps->n);
    const char *what = are_blocks(in)     ? "Block time"
                       : steps->of_device ? "GPU time per step"
                                          : "Step time";
    if (steps->n == 1)
        snprintf(title, TITLE_MAX, steps->all > 1 ? "%s (1 of %zu)" : "%s", what, steps->all);
    else
        snprintf(title, TITLE_MAX, "%s (p50 of %s%s)", what, of, range);
}

/* Times of the steps that count, and what devices do in them. */
static bool add_step_time(struct ta_section_builder *out, const struct ta_refs *in)
{
    const struct counted steps = find_counted(in);
    const size_t rows = ta_ref_rows(in, STEP_HOST);
    double *values = malloc((rows + 1) * sizeof *values);
    if (!values)
        return false;
    if (steps.n > 0 && !add_phase_time(out, in)) {
        char title[TITLE_MAX];
        const double median = median_of(in, &steps, steps.column, 0, rows, values);
        title_step(title, in, &steps, median);
        ta_word_scalar(out, &scalars[STEP_TIME], ta_num(median), title,
                       steps.of_device
                           ? "Median device time per marked step, all ranks, without set-up "
                             "steps; device time is shown because the markers cover only the "
                             "launches"
                           : NULL);
    }
    double most = 0;
    for (size_t i = 0, end; i < rows; i = end) { /* rows of a rank follow each other */
        const int64_t rank = ta_ref_integer(in, STEP_RANK, i);
        for (end = i; end < rows && ta_ref_integer(in, STEP_RANK, end) == rank; end++) {
        }
        most = fmax(most, median_of(in, &steps, STEP_WORK_NS, i, end, values));
    }
    if (most > 0)
        ta_word_scalar(out, &scalars[STEP_WORK], ta_int(ta_whole(most)),
                       are_blocks(in) ? "GPU work per block" : NULL, NULL);
    free(values);
    return true;
}

/* "Window, 56 % of it steps" where steps leave much of it; "Longest window" where ranks
 * differ. */
static void add_window(struct ta_section_builder *out, const struct ta_refs *in, bool has_steps)
{
    const double window = longest(in, PROGRAM_WINDOW);
    const bool differ = shortest(in, PROGRAM_WINDOW) < ALIKE * window;
    const double share = find_counted(in).time / ta_ref_sum(in, HOST_WINDOW);
    char title[64] = "";
    if (has_steps && share > 0 && share < FILLED)
        snprintf(title, sizeof title, "%s, %.0f %% of it steps",
                 differ ? "Longest window" : "Window", 100 * share);
    else if (differ)
        snprintf(title, sizeof title, "Longest window");
    ta_word_scalar(out, &scalars[PROGRAM], ta_int(ta_whole(window)), *title ? title : NULL, NULL);
}

/* Whether events were counted in any file, if only none; dumps with rows have records instead. */
static bool has_events(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, FILE_EVENTS); i++)
        if (ta_ref_integer(in, FILE_EVENTS, i) != TA_MISSING)
            return true;
    return false;
}

/* The busy time of the devices of a rank; tables list ranks in order, and `at` goes on with them.
 */
static double busy_of(const struct ta_refs *in, int64_t rank, size_t *at)
{
    double busy = 0;
    while (*at < ta_ref_rows(in, BUSY_NS) && ta_ref_integer(in, BUSY_RANK, *at) < rank)
        ++*at;
    for (; *at < ta_ref_rows(in, BUSY_NS) && ta_ref_integer(in, BUSY_RANK, *at) == rank; ++*at)
        busy += ta_ref_number(in, BUSY_NS, *at, 0);
    return busy;
}

/* What a diffusion makes: images, videos, or blocks of a video, where they are whole. */
static void add_images(struct ta_section_builder *out, const struct ta_refs *in)
{
    const bool has_blocks = makes_blocks(in);
    double rate = INFINITY, busy = 0;
    bool are_videos = false;
    for (size_t i = 0, at = 0; i < ta_ref_rows(in, LOOP_RANK); i++) {
        const double batch = ta_ref_number(in, LOOP_BATCH, i, 1);
        const double made = has_blocks ? ta_ref_number(in, LOOP_BLOCKS, i, 1)
                                       : ta_ref_number(in, LOOP_IMAGES, i, 1) * batch;
        const double of_rank = busy_of(in, ta_ref_integer(in, LOOP_RANK, i), &at);
        are_videos |= ta_ref_number(in, LOOP_FRAMES, i, 1) > 1;
        rate = fmin(rate, batch * 1e9 / ta_ref_number(in, LOOP_IMAGE_NS, i, NAN));
        busy = made > 0 ? fmax(busy, of_rank / made) : busy;
    }
    if (!isfinite(rate) || busy <= 0)
        return;
    if (!has_blocks)
        ta_word_scalar(out, &scalars[IMAGES], ta_num(rate), are_videos ? "Videos per second" : NULL,
                       NULL);
    ta_word_scalar(out, &scalars[IMAGE_BUSY], ta_int(ta_whole(busy)),
                   has_blocks   ? "GPU work per block"
                   : are_videos ? "GPU work per video"
                                : NULL,
                   NULL);
}

static double time_before(const struct ta_refs *in, size_t cause, size_t time)
{
    double before = 0;
    for (size_t i = 0; i < ta_ref_rows(in, time); i++)
        if (ta_ref_reads(in, cause, i, "began before the recording"))
            before += ta_ref_number(in, time, i, 0);
    return before;
}

/* Whether devices work for much of the window on what was launched before the recording. */
static bool begins_inside(const struct ta_refs *in, double window)
{
    const double much = 0.05;
    return time_before(in, IDLE_OWNER, IDLE_NS) + time_before(in, EDGE_CAUSE, EDGE_NS) >=
           much * window;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const double window = ta_ref_sum(in, PROGRAM_WINDOW);
    const bool has_steps = ta_ref_rows(in, STEP_HOST) > 0 && !is_whole_request(in);
    if (window > 0) {
        const bool waits = ta_ref_sum(in, WAIT_NS) > LEAST_WAIT * window;
        const bool inside = begins_inside(in, window);
        const bool lacks = ta_lacks_work(in, DAMAGE, DAMAGE_SHARE);
        ta_word_scalar(out, &scalars[BUSY], ta_num(ta_ref_sum(in, GPU_BUSY) / window),
                       inside  ? "Recorded GPU work"
                       : lacks ? "GPU busy at least"
                               : NULL,
                       NULL);
        ta_word_scalar(out, &scalars[COMPUTE], ta_num(ta_ref_sum(in, GPU_COMPUTE) / window),
                       inside  ? "Recorded computing"
                       : lacks ? "Computing at least"
                               : NULL,
                       NULL);
        ta_word_scalar(out, &scalars[COMM], ta_num(ta_ref_sum(in, GPU_COMM) / window),
                       waits ? "Waiting and communication" : NULL, NULL);
        ta_set_scalar(out, &scalars[MEMCPY], ta_num(ta_ref_sum(in, GPU_MEMCPY) / window));
        add_window(out, in, has_steps);
        if (longest(in, GPU_WINDOW) < 0.99 * longest(in, PROGRAM_WINDOW))
            ta_set_scalar(out, &scalars[WINDOW], ta_int(ta_whole(longest(in, GPU_WINDOW))));
    }
    if (window <= 0 && longest(in, HOST_WINDOW) > 0)
        ta_set_scalar(out, &scalars[HOST], ta_int(ta_whole(longest(in, HOST_WINDOW))));
    if (has_steps && !add_step_time(out, in))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the steps");
    add_images(out, in);
    if (ta_ref_exists(in, KERNEL_CALLS))
        ta_set_scalar(out, &scalars[KERNELS], ta_int(ta_whole(ta_ref_sum(in, KERNEL_CALLS))));
    const double events = ta_ref_sum(in, FILE_EVENTS);
    if (events > 0 || (has_events(in) && !ta_report_run(in->report)->has_dumps))
        ta_set_scalar(out, &scalars[EVENTS], ta_int(ta_whole(events)));
    return TA_OK;
}

static const struct ta_analysis_ops ops = {.section = "overview",
                                           TA_SCALARS(scalars),
                                           .finish = finish,
                                           .of_tables = true,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, overview, &ops, .title = "Overview",
          .summary = "Key figures of the run: GPU busy share, exposed communication, step time",
          .version = "1");
