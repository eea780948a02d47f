/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.metrics: every figure of the tables by rank, compared over all ranks. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/output.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { KEYS_MOST = 3, VALUES_MOST = 8 };

/* A column that is compared, and how much its difference between ranks tells, 0 to 1: what the run
 * waits for matters more than how busy its hosts are, and a mean of what is summed anyway little.
 */
struct value {
    const char *column;
    double weight;
};

/* Tables with a row per rank, or per rank and more keys, which then qualify the metric. */
static const struct source {
    const char *table;
    const char *keys[KEYS_MOST];
    struct value values[VALUES_MOST];
    const char *unit;   /* column with the unit of the row, or NULL */
    const char *before; /* words before the keys and the title of the column, or NULL */
    bool parts;         /* values of different keys are parts of a whole: differences count against
                           the largest of all, so that a short stage is never a large one */
} sources[] = {
    {"gpu_time.by_rank",
     {"device"},
     {{"window_ns", 1},
      {"busy_ns", 0.9},
      {"compute_ns", 0.8},
      {"comm_ns", 0.6},
      {"comm_exposed_ns", 1},
      {"memcpy_ns", 0.6},
      {"idle_ns", 1},
      {"busy_share", 0.7}},
     NULL,
     "GPU time",
     false},
    {"launches.by_rank",
     {NULL},
     {{"activities", 0.4}, {"delay_p50_ns", 0.2}, {"delay_p95_ns", 0.1}},
     NULL,
     "Kernel launches",
     false},
    {"copies.by_direction",
     {"direction"},
     {{"bytes", 0.4}, {"total_ns", 0.3}, {"bandwidth", 0.2}},
     NULL,
     "Copies",
     false},
    {"gpu_idle.by_rank",
     {"device"},
     {{"dispatch_ns", 0.5},
      {"host_ns", 0.5},
      {"sync_ns", 0.5},
      {"setup_ns", 0.3},
      {"input_ns", 0.5},
      {"queued_ns", 0.2}},
     NULL,
     "GPU idle",
     true},
    {"launch_queue.by_rank",
     {"device"},
     {{"depth_mean", 0.1}, {"empty_share", 0.2}, {"launch_bound", 0.2}},
     NULL,
     "Launch queue",
     false},
    {"sync.by_rank",
     {NULL},
     {{"count", 0.1}, {"total_ns", 0.1}, {"harmful_ns", 0.5}},
     NULL,
     "Waits for the device",
     false},
    {"stragglers.by_rank",
     {NULL},
     {{"last_arrivals", 0.6},
      {"mean_lateness_ns", 0.9},
      {"max_lateness_ns", 0.3},
      {"wait_ns", 0.6},
      {"own_ns", 0.9},
      {"held_up_ns", 0.9}},
     NULL,
     "Collectives",
     false},
    {"collectives.exposed",
     {"device"},
     {{"wait_ns", 0.6}, {"transfer_ns", 0.6}},
     NULL,
     "Exposed communication",
     false},
    {"roofline.by_rank", {"device"}, {{"mfu", 0.5}, {"flop", 0.3}}, NULL, "Roofline", false},
    {"kernels.occupancy",
     {"device"},
     {{"sm_efficiency", 0.3}, {"occupancy", 0.2}},
     NULL,
     "Kernels",
     false},
    {"compile.by_rank",
     {NULL},
     {{"triton_share", 0.2}, {"region_share", 0.1}, {"recompiled", 0.5}},
     NULL,
     "Compiled code",
     false},
    {"stages.by_name",
     {"stage"},
     {{"total_ns", 1}, {"mean_ns", 0.15}, {"share", 0.15}},
     NULL,
     "Stage",
     true},
    {"diffusion.by_rank",
     {NULL},
     {{"steps_per_pass", 0.9},
      {"step_mean_ns", 0.9},
      {"step_p95_ns", 0.4},
      {"frames", 0.9},
      {"frames_per_block", 0.9},
      {"block_mean_ns", 0.6},
      {"block_max_ns", 0.3},
      {"block_memory_bytes", 0.8}},
     NULL,
     "Diffusion",
     false},
    {"throughput.values", {"metric", "basis"}, {{"value", 1}}, "unit", NULL, false},
    {"iterations.by_name",
     {"loop"},
     {{"per_s", 0.4}, {"mean_ns", 0.2}, {"max_ns", 0.1}},
     NULL,
     "Loop",
     false},
    {"sections.tokens",
     {"section"},
     {{"tokens", 0.5}, {"tokens_per_s", 0.6}},
     NULL,
     "Section",
     false},
    {"layers.by_name", {"layer"}, {{"total_ns", 0.8}, {"mean_ns", 0.3}}, NULL, "Layer", true},
    {"memory.by_rank",
     {"device"},
     {{"peak_allocated_bytes", 0.9}, {"peak_reserved_bytes", 0.7}, {"gap_share", 0.2}},
     NULL,
     "Memory",
     false},
    {"telemetry.by_rank",
     {"device", "signal"},
     {{"mean", 0.5}, {"max", 0.15}, {"p95", 0.1}},
     "unit",
     NULL,
     false},
    {"energy.by_rank",
     {"device"},
     {{"energy_j", 0.3}, {"mean_w", 0.2}, {"frame_j", 0.3}},
     NULL,
     "Energy",
     false},
    {"caches.by_name",
     {"cache"},
     {{"hits", 0.3}, {"misses", 0.3}, {"hit_ratio", 0.6}},
     NULL,
     "Cache",
     false},
    {"streaming.by_rank",
     {"session"},
     {{"frames", 0.4}, {"dropped", 0.4}, {"drop_ratio", 0.6}},
     NULL,
     "Streaming",
     false},
};

