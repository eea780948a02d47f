/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.steps, diffusion.blocks and diffusion.by_rank: denoising steps and blocks of frames as
 * they were recorded. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>
#include <stdlib.h>

/* A record of a step, in the order of recording. */
struct step_record {
    int64_t number;  /* TA_MISSING without one */
    double timestep; /* NAN without one */
    int64_t pass;    /* from 0 */
    bool continues;  /* continues the step of the record before */
};

/* ---- passes ---------------------------------------------------------------------------------- */

/* Steps and passes from the recorded step numbers.
 *
 * A pass goes through its schedule once, for one block or one generation.  Step numbers increase
 * in it, or decrease if they are timesteps; a new pass begins where the number goes the other
 * way.
 *
 * With guidance some programs write two records per step, for the conditional and the
 * unconditional model call:
 *
 * - Consecutive records with the same number are one step.  At the first step of a pass the same
 * number may also begin the next pass, if the schedule has a single step; it is one step if
 * later steps of the rank have several records too.
 *
 * - If all records have one number, the number of blocks says how many records each block has.
 *
 * - Numbers may count the calls: then records are one step if each timestep has the same number
 * of records throughout. */

/* Whether step numbers decrease more often than they increase. */
static bool counts_down(const struct step_record *records, size_t n)
{
    size_t up = 0, down = 0, before = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (records[i].number == TA_MISSING)
            continue;
        up += before != SIZE_MAX && records[i].number > records[before].number;
        down += before != SIZE_MAX && records[i].number < records[before].number;
        before = i;
    }
    return down > up;
}

/* Marks passes and repeated records.  `repeats`: the same number at the first step of a pass is
 * the same step.  Returns whether later steps have several records. */
static bool divide(struct step_record *records, size_t n, bool down, bool repeats)
{
    bool found = false;
    size_t steps = 0; /* of the pass */
    int64_t pass = -1, before = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        struct step_record *record = &records[i];
        const bool same =
            i > 0 && records[i].number != TA_MISSING && records[i].number == records[i - 1].number;
        const bool known = before != TA_MISSING && record->number != TA_MISSING;
        const bool back = known && (down ? record->number > before : record->number < before);
        record->continues = same && (steps > 1 || repeats);
        found |= same && steps > 1;
        if (i == 0 || back || (same && !record->continues)) {
            pass++;
            steps = 0;
        }
        steps += !record->continues;
        record->pass = pass;
        before = record->number == TA_MISSING ? before : record->number;
    }
    return found;
}

static bool have_one_number(const struct step_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (records[i].number == TA_MISSING || records[i].number != records[0].number)
            return false;
    return n > 0;
}

static bool is_same_timestep(const struct step_record *records, size_t i)
{
    return i > 0 && records[i].pass == records[i - 1].pass && !isnan(records[i].timestep) &&
           !(records[i].timestep < records[i - 1].timestep) &&
           !(records[i].timestep > records[i - 1].timestep);
}

/* Records per timestep if all timesteps have the same number of them and every pass has several
 * timesteps; otherwise 1. */
static size_t records_per_timestep(const struct step_record *records, size_t n)
{
    size_t each = 0, steps = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_same_timestep(records, end);)
            end++;
        if (each > 0 && end - first != each)
            return 1;
        each = end - first;
        steps = first > 0 && records[first].pass == records[first - 1].pass ? steps + 1 : 1;
        if (steps < 2 && (end == n || records[end].pass != records[first].pass))
            return 1;
    }
    return each > 0 ? each : 1;
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Steps and blocks in the order of files and rows. */
enum { RANK, FILE_KEY, ORDER };
enum { STEP = 3, BLOCK_SIZE, STEP_NS, TIMESTEP, GUIDANCE, STEP_FIELDS };
enum { BLOCK = 3, FRAMES, BLOCK_NS, MEMORY, BLOCK_END, BLOCK_FIELDS };

