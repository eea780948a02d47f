/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput.values: rates and latencies, each on a named basis, with the profiler's own figure
 * next to ours. */
#include "throughput.h"

#include <traceanalyze/dump.h>

#include <math.h>
#include <stdlib.h>

/* ---- table ----------------------------------------------------------------------------------- */

enum {
    RANKS_RANK,
    RANKS_STEPS,
    BLOCKS_RANK,
    BLOCKS_INDEX,
    BLOCKS_TIME,
    BLOCKS_FRAMES,
    STEPS_RANK,
    STEPS_INDEX,
    STEPS_TIME,
    LOOP_RANK,
    LOOP_BLOCKS,
    LOOP_IMAGES,
    LOOP_IMAGE_TIME,
    LOOP_IMAGE_RATE,
    LOOP_STEP_RATE,
    LOOP_FRAMES,
    NO_COLUMN
};
static const struct ta_ref reads[] = {
    [RANKS_RANK] = {"diffusion.by_rank", "rank"},
    [RANKS_STEPS] = {"diffusion.by_rank", "steps"},
    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_INDEX] = {"diffusion.blocks", "index"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
    [BLOCKS_FRAMES] = {"diffusion.blocks", "frames"},
    [STEPS_RANK] = {"diffusion.steps", "rank"},
    [STEPS_INDEX] = {"diffusion.steps", "index"},
    [STEPS_TIME] = {"diffusion.steps", "dur_ns"},
    [LOOP_RANK] = {"diffusion.loops", "rank"},
    [LOOP_BLOCKS] = {"diffusion.loops", "blocks"},
    [LOOP_IMAGES] = {"diffusion.loops", "images"},
    [LOOP_IMAGE_TIME] = {"diffusion.loops", "image_ns"},
    [LOOP_IMAGE_RATE] = {"diffusion.loops", "images_per_s"},
    [LOOP_STEP_RATE] = {"diffusion.loops", "steps_per_s"},
    [LOOP_FRAMES] = {"diffusion.loops", "frames"},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [WALL] = {"wall_ns", TA_FIELD_SUM},
    [OTHER_WALL] = {"other_wall_ns", TA_FIELD_SUM},
    [LAST_READY] = {"last_ready_ns", TA_FIELD_MAX},
    [CUT] = {"cut", TA_FIELD_SUM},
    [START] = {"start_ns", TA_FIELD_MIN},
    [FIRST_READY] = {"first_ready_ns", TA_FIELD_MIN},
    [TOKENS] = {"tokens", TA_FIELD_SUM},
    [TOKENS_NS] = {"tokens_ns", TA_FIELD_SUM},
    [ULYSSES] = {"ulysses", TA_FIELD_MAX},
    [RING] = {"ring", TA_FIELD_MAX},
};

static const struct ta_field figure_fields[FIGURE_FIELDS] = {
    [FIGURE_RANK] = {"rank", TA_FIELD_RANK}, [NAME] = {"name", TA_FIELD_TEXT},
    [GROUP] = {"group", TA_FIELD_TEXT},      [FILE_KEY] = {"file", TA_FIELD_FILE},
    [VALUE] = {"value", TA_FIELD_MAX}, /* ta_real_cell() */
    [UNIT] = {"unit", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"ranks", rank_fields, RANK_FIELDS}, {"figures", figure_fields, FIGURE_FIELDS}, {0}};

