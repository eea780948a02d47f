/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.by_direction and its company: what moved between host and devices, how fast, and what it
 * held up. */
#include "copies.h"

/* Both tables of sums have the same values; `what` is the direction or the kinds of memory. */
static const struct ta_field fields[SUM_FIELDS] = {
    [SUM_RANK] = {"rank", TA_FIELD_RANK},
    [SUM_WHAT] = {"what", TA_FIELD_TEXT},
    [SUM_COUNT] = {"count", TA_FIELD_SUM},
    [SUM_BYTES] = {"bytes", TA_FIELD_SUM},
    [SUM_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [SUM_SIZED_NS] = {"sized_ns", TA_FIELD_SUM}, /* time of the copies that say their bytes */
};

static const struct ta_field rate_fields[RATE_FIELDS] = {
    [RATE_RANK] = {"rank", TA_FIELD_RANK},     [RATE_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [RATE_MEMORY] = {"memory", TA_FIELD_TEXT}, [RATE_SIZE] = {"size", TA_FIELD_INT},
    [RATE_COUNT] = {"count", TA_FIELD_SUM},    [RATE_BYTES] = {"bytes", TA_FIELD_SUM},
    [RATE_TOTAL] = {"total_ns", TA_FIELD_SUM}, [RATE_EXPOSED] = {"exposed_ns", TA_FIELD_SUM},
    [RATE_LINK] = {"link", TA_FIELD_MAX},
};

static const struct ta_field link_fields[LINK_FIELDS] = {
    [LINK_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [LINK_RATE] = {"rate", TA_FIELD_DIST}, /* bytes per second of copies from 1 MiB on */
};

static const struct ta_field wait_fields[WAIT_FIELDS] = {
    [WAIT_RANK] = {"rank", TA_FIELD_RANK},         [WAIT_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [WAIT_MEMORY] = {"memory", TA_FIELD_TEXT},     [WAIT_CALL] = {"call", TA_FIELD_TEXT},
    [WAIT_COUNT] = {"count", TA_FIELD_SUM},        [WAIT_BYTES] = {"bytes", TA_FIELD_SUM},
    [WAIT_COPY] = {"copy_ns", TA_FIELD_SUM},       [WAIT_HOST] = {"host_ns", TA_FIELD_SUM},
    [WAIT_EXPOSED] = {"exposed_ns", TA_FIELD_SUM}, [WAIT_IDLE] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [COPIES_DIRECTIONS] = {"directions", fields, SUM_FIELDS},
    [COPIES_MEMORIES] = {"memories", fields, SUM_FIELDS},
    [COPIES_RATES] = {"rates", rate_fields, RATE_FIELDS},
    [COPIES_LINKS] = {"links", link_fields, LINK_FIELDS},
    [COPIES_WAITS] = {"waits", wait_fields, WAIT_FIELDS},
    {0},
};

/* The columns of both tables of sums are the fields of their partials, but for the last. */
enum { SUM_BANDWIDTH = SUM_TOTAL + 1, SUM_COLUMN_COUNT };

/* clang-format off */
/* With the weights of three of them between ranks. */
#define SUM_COLUMNS(key, title, what, bytes_weight, total_weight, bandwidth_weight) \
    [SUM_RANK] = TA_RANK_COLUMN, \
    [SUM_WHAT] = {key, title, TA_TEXT, .doc = what}, \
    [SUM_COUNT] = {"count", "Copies", TA_COUNT, .better = TA_LOWER, .doc = "Number of copies"}, \
    [SUM_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .weight = (bytes_weight), \
                   .doc = "Bytes of the copies that say so"}, \
    [SUM_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = (total_weight), \
                   .doc = "Sum of durations: work, not wall time"}, \
    [SUM_BANDWIDTH] = {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, \
                       .better = TA_HIGHER, .weight = (bandwidth_weight), \
                       .doc = "Bytes over the time of the copies that say so"}
/* clang-format on */

static const struct ta_column by_direction_columns[] = {
    SUM_COLUMNS("direction", "Direction",
                "HtoD host to device, DtoH back, DtoD within or between devices, PtoP peer to peer",
                0.4, 0.3, 0.2)};

static const struct ta_chart_def chart = {
    .id = "copy-bandwidth",
    .title = "Copy bandwidth",
    .caption = "Bytes over copy time by rank and direction; small copies are bound by latency.",
    .kind = TA_CHART_BARS,
    .label = {&by_direction_columns[SUM_RANK], &by_direction_columns[SUM_WHAT]},
    .y = {{&by_direction_columns[SUM_BANDWIDTH], "Bandwidth", TA_INK_MEMCPY}},
    .group = &by_direction_columns[SUM_WHAT],
};

static const struct ta_table_def by_direction = {
    "copies.by_direction",
    "Copies by direction",
    TA_COLUMNS(by_direction_columns),
    .doc = "One row per rank and direction: `HtoD`, `DtoH`, `DtoD`, `PtoP`, `HtoH` or `other`, "
           "by the name of the copy. Chart `copy-bandwidth`.",
    .chart = {&chart},
    .rank_words = "Copies",
    .brief = &(const struct ta_brief){
        .place = 270, .rows = 8, .largest = &by_direction_columns[SUM_TOTAL]}};

static const struct ta_column by_memory_columns[] = {SUM_COLUMNS(
    "memory", "Memory", "Kinds of memory at both ends, as the profiler names them", 0, 0, 0)};

static const struct ta_table_def by_memory = {
    "copies.by_memory", "Copies by kind of memory", TA_COLUMNS(by_memory_columns),
    .doc = "One row per rank and kinds of memory, such as `Pageable -> Device`: what stands in "
           "parentheses in the name of the copy, or the whole name.",
    .tier = TA_TIER_DETAIL};

static void add_rows(struct ta_section_builder *out, const struct ta_table_def *def,
                     const struct ta_partial *copies)
{
    for (size_t i = 0; i < ta_partial_rows(copies); i++) {
        const int64_t *row = ta_partial_at(copies, i);
        const bool sized = row[SUM_BYTES] != TA_MISSING && row[SUM_SIZED_NS] > 0;
        ta_add_row(ta_rows(out, def),
                   (const struct ta_cell[SUM_COLUMN_COUNT]){
                       [SUM_RANK] = ta_int(row[SUM_RANK]),
                       [SUM_WHAT] = ta_text(ta_partial_text(copies, row, SUM_WHAT)),
                       [SUM_COUNT] = ta_int(row[SUM_COUNT]),
                       [SUM_BYTES] = ta_int(row[SUM_BYTES]),
                       [SUM_TOTAL] = ta_int(row[SUM_TOTAL]),
                       [SUM_BANDWIDTH] =
                           sized ? ta_num((double)row[SUM_BYTES] * 1e9 / (double)row[SUM_SIZED_NS])
                                 : ta_null()});
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    add_rows(out, &by_direction, merged[COPIES_DIRECTIONS]);
    add_rows(out, &by_memory, merged[COPIES_MEMORIES]);
    copies_add_rates(merged[COPIES_RATES], merged[COPIES_LINKS], out);
    copies_add_waits(merged[COPIES_WAITS], out);
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{COPIES_RATES, RATE_SIZE, COPIES_SIZES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_direction, &by_memory, &copies_bandwidth,
                                                    &copies_blocking, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "copies",
                                           .partials = partials,
                                           .map = copies_map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, copies, &ops, .title = "Copies",
          .summary = "Memory copies, how fast they are, and which the host waits for: "
                     "copies.by_direction, copies.bandwidth, copies.blocking",
          .version = "1");
