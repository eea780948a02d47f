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

#include <stdlib.h>

/* ---- recognizing ----------------------------------------------------------------------------- */

static int sniff(const struct ta_probe *probe)
{
    static const char *const sure[] = {METRICS, AGGREGATION, STREAMING, EXTRACT};
    static const char *const pairs[][2] = {
        {SESSION, "' started"}, {SESSION, "' ended (duration: "}, {PIPELINE, "time: "},
        {ELAPSED, "] From ["},  {DIFFUSION, "Total Steps:"},      {BLOCKS, "Total Blocks:"},
    };
    const struct ta_slice head = probe->head;
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (inferix_holds(head, sure[i]))
            return 85;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (inferix_holds(head, pairs[i][0]) && inferix_holds(head, pairs[i][1]))
            return 85;
    return 0;
}

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
        if (inferix_holds(c->line, headings[i].heading))
            console_stream(c)->part = headings[i].part;
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

/* The rank that a launcher wrote in front of the line, which is cut off: torchrun, Open
 * MPI, MPICH and srun. */
static int64_t take_rank(struct ta_slice *line)
{
    static const struct {
        const char *start, *end;
    } marks[] = {
        {"[rank", "]:"},       {"[Rank", "]"}, {"[default", "]:"}, {"[1,", "]<stdout>:"},
        {"[1,", "]<stderr>:"}, {"[", "] "},    {"", ": "},
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
static bool find_stream(struct console *c)
{
    const int64_t rank = take_rank(&c->line);
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

/* ---- the file -------------------------------------------------------------------------------- */

/* Consoles that name no session are copies when they begin with the same figures. */
static struct ta_slice set_of(const struct console *c)
{
    if (c->session != SIZE_MAX)
        return ta_slice_of(c->runs[c->session].id);
    const enum part part = c->n_streams ? console_stream(c)->part : NOTHING;
    if (part == OF_AGGREGATION)
        return TA_LIT("aggregate");
    if (part == OF_EXTRACT)
        return TA_LIT("extract");
    return (struct ta_slice){c->first, c->first_len};
}

static enum ta_status read_console(struct ta_ctx *ctx, struct ta_reader *reader,
                                   struct ta_builder *builder)
{
    struct console c = {.in = inferix_begin(ctx, reader, builder), .session = SIZE_MAX};
    struct ta_lines *lines = ta_lines_new(ctx, reader);
    if (!lines)
        return ta_ctx_status(ctx);
    for (; c.in.status == TA_OK && ta_lines_next(lines); c.line_number++) {
        c.line = lines->line;
        const uint64_t before_line = c.in.kept;
        if (!find_stream(&c))
            continue;
        take_heading(&c);
        console_take_session(&c);
        console_take_readings(&c);
        console_take_elapsed(&c);
        const enum part part = console_stream(&c)->part;
        if (part == OF_PIPELINE)
            console_take_pipeline(&c);
        else if (part != NOTHING)
            console_take_figure(&c);
        if (part == OF_AGGREGATION)
            console_take_aggregate(&c);
        if (c.in.kept > before_line && c.first_len == 0) {
            c.first_len = c.line.len < sizeof c.first ? c.line.len : sizeof c.first;
            memcpy(c.first, c.line.ptr, c.first_len);
        }
    }
    ta_lines_free(lines);
    console_add_sessions(&c);
    ta_builder_set_copy(builder, set_of(&c), TA_EXACT_CONSOLE);
    for (size_t i = 0; i < c.n_runs; i++)
        free(c.runs[i].id);
    free(c.runs);
    free(c.streams);
    return inferix_end(&c.in, "session, reading, figure or time");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_console};

TA_PLUGIN(input, inferix_console, &ops, .title = "Inferix console",
          .summary = "Texts that Inferix prints while it runs and at the end", .version = "1");