enum { VALUES_RANK, VALUES_METRIC, VALUES_BASIS, VALUES_VALUE, VALUES_UNIT, VALUES_NOTE };
static const struct ta_column values_columns[] = {
    [VALUES_RANK] = TA_RANK_COLUMN_OF("Rank of the dump; empty for all ranks together"),
    [VALUES_METRIC] = {"metric", "Metric", TA_WORD, .read_as = TA_AS_RATE,
                       .doc = "What is counted per second, or how long something takes"},
    [VALUES_BASIS] =
        {"basis", "Basis", TA_WORD, .read_as = TA_AS_RATE_BASIS,
         .doc = "What the value is computed from: blocks, steady (without the first block), wall "
                "(session time), until cut (start of the session to the last block of a truncated "
                "report), steps, sections; as reported is the profiler's own number"},
    [VALUES_VALUE] = {"value", "Value", TA_NUMBER, .weight = 1, .read_as = TA_AS_RATE_VALUE,
                      .doc = "The value, in the unit of the next column"},
    [VALUES_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the value"},
    [VALUES_NOTE] = {"note", "Note", TA_SENTENCE,
                     .doc = "Why the profiler's number differs from ours; for all ranks, how the "
                            "ranks were combined"},
};

/* Figures that are rates or latencies; all others are in figures.reported. */
static const char *const metrics[] = {"fps",
                                      "bps",
                                      "steps_per_s",
                                      "images_per_s",
                                      "tokens_per_s",
                                      "ttft_ns",
                                      "tpot_ns",
                                      "tpf",
                                      "prefill_tokens_per_s",
                                      "decode_tokens_per_s",
                                      "it_per_s",
                                      "first_block_ns",
                                      "frames_per_s",
                                      "requests_per_s",
                                      "e2e_tokens_per_s",
                                      NULL};

static const char *const bases[] = {"blocks",   "wall",        "steady", "steps",
                                    "sections", "as_reported", NULL};

static const struct ta_figures value_figures = {.metrics = metrics,
                                                .bases = bases,
                                                .metric = &values_columns[VALUES_METRIC],
                                                .basis = &values_columns[VALUES_BASIS],
                                                .value = &values_columns[VALUES_VALUE]};

static const struct ta_table_def values = {
    "throughput.values",
    "Throughput and latency",
    TA_COLUMNS(values_columns),
    .doc =
        "One row per rank, metric and basis. `blocks`: frames or blocks over the time of the "
        "blocks, if every block says it; `steady`: the same without the first block; `wall`: over "
        "the duration of the session; `until_cut`: used instead of `wall` for a truncated report, "
        "the remaining blocks over the time from the start of the session to the end of the last "
        "of them; `steps`: denoising steps over their time; `sections`: tokens over the time of "
        "the sections that recorded them. `first_block_ns` on the basis `wall` is the time from "
        "the start of the session to the end of the first block. `as_reported` is the profiler's "
        "own number, `as_reported (GROUP)` the number from another of its groups, and `note` says "
        "why it differs from ours. For a trace of a diffusion, `wall` is the program's "
        "window.\n\nRows without a rank are for the run, if several ranks have a rate. Ranks that "
        "make videos of their own (data parallel) add up; if ranks share the work on one video, "
        "the slowest counts. The tags `ulysses_size` × `ring_size` say how many ranks share one; "
        "without them each rank is taken to have its own. On the basis `wall` the frames or blocks "
        "of all videos are divided by the longest session. `note` says what was assumed.",
    .figures = &value_figures,
    .rank_words = "",
    .has_run_rows = true,
    .brief = &(const struct ta_brief){.place = 290,
                                      .rows = 12,
                                      .rows_are = "the first ranks",
                                      .first = {&values_columns[VALUES_METRIC],
                                                &values_columns[VALUES_VALUE],
                                                &values_columns[VALUES_NOTE]},
                                      .remark = &values_columns[VALUES_NOTE]}};

static bool is_throughput(struct ta_slice name)
{
    for (const char *const *metric = metrics; *metric; metric++)
        if (ta_slice_equal(name, ta_slice_of(*metric)))
            return true;
    return false;
}

/* ---- map ----------------------------------------------------------------------------------- */

/* A setting that says over how many ranks the work on a video is spread; TA_MISSING for others. */
static int64_t ranks_in(struct ta_slice value)
{
    int64_t ranks = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || ranks > 1000000)
            return TA_MISSING;
        ranks = ranks * 10 + (value.ptr[i] - '0');
    }
    return ranks > 0 ? ranks : TA_MISSING;
}

