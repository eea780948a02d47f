/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks, "outer;…;inner VALUE" in each line.  torch's export_stacks() writes µs of self
 * time; py-spy, perf and other samplers write how many samples they took, whose rate the file does
 * not say, so these are no times.
 *
 * An input of its own and no log plugin: a line has no mark, and is a stack only where all lines of
 * the file are. */
#include "parse/text/lines.h"

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>

/* Splits the value off; false when the line is no stack. */
static bool split(struct ta_slice line, struct ta_slice *stack, struct ta_slice *value)
{
    line = ta_text_trim(line);
    const char *blank = memrchr(line.ptr, ' ', line.len);
    if (!blank || blank == line.ptr)
        return false;
    const size_t n = (size_t)(blank - line.ptr);
    *stack = ta_text_trim((struct ta_slice){line.ptr, n});
    *value = (struct ta_slice){blank + 1, line.len - n - 1};
    for (size_t i = 0; i < value->len; i++)
        if (value->ptr[i] < '0' || value->ptr[i] > '9')
            return false;
    return value->len > 0;
}

/* Every line is a stack, and one has at least two frames. */
static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head, stack, value;
    bool folded = false;
    const struct ta_slice first = ta_text_trim(head);
    if (first.len == 0 || first.ptr[0] == '{' || first.ptr[0] == '[')
        return 0;
    while (head.len) {
        const struct ta_slice line = ta_text_line(&head);
        const bool cut = !probe->whole && head.len == 0;
        if (cut || ta_text_trim(line).len == 0)
            continue;
        if (!split(line, &stack, &value))
            return 0;
        folded |= memchr(stack.ptr, ';', stack.len) != NULL;
    }
    return folded ? 50 : 0;
}

/* Whether torch wrote the text: it puts a line for each blank of a frame, "model.py(12):_forward",
 * and has operators. */
static bool is_of_torch(struct ta_slice text)
{
    return text.len &&
           (memmem(text.ptr, text.len, "):_", 3) || memmem(text.ptr, text.len, "aten::", 6));
}

static enum ta_status read_stacks(struct ta_ctx *ctx, struct ta_reader *reader,
                                  struct ta_builder *builder)
{
    struct ta_quality *quality = ta_reader_quality(reader);
    const bool is_timed = is_of_torch(ta_reader_probe(reader).head);
    struct ta_lines *lines = ta_lines_new(ctx, reader);
    enum ta_status status = lines ? TA_OK : ta_ctx_status(ctx);
    uint64_t kept = 0, dropped = 0, number = 0;
    while (lines && status == TA_OK && ta_lines_next(lines)) {
        struct ta_slice stack, value;
        number++;
        if (ta_ctx_canceled(ctx))
            status = ta_fail(ctx, TA_ERR_CANCELED, "Interrupted");
        if (status != TA_OK || ta_text_trim(lines->line).len == 0)
            continue;
        struct ta_stack_weight row = {
            .rank = TA_MISSING, .weight_ns = TA_MISSING, .samples = TA_MISSING};
        const bool is_stack = split(lines->line, &stack, &value);
        if (is_stack && is_timed)
            row.weight_ns = ta_text_decimal(value, 3);
        else if (is_stack)
            row.samples = ta_text_integer(value);
        if (row.weight_ns == TA_MISSING && row.samples == TA_MISSING) {
            dropped++;
            ta_quality_add(quality, TA_Q_BAD_RECORD, lines->offset,
                           "Not a folded stack: line %" PRIu64 ", at byte offset %" PRIu64, number,
                           lines->offset);
            continue;
        }
        row.stack = ta_builder_string(builder, stack);
        kept++;
        status = ta_builder_add_stack(ctx, builder, &row);
    }
    ta_lines_free(lines);
    ta_builder_count(builder, kept, 0, dropped);
    if (lines && status == TA_OK && kept == 0)
        return ta_fail(ctx, TA_ERR_INPUT,
                       "No line is a folded stack: lines=%" PRIu64 ", dropped=%" PRIu64, number,
                       dropped);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_stacks};

TA_PLUGIN(input, folded_stacks, &ops, .title = "Folded stacks",
          .summary = "Call stacks with their time, as torch's export_stacks() writes them, or "
                     "their samples, as py-spy and perf do",
          .version = "1");
