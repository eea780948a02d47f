/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of console logs: what a log plugin is.
 *
 * A log holds the lines of many writers: bars of progress, errors, tables, and what the program
 * prints itself.  Its reader takes colors and prefixes (time, level, logger, rank) off and shows
 * each line to the plugins of this kind whose marks it has.  Each of them knows the lines of one
 * writer and makes records of dump.h of them.  Nothing is known of the lines that nobody takes.
 *
 * A plugin that has begun something, such as a table, is shown the lines that follow before all
 * others.  Writers print at the same time, so lines of others may lie between its own. */
#ifndef TRACEANALYZE_LOG_H
#define TRACEANALYZE_LOG_H

#include "dump.h"
#include "plugin.h"

TA_BEGIN_DECLS

/* A line, or of a line that a carriage return overwrites one of its states. */
struct ta_log_line {
    struct ta_slice text;  /* without prefix and blanks at its ends; until the next line */
    struct ta_slice whole; /* as in the file, without colors */
    int64_t rank;          /* as the prefix says, or TA_MISSING */
    int64_t time_ns;       /* since 1970 by a clock without a zone, likewise */
    uint64_t number;       /* from 1 */
    uint64_t offset;       /* of its first byte in the file */
    bool is_cut;           /* the file ends in it, perhaps in the middle of a word */
};

enum ta_log_taken {
    TA_LOG_NOT_MINE, /* and what the plugin had begun has ended */
    TA_LOG_TAKEN,    /* likewise */
    TA_LOG_MORE,     /* and the next line is shown to the plugin before all others, with marks or
                      * not */
    TA_LOG_SHARED,   /* the line may hold something of others as well; nothing begins or ends */
    TA_LOG_BAD       /* nothing usable where the writer writes: if nobody else takes the line, it is
                      * dropped and accounted for; nothing begins or ends */
};

/* Where a plugin puts what it has found.  The first failure is kept, and nothing is added after
 * it. */
struct ta_log_reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    enum ta_status status;
    uint64_t kept, dropped; /* records */
    bool is_known;          /* some writer was seen, whose tables may be empty */
    bool is_copy;           /* see ta_log_set_copy() */

    /* What lines since the last one with a clock say that something took: bars, stages.  Plugins
     * add to it; the rest of the time between lines with a clock is a pause. */
    int64_t timed_ns;

    /* The model whose weights were loaded last, as far as some writer says: a loop that begins now
     * runs it.  `load` is its place among the model_load of the file, from 1; 0: none. */
    int64_t load, loads;
    ta_str model;

    /* The same of the loops that began since a writer last set it to 0; -1: they ran several. */
    int64_t ran_load;
    ta_str ran_model;

    int64_t frames; /* of the video that is generated, where a writer says it; else 0 */

    int64_t bars; /* that began: the number of the next ta_bar_state.bar */
};

struct ta_log_ops {
    const char *const *marks; /* NULL after the last.  A line has one of them, or is not shown. */
    const char *const *parts; /* likewise, of lines that say something only after a line with a mark
                               * was taken; or NULL */
    size_t state_size;        /* bytes, 0 before the first line; the reader frees them */

    /* Plugins are asked in the order of their ids; the first that takes a line has it, unless it
     * shares the line. */
    enum ta_log_taken (*take)(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line);

    /* After the last line: adds what is not yet added and frees what the state holds; or NULL. */
    void (*end)(struct ta_log_reading *log, void *state);
};

/* The id of a text, which lives as long as the trace. */
static inline ta_str ta_log_string(struct ta_log_reading *log, struct ta_slice text)
{
    return ta_builder_string(log->builder, text);
}

/* Adds a row of a table of dump.h; ta_log_add_stage(log, &row). */
static inline void ta_log_add(struct ta_log_reading *log, enum ta_dump_table table, const void *row)
{
    if (log->status != TA_OK)
        return;
    log->status = ta_builder_add_row(log->ctx, log->builder, table, row);
    log->kept++;
}

/* Of which set these tables of the file are a copy, ta_builder_set_copy_of().  A file is a copy of
 * one set, so the first plugin that says so counts. */
static inline void ta_log_set_copy(struct ta_log_reading *log, uint32_t tables, struct ta_slice set,
                                   enum ta_exactness exactness)
{
    if (!log->is_copy)
        ta_builder_set_copy_of(log->builder, tables, set, exactness);
    log->is_copy = true;
}

#define TA_LOG_ADD(kind, type)                                                                     \
    static inline void ta_log_add_##kind(struct ta_log_reading *log, const type *row)              \
    {                                                                                              \
        ta_log_add(log, TA_DUMP_##kind, row);                                                      \
    }
TA_DUMP_TABLES(TA_LOG_ADD)
TA_LOG_ADD(sample, struct ta_sample)
#undef TA_LOG_ADD

TA_END_DECLS

#endif