static void add_tags(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_tag *tags = ta_trace_tag_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice key = ta_trace_text(trace, tags[i].key);
        const bool ulysses = ta_slice_equal(key, TA_LIT("ulysses_size"));
        const int64_t ranks = ulysses || ta_slice_equal(key, TA_LIT("ring_size"))
                                  ? ranks_in(ta_trace_text(trace, tags[i].value))
                                  : TA_MISSING;
        if (ranks != TA_MISSING)
            ta_most(
                &TA_PARTIAL_ROW(out, ta_row_rank(trace, tags[i].rank))[ulysses ? ULYSSES : RING],
                ranks);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n, n_blocks;
    const struct ta_diffusion_block *blocks = ta_trace_diffusion_block_rows(trace, &n_blocks);
    const struct ta_session *sessions = ta_trace_session_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, sessions[i].rank));
        if (n_blocks == 0) {
            ta_sum(&row[OTHER_WALL], sessions[i].dur_ns);
            continue;
        }
        ta_sum(&row[WALL], sessions[i].dur_ns);
        ta_least(&row[START], sessions[i].start_ns);
        ta_sum(&row[CUT], sessions[i].is_cut);
    }
    for (size_t i = 0; i < n_blocks; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, blocks[i].rank));
        ta_least(&row[FIRST_READY], blocks[i].end_ns);
        ta_most(&row[LAST_READY], blocks[i].end_ns);
    }
    const struct ta_section_tokens *tokens = ta_trace_section_tokens_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        if (tokens[i].tokens == TA_MISSING || tokens[i].tokens <= 0 || tokens[i].dur_ns <= 0)
            continue; /* nothing recorded, or no time to divide by */
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, tokens[i].rank));
        ta_sum(&row[TOKENS], tokens[i].tokens);
        ta_sum(&row[TOKENS_NS], tokens[i].dur_ns);
    }
    add_tags(trace, out[0]);
    size_t count;
    const struct ta_figure *figures = ta_trace_figure_rows(trace, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ta_slice name = ta_trace_text(trace, figures[i].name);
        if (!is_throughput(name) || !isfinite(figures[i].value))
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(out[1], ta_row_rank(trace, figures[i].rank), ta_key_text(name),
                           ta_key_text(ta_trace_text(trace, figures[i].group)), ta_row_file(trace));
        row[VALUE] = ta_real_cell(figures[i].value);
        row[UNIT] = figures[i].unit;
    }
    return TA_OK;
}

/* ---- ours ---------------------------------------------------------------------------------- */

static const struct {
    const char *metric, *basis;
} rates[RATES] = {
    [RATE_FPS_BLOCKS] = {"fps", "blocks"},   [RATE_BPS_BLOCKS] = {"bps", "blocks"},
    [RATE_FPS_STEADY] = {"fps", "steady"},   [RATE_BPS_STEADY] = {"bps", "steady"},
    [RATE_FPS_WALL] = {"fps", "wall"},       [RATE_BPS_WALL] = {"bps", "wall"},
    [RATE_FPS_CUT] = {"fps", "until_cut"},   [RATE_BPS_CUT] = {"bps", "until_cut"},
    [RATE_STEPS] = {"steps_per_s", "steps"}, [RATE_TOKENS] = {"tokens_per_s", "sections"},
};

void throughput_add_value(struct ta_section_builder *out, int64_t rank, const char *metric,
                          const char *basis, double value, enum ta_unit unit, const char *note)
{
    if (isfinite(value))
        TA_ROW(out,
               values, [VALUES_RANK] = ta_int(rank), [VALUES_METRIC] = ta_text(ta_slice_of(metric)),
               [VALUES_BASIS] = ta_text(ta_slice_of(basis)), [VALUES_VALUE] = ta_num(value),
               [VALUES_UNIT] = ta_text(ta_slice_of(ta_unit_name(unit))),
               [VALUES_NOTE] = note && *note ? ta_text(ta_slice_of(note)) : ta_null());
}

void throughput_add_rate(struct ta_section_builder *out, int64_t rank, enum rate rate, double value,
                         const char *note)
{
    throughput_add_value(out, rank, rates[rate].metric, rates[rate].basis, value, TA_UNIT_PER_S,
                         note);
}

/* Sums over blocks or steps of a rank. */
struct sums {
    int64_t n, frames, ns;
    bool all_frames, all_ns; /* every row says them */
};

/* A table by rank, and the row up to which it has been used. */
struct rows {
    const struct ta_refs *in;
    size_t rank, index, time, frames; /* columns; frames may be NO_COLUMN */
    size_t at;
};

/* Where the rows of a rank begin; ranks are asked for in ascending order. */
static size_t first_of(struct rows *rows, int64_t rank)
{
    while (rows->at < ta_ref_rows(rows->in, rows->rank) &&
           ta_ref_integer(rows->in, rows->rank, rows->at) < rank)
        rows->at++;
    return rows->at;
}

/* Sums over the rows of a rank from its row number `skip` on. */
static struct sums sum_up(struct rows *rows, int64_t rank, int64_t skip)
{
    struct sums sums = {.all_frames = true, .all_ns = true};
    const struct ta_refs *in = rows->in;
    for (size_t i = first_of(rows, rank);
         i < ta_ref_rows(in, rows->rank) && ta_ref_integer(in, rows->rank, i) == rank; i++) {
        if (ta_ref_integer(in, rows->index, i) < skip)
            continue;
        const int64_t ns = ta_ref_integer(in, rows->time, i);
        const int64_t count =
            rows->frames == NO_COLUMN ? TA_MISSING : ta_ref_integer(in, rows->frames, i);
        sums.n++;
        sums.all_ns &= ns != TA_MISSING;
        sums.all_frames &= count != TA_MISSING;
        ta_sum(&sums.ns, ns);
        ta_sum(&sums.frames, count);
    }
    return sums;
}

