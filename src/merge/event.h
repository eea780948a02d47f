/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of one event, with the values that mean something else in a merged file written anew. */
#ifndef TA_MERGE_EVENT_H
#define TA_MERGE_EVENT_H

#include "merge/ids.h"
#include "merge/merge.h"
#include "merge/processes.h"
#include "parse/json/clean.h"

/* Fields of an event that merging looks at. */
enum {
    MERGE_PH,
    MERGE_NAME,
    MERGE_CAT,
    MERGE_TS,
    MERGE_DUR,
    MERGE_PID,
    MERGE_TID,
    MERGE_ID,
    MERGE_BIND_ID,
    MERGE_ID2,
    MERGE_ARGS
};

extern const struct ta_record_schema merge_schema;

/* Values that had a number (ta_token.known) when they were first seen. */
enum { MERGE_KNOWN = UINT8_MAX + 1 };

struct merge_writer {
    struct ta_json *json;
    struct ta_clean clean;
    const struct ta_clock_shift *clock;
    bool moves;                        /* times change */
    struct merge_ids *ids;             /* NULL: they stay */
    struct merge_processes *processes; /* NULL: they stay */
    int64_t known_pid[MERGE_KNOWN];    /* number of the process, -1: none yet */
    uint64_t places;                   /* events with names and places of processes, kept back */
    struct ta_file *out;
    const char *separator; /* what comes before the next event */
};

void merge_writer_start(struct merge_writer *writer, struct ta_json *json);

/* Writes the record that ta_json_next() gave, whose time is `ts_ns`, TA_MISSING when it has none.
 * Names and places of processes are kept for merge_processes_end() instead.  False without
 * memory. */
bool merge_writer_put(struct merge_writer *writer, int64_t ts_ns) TA_MUST_CHECK;

/* The one letter of a phase, or 0. */
char merge_phase(struct ta_json *json);

#endif
