/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trace on its way from its file into the merged one. */
#ifndef TA_MERGE_TRACE_H
#define TA_MERGE_TRACE_H

#include "merge/event.h"
#include "model/rank_rows.h"

/* Members of documents besides their events: each key with the first value that was seen. */
struct merge_members {
    struct merge_member {
        char *key, *value; /* as JSON, the key with its quotes */
    } * at;
    size_t n, max, bytes;
};

void merge_members_free(struct merge_members *members);
/* Writes `"key": value`, each after a comma and a newline. */
void merge_members_put(const struct merge_members *members, struct ta_file *out);

/* Writes the events that are wanted of one trace, by `writer`, and gathers the members of its
 * documents: with `own`, which else is NULL, those there that other traces do not share. */
enum ta_status merge_trace(struct ta_ctx *ctx, const struct ta_merge *merge,
                           struct ta_merge_trace *trace, struct merge_writer *writer,
                           struct merge_members *members, struct merge_members *own) TA_MUST_CHECK;

/* A trace and its members as they are told in a product: {"rank":0,"file":"a.json",…}. */
void merge_trace_describe(const struct ta_merge_trace *trace, struct ta_file *out);

#endif
