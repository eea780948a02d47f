/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.metrics: every figure of the tables by rank, compared over all ranks. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS_MOST = 3, VALUES_MOST = 8 };

/* Tables with a row per rank, or per rank and more keys, which then qualify the metric. */
static const struct source {
    const char *table;
    const char *keys[KEYS_MOST];
    const char *values[VALUES_MOST];
    const char *unit; /* column with the unit of the row, or NULL */
} sources[] = {
    {"gpu_time.by_rank",
     {"device"},
     {"window_ns", "busy_ns", "compute_ns", "comm_ns", "comm_exposed_ns", "memcpy_ns", "idle_ns",
      "busy_share"},
     NULL},
    {"launches.by_rank", {NULL}, {"activities", "delay_p50_ns", "delay_p95_ns"}, NULL},
    {"copies.by_direction", {"direction"}, {"bytes", "total_ns", "bandwidth"}, NULL},
    {"stages.by_name", {"stage"}, {"total_ns", "mean_ns", "share"}, NULL},
    {"diffusion.by_rank",
     {NULL},
     {"steps_per_pass", "step_mean_ns", "step_p95_ns", "frames", "frames_per_block",
      "block_mean_ns", "block_max_ns", "block_memory_bytes"},
     NULL},
    {"throughput.values", {"metric", "basis"}, {"value"}, "unit"},
    {"iterations.by_name", {"loop"}, {"per_s", "mean_ns", "max_ns"}, NULL},
    {"sections.tokens", {"section"}, {"tokens", "tokens_per_s"}, NULL},
    {"layers.by_name", {"layer"}, {"total_ns", "mean_ns"}, NULL},
    {"memory.by_rank",
     {"device"},
     {"peak_allocated_bytes", "peak_reserved_bytes", "gap_share"},
     NULL},
    {"telemetry.by_rank", {"device", "signal"}, {"mean", "max", "p95"}, "unit"},
    {"energy.by_rank", {"device"}, {"energy_j", "mean_w", "frame_j"}, NULL},
    {"caches.by_name", {"cache"}, {"hits", "misses", "hit_ratio"}, NULL},
    {"streaming.by_rank", {"session"}, {"frames", "dropped", "drop_ratio"}, NULL},
};

