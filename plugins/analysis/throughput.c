/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throughput.values: rates and latencies, each on a named basis, with the profiler's own figure
 * beside ours. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

#include <stdio.h>

/* What the sessions of a rank tell, and its tokens. */
enum { RANK, WALL, START, FIRST_READY, TOKENS, TOKENS_NS, RANK_FIELDS };

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [WALL] = {"wall_ns", TA_FIELD_SUM},
    [START] = {"start_ns", TA_FIELD_MIN}, [FIRST_READY] = {"first_ready_ns", TA_FIELD_MIN},
    [TOKENS] = {"tokens", TA_FIELD_SUM},  [TOKENS_NS] = {"tokens_ns", TA_FIELD_SUM},
};

/* Figures of the profiler; of several files of a rank the first one counts. */
enum { FIGURE_RANK, NAME, GROUP, FILE_KEY, VALUE, UNIT, FIGURE_FIELDS };

static const struct ta_field figure_fields[FIGURE_FIELDS] = {
    [FIGURE_RANK] = {"rank", TA_FIELD_RANK}, [NAME] = {"name", TA_FIELD_TEXT},
    [GROUP] = {"group", TA_FIELD_TEXT},      [FILE_KEY] = {"file", TA_FIELD_INT},
    [VALUE] = {"value", TA_FIELD_MAX}, /* ta_real_cell() */
    [UNIT] = {"unit", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"ranks", rank_fields, RANK_FIELDS}, {"figures", figure_fields, FIGURE_FIELDS}, {0}};

static const struct ta_column columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the dump"},
    {"metric", "Metric", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "What is counted per second, or how long something takes"},
    {"basis", "Basis", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "What it is made from: blocks, steady (without the first block), wall (session time), steps, "
     "sections; as_reported is the profiler's own number"},
    {"value", "Value", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL,
     "The value, in the unit beside it"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of the value"},
    {"note", "Note", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Why the profiler's number differs from ours"},
};

/* Figures that are rates or latencies; all others are in figures.reported. */
static bool is_throughput(struct ta_slice name)
{
    static const char *const names[] = {"fps",
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
                                        "e2e_tokens_per_s"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_slice_equal(name, ta_slice_of(names[i])))
            return true;
    return false;
}

/* ---- map ----------------------------------------------------------------------------------- */

static void add_figures(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_figure *figures = ta_trace_figure_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice name = ta_trace_text(trace, figures[i].name);
        if (!is_throughput(name) || !isfinite(figures[i].value))
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(out, ta_row_rank(trace, figures[i].rank), ta_key_text(name),
                           ta_key_text(ta_trace_text(trace, figures[i].group)), ta_row_file(trace));
        row[VALUE] = ta_real_cell(figures[i].value);
        row[UNIT] = figures[i].unit;
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_session *sessions = ta_trace_session_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, sessions[i].rank));
        ta_sum(&row[WALL], sessions[i].dur_ns);
        ta_least(&row[START], sessions[i].start_ns);
    }
    const struct ta_diffusion_block *blocks = ta_trace_diffusion_block_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        ta_least(&TA_PARTIAL_ROW(out[0], ta_row_rank(trace, blocks[i].rank))[FIRST_READY],
                 blocks[i].end_ns);
    const struct ta_section_tokens *tokens = ta_trace_section_tokens_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        if (tokens[i].tokens == TA_MISSING || tokens[i].tokens <= 0 || tokens[i].dur_ns <= 0)
            continue; /* nothing recorded, or no time to divide by */
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, tokens[i].rank));
        ta_sum(&row[TOKENS], tokens[i].tokens);
        ta_sum(&row[TOKENS_NS], tokens[i].dur_ns);
    }
    add_figures(trace, out[1]);
    return TA_OK;
}

/* ---- ours ---------------------------------------------------------------------------------- */

/* Sums over blocks or steps of a rank. */
struct sums {
    int64_t n, frames, ns;
    bool all_frames, all_ns; /* every row says them */
};

static int64_t cell_int(const struct ta_table *table, size_t row, const char *column)
{
    const struct ta_cell *cell = ta_table_cell(table, row, ta_table_column(table, column));
    return cell->kind == TA_CELL_INT ? cell->i : TA_MISSING;
}

