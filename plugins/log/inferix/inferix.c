/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Inferix prints, saved by a shell: live readings, sessions, the analysis at the end of a run,
 * the times of the pipeline and of the event timer, the summary of the aggregation.
 *
 * Threads write at once, so a line may hold several of these, and they are looked for anywhere in
 * it.  Launchers mark the lines of each rank, and lines of several ranks stand between each other.
 * Signs in front of headings may have gone through a wrong code page and are not looked at.
 * All of it is rounded: where a file of the session says the same, that one counts. */
#include "base/vec.h"
#include "console.h"

#include <traceanalyze/log.h>

#include <stdlib.h>

/* ---- headings -------------------------------------------------------------------------------- */

static void take_heading(struct console *c)
{
    static const struct {
        const char *heading;
        enum part part;
    } headings[] = {
        {DIFFUSION, OF_DIFFUSION},     {BLOCKS, OF_BLOCKS},   {STREAMING, OF_STREAMING},
        {PIPELINE, OF_PIPELINE},       {EXTRACT, OF_EXTRACT}, {METRICS, NOTHING},
        {AGGREGATION, OF_AGGREGATION},
    };
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (inferix_holds(c->line, headings[i].heading)) {
            console_stream(c)->part = headings[i].part;
            console_stream(c)->used = c->line_number;
            c->is_ours = true;
        }
}

/* ---- the ranks ------------------------------------------------------------------------------- */

/* A number that ends in the text; TA_MISSING without one. */
static int64_t rank_before(struct ta_slice *text, const char *end)
{
    struct ta_slice number;
    if (text->len && *text->ptr == ' ') {
        text->ptr++;
        text->len--;
    }
    if (!console_before(text, end, &number) || number.len == 0 || number.len > 6)
        return TA_MISSING;
    for (size_t i = 0; i < number.len; i++)
        if (number.ptr[i] < '0' || number.ptr[i] > '9')
            return TA_MISSING;
    return ta_text_integer(number);
}

/* The rank that a launcher wrote in front of the line, which is cut off, where it is none that
 * every log has: torchrun's of old, Open MPI's, MPICH's. */
static int64_t take_rank(struct ta_slice *line)
{
    static const struct {
        const char *start, *end;
    } marks[] = {
        {"[default", "]:"},
        {"[1,", "]<stdout>:"},
        {"[1,", "]<stderr>:"},
        {"[", "] "},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i].start);
        struct ta_slice rest = *line;
        if (rest.len <= n || !ta_slice_starts(rest, marks[i].start))
            continue;
        rest = ta_slice_from(rest, n);
        const int64_t rank = rank_before(&rest, marks[i].end);
        if (rank == TA_MISSING)
            continue;
        *line = rest;
        return rank;
    }
    return TA_MISSING;
}

/* Turns to the stream of the line; false without memory. */
static bool find_stream(struct console *c, int64_t rank)
{
    if (rank == TA_MISSING)
        rank = take_rank(&c->line);
    c->in.rank = rank;
    for (c->stream = 0; c->stream < c->n_streams; c->stream++)
        if (console_stream(c)->rank == rank)
            return true;
    if (!ta_vec_grow((void **)&c->streams, &c->max_streams, c->n_streams, sizeof *c->streams)) {
        c->in.status = ta_fail(c->in.ctx, TA_ERR_NOMEM, "Cannot hold the ranks of a console");
        return false;
    }
    c->streams[c->n_streams++] = (struct stream){.rank = rank};
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A part has ended when it had nothing of so many lines: another program may print what looks like
 * its labels. */
enum { PART_LINES = 400 };

static void take_part(struct console *c)
{
    struct stream *stream = console_stream(c);
    const uint64_t before = c->in.kept;
    if (c->line_number - stream->used > PART_LINES)
        return;
    if (stream->part == OF_PIPELINE)
        console_take_pipeline(c);
    else if (stream->part != NOTHING)
        console_take_figure(c);
    if (stream->part == OF_AGGREGATION)
        console_take_aggregate(c);
    if (c->in.kept > before)
        console_stream(c)->used = c->line_number;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct console *c = state;
    c->in = (struct inferix){.ctx = log->ctx,
                             .builder = log->builder,
                             .quality = log->quality,
                             .status = log->status,
                             .rank = TA_MISSING};
    c->line = line->text;
    c->line_number = line->number;
    c->offset = line->offset;
    c->is_ours = false;
    if (find_stream(c, line->rank)) {
        take_heading(c);
        console_take_session(c);
        console_take_readings(c);
        console_take_elapsed(c);
        take_part(c);
    }
    log->kept += c->in.kept;
    log->dropped += c->in.dropped;
    log->status = c->in.status;
    if (c->in.kept && c->first_len == 0) {
        c->first_len = c->line.len < sizeof c->first ? c->line.len : sizeof c->first;
        memcpy(c->first, c->line.ptr, c->first_len);
    }
    if (!c->is_ours && !c->in.kept && !c->in.dropped)
        return TA_LOG_NOT_MINE;
    /* A bar of progress, which another stream draws, may be in front of it. */
    return inferix_holds(c->line, "%|") ? TA_LOG_SHARED : TA_LOG_TAKEN;
}

/* Consoles that name no session are copies when they begin with the same figures. */
static struct ta_slice set_of(const struct console *c)
{
    for (size_t i = c->n_runs; i-- > 0;)
        if (c->runs[i].id)
            return ta_slice_of(c->runs[c->session].id);
    const enum part part = c->n_streams ? console_stream(c)->part : NOTHING;
    if (part == OF_AGGREGATION)
        return TA_LIT("aggregate");
    if (part == OF_EXTRACT)
        return TA_LIT("extract");
    return (struct ta_slice){c->first, c->first_len};
}

static void end(struct ta_log_reading *log, void *state)
{
    struct console *c = state;
    c->in = (struct inferix){
        .ctx = log->ctx, .builder = log->builder, .quality = log->quality, .status = log->status};
    const uint32_t tables = TA_DUMP_BIT(stage) | TA_DUMP_BIT(diffusion_block) |
                            TA_DUMP_BIT(session) | TA_DUMP_BIT(figure) | TA_DUMP_BIT(sample);
    console_add_sessions(c);
    log->kept += c->in.kept;
    log->status = c->in.status;
    if (c->n_runs || c->first_len)
        ta_log_set_copy(log, tables, set_of(c), TA_EXACT_CONSOLE);
    for (size_t i = 0; i < c->n_runs; i++)
        free(c->runs[i].id);
    free(c->runs);
    free(c->streams);
}

static const char *const marks[] = {METRICS,     SESSION,     PIPELINE,     ELAPSED,
                                    AGGREGATION, DIFFUSION,   BLOCKS,       STREAMING,
                                    EXTRACT,     "%), Util ", "%, Memory ", NULL};

/* Each label of a figure holds one of them. */
static const char *const parts[] = {" time: ",
                                    "Total ",
                                    "FPS",
                                    "BPS",
                                    "Average ",
                                    "emory",
                                    "Dropped Frames",
                                    "Drop Rate",
                                    "Blocks Per",
                                    "Block Computat",
                                    "Generation",
                                    "Ranks",
                                    "CPU Usage",
                                    "VRAM",
                                    "GPU Utilization -",
                                    "GPU Memory -",
                                    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .parts = parts, .state_size = sizeof(struct console), .take = take, .end = end};

TA_PLUGIN(log, inferix, &ops, .title = "Inferix",
          .summary = "What Inferix prints while it runs and at the end: readings, sessions, times, "
                     "figures",
          .version = "1");
