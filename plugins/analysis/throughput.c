/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput.values: rates and latencies, each on a named basis, with the profiler's own figure
 * next to ours. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <stdio.h>
#include <stdlib.h>

/* What the sessions of a rank tell, its tokens, and over how many ranks its settings spread the
 * work on one video. */
enum {
    RANK,
    WALL,
    OTHER_WALL, /* of files without blocks */
    START,
    FIRST_READY,
    LAST_READY,
    CUT, /* files that have lost blocks */
    TOKENS,
    TOKENS_NS,
    ULYSSES,
    RING,
    RANK_FIELDS
};

/* Rates of which the run has one too. */
enum rate {
    RATE_FPS_BLOCKS,
    RATE_BPS_BLOCKS,
    RATE_FPS_STEADY,
    RATE_BPS_STEADY,
    RATE_FPS_WALL,
    RATE_BPS_WALL,
    RATE_FPS_CUT, /* instead of those, where the report is cut */
    RATE_BPS_CUT,
    RATE_STEPS,
    RATE_TOKENS,
    RATES
};

/* A rank that has records of any kind. */
struct rank {
    int64_t rank;
    const int64_t *row;     /* of the partial with RANK_FIELDS, or NULL */
    double of[RATES];       /* NAN when not known */
    int64_t frames, blocks; /* TA_MISSING when not known */
};

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

/* Figures of the profiler; of several files of a rank the first one counts. */
enum { FIGURE_RANK, NAME, GROUP, FILE_KEY, VALUE, UNIT, FIGURE_FIELDS };

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

/* Adds a row of throughput.values; what is not finite is left out.  `note` may be NULL. */
static void add_value(struct ta_section_builder *out, int64_t rank, const char *metric,
                      const char *basis, double value, enum ta_unit unit, const char *note)
{
    if (isfinite(value))
        TA_ROW(out,
               values, [VALUES_RANK] = ta_int(rank), [VALUES_METRIC] = ta_text(ta_slice_of(metric)),
               [VALUES_BASIS] = ta_text(ta_slice_of(basis)), [VALUES_VALUE] = ta_num(value),
               [VALUES_UNIT] = ta_text(ta_slice_of(ta_unit_name(unit))),
               [VALUES_NOTE] = note && *note ? ta_text(ta_slice_of(note)) : ta_null());
}

static void add_rate(struct ta_section_builder *out, int64_t rank, enum rate rate, double value,
                     const char *note)
{
    add_value(out, rank, rates[rate].metric, rates[rate].basis, value, TA_UNIT_PER_S, note);
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Throughput of the run: all ranks together.
 *
 * Ranks that make videos of their own (data parallel) add up. Ranks that share the work on one
 * video (sequence or context parallel) all record the same frames, and the slowest of them says how
 * fast it is made. The settings tell which: ulysses_size × ring_size ranks, which follow each
 * other, share a video. Without these settings the ranks are taken to be independent. */

/* How the ranks work together. */
struct sharing {
    int64_t size; /* ranks on one video */
    bool known;
    size_t n, videos;
};

static int64_t size_of(const int64_t *row)
{
    if (!row || (row[ULYSSES] == TA_MISSING && row[RING] == TA_MISSING))
        return TA_MISSING;
    const int64_t ulysses = row[ULYSSES] == TA_MISSING ? 1 : row[ULYSSES];
    return ulysses * (row[RING] == TA_MISSING ? 1 : row[RING]); /* both below 2³¹ */
}

static void count(struct sharing *sharing, const struct rank *ranks, size_t n, enum rate rate)
{
    sharing->n = sharing->videos = 0;
    int64_t before = -1;
    for (size_t i = 0; i < n; i++) {
        if (isnan(ranks[i].of[rate]))
            continue;
        sharing->n++;
        sharing->videos += ranks[i].rank / sharing->size != before;
        before = ranks[i].rank / sharing->size;
    }
}

/* The sum over videos of the slowest rate among the ranks that work on it. */
static double sum_of_slowest(const struct rank *ranks, size_t n, enum rate rate, int64_t size)
{
    double sum = 0, slowest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(ranks[i].of[rate]))
            slowest = fmin(slowest, ranks[i].of[rate]);
        if (i + 1 == n || ranks[i + 1].rank / size != ranks[i].rank / size) {
            sum += isinf(slowest) ? 0 : slowest;
            slowest = INFINITY;
        }
    }
    return sum;
}

