/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stages.by_name, stages.derived and stages.over_ranks: stages, sections and timed operations of
 * the dumps.
 *
 * A row of the partial is a stage of a rank. Which stage is a part of which and what its share is
 * follows when all are known: nesting.c; numbered parts of one stage: family.c; what is a stage but
 * was recorded otherwise: denoising.c. */
#include "stages.h"

#include <stdlib.h>

static const struct ta_ref reads[] = {
    [DIFFUSION_RANK] = {"diffusion.by_rank", "rank"}, [STEPS_RANK] = {"diffusion.steps", "rank"},
    [STEPS_TIME] = {"diffusion.steps", "step_ns"},    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
};

static const struct ta_field stage_fields[STAGE_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"stage", TA_FIELD_TEXT},
    [FIRST] = {"first", TA_FIELD_PLACE},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [LEAST] = {"min_ns", TA_FIELD_MIN},
    [MOST] = {"max_ns", TA_FIELD_MAX},
    [LAST] = {"last_ns", TA_FIELD_MAX},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
    [SUMMED] = {"summed", TA_FIELD_SUM}, /* calls of which only sums are known */
    [ENDED_BADLY] = {"exceptions", TA_FIELD_SUM},
    [SOURCE] = {"source", TA_FIELD_MIN}, /* index in sources */
    [TIMES] = {"times", TA_FIELD_DIST},
};

static const struct ta_field wall_fields[WALL_FIELDS] = {
    [WALL_RANK] = {"rank", TA_FIELD_RANK},
    [WALL_SOURCE] = {"source", TA_FIELD_INT}, /* index in sources; of memory TA_MISSING */
    [SESSIONS] = {"sessions_ns", TA_FIELD_SUM},
    [FIRST_MARK] = {"first_mark_ns", TA_FIELD_MIN},
    [LAST_MARK] = {"last_mark_ns", TA_FIELD_MAX},
    [BESIDE] = {"beside_ns", TA_FIELD_SUM}, /* sessions of files without stages */
    [WITHOUT] = {"without", TA_FIELD_SUM},  /* stages of files whose session another file has */
    [CUT] = {"cut", TA_FIELD_SUM},          /* files whose steps and blocks are not all there */
};

static const struct ta_partial_def partials[] = {
    {"stages", stage_fields, STAGE_FIELDS}, {"walls", wall_fields, WALL_FIELDS}, {0}};