static const struct ta_field step_fields[STEP_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},
    [STEP] = {"step", TA_FIELD_MAX},
    [BLOCK_SIZE] = {"block_size", TA_FIELD_MAX},
    [STEP_NS] = {"dur_ns", TA_FIELD_MAX},
    [TIMESTEP] = {"timestep", TA_FIELD_MAX},       /* ta_real_cell() */
    [GUIDANCE] = {"guidance_scale", TA_FIELD_MAX}, /* ta_real_cell() */
};

static const struct ta_field block_fields[BLOCK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},         [BLOCK] = {"block", TA_FIELD_MAX},
    [FRAMES] = {"frames", TA_FIELD_MAX},       [BLOCK_NS] = {"dur_ns", TA_FIELD_MAX},
    [MEMORY] = {"memory_bytes", TA_FIELD_MAX}, [BLOCK_END] = {"end_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"steps", step_fields, STEP_FIELDS}, {"blocks", block_fields, BLOCK_FIELDS}, {0}};

enum {
    STEP_RANK,
    STEP_INDEX,
    STEP_NUMBER,
    STEP_TIMESTEP,
    STEP_BLOCK_SIZE,
    STEP_DUR_NS,
    STEP_GUIDANCE_SCALE,
    STEP_PASS,
    STEP_STEP_NS
};
static const struct ta_column step_table_columns[] = {
    [STEP_RANK] = TA_DUMP_RANK_COLUMN,
    [STEP_INDEX] = {"index", "Recorded step", TA_INTEGER, .role = TA_IN_SERIES,
                    .doc = "Position in the order of recording, from 0"},
    [STEP_NUMBER] = {"step", "Step", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Number of the step within its block, as recorded"},
    [STEP_TIMESTEP] = {"timestep", "Timestep", TA_NUMBER,
                       .doc = "Noise level of the schedule, as recorded"},
    [STEP_BLOCK_SIZE] = {"block_size", "Frames", TA_COUNT, .doc = "Number of frames of the block"},
    [STEP_DUR_NS] = {"dur_ns", "Duration", TA_NS, .better = TA_LOWER,
                     .read_as = TA_AS_DENOISING_TIME, .doc = "Duration of the record"},
    [STEP_GUIDANCE_SCALE] = {"guidance_scale", "Guidance", TA_NUMBER, .doc = "Guidance scale"},
    [STEP_PASS] = {"pass", "Pass", TA_INTEGER,
                   .doc = "Pass through the noise schedule that the step belongs to, from 0"},
    [STEP_STEP_NS] = {"step_ns", "Step time", TA_NS, .better = TA_LOWER,
                      .read_as = TA_AS_DENOISING_STEP,
                      .doc = "Duration of the step with all of its records; given in its last "
                             "record, empty in the others"},
};

static const struct ta_chart_def step_chart = {
    .id = "diffusion-step-time",
    .title = "Denoising steps",
    .caption = "Duration of each denoising step, in recorded order.",
    .kind = TA_CHART_DOTS,
    .label = {&step_table_columns[STEP_INDEX]},
    .y = {{&step_table_columns[STEP_STEP_NS], "Step time", TA_INK_SERIES_1}},
    .group = &step_table_columns[STEP_RANK],
};

static const struct ta_figures step_times = {
    .sampled = TA_SAMPLED_DENOISING,
    .duration = {&step_table_columns[STEP_STEP_NS], &step_table_columns[STEP_DUR_NS]}};

static const struct ta_table_def step_table = {
    "diffusion.steps",
    "Denoising steps",
    TA_COLUMNS(step_table_columns),
    .doc = "One row per record of a denoising step, in the order of recording. Chart "
           "`diffusion-step-time`.",
    .tier = TA_TIER_CHART,
    .chart = {&step_chart},
    .figures = &step_times};

enum {
    BLOCKS_RANK,
    BLOCKS_INDEX,
    BLOCKS_NUMBER,
    BLOCKS_FRAMES,
    BLOCKS_DUR,
    BLOCKS_FPS,
    BLOCKS_MEMORY,
    BLOCKS_END,
    BLOCKS_VIDEO
};
static const struct ta_column block_table_columns[] = {
    [BLOCKS_RANK] = TA_DUMP_RANK_COLUMN,
    [BLOCKS_INDEX] = {"index", "Recorded block", TA_INTEGER, .role = TA_IN_SERIES,
                      .doc = "Position in the order of recording, from 0"},
    [BLOCKS_NUMBER] = {"block", "Block", TA_INTEGER, .doc = "Number of the block"},
    [BLOCKS_FRAMES] = {"frames", "Frames", TA_COUNT, .read_as = TA_AS_BLOCK_FRAMES,
                       .doc = "Number of frames of the block"},
    [BLOCKS_DUR] = {"dur_ns", "Duration", TA_NS, .better = TA_LOWER, .read_as = TA_AS_BLOCK_TIME,
                    .doc = "Duration of the block"},
    [BLOCKS_FPS] = {"fps", "FPS", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                    .doc = "Frames of the block divided by its duration"},
    [BLOCKS_MEMORY] = {"memory_bytes", "Memory", TA_BYTES, .better = TA_LOWER,
                       .doc = "Memory in use when the block was recorded"},
    [BLOCKS_END] = {"end_ns", "End", TA_NS,
                    .doc = "Time at which the block was complete, counted from the end of the "
                           "rank's first block"},
    [BLOCKS_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_IN_SERIES,
                      .doc = "Number of the video on its rank, from 0; a new video begins where "
                             "the block number does not increase"},
};

static const struct ta_chart_def block_chart = {
    .id = "throughput",
    .title = "Throughput and latency by block",
    .caption = "Frames per second and duration of each block, in recorded order.",
    .kind = TA_CHART_LINES,
    .x = &block_table_columns[BLOCKS_INDEX],
    .y = {{&block_table_columns[BLOCKS_FPS], "Frames per second", TA_INK_SERIES_1},
          {&block_table_columns[BLOCKS_DUR], "Block time", TA_INK_SERIES_2}},
    .group = &block_table_columns[BLOCKS_RANK],
};

static const struct ta_figures block_times = {.sampled = TA_SAMPLED_BLOCKS,
                                              .duration = {&block_table_columns[BLOCKS_DUR]}};

static const struct ta_table_def block_table = {
    "diffusion.blocks",
    "Blocks",
    TA_COLUMNS(block_table_columns),
    .doc = "One row per recorded block, in the order of recording. Chart `throughput`.",
    .chart = {&block_chart},
    .figures = &block_times};

enum {
    OF_RANK,
    RANK_STEPS,
    RANK_PASSES,
    RANK_STEPS_PER_PASS,
    RANK_RECORDS_PER_STEP,
    RANK_STEP_MEAN,
    RANK_STEP_P50,
    RANK_STEP_P95,
    RANK_TIMESTEP_MEAN,
    RANK_BLOCKS,
    RANK_FRAMES,
    RANK_FRAMES_PER_BLOCK,
    RANK_BLOCK_MEAN,
    RANK_BLOCK_P50,
    RANK_BLOCK_MAX,
    RANK_BLOCK_MEMORY
};
static const struct ta_column rank_table_columns[] = {
    [OF_RANK] = TA_DUMP_RANK_COLUMN,
    [RANK_STEPS] = {"steps", "Steps", TA_COUNT, .read_as = TA_AS_DONE_STEPS,
                    .doc = "Number of recorded denoising steps"},
    [RANK_PASSES] =
        {"passes", "Passes", TA_COUNT,
         .doc =
             "Passes through the noise schedule; a new one begins where the step number goes back"},
    [RANK_STEPS_PER_PASS] =
        {"steps_per_pass", "Steps per pass", TA_COUNT, .better = TA_LOWER, .weight = 0.9,
         .doc = "Steps of the longest pass, which makes one block or one whole generation"},
    [RANK_RECORDS_PER_STEP] = {"records_per_step", "Records per step", TA_COUNT,
                               .doc =
                                   "Largest number of records of one step: 2 if both model calls "
                                   "of guidance are recorded; empty if every record is a step"},
    [RANK_STEP_MEAN] = {"step_mean_ns", "Step mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.9,
                        .doc = "Mean duration of a step with all of its records"},
    [RANK_STEP_P50] = {"step_p50_ns", "Step p50", TA_NS_MEAN, .better = TA_LOWER,
                       .doc = "Median duration of a step"},
    [RANK_STEP_P95] = {"step_p95_ns", "Step p95", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.4,
                       .doc = "95th percentile of the step durations (type 7)"},
    [RANK_TIMESTEP_MEAN] = {"timestep_mean", "Timestep", TA_NUMBER,
                            .doc = "Mean of the recorded timesteps"},
    [RANK_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .doc = "Number of recorded blocks"},
    [RANK_FRAMES] = {"frames", "Frames", TA_COUNT, .weight = 0.9, .read_as = TA_AS_DONE_FRAMES,
                     .doc = "Frames of all blocks, each counted once"},
    [RANK_FRAMES_PER_BLOCK] = {"frames_per_block", "Frames per block", TA_NUMBER, .weight = 0.9,
                               .doc = "Mean number of frames of a block"},
    [RANK_BLOCK_MEAN] = {"block_mean_ns", "Block mean", TA_NS_MEAN, .better = TA_LOWER,
                         .weight = 0.6, .doc = "Mean duration of a block"},
    [RANK_BLOCK_P50] = {"block_p50_ns", "Block p50", TA_NS_MEAN, .better = TA_LOWER,
                        .doc = "Median duration of a block"},
    [RANK_BLOCK_MAX] = {"block_max_ns", "Block max", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.3,
                        .doc = "Duration of the longest block"},
    [RANK_BLOCK_MEMORY] = {"block_memory_bytes", "Block memory", TA_BYTES, .better = TA_LOWER,
                           .weight = 0.8, .doc = "Largest memory recorded with a block"},
};

static const struct ta_table_def rank_table = {
    "diffusion.by_rank",
    "Diffusion by rank",
    TA_COLUMNS(rank_table_columns),
    .doc = "One row per rank with denoising steps or blocks. A frame counts once, with its block. "
           "A pass goes through its noise schedule once, for one block or one generation: step "
           "numbers increase in it (or decrease if they are timesteps), and a new pass begins "
           "where they go the other way. With guidance some programs write two records per step: "
           "consecutive records with the same number, or with the same timestep if every timestep "
           "has as many records, are one step, whose duration is theirs together.",
    .rank_words = "Diffusion",
    .brief = &(const struct ta_brief){
        .place = 280, .rows = 8, .largest = &rank_table_columns[RANK_STEP_MEAN]}};

enum { SHOW_STEPS, SHOW_BLOCKS };

static const struct ta_option options[] = {
    [SHOW_STEPS] = {"steps", TA_OPTION_BOOLEAN, 1, 0, 1, TA_OPTION_PLAIN,
                    "Analyze denoising steps"},
    [SHOW_BLOCKS] = {"blocks", TA_OPTION_BOOLEAN, 1, 0, 1, TA_OPTION_PLAIN, "Analyze blocks"},
    TA_OPTIONS_END,
};

/* ---- map ----------------------------------------------------------------------------------- */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    size_t n;
    const struct ta_diffusion_step *steps = ta_trace_diffusion_step_rows(trace, &n);
    for (size_t i = 0; i < n && ta_ctx_option(ctx, SHOW_STEPS) != 0; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, steps[i].rank), ta_row_file(trace),
                                      ta_key_int((int64_t)i));
        row[STEP] = steps[i].step;
        row[BLOCK_SIZE] = steps[i].block_size;
        row[STEP_NS] = steps[i].dur_ns;
        row[TIMESTEP] = ta_real_cell(steps[i].timestep);
        row[GUIDANCE] = ta_real_cell(steps[i].guidance_scale);
    }
    const struct ta_diffusion_block *blocks = ta_trace_diffusion_block_rows(trace, &n);
    for (size_t i = 0; i < n && ta_ctx_option(ctx, SHOW_BLOCKS) != 0; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[1], ta_row_rank(trace, blocks[i].rank),
                                      ta_row_file(trace), ta_key_int((int64_t)i));
        row[BLOCK] = blocks[i].block;
        row[FRAMES] = blocks[i].frames;
        row[BLOCK_NS] = blocks[i].dur_ns;
        row[MEMORY] = blocks[i].memory_bytes;
        row[BLOCK_END] = blocks[i].end_ns;
    }
    return TA_OK;
}

