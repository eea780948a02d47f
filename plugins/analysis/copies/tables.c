/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.bandwidth and copies.blocking: how fast copies were beside their link, and which of them
 * the host waited for. */
#include "copies.h"

#include <math.h>
#include <stdio.h>

static const char direction_doc[] = "HtoD, DtoH, DtoD, PtoP, HtoH or other";
static const char memory_doc[] = "Memory on the side of the host: pageable, pinned, managed, or "
                                 "unknown where the trace does not "
                                 "say; device for copies without the host";

enum {
    BANDWIDTH_RANK,
    BANDWIDTH_PATH,
    BANDWIDTH_DIRECTION,
    BANDWIDTH_MEMORY,
    BANDWIDTH_SIZE,
    BANDWIDTH_FROM,
    BANDWIDTH_COUNT,
    BANDWIDTH_BYTES,
    BANDWIDTH_MEAN,
    BANDWIDTH_TOTAL,
    BANDWIDTH_EXPOSED,
    BANDWIDTH_RATE,
    BANDWIDTH_LINK,
    BANDWIDTH_LINK_SHARE,
    BANDWIDTH_LINK_NAME
};
static const struct ta_column copies_bandwidth_columns[] = {
    [BANDWIDTH_RANK] = TA_RANK_COLUMN,
    [BANDWIDTH_PATH] = {"path", "Copies", TA_TEXT,
                        .doc = "Direction, and the kind of memory of the host"},
    [BANDWIDTH_DIRECTION] = {"direction", "Direction", TA_ID, .doc = direction_doc},
    [BANDWIDTH_MEMORY] = {"memory", "Memory", TA_ID, .doc = memory_doc},
    [BANDWIDTH_SIZE] = {"size", "Size", TA_TEXT, .doc = "Class of size of the copies"},
    [BANDWIDTH_FROM] = {"from_bytes", "From", TA_BYTES, .doc = "Least size of the class"},
    [BANDWIDTH_COUNT] = {"count", "Count", TA_COUNT, .better = TA_LOWER,
                         .doc = "Number of copies that say their bytes and take time"},
    [BANDWIDTH_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .doc = "Bytes of them"},
    [BANDWIDTH_MEAN] = {"mean_bytes", "Mean size", TA_BYTES_MEAN, .doc = "Bytes over count"},
    [BANDWIDTH_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                         .doc = "Sum of durations: work, not wall time"},
    [BANDWIDTH_EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                           .doc = "Part of it in which no kernel of the device runs; of copies at "
                                  "the same time each counts"},
    [BANDWIDTH_RATE] = {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                        .better = TA_HIGHER, .doc = "Bytes over total time"},
    [BANDWIDTH_LINK] =
        {"link", "Link", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
         .doc = "What the link can do in this direction: as the maker of the device states; where "
                "that is not known, or copies are faster, the 99th percentile of the bandwidth of "
                "all copies from 1 MiB on, all ranks. None for smaller copies, which are bound by "
                "latency, and for copies within a device"},
    [BANDWIDTH_LINK_SHARE] = {"link_share", "Of the link", TA_RATIO, .better = TA_HIGHER,
                              .doc = "Bandwidth over that"},
    [BANDWIDTH_LINK_NAME] = {"link_name", "Link by", TA_TEXT,
                             .doc = "Where the rate of the link is from"},
};

static const struct ta_chart_def rate_chart = {
    .id = "copy-rates",
    .title = "Copy bandwidth by size",
    .caption = "Bytes over time of the copies of each rank, direction and kind of host memory, by "
               "decades of size, at their mean size; the area of a dot is their total time. Below "
               "1 MiB copies are bound by latency. Lines: what the link can do.",
    .kind = TA_CHART_SCATTER,
    .label = {&copies_bandwidth_columns[BANDWIDTH_PATH], &copies_bandwidth_columns[BANDWIDTH_RANK]},
    .x = &copies_bandwidth_columns[BANDWIDTH_MEAN],
    .y = {{&copies_bandwidth_columns[BANDWIDTH_RATE], "Bandwidth", TA_INK_MEMCPY}},
    .group = &copies_bandwidth_columns[BANDWIDTH_PATH],
    .size = &copies_bandwidth_columns[BANDWIDTH_TOTAL],
    .roof = {.level = &copies_bandwidth_columns[BANDWIDTH_LINK],
             .name = &copies_bandwidth_columns[BANDWIDTH_LINK_NAME]},
};

