/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of other profilers in a summary: they wait there as they do in a run (ADR 9). */
#ifndef TA_SUMMARY_RECORDS_H
#define TA_SUMMARY_RECORDS_H

#include "model/trace.h"
#include "analyze/summary/table.h"

/* A field of a row of a dump table. */
enum ta_record_type {
    TA_RECORD_INTEGER,
    TA_RECORD_REAL,
    TA_RECORD_TEXT,
    TA_RECORD_BOOL,
    TA_RECORD_WORD /* an enumerator below `below` */
};

struct ta_record_field {
    const char *name; /* NULL: no more */
    enum ta_record_type type;
    size_t offset;
    int below;
};

struct ta_record_table {
    const char *name;
    size_t size; /* of a row */
    const struct ta_record_field *fields;
};

/* By enum ta_dump_table. */
extern const struct ta_record_table ta_record_tables[TA_DUMP_COUNT];

/* The records of a file that waits as an object. */
void ta_summary_put_records(struct ta_summary_out *out, struct ta_text *text,
                            const struct ta_trace *trace);

/* The trace of such an object; with `check_only` it is read and nothing is kept.  NULL then, and
 * when something is wrong, which `pull` says. */
struct ta_trace *ta_summary_take_records(struct ta_summary_in *in, bool check_only);

#endif