enum {
    BY_NAME_RANK,
    BY_NAME_STAGE,
    BY_NAME_CALLS,
    BY_NAME_TOTAL,
    BY_NAME_SHARE,
    BY_NAME_SHARE_OF,
    BY_NAME_INSIDE,
    BY_NAME_MEAN,
    BY_NAME_MIN,
    BY_NAME_MAX,
    BY_NAME_P50,
    BY_NAME_P95,
    BY_NAME_DEVICE,
    BY_NAME_EXCEPTIONS,
    BY_NAME_ORDER
};
static const struct ta_column by_name_columns[] = {
    [BY_NAME_RANK] =
        TA_RANK_COLUMN_OF("Rank of the dump; empty for a stage that belongs to no rank"),
    [BY_NAME_STAGE] = {"stage", "Stage", TA_TEXT, .read_as = TA_AS_STAGE,
                       .doc = "Name of the stage; in a stage table scope/stage"},
    [BY_NAME_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_STAGE_CALLS,
                       .doc = "Number of calls"},
    [BY_NAME_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = 1,
                       .read_as = TA_AS_STAGE_TIME,
                       .doc = "Sum of durations, nested stages included"},
    [BY_NAME_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER, .weight = 0.15,
                       .read_as = TA_AS_STAGE_SHARE,
                       .doc = "Total divided by the time named in the next column; empty for a "
                              "stage that encloses others"},
    [BY_NAME_SHARE_OF] =
        {"share_of", "Share of", TA_TEXT, .role = TA_NOTE,
         .doc = "Time that the share is of: scope, outer scope, session, parent, snapshots or sum"},
    [BY_NAME_INSIDE] = {"inside", "Inside", TA_TEXT, .role = TA_NOTE, .read_as = TA_AS_STAGE_INSIDE,
                        .doc = "Stage that contains it, as far as names and figures show"},
    [BY_NAME_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.15,
                      .doc = "Total divided by calls"},
    [BY_NAME_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest call"},
    [BY_NAME_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .doc = "Longest call"},
    [BY_NAME_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "Median duration; empty unless the dump keeps every call"},
    [BY_NAME_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "95th percentile (type 7); none unless the dump keeps every call"},
    [BY_NAME_DEVICE] = {"device_ns", "On device", TA_NS, .better = TA_LOWER,
                        .doc = "Time of the same calls by the device's clock"},
    [BY_NAME_EXCEPTIONS] =
        {"exceptions", "Exceptions", TA_COUNT, .better = TA_LOWER,
         .doc = "Calls that ended with an exception; empty if the dump does not record exceptions"},
    [BY_NAME_ORDER] =
        {"order", "Order", TA_INTEGER, .role = TA_NOTE, .detail = true,
         .read_as = TA_AS_STAGE_ORDER,
         .doc = "Position among the rank's stages in the order in which the dumps first name them"},
};

static bool are_by_name(const struct ta_refs *in)
{
    return !are_over_ranks(in);
}

static const struct ta_table_def by_name = {
    "stages.by_name",
    "Stages by total time",
    TA_COLUMNS(by_name_columns),
    .doc =
        "One row per rank and stage, section or timed operation of a dump; in a stage table the "
        "stage is `scope/stage` and its time is host time. Stages have no start times and may "
        "nest, so totals may count the same time twice. A share is of the time of the run, as far "
        "as a dump shows it:\n\n1. for a stage table, the total of the scope (`scope`);\n2. "
        "otherwise the duration of the rank's sessions (`session`);\n3. otherwise the total of the "
        "enclosing stage (`parent`);\n4. otherwise the time from the first to the last labeled "
        "memory snapshot (`snapshots`);\n5. otherwise the sum of the stages that enclose no other "
        "(`sum`), which is too long if stages nest, so the share is a lower bound.\n\nA time "
        "shorter than the longest stage is passed over. A stage that encloses others has no share, "
        "and `inside` of the others names it:\n\n* its name says so (`total`, `run_inference`), or "
        "the figures prove it, because it takes at least as long as all other stages of its scope "
        "together, and with them longer than the time of the run;\n* the application runs one "
        "stage in others, and the figures do not contradict it: FramePack's `transformer_forward` "
        "in `sampling_chunk_0`, `sampling_chunk_1` …, its `vae_decode` in "
        "`vae_decode_full_chunk_1`, `vae_decode_section_chunk_2` …;\n* `model_runner_run` of an "
        "engine encloses the scopes of the runners. Their shares are parts of its share (`outer "
        "scope`), so that all shares are of the time of the engine.\n\nShares of stages that nest "
        "without such a sign add up to more than 100 %.\n\nWhat Inferix reports and what it prints "
        "on the console are stages of one run. A stage in both counts as in the report, under "
        "different names as well (`vae_decode` and `VAE decoding`) if their times agree to the "
        "last printed digit; if these differ, the longer one contains the other. Denoising without "
        "a recorded stage is in `stages.derived`, and a "
        "stage that contains it has no share either.",
    .order = {&by_name_columns[BY_NAME_TOTAL], TA_DESCENDING},
    .rank_words = "Stage",
    .parts_of_whole = true,
    .brief = &(const struct ta_brief){.place = 220,
                                      .rows = 12,
                                      .largest = &by_name_columns[BY_NAME_TOTAL],
                                      .applies = are_by_name,
                                      TA_READS(stages_derived_read)}};

/* What the stages of a format are called, by what its name begins with; stages of a log say it
 * themselves. */
enum { CONSOLE = 2, EVENT_TIMER };
static const struct {
    const char *format, *name;
} sources[] = {
    {"diffulex", "sections"},
    {"framepack", "timed operations"},
    [CONSOLE] = {NULL, "console"},
    [EVENT_TIMER] = {NULL, "event timer"},
    {"sglang", "sglang"},
    {"vllm_omni", "vllm-omni"},
    {"", "stages"},
};

/* Between the two events of a timer. */
#define ARROW " \xe2\x86\x92 "

/* ---- map ----------------------------------------------------------------------------------- */

static void add_stage(const struct ta_trace *trace, const struct ta_timed_stage *stage,
                      size_t index, int64_t source, struct ta_partial *out)
{
    int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, stage->rank),
                                  ta_key_text(ta_trace_text(trace, stage->name)));
    ta_least(&row[FIRST], ta_row_place(trace, index));
    ta_sum(&row[CALLS], stage->is_call ? 1 : stage->calls);
    ta_sum(&row[TOTAL], stage->total_ns);
    ta_least(&row[LEAST], stage->min_ns);
    ta_most(&row[MOST], stage->max_ns);
    ta_most(&row[LAST], stage->last_ns);
    ta_sum(&row[DEVICE], stage->device_ns);
    ta_sum(&row[ENDED_BADLY], stage->exception != TA_STR_ABSENT);
    ta_least(&row[SOURCE], source);
    if (stage->is_call && stage->total_ns >= 0) {
        ta_least(&row[LEAST], stage->total_ns);
        ta_most(&row[MOST], stage->total_ns);
        ta_dist_add(ta_partial_dist(out, row, TIMES), stage->total_ns);
    } else {
        ta_sum(&row[SUMMED], 1);
    }
}