const struct ta_table_def copies_bandwidth = {
    "copies.bandwidth",
    "Copy bandwidth by size",
    TA_COLUMNS(copies_bandwidth_columns),
    .doc = "One row per rank, direction, kind of host memory and class of size: decades of KiB, "
           "MiB and GiB. Copies below 1 MiB are bound by latency and have no link beside them. "
           "Chart `copy-rates`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&rate_chart},
    .not_of_ranks = true};

enum {
    BLOCKING_RANK,
    BLOCKING_PATH,
    BLOCKING_DIRECTION,
    BLOCKING_MEMORY,
    BLOCKING_CALL,
    BLOCKING_COUNT,
    BLOCKING_BYTES,
    BLOCKING_COPY,
    BLOCKING_HOST,
    BLOCKING_EXPOSED,
    BLOCKING_IDLE
};
static const struct ta_column copies_blocking_columns[] = {
    [BLOCKING_RANK] = TA_RANK_COLUMN,
    [BLOCKING_PATH] = {"path", "Copies", TA_TEXT, .role = TA_NOTE,
                       .doc = "Direction, and the kind of memory of the host"},
    [BLOCKING_DIRECTION] = {"direction", "Direction", TA_ID, .doc = direction_doc},
    [BLOCKING_MEMORY] = {"memory", "Memory", TA_ID, .doc = memory_doc},
    [BLOCKING_CALL] = {"call", "Call", TA_TEXT,
                       .doc = "Call that made them: it waits by itself, or because the driver has "
                              "to stage pageable memory"},
    [BLOCKING_COUNT] =
        {"count", "Count", TA_COUNT, .better = TA_LOWER,
         .doc = "Number of copies; reads of single values, below 1 KiB, count as waits instead"},
    [BLOCKING_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER,
                        .doc = "Bytes of those that say so"},
    [BLOCKING_COPY] = {"copy_ns", "On the device", TA_NS, .better = TA_LOWER,
                       .doc = "Sum of durations of the copies"},
    [BLOCKING_HOST] = {"host_ns", "Host blocked", TA_NS, .better = TA_LOWER,
                       .doc = "Time that host threads spent in the calls"},
    [BLOCKING_EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                          .doc = "Part of the copies in which no kernel of the device runs"},
    [BLOCKING_IDLE] = {"idle_ns", "Idle during", TA_NS, .better = TA_LOWER,
                       .doc = "Part of the calls in which no device of the rank works, within the "
                              "first and last activity"},
};

const struct ta_table_def copies_blocking = {
    "copies.blocking",
    "Copies that the host waits for",
    TA_COLUMNS(copies_blocking_columns),
    .doc = "One row per rank, direction, kind of host memory and call: copies of 1 KiB and more "
           "that a host thread waits for within the call, because the call returns when they "
           "are done (`cudaMemcpy`, `hipMemcpyWithStream`), or because the driver stages "
           "pageable memory. "
           "Reads of single values, below 1 KiB, are waits: `sync.by_site`.",
    .tier = TA_TIER_DETAIL,
    .order = {&copies_blocking_columns[BLOCKING_HOST], TA_DESCENDING}};

/* "HtoD pinned"; the direction alone without the host, or where its memory is not known. */
static struct ta_slice path_of(struct ta_slice direction, struct ta_slice memory, char text[64])
{
    const bool hosts =
        !ta_slice_equal(memory, TA_LIT("device")) && !ta_slice_equal(memory, TA_LIT("unknown"));
    const int n = snprintf(text, 64, hosts ? "%.*s %.*s" : "%.*s", (int)direction.len,
                           direction.ptr, (int)memory.len, memory.ptr);
    return (struct ta_slice){text, (size_t)n};
}

/* The 99th percentile of the rates of a direction, NAN without enough copies. */
static double observed_link(const struct ta_partial *links, struct ta_slice direction)
{
    enum { LEAST_COPIES = 5 };
    for (size_t i = 0; i < ta_partial_rows(links); i++) {
        const int64_t *row = ta_partial_at(links, i);
        const struct ta_dist *rates = ta_partial_dist_at(links, row, LINK_RATE);
        if (rates && ta_slice_equal(ta_partial_text(links, row, LINK_DIRECTION), direction))
            return ta_dist_count(rates) >= LEAST_COPIES ? ta_dist_quantile(rates, 99) : NAN;
    }
    return NAN;
}

