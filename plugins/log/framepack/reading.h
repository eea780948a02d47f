/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log while it is read: text in cells, which table a line is in, and the rows that wait for the
 * end of it. */
#ifndef FRAMEPACK_READING_H
#define FRAMEPACK_READING_H

#include "base/vec.h"

#include <traceanalyze/base.h>
#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/log.h>

enum { CELLS = 32 };

/* Cells of a row, the last `n` of them: what is before belongs to the first. */
struct cells {
    size_t n;
    struct ta_slice at[CELLS];
};

/* Splits at two blanks or more, or with `least` 1 at any, from the right: at most `most` cells, of
 * which the first takes what is left. */
struct cells split_from_right(struct ta_slice line, unsigned least, size_t most);

bool contains(struct ta_slice text, const char *what);
/* At least `least` times the same character and nothing else but blanks. */
bool is_rule(struct ta_slice line, char character, size_t least);

/* "1.710s", "24.658ms", "267.833us"; TA_MISSING for all else. */
int64_t time_of(struct ta_slice cell);

enum part { NOTHING, TIMING, MEMORY, ITERATIONS, CACHE };

struct stages {
    struct ta_timed_stage *at;
    uint32_t *printed; /* in which of the tables */
    size_t n, max;
    struct ta_map of; /* name and rank to the last row */
    uint32_t tables;
};

struct marks {
    struct ta_memory_mark *at;
    size_t n, max;
    size_t before, first; /* where the table before and the present one begin */
};

/* A time that torch prints below its table of operators. */
struct footer {
    ta_str name;
    int64_t ns;
};

struct reading {
    struct ta_log_reading *log; /* of the line */
    int64_t rank;
    uint64_t offset;
    enum part part;
    bool is_prefixed; /* the lines of the present part have a prefix */
    bool saw_row;     /* of the present part */
    unsigned rules;   /* of dashes in the present part */
    bool console;     /* more than a cache timeline */
    bool known;       /* something of FramePack was seen */
    struct stages stages;
    struct marks marks;
    struct ta_iterations iterations;
    TA_VEC(struct footer) footers;
};

/* Each takes a line of its table; false when the line is none of its rows. */
bool take_timing(struct reading *r, struct ta_slice line);
bool take_memory(struct reading *r, struct ta_slice line);
bool take_iteration_line(struct reading *r, struct ta_slice line);
bool take_hit(struct reading *r, struct ta_slice line);
/* A figure of the profiler. */
void add_figure(struct reading *r, ta_str name, const char *group, double value, enum ta_unit unit);
/* At the end of a table of memory: one that begins with all rows of the one before is the same
 * list, printed again. */
void close_marks(struct marks *m);

#endif