/* ---- steps and blocks ---------------------------------------------------------------------- */

/* The duration of the step that ends with record i of a rank; TA_MISSING if another record
 * follows, or if one of its records has no duration. */
static int64_t step_time(const struct ta_partial *steps, size_t first, size_t end,
                         const struct step_record *records, size_t i)
{
    if (i + 1 < end - first && records[i + 1].continues)
        return TA_MISSING;
    int64_t sum = 0;
    for (size_t k = i;; k--) {
        const int64_t dur = ta_partial_at(steps, first + k)[STEP_NS];
        if (dur == TA_MISSING)
            return TA_MISSING;
        sum = ta_add_sat(sum, dur);
        if (!records[k].continues)
            return sum;
    }
}

static void read_records(const struct ta_partial *steps, size_t first, size_t end, size_t blocks,
                         struct step_record *records)
{
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        records[i - first] =
            (struct step_record){.number = row[STEP], .timestep = ta_real_of(row[TIMESTEP])};
    }
    const size_t n = end - first;
    if (have_one_number(records, n)) {
        /* Schedules with a single step: one pass per block if that fits, otherwise one per
         * record. */
        const size_t each = blocks && n % blocks == 0 ? n / blocks : 1;
        for (size_t i = 0; i < n; i++) {
            records[i].pass = (int64_t)(i / each);
            records[i].continues = i % each != 0;
        }
        return;
    }
    const bool down = counts_down(records, n);
    if (divide(records, n, down, false)) {
        divide(records, n, down, true);
        return;
    }
    const size_t each = records_per_timestep(records, n);
    for (size_t i = 0; i < n && each > 1; i++)
        records[i].continues = is_same_timestep(records, i);
}

