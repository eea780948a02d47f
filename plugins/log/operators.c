/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that torch prints of its operators, key_averages().table(): on devices of any kind, in
 * comments, as Markdown or with bars, of one rank or of several whose lines lie between each other.
 *
 * Lines are read as they are: a table that a logger wrote has its prefix in each of them, and a
 * name may begin as a prefix does. */
#include "parse/text/operator_table.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <stdlib.h>

/* The tables of a rank. */
struct stream {
    int64_t rank;
    struct ta_operator_tables *tables;
};

struct state {
    struct stream *streams;
    size_t n, max, last; /* last: of the table that began last */
};

static struct stream *find_stream(struct state *st, int64_t rank)
{
    for (size_t i = 0; i < st->n; i++)
        if (st->streams[i].rank == rank)
            return &st->streams[i];
    return NULL;
}

static struct stream *add_stream(struct ta_log_reading *log, struct state *st, int64_t rank)
{
    if (st->n == st->max) {
        const size_t max = st->max ? 2 * st->max : 8;
        struct stream *grown = reallocarray(st->streams, max, sizeof *grown);
        if (!grown) {
            log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot hold the ranks of a log");
            return NULL;
        }
        st->streams = grown;
        st->max = max;
    }
    struct ta_operator_tables *tables = ta_operator_tables_new(log->ctx, log->builder, rank);
    if (!tables) {
        log->status = TA_ERR_NOMEM;
        return NULL;
    }
    st->streams[st->n] = (struct stream){rank, tables};
    return &st->streams[st->n++];
}

static bool any_open(const struct state *st)
{
    for (size_t i = 0; i < st->n; i++)
        if (ta_operator_tables_is_open(st->streams[i].tables))
            return true;
    return false;
}

/* The stream of the line's rank, unless only a table is open whose lines name no rank. */
static struct stream *stream_of(struct ta_log_reading *log, struct state *st,
                                const struct ta_log_line *line)
{
    struct stream *own = find_stream(st, line->rank);
    const bool is_open = own && ta_operator_tables_is_open(own->tables);
    if (!is_open && st->n && ta_operator_tables_is_open(st->streams[st->last].tables) &&
        (st->streams[st->last].rank == TA_MISSING || line->rank == TA_MISSING))
        return &st->streams[st->last];
    return own ? own : add_stream(log, st, line->rank);
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct stream *stream = stream_of(log, st, line);
    if (!stream)
        return TA_LOG_TAKEN;
    switch (ta_operator_tables_take(stream->tables, line->whole)) {
    case TA_OPERATOR_LINE_HEADS:
        st->last = (size_t)(stream - st->streams);
        return TA_LOG_MORE;
    case TA_OPERATOR_LINE_ROW:
        log->kept++;
        return TA_LOG_MORE;
    case TA_OPERATOR_LINE_PART:
        return TA_LOG_MORE;
    case TA_OPERATOR_LINE_TOTAL: /* FramePack's figures as well */
        return TA_LOG_SHARED;
    case TA_OPERATOR_LINE_BAD:
        return TA_LOG_BAD;
    case TA_OPERATOR_LINE_OTHER:
        break;
    }
    return any_open(st) ? TA_LOG_SHARED : TA_LOG_NOT_MINE;
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    for (size_t i = 0; i < st->n && log->status == TA_OK; i++) {
        log->status = ta_operator_tables_add(st->streams[i].tables);
        /* Diffulex saves the rows as JSON and CSV, too, next to the text. */
        const int64_t total_ns = ta_operator_tables_cpu_ns(st->streams[i].tables);
        char set[TA_OPERATOR_SET_SIZE];
        if (total_ns != TA_MISSING)
            ta_log_set_copy(log, TA_DUMP_BIT(operator_sum), ta_operator_set(set, total_ns),
                            TA_EXACT_TEXT);
    }
    for (size_t i = 0; i < st->n; i++)
        ta_operator_tables_free(st->streams[i].tables);
    free(st->streams);
}

/* Of its headings, which are "# of Calls" and, before torch 1.7, "Number of Calls". */
static const char *const marks[] = {"of Calls", NULL};
static const char *const parts[] = {" time total:", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .parts = parts, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, operators, &ops, .title = "torch's profiler",
          .summary = "The table of operators, kernels and annotations that key_averages() prints",
          .version = "1");