#define WALL(rank, source) TA_PARTIAL_ROW(out[1], ta_row_rank(trace, rank), ta_key_int(source))

static int64_t source_of_format(const char *format)
{
    int64_t source = 0;
    while (!sources[source].format ||
           strncmp(format, sources[source].format, strlen(sources[source].format)) != 0)
        source++;
    return source;
}

/* As the stage says, or else as its format does. */
static int64_t source_of_stage(const struct ta_trace *trace, const struct ta_timed_stage *stage,
                               int64_t of_format)
{
    const struct ta_slice name = ta_trace_text(trace, stage->source);
    for (size_t i = 0; name.len && i < sizeof sources / sizeof *sources; i++)
        if (ta_slice_equal(name, ta_slice_of(sources[i].name)))
            return (int64_t)i;
    return of_format;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n, n_sessions;
    const struct ta_session *sessions = ta_trace_session_rows(trace, &n_sessions);
    const struct ta_timed_stage *stages = ta_trace_stage_rows(trace, &n);
    const char *format = ta_trace_file(trace).format;
    const int64_t of_format = source_of_format(format ? format : "");
    const bool is_log = strcmp(format ? format : "", "log") == 0;
    bool has_stages[TA_LENGTH(sources)] = {false};
    for (size_t i = 0; i < n; i++) {
        const int64_t own = source_of_stage(trace, &stages[i], of_format);
        bool timer = own == CONSOLE && n_sessions == 0;
        has_stages[own] = true;
        if (timer) {
            /* Where a console shows no session, an event timer knows nothing of the run. */
            const struct ta_slice name = ta_trace_text(trace, stages[i].name);
            timer = name.len && memmem(name.ptr, name.len, ARROW, strlen(ARROW)) != NULL;
        }
        add_stage(trace, &stages[i], i, timer ? EVENT_TIMER : own, out[0]);
        if (own == CONSOLE && n_sessions == 0 && !timer)
            ta_sum(&WALL(stages[i].rank, CONSOLE)[WITHOUT], 1);
    }
    for (size_t i = 0; i < n_sessions; i++) {
        /* In a log a session belongs to the stages of a console, a request to the log's other
         * stages. */
        const int64_t source = is_log && !sessions[i].is_request ? CONSOLE : of_format;
        int64_t *row = WALL(sessions[i].rank, source);
        if (has_stages[source])
            ta_sum(&row[SESSIONS], sessions[i].dur_ns);
        else if (source != CONSOLE)
            ta_sum(&row[BESIDE], sessions[i].dur_ns);
        ta_sum(&row[CUT], sessions[i].is_cut);
    }
    const struct ta_memory_mark *marks = ta_trace_memory_mark_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row =
            TA_PARTIAL_ROW(out[1], ta_row_rank(trace, marks[i].rank), ta_key_int(TA_MISSING));
        ta_least(&row[FIRST_MARK], marks[i].time_ns);
        ta_most(&row[LAST_MARK], marks[i].time_ns);
    }
    return TA_OK;
}

