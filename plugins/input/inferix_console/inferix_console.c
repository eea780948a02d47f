/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Inferix prints, saved by a shell: live readings, sessions, the analysis at the end of a run,
 * the times of the pipeline and of the event timer, the summary of the aggregation.
 *
 * Threads write at once, so a line may hold several of these, and they are looked for anywhere in
 * it.  Signs in front of headings may have gone through a wrong code page and are not looked at.
 * All of it is rounded: where a file of the session says the same, that one counts. */
#include "console.h"

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

/* ---- the file -------------------------------------------------------------------------------- */

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
            c->part = headings[i].part;
}

static void take_line(struct console *c)
{
    const uint64_t before_line = c->in.kept;
    take_heading(c);
    console_take_session(c);
    console_take_readings(c);
    console_take_elapsed(c);
    if (c->part == OF_PIPELINE)
        console_take_pipeline(c);
    else if (c->part != NOTHING)
        console_take_figure(c);
    if (c->part == OF_AGGREGATION)
        console_take_aggregate(c);
    if (c->in.kept > before_line && c->first_len == 0) {
        c->first_len = c->line.len < sizeof c->first ? c->line.len : sizeof c->first;
        memcpy(c->first, c->line.ptr, c->first_len);
    }
}

/* Consoles that name no session are copies when they begin with the same figures. */
static struct ta_slice set_of(const struct console *c)
{
    if (c->session)
        return (struct ta_slice){c->session, c->session_len};
    if (c->part == OF_AGGREGATION)
        return TA_LIT("aggregate");
    if (c->part == OF_EXTRACT)
        return TA_LIT("extract");
    return (struct ta_slice){c->first, c->first_len};
}

static enum ta_status read_console(struct ta_ctx *ctx, struct ta_reader *reader,
                                   struct ta_builder *builder)
{
    struct console c = {.in = inferix_begin(ctx, reader, builder)};
    struct ta_lines *lines = ta_lines_new(ctx, reader);
    if (!lines)
        return ta_ctx_status(ctx);
    while (c.in.status == TA_OK && ta_lines_next(lines)) {
        c.line = lines->line;
        take_line(&c);
    }
    ta_lines_free(lines);
    console_close_session(&c);
    ta_builder_set_copy(builder, set_of(&c), TA_EXACT_CONSOLE);
    free(c.session);
    return inferix_end(&c.in, "session, reading, figure or time");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_console};

TA_PLUGIN(input, inferix_console, &ops, .title = "Inferix console",
          .summary = "Texts that Inferix prints while it runs and at the end", .version = "1");
