/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the differences between ranks tell, by table and column.  Figures that are not listed
 * here are compared all the same, and tell little. */
#include "sources.h"

#include <stdlib.h>

static const struct source sources[] = {
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
    {"trace.by_rank", {NULL}, {{"window_ns", 0.5}, {"spans", 0.4}}, NULL, "Traces", false},
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
    {"steps.by_rank",
     {NULL},
     {{"p50_ns", 0.9},
      {"mean_ns", 0.8},
      {"total_ns", 0.7},
      {"gpu_mean_ns", 0.6},
      {"gpu_busy_mean_ns", 0.5},
      {"p95_ns", 0.4},
      {"max_ns", 0.3},
      {"steps", 0.3}},
     NULL,
     "Steps",
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
    {"requests.by_rank",
     {NULL},
     {{"requests", 0.5},
      {"tokens", 0.5},
      {"ttft_mean_ns", 0.6},
      {"tpot_mean_ns", 0.8},
      {"tpf", 0.6},
      {"decode_tokens_per_s", 0.8}},
     NULL,
     "Requests",
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

/* Tables with a rank of which no rank has rows to compare: what happened when, where, or why. */
static const char *const passed_over[] = {
    "collectives.clocks", "copies.bandwidth", "gpu_time.by_rank_name",
    "groups.by_rank",     "memory.sites",     "ranks.clusters",
    "ranks.late",         "run.tags",         "stacks.folded",
    "stragglers.blame",
};

/* Columns that say which of a series a row is: such tables are over time. */
static const char *const of_series[] = {"bin",   "entry",    "index", "part",
                                        "point", "start_ns", "step"};

/* Numbers that name something, and those that other columns are made of. */
static const char *const no_figures[] = {"order", "axis",    "device",   "file",
                                         "rank",  "session", "since_ns", "since_step",
                                         "z",     "p_value", "share_of", "warmup"};

/* Texts of a row that are about its figures and not whose they are. */
static const char *const no_keys[] = {"file",  "format", "hardware",    "inside",     "name",
                                      "note",  "path",   "peak_source", "phase_text", "share_of",
                                      "since", "source", "unit"};

static bool is_listed(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0)
            return true;
    return false;
}

#define IS_LISTED(list, word) is_listed((list), sizeof(list) / sizeof *(list), (word))

static bool is_series(const struct ta_table *table)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (IS_LISTED(of_series, table->columns[i].key))
            return true;
    return false;
}

static bool is_text(enum ta_type type)
{
    return type == TA_TYPE_STRING || type == TA_TYPE_WORD || type == TA_TYPE_ID;
}

/* A table that is not listed: its texts say whose the figures of a row are. */
static bool guess(const struct ta_table *table, struct source *source)
{
    size_t n = 0;
    *source = (struct source){.table = table->id, .before = table->title};
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        const bool is_key = strcmp(column->key, "device") == 0 ||
                            (is_text(column->type) && !IS_LISTED(no_keys, column->key));
        if (is_key && n == SOURCE_KEYS)
            return false;
        if (is_key)
            source->keys[n++] = column->key;
        if (strcmp(column->key, "unit") == 0)
            source->unit = "unit";
    }
    return true;
}

bool source_of(const struct ta_table *table, struct source *source)
{
    if (ta_table_column(table, "rank") == SIZE_MAX)
        return false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].table, table->id) == 0) {
            *source = sources[i];
            return true;
        }
    return !IS_LISTED(passed_over, table->id) && !is_series(table) && guess(table, source);
}

bool source_has_figure(const struct source *source, const struct ta_column *column, double *weight)
{
    enum { LITTLE_PERCENT = 2 };
    *weight = LITTLE_PERCENT / 100.0;
    for (size_t i = 0; i < SOURCE_VALUES && source->values[i].column; i++)
        if (strcmp(source->values[i].column, column->key) == 0) {
            *weight = source->values[i].weight;
            return true;
        }
    for (size_t i = 0; i < SOURCE_KEYS && source->keys[i]; i++)
        if (strcmp(source->keys[i], column->key) == 0)
            return false;
    return (column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER) &&
           !IS_LISTED(no_figures, column->key);
}

double source_weight_of_keys(const struct source *source, const char *keys)
{
    double factor = 1;
    for (size_t i = 0; i < sizeof lighter / sizeof *lighter; i++)
        if (!source->parts && strstr(keys, lighter[i].part))
            factor *= lighter[i].factor;
    return factor;
}