static const struct ta_column columns[] = {
    {"metric", "Metric", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Table and column, with the other keys of the row in brackets"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of the values"},
    {"ranks", "Ranks", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Ranks that have a value"},
    {"min", "Min", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Smallest value"},
    {"max", "Max", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Largest value"},
    {"mean", "Mean", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Mean over the ranks"},
    {"p50", "p50", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Median over the ranks"},
    {"min_rank", "Rank of the min", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank with the smallest value, the lowest of equals"},
    {"max_rank", "Rank of the max", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank with the largest value, the lowest of equals"},
    {"spread", "Spread", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "1 − smallest over largest; none where a value is negative"},
};

/* ---- rows of a metric ---------------------------------------------------------------------- */

/* A row of a table with the key that it stands under. */
struct entry {
    int64_t rank;
    size_t row;
    const char *keys; /* "" without any */
};

struct metrics {
    const struct ta_table *table;
    const struct source *source;
    size_t columns[KEYS_MOST]; /* of the keys; SIZE_MAX for those that are not needed */
    struct entry *entries;     /* by keys, then rank */
    size_t n;
    double *values;
    struct ta_arena arena;
};

/* The other keys of a row, "run_inference" or "0, gpu_power". */
static const char *keys_of(struct metrics *m, size_t row)
{
    const char *text = "";
    for (size_t i = 0; i < KEYS_MOST && text; i++) {
        if (m->columns[i] == SIZE_MAX)
            continue;
        const struct ta_cell *cell = ta_table_cell(m->table, row, m->columns[i]);
        const char *comma = *text ? ", " : "";
        if (cell->kind == TA_CELL_INT)
            text = ta_arena_printf(&m->arena, "%s%s%lld", text, comma, (long long)cell->i);
        else if (cell->kind == TA_CELL_TEXT)
            text =
                ta_arena_printf(&m->arena, "%s%s%.*s", text, comma,
                                (int)(cell->text.len < 400 ? cell->text.len : 400), cell->text.ptr);
    }
    return text;
}

static int by_keys(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = strcmp(a->keys, b->keys);
    if (order)
        return order;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->row > b->row) - (a->row < b->row);
}

static bool list_entries(struct metrics *m)
{
    const size_t rank = ta_table_column(m->table, "rank");
    m->n = 0;
    for (size_t i = 0; i < m->table->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(m->table, i, rank);
        if (cell->kind != TA_CELL_INT)
            continue; /* of no rank */
        const char *keys = keys_of(m, i);
        if (!keys)
            return false;
        m->entries[m->n++] = (struct entry){cell->i, i, keys};
    }
    qsort(m->entries, m->n, sizeof *m->entries, by_keys);
    return true;
}

static bool has_repeats(const struct metrics *m)
{
    for (size_t i = 1; i < m->n; i++)
        if (m->entries[i].rank == m->entries[i - 1].rank &&
            strcmp(m->entries[i].keys, m->entries[i - 1].keys) == 0)
            return true;
    return false;
}

/* Where each rank has one device, its number only tells ranks apart; so with sessions. */
static bool find_entries(struct metrics *m)
{
    static const char *const optional[] = {"device", "session"};
    for (size_t i = 0; i < KEYS_MOST; i++)
        m->columns[i] =
            m->source->keys[i] ? ta_table_column(m->table, m->source->keys[i]) : SIZE_MAX;
    for (size_t i = 0; i < KEYS_MOST; i++) {
        const size_t column = m->columns[i];
        bool is_optional = false;
        for (size_t k = 0; k < 2 && column != SIZE_MAX; k++)
            is_optional |= strcmp(m->source->keys[i], optional[k]) == 0;
        if (!is_optional)
            continue;
        m->columns[i] = SIZE_MAX;
        if (!list_entries(m))
            return false;
        if (has_repeats(m))
            m->columns[i] = column;
    }
    return list_entries(m);
}

/* ---- metrics ------------------------------------------------------------------------------- */

static const char *unit_of(const struct metrics *m, size_t row, size_t column)
{
    if (!m->source->unit)
        return ta_unit_name(m->table->columns[column].unit);
    const struct ta_cell *cell =
        ta_table_cell(m->table, row, ta_table_column(m->table, m->source->unit));
    return cell->kind == TA_CELL_TEXT ? cell->text.ptr : "none"; /* names of units are terminated */
}

/* One column over the entries [first, end), which have the same keys. */
static void add_metric(struct ta_table_builder *out, struct metrics *m, size_t first, size_t end,
                       size_t column)
{
    size_t n = 0;
    const struct entry *least = NULL, *most = NULL;
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (size_t i = first; i < end; i++) {
        const double value =
            ta_cell_number(ta_table_cell(m->table, m->entries[i].row, column), NAN);
        if (isnan(value))
            continue;
        least = value < low ? &m->entries[i] : least;
        most = value > high ? &m->entries[i] : most;
        low = fmin(low, value);
        high = fmax(high, value);
        m->values[n++] = value;
    }
    if (n < 2)
        return; /* nothing to compare */
    ta_sort_numbers(m->values, n);
    for (size_t i = 0; i < n; i++)
        sum += m->values[i];
    const double median = ta_quantile(m->values, n, 0.5);
    const char *keys = m->entries[first].keys;
    const char *name =
        ta_arena_printf(&m->arena, "%s.%s%s%s%s", m->source->table, m->table->columns[column].key,
                        *keys ? "[" : "", keys, *keys ? "]" : "");
    if (name)
        TA_ROW(out, ta_text(ta_slice_of(name)),
               ta_text(ta_slice_of(unit_of(m, m->entries[first].row, column))), ta_int((int64_t)n),
               ta_num(low), ta_num(high), ta_num(sum / (double)n), ta_num(median),
               ta_int(least->rank), ta_int(most->rank),
               low >= 0 && high > 0 ? ta_num(1 - low / high) : ta_null());
}

static bool add_table(struct ta_table_builder *out, struct metrics *m)
{
    m->entries = calloc(m->table->n_rows + 1, sizeof *m->entries);
    m->values = calloc(m->table->n_rows + 1, sizeof *m->values);
    bool done = m->entries && m->values && find_entries(m);
    for (size_t v = 0; done && v < VALUES_MOST && m->source->values[v]; v++) {
        const size_t column = ta_table_column(m->table, m->source->values[v]);
        for (size_t first = 0, end; column != SIZE_MAX && first < m->n; first = end) {
            for (end = first + 1;
                 end < m->n && strcmp(m->entries[end].keys, m->entries[first].keys) == 0;)
                end++;
            add_metric(out, m, first, end, column);
        }
    }
    done = done && !m->arena.failed;
    free(m->entries);
    free(m->values);
    ta_arena_free(&m->arena);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)merged;
    struct ta_table_builder *table =
        ta_add_table(out, "ranks.metrics", "Ranks compared", columns, 10);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct metrics metrics = {.source = &sources[i],
                                  .table = ta_report_table(prior, sources[i].table)};
        if (metrics.table && !add_table(table, &metrics))
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the ranks");
    }
    return TA_OK;
}

static const char *const after[] = {
    "gpu_time",       "launches", "copies", "stages",    "diffusion", "throughput", "iterations",
    "section_tokens", "models",   "memory", "telemetry", "caches",    "streaming",  NULL};

static const struct ta_analysis_ops ops = {.after = after, .section = "ranks", .finish = finish};

TA_PLUGIN(analysis, ranks, &ops, .title = "Ranks",
          .summary = "Every figure by rank, compared over all ranks: ranks.metrics",
          .version = "1");