/* Sums over the rows of a rank from its row number `skip` on; `frames` may be NULL. */
static struct sums sum_up(const struct ta_table *table, int64_t rank, const char *frames,
                          int64_t skip)
{
    struct sums sums = {.all_frames = true, .all_ns = true};
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (cell_int(table, i, "rank") != rank || cell_int(table, i, "index") < skip)
            continue;
        const int64_t ns = cell_int(table, i, "dur_ns");
        const int64_t count = frames ? cell_int(table, i, frames) : TA_MISSING;
        sums.n++;
        sums.all_ns &= ns != TA_MISSING;
        sums.all_frames &= count != TA_MISSING;
        ta_sum(&sums.ns, ns);
        ta_sum(&sums.frames, count);
    }
    return sums;
}

struct writer {
    struct ta_table_builder *table;
    const struct ta_table *blocks, *steps;
    int64_t rank;
    double fps, bps; /* of the blocks, NAN when not known */
};

static void add_value(const struct writer *w, const char *metric, const char *basis, double value,
                      enum ta_unit unit, const char *note)
{
    if (isfinite(value))
        TA_ROW(w->table, ta_int(w->rank), ta_text(ta_slice_of(metric)), ta_text(ta_slice_of(basis)),
               ta_num(value), ta_text(ta_slice_of(ta_unit_name(unit))),
               note && *note ? ta_text(ta_slice_of(note)) : ta_null());
}

static double rate(bool known, int64_t amount, int64_t ns)
{
    return known && amount >= 0 && ns > 0 ? (double)amount * 1e9 / (double)ns : NAN;
}

/* `row` is of the sessions of the rank, or NULL. */
static void add_of_blocks(struct writer *w, const int64_t *row)
{
    const struct sums all = sum_up(w->blocks, w->rank, "frames", 0);
    const struct sums rest = sum_up(w->blocks, w->rank, "frames", 1);
    if (all.n == 0)
        return;
    w->fps = rate(all.all_frames && all.all_ns, all.frames, all.ns);
    w->bps = rate(all.all_ns, all.n, all.ns);
    add_value(w, "fps", "blocks", w->fps, TA_UNIT_PER_S, NULL);
    add_value(w, "bps", "blocks", w->bps, TA_UNIT_PER_S, NULL);
    if (rest.n) {
        add_value(w, "fps", "steady", rate(rest.all_frames && rest.all_ns, rest.frames, rest.ns),
                  TA_UNIT_PER_S, NULL);
        add_value(w, "bps", "steady", rate(rest.all_ns, rest.n, rest.ns), TA_UNIT_PER_S, NULL);
    }
    if (!row || row[WALL] == TA_MISSING)
        return;
    add_value(w, "fps", "wall", rate(all.all_frames, all.frames, row[WALL]), TA_UNIT_PER_S, NULL);
    add_value(w, "bps", "wall", rate(true, all.n, row[WALL]), TA_UNIT_PER_S, NULL);
}

static void add_first_block(const struct writer *w, const int64_t *row)
{
    if (row[START] != TA_MISSING && row[FIRST_READY] != TA_MISSING &&
        row[FIRST_READY] >= row[START])
        add_value(w, "first_block_ns", "wall", (double)(row[FIRST_READY] - row[START]), TA_UNIT_NS,
                  NULL);
}

static void add_ours(struct writer *w, const int64_t *row)
{
    add_of_blocks(w, row);
    const struct sums steps = sum_up(w->steps, w->rank, NULL, 0);
    if (steps.n)
        add_value(w, "steps_per_s", "steps", rate(steps.all_ns, steps.n, steps.ns), TA_UNIT_PER_S,
                  NULL);
    if (!row)
        return;
    add_first_block(w, row);
    add_value(w, "tokens_per_s", "sections",
              rate(row[TOKENS] != TA_MISSING, row[TOKENS], row[TOKENS_NS]), TA_UNIT_PER_S, NULL);
}

/* ---- theirs -------------------------------------------------------------------------------- */

/* Why the number of the profiler is not ours, in a line short enough to be shown whole; "" when it
 * is. */
