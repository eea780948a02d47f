/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory for the records of profilers other than traces. */
#ifndef TA_MODEL_DUMP_H
#define TA_MODEL_DUMP_H

#include "base/store.h"
#include "base/vec.h"
#include "model/allocator.h"
#include "traceanalyze/base.h"
#include "traceanalyze/dump.h"

struct ta_dump {
    TA_VEC(char)
    rows[TA_DUMP_COUNT]; /* n and max count rows of the table's size; of the samples
                          * max counts bytes */
    size_t sample_bytes; /* in use */
    struct ta_sample last_sample;
    int64_t sample_origin_ns; /* as in struct ta_sample */
    struct ta_allocator *allocator;
    bool held_allocator;  /* it went into partials before a summary was written … */
    bool allocator_dated; /* … and its history had times */
    const char *set;      /* of which this file is a copy; NULL: of none */
    uint32_t copied;      /* tables of that set, a bit each; others are a set of their own */
    enum ta_exactness exactness;
    bool is_growing; /* a later export of the run begins with the stages of this one */
};

/* `store` is the trace's, where the rows are. */
void ta_dump_free(struct ta_dump *dump, struct ta_store *store);

/* Whether a table is a copy, and one of a console. */
static inline bool ta_dump_is_copy(const struct ta_dump *dump, enum ta_dump_table table)
{
    return dump->set && dump->copied >> table & 1;
}

static inline bool ta_dump_is_console(const struct ta_dump *dump, enum ta_dump_table table)
{
    return ta_dump_is_copy(dump, table) && dump->exactness == TA_EXACT_CONSOLE;
}

/* Whether the file holds an allocator, here or before it was summed up. */
bool ta_dump_has_allocator(const struct ta_dump *dump);

/* Whether its history has times. */
bool ta_dump_allocator_is_dated(const struct ta_dump *dump);

/* Whether there is any row or an allocator. */
bool ta_dump_holds_any(const struct ta_dump *dump);

/* Whether there is any but tags, which traces have too: settings of their profiler. */
bool ta_dump_holds_more_than_tags(const struct ta_dump *dump);

/* Row i of a table but the samples; every row begins with its rank. */
const void *ta_dump_row(const struct ta_dump *dump, enum ta_dump_table table, size_t i);
int64_t ta_dump_rank(const void *row);

/* The rows of any table, one after the other. */
struct ta_dump_cursor {
    const struct ta_dump *dump;
    enum ta_dump_table table;
    size_t i;
    struct ta_samples samples;
};

struct ta_samples ta_dump_samples(const struct ta_dump *dump);
struct ta_dump_cursor ta_dump_first(const struct ta_dump *dump, enum ta_dump_table table);
/* NULL at the end; a row lives until the next one. */
const void *ta_dump_next(struct ta_dump_cursor *cursor);

/* Keeps the rows of a table for which `keeps` says so; returns how many went. */
size_t ta_dump_filter(struct ta_dump *dump, enum ta_dump_table table,
                      bool (*keeps)(void *user, const void *row), void *user);

/* The distinct ranks that rows name, ascending, from the arena.  Sets *all when no row leaves its
 * rank to the file.  NULL without memory. */
const int64_t *ta_dump_ranks(const struct ta_dump *dump, struct ta_arena *arena, size_t *n,
                             bool *all);

/* Whether any record has a date, so that it can be put on one axis with the records of other files;
 * whether any is timed from a start that the file does not give. */
bool ta_dump_is_dated(const struct ta_dump *dump);
bool ta_dump_is_relative(const struct ta_dump *dump);

#endif