static double rate_of(bool known, int64_t amount, int64_t ns)
{
    return known && amount >= 0 && ns > 0 ? (double)amount * 1e9 / (double)ns : NAN;
}

/* The time in which the blocks were made: of a report that is cut up to the last one that is left.
 */
static int64_t wall_of(const int64_t *row)
{
    if (!row)
        return TA_MISSING;
    if (row[CUT] > 0)
        return row[START] == TA_MISSING || row[LAST_READY] == TA_MISSING
                   ? TA_MISSING
                   : ta_add_sat(row[LAST_READY], -row[START]);
    return row[WALL] == TA_MISSING ? row[OTHER_WALL] : row[WALL];
}

static void make_of_blocks(struct rank *rank, struct rows *blocks)
{
    const struct sums all = sum_up(blocks, rank->rank, 0);
    const struct sums rest = sum_up(blocks, rank->rank, 1);
    if (all.n == 0)
        return;
    rank->frames = all.all_frames ? all.frames : TA_MISSING;
    rank->blocks = all.n;
    rank->of[RATE_FPS_BLOCKS] = rate_of(all.all_frames && all.all_ns, all.frames, all.ns);
    rank->of[RATE_BPS_BLOCKS] = rate_of(all.all_ns, all.n, all.ns);
    if (rest.n) {
        rank->of[RATE_FPS_STEADY] = rate_of(rest.all_frames && rest.all_ns, rest.frames, rest.ns);
        rank->of[RATE_BPS_STEADY] = rate_of(rest.all_ns, rest.n, rest.ns);
    }
    const int64_t wall = wall_of(rank->row);
    if (wall == TA_MISSING)
        return;
    const bool cut = rank->row[CUT] > 0;
    rank->of[cut ? RATE_FPS_CUT : RATE_FPS_WALL] = rate_of(all.all_frames, all.frames, wall);
    rank->of[cut ? RATE_BPS_CUT : RATE_BPS_WALL] = rate_of(true, all.n, wall);
}

/* How many steps the records of a rank are of: a step may have several. */
static int64_t count_steps(struct rows *ranks, int64_t rank)
{
    const size_t row = first_of(ranks, rank);
    const bool is_there = row < ta_ref_rows(ranks->in, RANKS_RANK) &&
                          ta_ref_integer(ranks->in, RANKS_RANK, row) == rank;
    return is_there ? ta_ref_integer(ranks->in, RANKS_STEPS, row) : TA_MISSING;
}

static void add_ours(struct ta_section_builder *out, const struct rank *rank)
{
    static const char cut[] = "the report is cut: what is left of it, up to its last block";
    const int64_t *row = rank->row;
    for (int rate = 0; rate < RATES; rate++)
        throughput_add_rate(out, rank->rank, (enum rate)rate, rank->of[rate],
                            rate == RATE_FPS_CUT || rate == RATE_BPS_CUT ? cut : NULL);
    if (row && row[START] != TA_MISSING && row[FIRST_READY] != TA_MISSING &&
        row[FIRST_READY] >= row[START])
        throughput_add_value(out, rank->rank, "first_block_ns", "wall",
                             (double)((__int128)row[FIRST_READY] - row[START]), TA_UNIT_NS, NULL);
}

/* ---- finish -------------------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* All ranks that have anything, ascending, each once; NULL without memory. */
static struct rank *list_ranks(const struct ta_partial *const *merged, const struct ta_refs *in,
                               size_t *n_ranks)
{
    const size_t n_steps = ta_ref_rows(in, STEPS_RANK);
    struct rank *ranks = calloc(
        ta_partial_rows(merged[0]) + ta_partial_rows(merged[1]) + n_steps + 1, sizeof *ranks);
    size_t n = 0, kept = 0;
    for (int t = 0; ranks && t < 2; t++)
        for (size_t i = 0; i < ta_partial_rows(merged[t]); i++) {
            const int64_t *row = ta_partial_at(merged[t], i);
            if (n == 0 || ranks[n - 1].rank != row[RANK])
                ranks[n++] = (struct rank){.rank = row[RANK]};
        }
    for (size_t i = 0; ranks && i < n_steps; i++) {
        const int64_t rank = ta_ref_integer(in, STEPS_RANK, i);
        if (n == 0 || ranks[n - 1].rank != rank)
            ranks[n++] = (struct rank){.rank = rank};
    }
    if (ranks)
        qsort(ranks, n, sizeof *ranks, by_rank);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || ranks[kept - 1].rank != ranks[i].rank)
            ranks[kept++] = ranks[i];
    *n_ranks = kept;
    return ranks;
}

