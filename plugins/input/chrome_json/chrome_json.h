/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the reader of Chrome traces share. */
#ifndef TA_INPUT_CHROME_JSON_H
#define TA_INPUT_CHROME_JSON_H

#include <traceanalyze/document.h>
#include <traceanalyze/input.h>

enum { PH, NAME, CAT, TS, DUR, PID, TID, ID, ARGS };

enum memory_key { ALLOCATED, RESERVED, DEVICE_TYPE, DEVICE, MEMORY_KEYS };

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_json *json;
    struct ta_quality *quality;
    struct ta_event event;
    struct ta_event_arg args[TA_RECORD_ARGS];
    size_t n_keys; /* of arguments that analyses ask for */
    size_t memory_at[MEMORY_KEYS];
    size_t correlation_at;   /* the place of "correlation" among the keys; others that mean it */
    uint64_t is_correlation; /* have a bit here */
    int64_t memory_device;   /* that came last, and its counters */
    ta_str memory_name, memory_series[DEVICE_TYPE];
    uint64_t kept, repaired, dropped, metadata;
    bool is_like_trace;          /* a member or an event says what traces alone say */
    ta_str empty, memory;        /* texts that events are compared with */
    ta_str known[UINT8_MAX + 1]; /* what texts with a number were interned as (ta_token.known) */
    enum ta_status status;       /* of callbacks */
};

/* ---- memory.c -------------------------------------------------------------------------------- */

/* The keys of arguments: first the keys that analyses ask for, then the keys about memory that are
 * not among them; room for TA_RECORD_ARGS.  Returns how many. */
size_t chrome_list_keys(struct reading *r, const struct ta_slice *asked, struct ta_slice *keys);

/* The present event, an instant named [memory], is a sample of two counters of a device. */
void chrome_take_memory(struct reading *r);

/* ---- members.c ------------------------------------------------------------------------------- */

/* What the file says about itself, member by member. */
void chrome_take_member(struct reading *r);

/* One such member. */
void chrome_take_fact(struct reading *r, struct ta_slice key, const struct ta_token *value);

/* ---- merged.c -------------------------------------------------------------------------------- */

/* The members that `merge` writes: which traces it put together, and what that at some place of
 * them said of itself. */
void chrome_take_merge(struct reading *r, const struct ta_token *value);
void chrome_take_merged(struct reading *r, struct ta_slice place, const struct ta_token *value);

#endif