static void explain(const struct writer *w, struct ta_slice metric, struct ta_slice group,
                    double reported, char note[64])
{
    const bool fps = ta_slice_equal(metric, TA_LIT("fps"));
    const double ours = fps ? w->fps : ta_slice_equal(metric, TA_LIT("bps")) ? w->bps : NAN;
    note[0] = '\0';
    if (ta_slice_equal(metric, TA_LIT("first_block_ns")))
        snprintf(note, 64, "the block alone, not from the start");
    if (!isfinite(ours) || ours <= 0 || fabs(reported - ours) <= 1e-3 * ours)
        return;
    const bool by_steps = ta_slice_equal(group, TA_LIT("diffusion"));
    snprintf(note, 64, "%s: ×%.3g",
             !by_steps ? "made in another way"
             : fps     ? "counts frames once per step"
                       : "counts steps, not blocks",
             reported / ours);
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
    struct ta_slice before = {0};
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(figures, i);
        const struct ta_slice group = ta_partial_text(figures, row, GROUP);
        const struct ta_slice metric = ta_partial_text(figures, row, NAME);
        char basis[100] = "as_reported", name[40], note[64];
        if (i > first && ta_slice_equal(group, before))
            continue;
        before = group;
        if (!ta_slice_equal(group, main))
            snprintf(basis, sizeof basis, "as_reported (%.*s)",
                     (int)(group.len < 60 ? group.len : 60), group.ptr);
        snprintf(name, sizeof name, "%.*s", (int)metric.len, metric.ptr);
        explain(w, metric, group, ta_real_of(row[VALUE]), note);
        const bool known = row[UNIT] >= 0 && row[UNIT] < TA_UNIT_COUNT_OF_UNITS;
        add_value(w, name, basis, ta_real_of(row[VALUE]),
                  known ? (enum ta_unit)row[UNIT] : TA_UNIT_NONE, note);
    }
}

static void add_theirs(const struct writer *w, const struct ta_partial *figures)
{
    for (size_t first = 0, end; first < ta_partial_rows(figures); first = end) {
        const int64_t *row = ta_partial_at(figures, first);
        for (end = first + 1;
             end < ta_partial_rows(figures) &&
             ta_partial_at(figures, end)[FIGURE_RANK] == row[FIGURE_RANK] &&
             ta_slice_equal(ta_partial_text(figures, ta_partial_at(figures, end), NAME),
                            ta_partial_text(figures, row, NAME));)
            end++;
        if (row[FIGURE_RANK] == w->rank)
            add_metric(w, figures, first, end);
    }
}

/* ---- finish -------------------------------------------------------------------------------- */

/* The smallest rank above `after` that has anything; false when there is none. */
static bool next_rank(const struct writer *w, const struct ta_partial *const *merged, bool any,
                      int64_t after, int64_t *rank)
{
    bool found = false;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < ta_partial_rows(merged[t]); i++) {
            const int64_t of = ta_partial_at(merged[t], i)[RANK];
            if ((!any || of > after) && (!found || of < *rank)) {
                *rank = of;
                found = true;
            }
        }
    for (size_t i = 0; w->steps && i < w->steps->n_rows; i++) {
        const int64_t of = cell_int(w->steps, i, "rank");
        if ((!any || of > after) && (!found || of < *rank)) {
            *rank = of;
            found = true;
        }
    }
    return found;
}

static const int64_t *row_of_rank(const struct ta_partial *ranks, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(ranks); i++)
        if (ta_partial_at(ranks, i)[RANK] == rank)
            return ta_partial_at(ranks, i);
    return NULL;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    struct writer w = {
        .table = ta_add_table(out, "throughput.values", "Throughput and latency", columns, 6),
        .blocks = ta_report_table(prior, "diffusion.blocks"),
        .steps = ta_report_table(prior, "diffusion.steps"),
    };
    bool any = false;
    while (next_rank(&w, merged, any, w.rank, &w.rank)) {
        any = true;
        w.fps = w.bps = NAN;
        add_ours(&w, row_of_rank(merged[0], w.rank));
        add_theirs(&w, merged[1]);
    }
    return TA_OK;
}

static const char *const after[] = {"diffusion", NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "diffusion", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, throughput, &ops, .title = "Diffusion and throughput",
          .summary = "Rates and latencies on a named basis, with the profiler's own beside ours: "
                     "throughput.values",
          .version = "1");
