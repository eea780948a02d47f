/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.bandwidth and copies.blocking: how fast copies were beside their link, and which of them
 * the host waited for. */
#include "copies.h"

#include <math.h>
#include <stdio.h>

#define ID_COLUMN(key, title, what)                                                                \
    {                                                                                              \
        key, title, TA_TYPE_ID, TA_UNIT_NONE, .doc = what                                          \
    }

static const char direction_doc[] = "HtoD, DtoH, DtoD, PtoP, HtoH or other";
static const char memory_doc[] = "Memory on the side of the host: pageable, pinned, managed, or "
                                 "unknown where the trace does not "
                                 "say; device for copies without the host";

static const struct ta_column rate_columns[] = {
    TA_RANK_COLUMN,
    {"path", "Copies", TA_TEXT, .doc = "Direction, and the kind of memory of the host"},
    ID_COLUMN("direction", "Direction", direction_doc),
    ID_COLUMN("memory", "Memory", memory_doc),
    {"size", "Size", TA_TEXT, .doc = "Class of size of the copies"},
    {"from_bytes", "From", TA_BYTES, .doc = "Least size of the class"},
    {"count", "Count", TA_COUNT, .better = TA_LOWER,
     .doc = "Number of copies that say their bytes and take time"},
    {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .doc = "Bytes of them"},
    {"mean_bytes", "Mean size", TA_BYTES_MEAN, .doc = "Bytes over count"},
    {"total_ns", "Total", TA_NS, .better = TA_LOWER,
     .doc = "Sum of durations: work, not wall time"},
    {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
     .doc = "Part of it in which no kernel of the device runs; of copies at the same time each "
            "counts"},
    {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
     .doc = "Bytes over total time"},
    {"link", "Link", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
     .doc =
         "What the link can do in this direction: as the maker of the device states; where that is "
         "not "
         "known, or copies are faster, the 99th percentile of the bandwidth of all copies from 1 "
         "MiB "
         "on, "
         "all ranks. None for smaller copies, which are bound by latency, and for copies within a "
         "device"},
    {"link_share", "Of the link", TA_RATIO, .better = TA_HIGHER, .doc = "Bandwidth over that"},
    {"link_name", "Link by", TA_TEXT, .doc = "Where the rate of the link is from"},
};

static const struct ta_chart rate_chart = {
    .id = "copy-rates",
    .title = "Copy bandwidth by size",
    .caption = "Bytes over time of the copies of each rank, direction and kind of host memory, by "
               "decades of size, at their mean size; the area of a dot is their total time. Below "
               "1 MiB copies are bound by latency. Lines: what the link can do.",
    .kind = TA_CHART_SCATTER,
    .label = {"path", "rank"},
    .x = "mean_bytes",
    .y = {{"bandwidth", "Bandwidth", TA_INK_MEMCPY}},
    .group = "path",
    .size = "total_ns",
    .roof = {.level = "link", .name = "link_name"},
};

static const struct ta_column wait_columns[] = {
    TA_RANK_COLUMN,
    {"path", "Copies", TA_TEXT, .doc = "Direction, and the kind of memory of the host"},
    ID_COLUMN("direction", "Direction", direction_doc),
    ID_COLUMN("memory", "Memory", memory_doc),
    {"call", "Call", TA_TEXT,
     .doc = "Call that made them: it waits by itself, or because the driver has to stage pageable "
            "memory"},
    {"count", "Count", TA_COUNT, .better = TA_LOWER,
     .doc = "Number of copies; reads of single values, below 1 KiB, count as waits instead"},
    {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .doc = "Bytes of those that say so"},
    {"copy_ns", "On the device", TA_NS, .better = TA_LOWER,
     .doc = "Sum of durations of the copies"},
    {"host_ns", "Host blocked", TA_NS, .better = TA_LOWER,
     .doc = "Time that host threads spent in the calls"},
    {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
     .doc = "Part of the copies in which no kernel of the device runs"},
    {"idle_ns", "Idle during", TA_NS, .better = TA_LOWER,
     .doc = "Part of the calls in which no device of the rank works, within the first and last "
            "activity"},
};

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
    struct ta_table_builder *table =
        ta_add_table(out, "copies.bandwidth", "Copy bandwidth by size", rate_columns,
                     sizeof rate_columns / sizeof *rate_columns);
    for (size_t i = 0; i < ta_partial_rows(rates); i++) {
        const int64_t *row = ta_partial_at(rates, i);
        const struct ta_slice direction = ta_partial_text(rates, row, RATE_DIRECTION);
        const struct ta_slice memory = ta_partial_text(rates, row, RATE_MEMORY);
        const int size = (int)row[RATE_SIZE];
        const double bandwidth = (double)row[RATE_BYTES] * 1e9 / (double)row[RATE_TOTAL];
        const struct link link = link_of(links, row, direction);
        char path[64], name[64];
        snprintf(name, sizeof name, "%.*s: %s", (int)direction.len, direction.ptr, link.by);
        TA_CELLS(table, ta_int(row[RATE_RANK]), ta_text(path_of(direction, memory, path)),
                 ta_text(direction), ta_text(memory), ta_text(ta_slice_of(copies_size_name(size))),
                 ta_int(copies_size_from(size)), ta_int(row[RATE_COUNT]), ta_int(row[RATE_BYTES]),
                 ta_num((double)row[RATE_BYTES] / (double)row[RATE_COUNT]), ta_int(row[RATE_TOTAL]),
                 ta_int(row[RATE_EXPOSED]), ta_num(bandwidth), ta_num(link.rate),
                 ta_num(bandwidth / link.rate),
                 isnan(link.rate) ? ta_null() : ta_text(ta_slice_of(name)));
    }
    ta_add_chart(table, &rate_chart);
}

void copies_add_waits(const struct ta_partial *waits, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "copies.blocking", "Copies that the host waits for", wait_columns,
                     sizeof wait_columns / sizeof *wait_columns);
    for (size_t i = 0; i < ta_partial_rows(waits); i++) {
        const int64_t *row = ta_partial_at(waits, i);
        const struct ta_slice direction = ta_partial_text(waits, row, WAIT_DIRECTION);
        const struct ta_slice memory = ta_partial_text(waits, row, WAIT_MEMORY);
        char path[64];
        TA_CELLS(table, ta_int(row[WAIT_RANK]), ta_text(path_of(direction, memory, path)),
                 ta_text(direction), ta_text(memory),
                 ta_text(ta_partial_text(waits, row, WAIT_CALL)), ta_int(row[WAIT_COUNT]),
                 ta_int(row[WAIT_BYTES]), ta_int(row[WAIT_COPY]), ta_int(row[WAIT_HOST]),
                 ta_int(row[WAIT_EXPOSED]), ta_int(row[WAIT_IDLE]));
    }
    ta_sort_rows(table, "host_ns", true);
}