/* Rows that weigh less than their column: figures of the host, and what profilers say themselves,
 * which often has another definition. */
static const struct {
    const char *part; /* of the keys */
    double factor;
} lighter[] = {{"as_reported", 0.1}, {"cpu_", 0.25}, {"steady", 0.5},     {"blocks", 0.8},
               {"_total", 0.5},      {"bps", 0.6},   {"steps_per_s", 0.5}};

static const struct ta_column columns[] = {
    {"metric", "Metric", TA_TYPE_ID, TA_UNIT_NONE, TA_NEUTRAL,
     "Table and column, with the other keys of the row in brackets"},
    {"label", "Figure", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "What is compared; the most telling comes first: large differences of what the run waits for"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of the values"},
    {"ranks", "Ranks", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Ranks that have a value"},
    {"min", "Min", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Smallest value"},
    {"min_rank", "Rank of min", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank with the smallest value, the lowest of equals"},
    {"max", "Max", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Largest value"},
    {"max_rank", "Rank of max", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank with the largest value, the lowest of equals"},
    {"mean", "Mean", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Mean over the ranks"},
    {"p50", "p50", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Median over the ranks"},
    {"spread", "Spread", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "1 − smallest over largest; none where a value is negative"},
};

/* One row of the result. */
struct metric {
    const char *name, *label, *unit;
    size_t ranks;
    double low, high, mean, median, weight;
    double score; /* how much it tells */
    int64_t low_rank, high_rank;
};

struct list {
    struct metric *at;
    size_t n, max;
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
    struct list *out;
    struct ta_arena *arena;
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
            text = ta_arena_printf(m->arena, "%s%s%lld", text, comma, (long long)cell->i);
        else if (cell->kind == TA_CELL_TEXT)
            text =
                ta_arena_printf(m->arena, "%s%s%.*s", text, comma,
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

static bool holds(const char *text, struct ta_slice part)
{
    for (; strlen(text) >= part.len; text++)
        if (strncasecmp(text, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* The keys of a row as people read them, "FPS, Session" or "run_inference". */
static const char *names_of(struct metrics *m, size_t row)
{
    const char *text = "";
    for (size_t i = 0; i < KEYS_MOST && text; i++) {
        char buffer[TA_WORD_TEXT_MAX];
        if (m->columns[i] == SIZE_MAX ||
            ta_table_cell(m->table, row, m->columns[i])->kind == TA_CELL_NULL)
            continue;
        const struct ta_column *column = &m->table->columns[m->columns[i]];
        const struct ta_slice key = ta_table_text(m->table, row, m->columns[i], buffer);
        const bool is_number = column->type == TA_TYPE_INTEGER;
        if (*text && holds(text, key))
            continue; /* "Steps per second" says what its basis is */
        text = ta_arena_printf(m->arena, "%s%s%s%.*s", text, *text ? ", " : "",
                               is_number ? "device " : "", (int)(key.len < 400 ? key.len : 400),
                               key.ptr);
    }
    return text ? text : "";
}

/* "Stage run_inference: Total"; where the keys say what is meant, they stand alone. */
static const char *label_of(struct metrics *m, size_t row, size_t column)
{
    const char *keys = names_of(m, row), *before = m->source->before;
    const char *title = m->table->columns[column].title;
    if (!before && strcmp(m->table->columns[column].key, "value") == 0)
        return keys;
    return ta_arena_printf(m->arena, "%s%s%s: %s", before ? before : "", before && *keys ? " " : "",
                           keys, title);
}

static double weight_of(const struct metrics *m, const struct value *value, const char *keys)
{
    double weight = value->weight;
    for (size_t i = 0; i < sizeof lighter / sizeof *lighter; i++)
        if (!m->source->parts && strstr(keys, lighter[i].part))
            weight *= lighter[i].factor;
    return weight;
}

static bool append(struct list *list, const struct metric *metric)
{
    if (list->n == list->max) {
        const size_t more = list->max ? 2 * list->max : 64;
        struct metric *grown = reallocarray(list->at, more, sizeof *grown);
        if (!grown)
            return false;
        list->at = grown;
        list->max = more;
    }
    list->at[list->n++] = *metric;
    return true;
}

/* Extremes, mean and median of one column over the entries [first, end); false without two. */
static bool compare(struct metrics *m, size_t first, size_t end, size_t column, struct metric *out)
{
    double sum = 0;
    *out = (struct metric){.low = INFINITY, .high = -INFINITY};
    for (size_t i = first; i < end; i++) {
        const struct entry *entry = &m->entries[i];
        const double value = ta_cell_number(ta_table_cell(m->table, entry->row, column), NAN);
        if (isnan(value))
            continue;
        out->low_rank = value < out->low ? entry->rank : out->low_rank;
        out->high_rank = value > out->high ? entry->rank : out->high_rank;
        out->low = fmin(out->low, value);
        out->high = fmax(out->high, value);
        m->values[out->ranks++] = value;
    }
    if (out->ranks < 2)
        return false; /* nothing to compare */
    ta_sort_numbers(m->values, out->ranks);
    for (size_t i = 0; i < out->ranks; i++)
        sum += m->values[i];
    out->mean = sum / (double)out->ranks;
    out->median = ta_quantile(m->values, out->ranks, 0.5);
    return true;
}

/* One column over the entries [first, end), which have the same keys. */
static bool add_metric(struct metrics *m, size_t first, size_t end, const struct value *value)
{
    const size_t column = ta_table_column(m->table, value->column);
    const char *keys = m->entries[first].keys;
    struct metric metric;
    if (!compare(m, first, end, column, &metric))
        return true;
    metric.name = ta_arena_printf(m->arena, "%s.%s%s%s%s", m->source->table, value->column,
                                  *keys ? "[" : "", keys, *keys ? "]" : "");
    metric.label = label_of(m, m->entries[first].row, column);
    metric.unit = unit_of(m, m->entries[first].row, column);
    metric.weight = weight_of(m, value, keys);
    return metric.name && metric.label && append(m->out, &metric);
}

/* All keys of one column, and what their differences tell. */
static bool add_column(struct metrics *m, const struct value *value)
{
    const size_t before = m->out->n;
    bool done = true;
    for (size_t first = 0, end; done && first < m->n; first = end) {
        for (end = first + 1;
             end < m->n && strcmp(m->entries[end].keys, m->entries[first].keys) == 0;)
            end++;
        done = add_metric(m, first, end, value);
    }
    double largest = 0;
    for (size_t i = before; i < m->out->n; i++)
        largest = fmax(largest, m->out->at[i].high);
    for (size_t i = before; i < m->out->n; i++) {
        struct metric *metric = &m->out->at[i];
        const double whole = m->source->parts ? largest : metric->high;
        if (metric->low >= 0 && whole > 0)
            metric->score = metric->weight * (metric->high - metric->low) / whole;
    }
    return done;
}

static bool add_table(struct metrics *m)
{
    m->entries = calloc(m->table->n_rows + 1, sizeof *m->entries);
    m->values = calloc(m->table->n_rows + 1, sizeof *m->values);
    bool done = m->entries && m->values && find_entries(m);
    for (size_t v = 0; done && v < VALUES_MOST && m->source->values[v].column; v++)
        if (ta_table_column(m->table, m->source->values[v].column) != SIZE_MAX)
            done = add_column(m, &m->source->values[v]);
    free(m->entries);
    free(m->values);
    return done && !m->arena->failed;
}

/* ---- rows of the result -------------------------------------------------------------------- */

static int by_score(const void *left, const void *right)
{
    const struct metric *a = left, *b = right;
    return a->score != b->score ? (a->score < b->score) - (a->score > b->score)
                                : strcmp(a->name, b->name);
}

static void add_rows(struct ta_table_builder *table, const struct list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct metric *m = &list->at[i];
        TA_ROW(table, ta_text(ta_slice_of(m->name)), ta_text(ta_slice_of(m->label)),
               ta_text(ta_slice_of(m->unit)), ta_int((int64_t)m->ranks), ta_num(m->low),
               ta_int(m->low_rank), ta_num(m->high), ta_int(m->high_rank), ta_num(m->mean),
               ta_num(m->median),
               m->low >= 0 && m->high > 0 ? ta_num(1 - m->low / m->high) : ta_null());
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)merged;
    struct list list = {0};
    struct ta_arena arena = {0};
    bool done = true;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && done; i++) {
        struct metrics metrics = {.source = &sources[i],
                                  .table = ta_report_table(prior, sources[i].table),
                                  .out = &list,
                                  .arena = &arena};
        done = !metrics.table || add_table(&metrics);
    }
    if (done) {
        if (list.n)
            qsort(list.at, list.n, sizeof *list.at, by_score);
        add_rows(ta_add_table(out, "ranks.metrics", "Ranks compared", columns,
                              sizeof columns / sizeof *columns),
                 &list);
    }
    free(list.at);
    ta_arena_free(&arena);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the ranks");
}

static const char *const after[] = {
    "gpu_time",    "gpu_idle",  "launch_queue",    "launches",   "sync_points",
    "collectives", "roofline",  "wave_efficiency", "compiled",   "copies",
    "stages",      "diffusion", "throughput",      "iterations", "section_tokens",
    "models",      "memory",    "telemetry",       "caches",     "streaming",
    NULL};

static const struct ta_analysis_ops ops = {.after = after, .section = "ranks", .finish = finish};

TA_PLUGIN(analysis, ranks, &ops, .title = "Ranks",
          .summary = "Every figure by rank, compared over all ranks: ranks.metrics",
          .version = "1");
