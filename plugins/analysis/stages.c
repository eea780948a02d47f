/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stages.by_name and stages.over_ranks: stages, sections and timed operations of the dumps.
 *
 * Stages have no start times and may nest, so their totals may hold the same time twice.  A share
 * is therefore one of the time of the run where a dump tells it, and a stage that encloses others
 * has none:
 *
 *   1. The time is that of the enclosing stage of the same scope ("scope/total"), else of the
 *      sessions of the rank, else of an enclosing stage without a scope, else the time from the
 *      first to the last labelled memory snapshot; in the end the sum of the stages.  What is
 *      shorter than the longest stage of the scope is not the time of the run and is passed over.
 *   2. A stage encloses others when its name says so (total, run_inference), or when the figures
 *      prove it: it takes at least as long as all others of its scope together, and with them more
 *      than the time of the run. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

#include <stdlib.h>
#include <strings.h>

enum {
    RANK,
    NAME,
    FIRST,
    CALLS,
    TOTAL,
    LEAST,
    MOST,
    LAST,
    DEVICE,
    SUMMED,
    ENDED_BADLY,
    TIMES,
    STAGE_FIELDS
};

static const struct ta_field stage_fields[STAGE_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"stage", TA_FIELD_TEXT},
    [FIRST] = {"first", TA_FIELD_MIN},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [LEAST] = {"min_ns", TA_FIELD_MIN},
    [MOST] = {"max_ns", TA_FIELD_MAX},
    [LAST] = {"last_ns", TA_FIELD_MAX},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
    [SUMMED] = {"summed", TA_FIELD_SUM}, /* calls of which only sums are known */
    [ENDED_BADLY] = {"exceptions", TA_FIELD_SUM},
    [TIMES] = {"times", TA_FIELD_DIST},
};

/* How long the run of a rank took, as far as its dumps tell. */
enum { WALL_RANK, SESSIONS, FIRST_MARK, LAST_MARK, WALL_FIELDS };