static size_t count_of_rank(const struct ta_partial *rows, int64_t rank)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_partial_rows(rows); i++)
        n += ta_partial_at(rows, i)[RANK] == rank;
    return n;
}

/* Judged by the numbers of a block and its predecessor. */
static bool begins_video(int64_t number, int64_t before)
{
    return number != TA_MISSING && before != TA_MISSING && number <= before;
}

static void add_blocks(struct ta_section_builder *out, const struct ta_partial *blocks)
{
    for (size_t first = 0, end; first < ta_partial_rows(blocks); first = end) {
        end = ta_partial_group_end(blocks, first, RANK);
        int64_t ready = TA_MISSING, video = 0;
        for (size_t i = first; i < end; i++) {
            const int64_t *row = ta_partial_at(blocks, i);
            video += i > first && begins_video(row[BLOCK], ta_partial_at(blocks, i - 1)[BLOCK]);
            const bool timed = row[FRAMES] != TA_MISSING && row[BLOCK_NS] != TA_MISSING &&
                               row[FRAMES] >= 0 && row[BLOCK_NS] > 0;
            ready = ready == TA_MISSING ? row[BLOCK_END] : ready;
            TA_ROW(
                out, block_table, [BLOCKS_RANK] = ta_int(row[RANK]),
                [BLOCKS_INDEX] = ta_int((int64_t)(i - first)), [BLOCKS_NUMBER] = ta_int(row[BLOCK]),
                [BLOCKS_FRAMES] = ta_int(row[FRAMES]), [BLOCKS_DUR] = ta_int(row[BLOCK_NS]),
                [BLOCKS_FPS] =
                    timed ? ta_num((double)row[FRAMES] * 1e9 / (double)row[BLOCK_NS]) : ta_null(),
                [BLOCKS_MEMORY] = ta_int(row[MEMORY]),
                [BLOCKS_END] =
                    row[BLOCK_END] != TA_MISSING ? ta_int(row[BLOCK_END] - ready) : ta_null(),
                [BLOCKS_VIDEO] = ta_int(video));
        }
    }
}

