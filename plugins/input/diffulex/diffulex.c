/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Diffulex writes: section metrics (JSON, CSV, text), stage timing, operator rows, merged
 * tables, benchmark statistics and decode trajectories.  The content decides which of them a file
 * is: one revision writes its text into a file named .json. */
#include "diffulex.h"

#include <traceanalyze/plugin.h>

/* Blanks in front left out. */
struct ta_slice dx_skip_blanks(struct ta_slice text)
{
    while (text.len && strchr(" \t\r\n", text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    return text;
}

bool dx_holds(struct ta_slice text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

static const struct kind {
    int (*sniff)(struct ta_slice head);
    enum ta_status (*read)(struct reading *r);
} kinds[] = {
    {dx_sniff_document, dx_read_document},
    {dx_sniff_tables, dx_read_tables},
    {dx_sniff_summary, dx_read_summary},
    {dx_sniff_markdown, dx_read_markdown},
};

static const struct kind *recognize(const struct ta_probe *probe, int *surest)
{
    const struct kind *best = &kinds[0];
    *surest = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int score = kinds[i].sniff(dx_skip_blanks(probe->head));
        if (score > *surest) {
            *surest = score;
            best = &kinds[i];
        }
    }
    return best;
}

static int sniff(const struct ta_probe *probe)
{
    int score;
    recognize(probe, &score);
    return score;
}

static enum ta_status read_dump(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct reading r = {
        .ctx = ctx,
        .reader = reader,
        .builder = builder,
        .quality = ta_reader_quality(reader),
    };
    const struct ta_probe probe = ta_reader_probe(reader);
    int score;
    return recognize(&probe, &score)->read(&r);
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_dump};

TA_PLUGIN(input, diffulex, &ops, .title = "Diffulex profile",
          .summary = "Section metrics as JSON, CSV or text, stage timing, operator rows, benchmark "
                     "statistics and decode trajectories",
          .version = "1");
