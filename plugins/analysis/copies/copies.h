/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory copies of the devices: what moved, how fast beside what the link can do, and where a host
 * thread had to wait for it. */
#ifndef COPIES_COPIES_H
#define COPIES_COPIES_H

#include <traceanalyze/analysis.h>

/* The partials of the analysis, in order, and their fields. */
enum {
    COPIES_DIRECTIONS,
    COPIES_MEMORIES,
    COPIES_RATES,
    COPIES_LINKS,
    COPIES_WAITS,
};
enum { SUM_RANK, SUM_WHAT, SUM_COUNT, SUM_BYTES, SUM_TOTAL, SUM_SIZED_NS, SUM_FIELDS };
enum {
    RATE_RANK,
    RATE_DIRECTION,
    RATE_MEMORY,
    RATE_SIZE, /* number of a size class */
    RATE_COUNT,
    RATE_BYTES,
    RATE_TOTAL,
    RATE_EXPOSED,
    RATE_LINK, /* what the maker of the device states for the link, bytes/s */
    RATE_FIELDS
};
enum { LINK_DIRECTION, LINK_RATE, LINK_FIELDS };
enum {
    WAIT_RANK,
    WAIT_DIRECTION,
    WAIT_MEMORY,
    WAIT_CALL,
    WAIT_COUNT,
    WAIT_BYTES,
    WAIT_COPY,
    WAIT_HOST,
    WAIT_EXPOSED,
    WAIT_IDLE,
    WAIT_FIELDS
};

/* ---- names ---------------------------------------------------------------------------------- */

/* "HtoD", "DtoH", "DtoD", "PtoP", "HtoH" or "other". */
struct ta_slice copies_direction(struct ta_slice name);
/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)"; the whole name without brackets. */
struct ta_slice copies_memory(struct ta_slice name);
/* The kind of the host's side: "pageable", "pinned", "managed" or "unknown"; "device" where the
 * host has no part in it. */
struct ta_slice copies_host_memory(struct ta_slice name);

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Classes of sizes: decades of KiB, MiB and GiB.  Copies below a MiB are bound by latency. */
enum { COPIES_SIZES = 10 };
int copies_size_class(int64_t bytes);
/* Least size of a class, and its name: "1 to 10 MiB". */
int64_t copies_size_from(int size_class);
const char *copies_size_name(int size_class);
#define COPIES_LARGE_FROM (INT64_C(1) << 20)

/* Takes the copies of a trace: sums, rates, links and waits. */
enum ta_status copies_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out);

/* The tables of rates and links, and of waits. */
extern const struct ta_table_def copies_bandwidth, copies_blocking;
void copies_add_rates(const struct ta_partial *rates, const struct ta_partial *links,
                      struct ta_section_builder *out);
void copies_add_waits(const struct ta_partial *waits, struct ta_section_builder *out);

#endif