/* The frames or blocks of all videos over the longest session. */
static double over_wall(const struct rank *ranks, size_t n, bool frames, int64_t size)
{
    int64_t amount = 0, of_video = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t made = frames ? ranks[i].frames : ranks[i].blocks;
        of_video = ta_max_i64(of_video, made);
        if (ranks[i].row)
            longest = ta_max_i64(longest, ranks[i].row[WALL]);
        if (i + 1 == n || ranks[i + 1].rank / size != ranks[i].rank / size) {
            amount = ta_add_sat(amount, of_video);
            of_video = 0;
        }
    }
    return longest > 0 ? (double)amount * 1e9 / (double)longest : NAN;
}

/* Adds the rates of all ranks together, which are in ascending order. */
static void add_run(struct ta_section_builder *out, const struct rank *ranks, size_t n)
{
    struct sharing sharing = {.size = 1};
    for (size_t i = 0; i < n; i++) {
        const int64_t size = size_of(ranks[i].row);
        sharing.known |= size != TA_MISSING;
        sharing.size = ta_max_i64(sharing.size, size);
    }
    for (int rate = 0; rate < RATES; rate++) {
        char note[96];
        count(&sharing, ranks, n, (enum rate)rate);
        if (sharing.n < 2 || rate == RATE_FPS_CUT || rate == RATE_BPS_CUT)
            continue; /* reports are cut at different times */
        const bool wall = rate == RATE_FPS_WALL || rate == RATE_BPS_WALL;
        /* What is assumed, and why. */
        if (sharing.size == 1)
            snprintf(note, 96, "%zu ranks, each its own video%s: summed", sharing.n,
                     sharing.known ? "" : " (assumed: no tag says else)");
        else if (sharing.videos == 1)
            snprintf(note, 96, "%zu ranks on one video, by their tags: the slowest counts",
                     sharing.n);
        else
            snprintf(note, 96,
                     "%zu videos on %zu ranks, by their tags: the slowest of each, summed",
                     sharing.videos, sharing.n);
        add_rate(out, TA_MISSING, (enum rate)rate,
                 wall ? over_wall(ranks, n, rate == RATE_FPS_WALL, sharing.size)
                      : sum_of_slowest(ranks, n, (enum rate)rate, sharing.size),
                 note);
    }
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
        add_rate(out, rank->rank, (enum rate)rate, rank->of[rate],
                 rate == RATE_FPS_CUT || rate == RATE_BPS_CUT ? cut : NULL);
    if (row && row[START] != TA_MISSING && row[FIRST_READY] != TA_MISSING &&
        row[FIRST_READY] >= row[START])
        add_value(out, rank->rank, "first_block_ns", "wall",
                  (double)(row[FIRST_READY] - row[START]), TA_UNIT_NS, NULL);
}

/* ---- theirs -------------------------------------------------------------------------------- */

struct writer {
    struct ta_section_builder *out;
    const struct rank *rank;
};

enum { NOTE_MAX = 64 };

/* A figure of the profiler next to ours of the same name. */
struct compared {
    struct ta_slice metric, group;
    double reported, ours; /* NAN: we have none */
    size_t n_files;        /* of the rank that report it, of which this is the first */
};

static bool is_word(struct ta_slice text, const char *word)
{
    return ta_slice_equal(text, ta_slice_of(word));
}

/* How the profiler came to another number. */
static const char *reason_of(const struct compared *c)
{
    const bool is_fps = is_word(c->metric, "fps");
    if (is_word(c->group, "diffusion"))
        return is_fps ? "counts frames once per step" : "counts steps, not blocks";
    if (is_word(c->group, "streaming"))
        return "frames sent, by the last ten batches";
    if (is_word(c->metric, "tokens_per_s"))
        return c->n_files > 1          ? "of the first of several files"
               : c->reported < c->ours ? "over the time of all sections"
                                       : "over other sections than ours";
    return "of other blocks than those recorded";
}