/* ---- scopes -------------------------------------------------------------------------------- */

/* "engine" of "engine/total", see drop_lone_scopes().  Only stages whose rows are single calls are
 * of a stage table; a section may have a slash in its name. */
static struct ta_slice scope_of(const struct ta_partial *stages, const int64_t *row)
{
    const struct ta_slice name = ta_partial_text(stages, row, NAME);
    const char *slash = row[SUMMED] == TA_MISSING ? memchr(name.ptr, '/', name.len) : NULL;
    return slash ? (struct ta_slice){name.ptr, (size_t)(slash - name.ptr)} : (struct ta_slice){0};
}

static int by_rank_and_scope(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    if (a->row[RANK] != b->row[RANK])
        return a->row[RANK] < b->row[RANK] ? -1 : 1;
    const int order = ta_slice_compare(a->scope, b->scope);
    return order ? order : ta_slice_compare(a->name, b->name);
}

static int by_rank_and_place(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    if (a->row[RANK] != b->row[RANK])
        return a->row[RANK] < b->row[RANK] ? -1 : 1;
    return (a->row[FIRST] > b->row[FIRST]) - (a->row[FIRST] < b->row[FIRST]);
}

/* Whether a source is one of Inferix; "stages" come from its report. */
static bool is_of_inferix(struct ta_slice source)
{
    return ta_slice_equal(source, TA_LIT("console")) || ta_slice_equal(source, TA_LIT("stages"));
}

/* Sessions of files without stages count where no other is known, or where a file has lost its own
 * as a copy of them. */
int64_t sessions_of(const struct stages *stages, int64_t rank, struct ta_slice group)
{
    int64_t sum = TA_MISSING, beside = TA_MISSING, without = TA_MISSING;
    for (size_t i = 0; i < ta_partial_rows(stages->walls); i++) {
        const int64_t *row = ta_partial_at(stages->walls, i);
        if (row[WALL_RANK] != rank || row[WALL_SOURCE] == TA_MISSING)
            continue;
        const struct ta_slice source = ta_slice_of(sources[row[WALL_SOURCE]].name);
        const struct ta_slice own = is_of_inferix(source) ? TA_LIT(INFERIX_GROUP) : source;
        if (!ta_slice_equal(own, group))
            continue;
        ta_sum(&sum, row[SESSIONS]);
        ta_sum(&beside, row[BESIDE]);
        ta_sum(&without, row[WITHOUT]);
    }
    if (sum == TA_MISSING || without > 0)
        ta_sum(&sum, beside);
    return sum;
}

bool is_cut(const struct stages *stages, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(stages->walls); i++)
        if (ta_partial_at(stages->walls, i)[WALL_RANK] == rank &&
            ta_partial_at(stages->walls, i)[CUT] > 0)
            return true;
    return false;
}