/* ---- by rank ------------------------------------------------------------------------------- */

/* Sums over the steps and blocks of a rank. */
struct rank {
    int64_t rank, steps, passes, longest_pass, step_records, blocks, frames, memory;
    double step_mean, step_p50, step_p95, timestep, block_mean, block_p50, block_max;
};

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : NAN;
}

/* Steps, passes and records of a step. */
static void count_steps(const struct step_record *records, size_t n, struct rank *rank)
{
    int64_t pass = 0, step = 0;
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 || records[i].pass != records[i - 1].pass;
        rank->passes += begins;
        rank->steps += !records[i].continues;
        pass = (begins ? 0 : pass) + !records[i].continues;
        step = (records[i].continues ? step : 0) + 1;
        rank->longest_pass = ta_max_i64(rank->longest_pass, pass);
        rank->step_records = ta_max_i64(rank->step_records, step);
    }
}

static void sum_steps(const struct ta_partial *steps, size_t first, size_t end,
                      const struct step_record *records, double *values, struct rank *rank)
{
    int64_t timesteps = 0;
    double timestep = 0;
    size_t n = 0;
    count_steps(records, end - first, rank);
    for (size_t i = first; i < end; i++) {
        const int64_t time = step_time(steps, first, end, records, i - first);
        if (time != TA_MISSING)
            values[n++] = (double)time;
        if (!isnan(records[i - first].timestep)) {
            timestep += records[i - first].timestep;
            timesteps++;
        }
    }
    ta_sort_numbers(values, n);
    rank->step_mean = mean_of(values, n);
    rank->step_p50 = ta_quantile(values, n, 0.5);
    rank->step_p95 = ta_quantile(values, n, 0.95);
    rank->timestep = timesteps ? timestep / (double)timesteps : NAN;
}

