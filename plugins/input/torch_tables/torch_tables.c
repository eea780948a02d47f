/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts that torch prints for people: the table of operators of its profiler, folded stacks, and
 * the summary of the CUDA caching allocator. */
#include "torch_tables.h"

#include <traceanalyze/plugin.h>

#include <inttypes.h>
#include <math.h>

bool tt_holds(struct ta_slice text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

bool tt_next(struct text_reading *r)
{
    if (r->status != TA_OK || ta_ctx_canceled(r->ctx) || !ta_lines_next(r->lines))
        return false;
    r->line++;
    return true;
}

void tt_drop(struct text_reading *r, const char *why)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, r->lines->offset,
                   "%s: line %" PRIu64 ", at byte offset %" PRIu64, why, r->line, r->lines->offset);
}

/* ---- numbers with units --------------------------------------------------------------------- */

/* All units count in steps of 1024, whatever they are called. */
int64_t tt_bytes(struct ta_slice text)
{
    text = ta_text_trim(text);
    size_t n = 0;
    while (n < text.len && memchr("+-.0123456789", text.ptr[n], 13))
        n++;
    const struct ta_slice unit = ta_text_trim(ta_slice_from(text, n));
    static const char steps[] = "KMGTPE";
    double scale = 1;
    const char *step = unit.len ? memchr(steps, unit.ptr[0], sizeof steps - 1) : NULL;
    if (step)
        scale = ldexp(1, 10 * (int)(step - steps + 1));
    else if (unit.len != 1 || (unit.ptr[0] | 0x20) != 'b')
        return TA_MISSING;
    const double bytes = ta_text_double(ta_slice_part(text, 0, n)) * scale;
    return fabs(bytes) < 0x1p62 ? ta_whole(round(bytes)) : TA_MISSING; /* NAN is not smaller */
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef void read_kind(struct text_reading *r);

static int recognize(const struct ta_probe *probe, read_kind **kind)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    /* JSON, or a log: "[rank0]: …" */
    const bool bracket = head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[';
    *kind = tt_read_memory;
    int score = bracket ? 0 : tt_sniff_memory(head);
    if (score)
        return score;
    *kind = tt_read_operators;
    score = tt_sniff_operators(head);
    if (score)
        return score;
    *kind = tt_read_stacks;
    return bracket ? 0 : tt_sniff_stacks(probe);
}

static int sniff(const struct ta_probe *probe)
{
    read_kind *kind;
    return recognize(probe, &kind);
}

static enum ta_status read_text(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    const struct ta_probe probe = ta_reader_probe(reader);
    read_kind *kind = tt_read_operators;
    struct text_reading r = {
        .ctx = ctx,
        .builder = builder,
        .quality = ta_reader_quality(reader),
    };
    recognize(&probe, &kind);
    r.lines = ta_lines_new(ctx, reader);
    if (!r.lines)
        return ta_ctx_status(ctx);
    kind(&r);
    ta_lines_free(r.lines);
    ta_builder_count(builder, r.kept, 0, r.dropped);
    if (r.status == TA_OK && r.kept == 0)
        return ta_fail(ctx, TA_ERR_INPUT,
                       "No row of a table of torch can be used: lines=%" PRIu64
                       ", dropped=%" PRIu64,
                       r.line, r.dropped);
    return r.status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_text};

TA_PLUGIN(input, torch_tables, &ops, .title = "Texts of torch",
          .summary = "The printed table of operators of torch's profiler, folded stacks, the "
                     "summary of the CUDA caching allocator",
          .version = "1");