static double ours_of(const struct rank *rank, struct ta_slice metric)
{
    return is_word(metric, "fps")            ? rank->of[RATE_FPS_BLOCKS]
           : is_word(metric, "bps")          ? rank->of[RATE_BPS_BLOCKS]
           : is_word(metric, "tokens_per_s") ? rank->of[RATE_TOKENS]
                                             : NAN;
}

/* Which of the groups that report a metric has the plain basis "as_reported": the one that the
 * advice of the profilers rests on, else the first by name. */
static struct ta_slice main_group(const struct ta_partial *figures, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct ta_slice group = ta_partial_text(figures, ta_partial_at(figures, i), GROUP);
        if (ta_slice_equal(group, TA_LIT("diffusion")))
            return group;
    }
    return ta_partial_text(figures, ta_partial_at(figures, first), GROUP);
}

/* The figures of one rank and metric: rows [first, end), by group and file. */
static void add_metric(const struct writer *w, const struct ta_partial *figures, size_t first,
                       size_t end)
{
    const struct ta_slice main = main_group(figures, first, end);
    for (size_t i = first, next; i < end; i = next) {
        next = ta_partial_group_end(figures, i, GROUP);
        const int64_t *row = ta_partial_at(figures, i);
        const struct ta_slice group = ta_partial_text(figures, row, GROUP);
        const struct ta_slice metric = ta_partial_text(figures, row, NAME);
        char basis[100] = "as_reported", name[40], note[NOTE_MAX];
        if (!ta_slice_equal(group, main))
            snprintf(basis, sizeof basis, "as_reported (%.*s)",
                     (int)(group.len < 60 ? group.len : 60), group.ptr);
        snprintf(name, sizeof name, "%.*s", (int)metric.len, metric.ptr);
        /* Why the number of the profiler is not ours, in a line short enough to be shown whole; ""
         * when it is. */
        const struct compared *c = &(struct compared){metric, group, ta_real_of(row[VALUE]),
                                                      ours_of(w->rank, metric), next - i};
        note[0] = '\0';
        if (is_word(c->metric, "first_block_ns"))
            snprintf(note, NOTE_MAX, "the block alone, not from the start");
        if (is_word(c->metric, "tpf"))
            snprintf(note, NOTE_MAX, "of the benchmark; requests.by_rank has ours, where recorded");
        if (isfinite(c->ours) && c->ours > 0 && fabs(c->reported - c->ours) > 1e-3 * c->ours)
            snprintf(note, NOTE_MAX, "%s: ×%.3g", reason_of(c), c->reported / c->ours);
        else if (is_word(c->group, "diffusion") && !isfinite(c->ours) &&
                 (is_word(c->metric, "fps") || is_word(c->metric, "bps")))
            snprintf(note, NOTE_MAX, "%s", reason_of(c));
        const bool known = row[UNIT] >= 0 && row[UNIT] < TA_UNIT_COUNT_OF_UNITS;
        add_value(w->out, w->rank->rank, name, basis, ta_real_of(row[VALUE]),
                  known ? (enum ta_unit)row[UNIT] : TA_UNIT_NONE, note);
    }
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
                add_value(out, rank, rates_of[k].metric, rates_of[k].basis, rates_of[k].value,
                          TA_UNIT_PER_S, NULL);
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
        const struct writer *w = &(struct writer){out, &ranks[i]};
        const struct ta_partial *figures = merged[1];
        size_t *at = &at_figure;
        const size_t count = ta_partial_rows(figures);
        while (*at < count && ta_partial_at(figures, *at)[FIGURE_RANK] < w->rank->rank)
            ++*at;
        for (size_t end; *at < count && ta_partial_at(figures, *at)[FIGURE_RANK] == w->rank->rank;
             *at = end) {
            end = ta_partial_group_end(figures, *at, NAME);
            add_metric(w, figures, *at, end);
        }
    }
    if (n > 0 && ranks[0].rank != TA_MISSING) /* rows of no rank are of the run already */
        add_run(out, ranks, n);
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