static void sum_blocks(const struct ta_partial *blocks, size_t first, size_t end, double *values,
                       struct rank *rank)
{
    for (size_t i = first; i < end; i++) {
        ta_sum(&rank->frames, ta_partial_at(blocks, i)[FRAMES]);
        ta_most(&rank->memory, ta_partial_at(blocks, i)[MEMORY]);
    }
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        if (ta_partial_at(blocks, i)[BLOCK_NS] != TA_MISSING)
            values[n++] = (double)ta_partial_at(blocks, i)[BLOCK_NS];
    ta_sort_numbers(values, n);
    rank->blocks = (int64_t)(end - first);
    rank->block_mean = mean_of(values, n);
    rank->block_p50 = ta_quantile(values, n, 0.5);
    rank->block_max = n ? values[n - 1] : NAN;
}

/* The ranks of steps and of blocks are both ascending, so they are merged. */
static void add_ranks(struct ta_section_builder *out, const struct ta_partial *steps,
                      const struct ta_partial *blocks, struct step_record *records, double *values)
{
    size_t step = 0, block = 0;
    while (step < ta_partial_rows(steps) || block < ta_partial_rows(blocks)) {
        const int64_t of_step =
            step < ta_partial_rows(steps) ? ta_partial_at(steps, step)[RANK] : INT64_MAX;
        const int64_t of_block =
            block < ta_partial_rows(blocks) ? ta_partial_at(blocks, block)[RANK] : INT64_MAX;
        struct rank rank = {.rank = ta_min_i64(of_step, of_block),
                            .frames = TA_MISSING,
                            .memory = TA_MISSING,
                            .step_mean = NAN,
                            .step_p50 = NAN,
                            .step_p95 = NAN,
                            .timestep = NAN,
                            .block_mean = NAN,
                            .block_p50 = NAN,
                            .block_max = NAN};
        if (of_step <= of_block) {
            const size_t end = ta_partial_group_end(steps, step, RANK);
            read_records(steps, step, end, count_of_rank(blocks, rank.rank), records + step);
            sum_steps(steps, step, end, records + step, values, &rank);
            step = end;
        }
        if (of_block <= of_step) {
            const size_t end = ta_partial_group_end(blocks, block, RANK);
            sum_blocks(blocks, block, end, values, &rank);
            block = end;
        }
        const bool stepped = rank.steps > 0, blocked = rank.blocks > 0;
        TA_ROW(
            out, rank_table, [OF_RANK] = ta_int(rank.rank),
            [RANK_STEPS] = stepped ? ta_int(rank.steps) : ta_null(),
            [RANK_PASSES] = stepped ? ta_int(rank.passes) : ta_null(),
            [RANK_STEPS_PER_PASS] = stepped ? ta_int(rank.longest_pass) : ta_null(),
            [RANK_RECORDS_PER_STEP] = rank.step_records > 1 ? ta_int(rank.step_records) : ta_null(),
            [RANK_STEP_MEAN] = ta_num(rank.step_mean), [RANK_STEP_P50] = ta_num(rank.step_p50),
            [RANK_STEP_P95] = ta_num(rank.step_p95), [RANK_TIMESTEP_MEAN] = ta_num(rank.timestep),
            [RANK_BLOCKS] = blocked ? ta_int(rank.blocks) : ta_null(),
            [RANK_FRAMES] = ta_int(rank.frames),
            [RANK_FRAMES_PER_BLOCK] = rank.frames != TA_MISSING && blocked
                                          ? ta_num((double)rank.frames / (double)rank.blocks)
                                          : ta_null(),
            [RANK_BLOCK_MEAN] = ta_num(rank.block_mean), [RANK_BLOCK_P50] = ta_num(rank.block_p50),
            [RANK_BLOCK_MAX] = ta_num(rank.block_max), [RANK_BLOCK_MEMORY] = ta_int(rank.memory));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const size_t n = ta_partial_rows(merged[0]) + ta_partial_rows(merged[1]);
    double *values = calloc(n + 1, sizeof *values);
    struct step_record *records = calloc(ta_partial_rows(merged[0]) + 1, sizeof *records);
    const bool done = values && records;
    if (done) {
        add_ranks(out, merged[0], merged[1], records, values);
        add_blocks(out, merged[1]);
        const struct ta_partial *steps = merged[0];
        for (size_t first = 0, end; first < ta_partial_rows(steps); first = end) {
            end = ta_partial_group_end(steps, first, RANK);
            for (size_t i = first; i < end; i++) {
                const int64_t *row = ta_partial_at(steps, i);
                TA_ROW(
                    out, step_table, [STEP_RANK] = ta_int(row[RANK]),
                    [STEP_INDEX] = ta_int((int64_t)(i - first)), [STEP_NUMBER] = ta_int(row[STEP]),
                    [STEP_TIMESTEP] = ta_num(ta_real_of(row[TIMESTEP])),
                    [STEP_BLOCK_SIZE] = ta_int(row[BLOCK_SIZE]),
                    [STEP_DUR_NS] = ta_int(row[STEP_NS]),
                    [STEP_GUIDANCE_SCALE] = ta_num(ta_real_of(row[GUIDANCE])),
                    [STEP_PASS] = ta_int(records[i].pass),
                    [STEP_STEP_NS] =
                        ta_int(step_time(steps, first, end, records + first, i - first)));
            }
        }
    }
    free(values);
    free(records);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the diffusion steps");
}

static const struct ta_table_def *const tables[] = {&rank_table, &block_table, &step_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, diffusion, &ops, .title = "Diffusion and throughput",
          .summary = "Denoising steps and blocks of frames: diffusion.steps, diffusion.blocks, "
                     "diffusion.by_rank",
          .version = "2", .options = options);