static void fill(struct rank *rank, const struct ta_partial *partial, size_t *at)
{
    while (*at < ta_partial_rows(partial) && ta_partial_at(partial, *at)[RANK] < rank->rank)
        ++*at;
    if (*at < ta_partial_rows(partial) && ta_partial_at(partial, *at)[RANK] == rank->rank)
        rank->row = ta_partial_at(partial, *at);
    rank->frames = rank->blocks = TA_MISSING;
    for (int rate = 0; rate < RATES; rate++)
        rank->of[rate] = NAN;
}

/* What a trace shows of a diffusion, where no profiler of diffusion says more. */
static void add_loops(const struct ta_refs *in, struct ta_section_builder *out)
{
    for (size_t i = 0; ta_ref_rows(in, RANKS_RANK) == 0 && i < ta_ref_rows(in, LOOP_RANK); i++) {
        const int64_t rank = ta_whole(ta_ref_number(in, LOOP_RANK, i, 0));
        const double images = ta_ref_number(in, LOOP_IMAGES, i, 0);
        const double blocks = ta_ref_number(in, LOOP_BLOCKS, i, 0);
        const double time = ta_ref_number(in, LOOP_IMAGE_TIME, i, NAN);
        const double frames = ta_ref_number(in, LOOP_FRAMES, i, NAN);
        const double image_rate = ta_ref_number(in, LOOP_IMAGE_RATE, i, NAN);
        const bool is_video = blocks > images || frames > 1;
        const struct {
            const char *metric, *basis;
            double value;
        } rates_of[] = {
            {"fps", "wall", frames > 1 ? 1e9 * frames / time : NAN},
            {"bps", "wall", blocks > images ? 1e9 * blocks / images / time : NAN},
            {"images_per_s", "wall", is_video ? NAN : image_rate},
            {"steps_per_s", "steps", ta_ref_number(in, LOOP_STEP_RATE, i, NAN)},
        };
        for (size_t k = 0; k < TA_LENGTH(rates_of); k++)
            if (isfinite(rates_of[k].value))
                throughput_add_value(out, rank, rates_of[k].metric, rates_of[k].basis,
                                     rates_of[k].value, TA_UNIT_PER_S, NULL);
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct rows blocks = {in, BLOCKS_RANK, BLOCKS_INDEX, BLOCKS_TIME, BLOCKS_FRAMES, 0};
    struct rows steps = {in, STEPS_RANK, STEPS_INDEX, STEPS_TIME, NO_COLUMN, 0};
    struct rows by_rank = {.in = in, .rank = RANKS_RANK};
    size_t n, at_rank = 0, at_figure = 0;
    struct rank *ranks = list_ranks(merged, in, &n);
    if (!ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the ranks");
    for (size_t i = 0; i < n; i++) {
        fill(&ranks[i], merged[0], &at_rank);
        struct rank *rank = &ranks[i];
        make_of_blocks(rank, &blocks);
        const struct sums all = sum_up(&steps, rank->rank, 0);
        if (all.n)
            rank->of[RATE_STEPS] = rate_of(all.all_ns, count_steps(&by_rank, rank->rank), all.ns);
        if (rank->row)
            rank->of[RATE_TOKENS] =
                rate_of(rank->row[TOKENS] != TA_MISSING, rank->row[TOKENS], rank->row[TOKENS_NS]);
        add_ours(out, &ranks[i]);
        const struct ta_partial *figures = merged[1];
        size_t *at = &at_figure;
        const size_t count = ta_partial_rows(figures);
        while (*at < count && ta_partial_at(figures, *at)[FIGURE_RANK] < rank->rank)
            ++*at;
        for (size_t end; *at < count && ta_partial_at(figures, *at)[FIGURE_RANK] == rank->rank;
             *at = end) {
            end = ta_partial_group_end(figures, *at, NAME);
            throughput_add_metric(&ranks[i], figures, *at, end, out);
        }
    }
    if (n > 0 && ranks[0].rank != TA_MISSING) /* rows of no rank are of the run already */
        throughput_add_run(out, ranks, n);
    free(ranks);
    add_loops(in, out);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&values, NULL};

static const struct ta_analysis_ops ops = {.section = "diffusion",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, throughput, &ops, .title = "Diffusion and throughput",
          .summary = "Rates and latencies on a named basis, with the profiler's own next to ours: "
                     "throughput.values",
          .version = "1");