static bool gather(struct stages *stages, const struct ta_refs *in)
{
    stages->n = ta_partial_rows(stages->partial);
    stages->at = calloc(stages->n + ta_ref_rows(in, DIFFUSION_RANK) + 1, sizeof *stages->at);
    for (size_t i = 0; stages->at && i < stages->n; i++) {
        const int64_t *row = ta_partial_at(stages->partial, i);
        stages->at[i] = (struct stage){.row = row,
                                       .name = ta_partial_text(stages->partial, row, NAME),
                                       .scope = scope_of(stages->partial, row)};
    }
    if (!stages->at)
        return false;
    /* The order of the run is the one of the file: placeholders of files differ between ranks. */
    struct stage *slot = stages->at;
    qsort(slot, stages->n, sizeof *slot, by_rank_and_place);
    for (size_t i = 0; i < stages->n; i++) {
        slot[i].order = i && slot[i].row[RANK] == slot[i - 1].row[RANK] ? slot[i - 1].order + 1 : 1;
        slot[i].place = 2 * (slot[i].row[FIRST] & UINT32_MAX) + 1;
    }
    /* A stage table has several stages of a scope, or at least their total; a slash in a name that
     * is alone, such as "loading/caching" on a console, divides nothing. */
    struct stage *at = stages->at;
    qsort(at, stages->n, sizeof *at, by_rank_and_scope);
    for (size_t first = 0, end; first < stages->n; first = end) {
        for (end = first + 1; end < stages->n && at[end].row[RANK] == at[first].row[RANK] &&
                              ta_slice_equal(at[end].scope, at[first].scope);)
            end++;
        if (end - first == 1 && !is_named_parent(&at[first]))
            at[first].scope = (struct ta_slice){0};
    }
    for (size_t i = 0; i < stages->n; i++) {
        struct stage *stage = &stages->at[i];
        const struct ta_slice kind = ta_slice_of(sources[stage->row[SOURCE]].name);
        stage->source = stage->scope.len ? stage->scope : kind;
        stage->program = is_of_inferix(kind) ? TA_LIT(INFERIX_GROUP) : kind;
        stage->group = is_of_inferix(stage->source) ? TA_LIT(INFERIX_GROUP) : stage->source;
        stage->beside = stage->source;
    }
    return true;
}

/* ---- tables -------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct stages stages = {.partial = merged[0], .walls = merged[1]};
    bool done = gather(&stages, in) && add_denoising(&stages, in) && find_families(&stages);
    if (done) {
        share_stages(&stages);
        for (size_t i = 0; i < stages.n; i++)
            if (!stages.at[i].made) {
                const struct stage *stage = &stages.at[i];
                const int64_t *row = stage->row;
                const struct ta_dist *times = ta_partial_dist_at(stages.partial, row, TIMES);
                const bool all = times && row[SUMMED] == TA_MISSING;
                const bool has_mean =
                    row[CALLS] != TA_MISSING && row[CALLS] > 0 && row[TOTAL] != TA_MISSING;
                TA_ROW(out, by_name, [BY_NAME_RANK] = ta_int(row[RANK]),
                       [BY_NAME_STAGE] = ta_text(stage->name), [BY_NAME_CALLS] = ta_int(row[CALLS]),
                       [BY_NAME_TOTAL] = ta_int(row[TOTAL]), [BY_NAME_SHARE] = ta_num(stage->share),
                       [BY_NAME_SHARE_OF] =
                           stage->share_of ? ta_text(ta_slice_of(stage->share_of)) : ta_null(),
                       [BY_NAME_INSIDE] = ta_text_or_null(stage->inside),
                       [BY_NAME_MEAN] =
                           has_mean ? ta_num((double)row[TOTAL] / (double)row[CALLS]) : ta_null(),
                       [BY_NAME_MIN] = ta_int(row[LEAST]), [BY_NAME_MAX] = ta_int(row[MOST]),
                       [BY_NAME_P50] = all ? ta_num(ta_dist_quantile(times, 50)) : ta_null(),
                       [BY_NAME_P95] = all ? ta_num(ta_dist_quantile(times, 95)) : ta_null(),
                       [BY_NAME_DEVICE] = ta_int(row[DEVICE]),
                       [BY_NAME_EXCEPTIONS] = stage->scope.len || row[ENDED_BADLY] > 0
                                                  ? ta_int(row[ENDED_BADLY])
                                                  : ta_null(),
                       [BY_NAME_ORDER] = ta_int(stage->order));
            }
        add_derived(out, &stages);
        done = add_stages_over_ranks(out, &stages);
    }
    free(stages.at);
    ta_arena_free(&stages.arena);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the stages");
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, SOURCE, sizeof sources / sizeof *sources},
                                         TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_name, &stages_derived, &stages_over_ranks,
                                                    NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "stages",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, stages, &ops, .title = "Stages",
          .summary = "Stages, sections and timed operations of dumps: stages.by_name, "
                     "stages.derived, stages.over_ranks",
          .version = "4");