struct link {
    double rate; /* NAN: not known */
    const char *by;
};

/* What the link of some copies can do.  What is stated counts unless copies are faster, which tells
 * that the device is attached in another way. */
static struct link link_of(const struct ta_partial *links, const int64_t *row,
                           struct ta_slice direction)
{
    const double observed = observed_link(links, direction);
    const double stated = row[RATE_LINK] == TA_MISSING ? NAN : (double)row[RATE_LINK];
    if (copies_size_from((int)row[RATE_SIZE]) < COPIES_LARGE_FROM ||
        ta_slice_equal(direction, TA_LIT("DtoD")))
        return (struct link){NAN, ""};
    if (isnan(stated) || observed > stated)
        return (struct link){observed, "p99 observed"};
    return (struct link){stated, "stated by the maker"};
}

void copies_add_rates(const struct ta_partial *rates, const struct ta_partial *links,
                      struct ta_section_builder *out)
{
    for (size_t i = 0; i < ta_partial_rows(rates); i++) {
        const int64_t *row = ta_partial_at(rates, i);
        const struct ta_slice direction = ta_partial_text(rates, row, RATE_DIRECTION);
        const struct ta_slice memory = ta_partial_text(rates, row, RATE_MEMORY);
        const int size = (int)row[RATE_SIZE];
        const double bandwidth = (double)row[RATE_BYTES] * 1e9 / (double)row[RATE_TOTAL];
        const struct link link = link_of(links, row, direction);
        char path[64], name[64];
        snprintf(name, sizeof name, "%.*s: %s", (int)direction.len, direction.ptr, link.by);
        TA_ROW(out, copies_bandwidth, [BANDWIDTH_RANK] = ta_int(row[RATE_RANK]),
               [BANDWIDTH_PATH] = ta_text(path_of(direction, memory, path)),
               [BANDWIDTH_DIRECTION] = ta_text(direction), [BANDWIDTH_MEMORY] = ta_text(memory),
               [BANDWIDTH_SIZE] = ta_text(ta_slice_of(copies_size_name(size))),
               [BANDWIDTH_FROM] = ta_int(copies_size_from(size)),
               [BANDWIDTH_COUNT] = ta_int(row[RATE_COUNT]),
               [BANDWIDTH_BYTES] = ta_int(row[RATE_BYTES]),
               [BANDWIDTH_MEAN] = ta_num((double)row[RATE_BYTES] / (double)row[RATE_COUNT]),
               [BANDWIDTH_TOTAL] = ta_int(row[RATE_TOTAL]),
               [BANDWIDTH_EXPOSED] = ta_int(row[RATE_EXPOSED]),
               [BANDWIDTH_RATE] = ta_num(bandwidth), [BANDWIDTH_LINK] = ta_num(link.rate),
               [BANDWIDTH_LINK_SHARE] = ta_num(bandwidth / link.rate),
               [BANDWIDTH_LINK_NAME] = isnan(link.rate) ? ta_null() : ta_text(ta_slice_of(name)));
    }
}

void copies_add_waits(const struct ta_partial *waits, struct ta_section_builder *out)
{
    for (size_t i = 0; i < ta_partial_rows(waits); i++) {
        const int64_t *row = ta_partial_at(waits, i);
        const struct ta_slice direction = ta_partial_text(waits, row, WAIT_DIRECTION);
        const struct ta_slice memory = ta_partial_text(waits, row, WAIT_MEMORY);
        char path[64];
        TA_ROW(
            out, copies_blocking, [BLOCKING_RANK] = ta_int(row[WAIT_RANK]),
            [BLOCKING_PATH] = ta_text(path_of(direction, memory, path)),
            [BLOCKING_DIRECTION] = ta_text(direction), [BLOCKING_MEMORY] = ta_text(memory),
            [BLOCKING_CALL] = ta_text(ta_partial_text(waits, row, WAIT_CALL)),
            [BLOCKING_COUNT] = ta_int(row[WAIT_COUNT]), [BLOCKING_BYTES] = ta_int(row[WAIT_BYTES]),
            [BLOCKING_COPY] = ta_int(row[WAIT_COPY]), [BLOCKING_HOST] = ta_int(row[WAIT_HOST]),
            [BLOCKING_EXPOSED] = ta_int(row[WAIT_EXPOSED]),
            [BLOCKING_IDLE] = ta_int(row[WAIT_IDLE]));
    }
}