static const struct ta_field wall_fields[WALL_FIELDS] = {
    [WALL_RANK] = {"rank", TA_FIELD_RANK},
    [SESSIONS] = {"sessions_ns", TA_FIELD_SUM},
    [FIRST_MARK] = {"first_mark_ns", TA_FIELD_MIN},
    [LAST_MARK] = {"last_mark_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"stages", stage_fields, STAGE_FIELDS}, {"walls", wall_fields, WALL_FIELDS}, {0}};

static const struct ta_column columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank of the dump; none for a stage that is of no rank"},
    {"stage", "Stage", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Name of the stage; of a stage table scope/stage"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of calls"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Sum of durations, nested stages included"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Total over the time named by share_of; none for a stage that encloses others"},
    {"share_of", "Share of", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "What the share is of: scope, session, parent, snapshots or sum"},
    {"mean_ns", "Mean", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Total divided by calls"},
    {"min_ns", "Min", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Shortest call"},
    {"max_ns", "Max", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Longest call"},
    {"p50_ns", "p50", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Median; none unless the dump keeps every call"},
    {"p95_ns", "p95", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "95th percentile (type 7); none unless the dump keeps every call"},
    {"device_ns", "On device", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "The same calls by the clock of the device"},
    {"exceptions", "Exceptions", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Calls that ended with an exception"},
};

static const struct ta_column rank_columns[] = {
    {"stage", "Stage", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the stage"},
    {"ranks", "Ranks", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Ranks that ran it"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Calls on all ranks"},
    {"mean_total_ns", "Total per rank", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Mean over the ranks of the total of the stage"},
    {"min_total_ns", "Least", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Smallest total of a rank"},
    {"max_total_ns", "Most", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Largest total of a rank"},
    {"max_rank", "Rank of the most", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "The rank with the largest total, the first of equals"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Mean over the ranks of the share of the stage"},
};

static const struct ta_chart chart = {
    .id = "stage-waterfall",
    .title = "Stages in the order of the run",
    .caption =
        "Total of each stage, the mean over all ranks. Stages that enclose others hold their "
        "time too.",
    .kind = TA_CHART_BARS,
    .label = {"stage"},
    .y = {{"mean_total_ns", "Total per rank", TA_INK_COMPUTE}},
};

/* ---- map ----------------------------------------------------------------------------------- */

static void add_stage(const struct ta_trace *trace, const struct ta_timed_stage *stage,
                      size_t index, struct ta_partial *out)
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
    if (stage->is_call && stage->total_ns >= 0) {
        ta_least(&row[LEAST], stage->total_ns);
        ta_most(&row[MOST], stage->total_ns);
        ta_dist_add(ta_partial_dist(out, row, TIMES), stage->total_ns);
    } else {
        ta_sum(&row[SUMMED], 1);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_timed_stage *stages = ta_trace_stage_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        add_stage(trace, &stages[i], i, out[0]);
    const struct ta_session *sessions = ta_trace_session_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_row_rank(trace, sessions[i].rank))[SESSIONS],
               sessions[i].dur_ns);
    const struct ta_memory_mark *marks = ta_trace_memory_mark_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[1], ta_row_rank(trace, marks[i].rank));
        ta_least(&row[FIRST_MARK], marks[i].time_ns);
        ta_most(&row[LAST_MARK], marks[i].time_ns);
    }
    return TA_OK;
}

/* ---- shares -------------------------------------------------------------------------------- */

struct stage {
    const int64_t *row;
    struct ta_slice name, scope; /* of "engine/total" the scope is "engine", else it is empty */
    bool encloses;
    double share; /* NAN without one */
    const char *share_of;
};

/* The stages of a rank and a scope. */
struct scope {
    struct stage *at;
    size_t n;
    const int64_t *wall; /* row of the rank, or NULL */
    int64_t sum;         /* of all */
    size_t longest;
};

/* "engine" of "engine/total", see drop_lone_scopes().  Only stages whose rows are single calls are
 * of a stage table; a section may have a slash in its name. */
static struct ta_slice scope_of(const struct ta_partial *stages, const int64_t *row)
{
    const struct ta_slice name = ta_partial_text(stages, row, NAME);
    const char *slash = row[SUMMED] == TA_MISSING ? memchr(name.ptr, '/', name.len) : NULL;
    return slash ? (struct ta_slice){name.ptr, (size_t)(slash - name.ptr)} : (struct ta_slice){0};
}

static bool is_word(struct ta_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* Whether the name says that other stages run inside. */
static bool is_named_parent(const struct stage *stage)
{
    struct ta_slice name = stage->name;
    if (stage->scope.len) {
        name.ptr += stage->scope.len + 1;
        name.len -= stage->scope.len + 1;
    }
    return is_word(name, "total") || is_word(name, "run_inference");
}

static int64_t total_of(const struct stage *stage)
{
    return stage->row[TOTAL] == TA_MISSING ? 0 : stage->row[TOTAL];
}

/* The longest stage that encloses others by its name; NULL without one. */
static const struct stage *named_parent(const struct scope *scope)
{
    const struct stage *found = NULL;
    for (size_t i = 0; i < scope->n && scope->n > 1; i++)
        if (is_named_parent(&scope->at[i]) && (!found || total_of(&scope->at[i]) > total_of(found)))
            found = &scope->at[i];
    return found;
}

struct base {
    int64_t ns;
    const char *what;
};

/* The time of the run, TA_MISSING when nothing tells. */
static struct base time_of_run(const struct scope *scope)
{
    const int64_t least = total_of(&scope->at[scope->longest]);
    const struct stage *parent = named_parent(scope);
    const int64_t inside = parent ? total_of(parent) : TA_MISSING;
    const int64_t *wall = scope->wall;
    const bool marked = wall && wall[FIRST_MARK] != TA_MISSING;
    const bool scoped = scope->at[0].scope.len > 0;
    const struct base candidates[] = {
        {scoped ? inside : TA_MISSING, "scope"},
        {wall && !scoped ? wall[SESSIONS] : TA_MISSING, "session"},
        {inside, "parent"},
        {marked && !scoped ? wall[LAST_MARK] - wall[FIRST_MARK] : TA_MISSING, "snapshots"},
    };
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i].ns != TA_MISSING && candidates[i].ns > 0 && candidates[i].ns >= least)
            return candidates[i];
    return (struct base){TA_MISSING, "sum"};
}

static void share_out(struct scope *scope)
{
    for (size_t i = 0; i < scope->n; i++) {
        scope->sum = ta_add_sat(scope->sum, ta_max_i64(0, total_of(&scope->at[i])));
        if (total_of(&scope->at[i]) > total_of(&scope->at[scope->longest]))
            scope->longest = i;
    }
    struct base base = time_of_run(scope);
    for (size_t i = 0; i < scope->n; i++) {
        struct stage *stage = &scope->at[i];
        const bool proven = base.ns != TA_MISSING && scope->n > 1 && scope->sum > base.ns &&
                            total_of(stage) >= scope->sum - total_of(stage);
        stage->encloses = is_named_parent(stage) || proven;
    }
    if (base.ns == TA_MISSING) {
        base.ns = scope->sum;
        for (size_t i = 0; i < scope->n; i++)
            base.ns -= scope->at[i].encloses ? ta_max_i64(0, total_of(&scope->at[i])) : 0;
    }
    for (size_t i = 0; i < scope->n; i++) {
        struct stage *stage = &scope->at[i];
        const bool has = !stage->encloses && base.ns > 0 && total_of(stage) >= 0;
        stage->share = has ? (double)total_of(stage) / (double)base.ns : NAN;
        stage->share_of = has ? base.what : NULL;
    }
}

/* Stages of one rank and scope, then in the order of the run. */
static int by_scope(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    if (a->row[RANK] != b->row[RANK])
        return a->row[RANK] < b->row[RANK] ? -1 : 1;
    const int order = ta_slice_compare(a->scope, b->scope);
    return order ? order : (a->row[FIRST] > b->row[FIRST]) - (a->row[FIRST] < b->row[FIRST]);
}

/* A stage table has several stages of a scope; a slash in a name that stands alone, such as that of
 * "loading/caching" on a console, divides nothing. */
static void drop_lone_scopes(struct stage *stages, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && stages[end].row[RANK] == stages[first].row[RANK] &&
                              ta_slice_equal(stages[end].scope, stages[first].scope);)
            end++;
        if (end - first == 1)
            stages[first].scope = (struct ta_slice){0};
    }
    qsort(stages, n, sizeof *stages, by_scope);
}

static const int64_t *wall_of(const struct ta_partial *walls, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(walls); i++)
        if (ta_partial_at(walls, i)[WALL_RANK] == rank)
            return ta_partial_at(walls, i);
    return NULL;
}

static void share_all(struct stage *stages, size_t n, const struct ta_partial *walls)
{
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && stages[end].row[RANK] == stages[first].row[RANK] &&
                              ta_slice_equal(stages[end].scope, stages[first].scope);)
            end++;
        struct scope scope = {.at = stages + first,
                              .n = end - first,
                              .wall = wall_of(walls, stages[first].row[RANK])};
        share_out(&scope);
    }
}

/* ---- tables -------------------------------------------------------------------------------- */

static void add_row(struct ta_table_builder *table, const struct ta_partial *partial,
                    const struct stage *stage)
{
    const int64_t *row = stage->row;
    const struct ta_dist *times = ta_partial_dist_at(partial, row, TIMES);
    const bool all = times && row[SUMMED] == TA_MISSING;
    const bool has_mean = row[CALLS] != TA_MISSING && row[CALLS] > 0 && row[TOTAL] != TA_MISSING;
    TA_ROW(
        table, ta_int(row[RANK]), ta_text(stage->name), ta_int(row[CALLS]), ta_int(row[TOTAL]),
        ta_num(stage->share), stage->share_of ? ta_text(ta_slice_of(stage->share_of)) : ta_null(),
        has_mean ? ta_num((double)row[TOTAL] / (double)row[CALLS]) : ta_null(), ta_int(row[LEAST]),
        ta_int(row[MOST]), all ? ta_num(ta_dist_quantile(times, 50)) : ta_null(),
        all ? ta_num(ta_dist_quantile(times, 95)) : ta_null(), ta_int(row[DEVICE]),
        ta_int(row[ENDED_BADLY]));
}

/* Stages of one name stand together, in the order in which ranks follow each other. */
static int by_name(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    const int order = ta_slice_compare(a->name, b->name);
    return order ? order : (a->row[RANK] > b->row[RANK]) - (a->row[RANK] < b->row[RANK]);
}

/* A stage over all ranks. */
struct over_ranks {
    const struct stage *at, *most;
    size_t n;
    int64_t place; /* in the order of the run: where the first rank met it */
};

static int by_place(const void *left, const void *right)
{
    const struct over_ranks *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return ta_slice_compare(a->at->name, b->at->name);
}

static void add_over_ranks(struct ta_table_builder *table, const struct over_ranks *stage)
{
    int64_t calls = 0, sum = 0, least = INT64_MAX;
    double share = 0;
    for (size_t i = 0; i < stage->n; i++) {
        ta_sum(&calls, stage->at[i].row[CALLS]);
        sum = ta_add_sat(sum, total_of(&stage->at[i]));
        least = ta_min_i64(least, total_of(&stage->at[i]));
        share += stage->at[i].share; /* NAN when one rank has none */
    }
    const double n = (double)stage->n;
    TA_ROW(table, ta_text(stage->at->name), ta_int((int64_t)stage->n), ta_int(calls),
           ta_num((double)sum / n), ta_int(least), ta_int(total_of(stage->most)),
           ta_int(stage->most->row[RANK]), ta_num(share / n));
}

/* The order of the run is the one of the file: placeholders of files differ between ranks. */
static int64_t place_in_file(const struct stage *stage)
{
    return stage->row[FIRST] & UINT32_MAX;
}

static bool add_table_over_ranks(struct ta_section_builder *out, struct stage *stages, size_t n)
{
    struct over_ranks *names = calloc(n + 1, sizeof *names);
    if (!names)
        return false;
    size_t n_names = 0;
    qsort(stages, n, sizeof *stages, by_name);
    for (size_t i = 0; i < n; i++) {
        struct over_ranks *name = &names[n_names - (n_names > 0)];
        if (n_names == 0 || !ta_slice_equal(name->at->name, stages[i].name)) {
            name = &names[n_names++];
            *name = (struct over_ranks){&stages[i], &stages[i], 0, place_in_file(&stages[i])};
        }
        name->n++;
        name->place = ta_min_i64(name->place, place_in_file(&stages[i]));
        if (total_of(&stages[i]) > total_of(name->most))
            name->most = &stages[i];
    }
    qsort(names, n_names, sizeof *names, by_place);
    struct ta_table_builder *table =
        ta_add_table(out, "stages.over_ranks", "Stages over all ranks", rank_columns, 8);
    for (size_t i = 0; i < n_names; i++)
        add_over_ranks(table, &names[i]);
    ta_add_chart(table, &chart);
    free(names);
    return true;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)prior;
    const size_t n = ta_partial_rows(merged[0]);
    struct stage *stages = calloc(n + 1, sizeof *stages);
    if (!stages)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the stages");
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        stages[i] = (struct stage){.row = row,
                                   .name = ta_partial_text(merged[0], row, NAME),
                                   .scope = scope_of(merged[0], row)};
    }
    qsort(stages, n, sizeof *stages, by_scope);
    drop_lone_scopes(stages, n);
    share_all(stages, n, merged[1]);
    struct ta_table_builder *table =
        ta_add_table(out, "stages.by_name", "Stages by total time", columns, 13);
    for (size_t i = 0; i < n; i++)
        add_row(table, merged[0], &stages[i]);
    ta_sort_rows(table, "total_ns", true);
    const bool done = add_table_over_ranks(out, stages, n);
    free(stages);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the stages");
}

static const struct ta_analysis_ops ops = {
    .section = "stages", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, stages, &ops, .title = "Stages",
          .summary = "Stages, sections and timed operations of dumps: stages.by_name, "
                     "stages.over_ranks",
          .version = "1");
