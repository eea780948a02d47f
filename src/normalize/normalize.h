/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From rows in file order to a frozen trace: begins get their ends, spans are ordered and nested,
 * device activities find the call and the operator that launched them. */
#ifndef TA_NORMALIZE_H
#define TA_NORMALIZE_H

#include "model/builder.h"
#include "model/capture.h"

/* Freezes the trace of a builder: `*trace` is handed over, the builder keeps the accounts. */
enum ta_status ta_normalize(struct ta_ctx *ctx, struct ta_builder *builder,
                            struct ta_trace **trace) TA_MUST_CHECK;

/* ---- the steps; false without memory ------------------------------------------------------- */

/* Fills the durations of begins from their ends, per thread, last in first out; rows of begins
 * without an end keep a negative duration. */
bool ta_pair_spans(struct ta_builder *builder);
/* The same for asynchronous spans, by category, id and name. */
bool ta_pair_asyncs(struct ta_builder *builder);

/* Drops events that were written without a time, and counts them; spans have their durations, and
 * rows are still in file order. */
bool ta_drop_untimed(struct ta_builder *builder);

/* Gives a class to spans without a category whose process is a device by its name. */
bool ta_classify_device_tracks(struct ta_builder *builder);

/* Makes the table of device activities with their launching calls.  Rows are still in file
 * order, on which "the earliest of several calls" rests. */
bool ta_link_launches(struct ta_builder *builder);

/* Links what has no common number along the arrows of the file, where processes are devices by
 * their names; the operator is set, too, where an arrow comes from it. */
bool ta_follow_arrows(struct ta_builder *builder);

/* Links launches and, at the same time, orders spans by (track, start, longer first, place in the
 * file); then drops unfinished rows, and moves everything that points to rows.  Arguments that were
 * only kept for linking are gone. */
bool ta_link_and_sort(struct ta_ctx *ctx, struct ta_builder *builder);

/* Gives spans and all that points to them their new rows: row i becomes what was row rows[i], of
 * `n` rows.  Drops what is not among them.  Makes the columns of self time, parent and depth, which
 * have no values yet. */
bool ta_move_spans(struct ta_ctx *ctx, struct ta_trace *trace, const ta_row *rows, size_t n);

/* Orders counter samples by (track, name, series, time, place in the file). */
bool ta_sort_counters(struct ta_trace *trace);

/* Fills depth, parent and self time; spans that are not of the host have none.  Sets the
 * number of spans that cross the end of an earlier one by more than a microsecond, but for ranges
 * that cross the Python functions that open and close them. */
bool ta_nest_spans(struct ta_trace *trace, uint64_t *crossing);

/* The one rank that processes of the trace are named after, "rank 3"; TA_MISSING without one. */
int64_t ta_rank_of_processes(const struct ta_trace *trace);

/* Ends device activities that run on over others of their stream where the next one starts, and
 * counts those that are out of order. */
bool ta_clip_overlong(struct ta_builder *builder);

/* The launching operator of every linked activity. */
bool ta_link_operators(struct ta_trace *trace);

/* What each host span does. */
bool ta_classify_hosts(struct ta_trace *trace);

/* Gives the kernels of replayed graphs the operators that were open when the graph was captured, in
 * the trace itself or in the other files that the builder names. */
bool ta_map_replays(const struct ta_builder *builder, const struct ta_captures *own) TA_MUST_CHECK;

/* Lists the distinct kernels of the activities, with what their names tell. */
bool ta_list_kernels(struct ta_trace *trace);

#endif
