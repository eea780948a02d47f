/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks, "outer;…;inner VALUE": µs of self time as torch's export_stacks() writes them. */
#include "parse/text/lines.h"
#include "torch_tables.h"

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
int tt_sniff_stacks(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head, stack, value;
    bool folded = false;
    while (head.len) {
        const struct ta_slice line = ta_text_line(&head);
        const bool cut = !probe->whole && head.len == 0;
        if (cut || ta_text_trim(line).len == 0)
            continue;
        if (!split(line, &stack, &value))
            return 0;
        folded |= memchr(stack.ptr, ';', stack.len) != NULL;
    }
    return folded ? 45 : 0;
}

void tt_read_stacks(struct text_reading *r)
{
    struct ta_slice stack, value;
    while (tt_next(r)) {
        if (ta_text_trim(r->lines->line).len == 0)
            continue;
        struct ta_stack_weight row = {.rank = TA_MISSING, .weight_ns = TA_MISSING};
        if (split(r->lines->line, &stack, &value))
            row.weight_ns = ta_text_decimal(value, 3);
        if (row.weight_ns == TA_MISSING) {
            tt_drop(r, "No folded stack");
            continue;
        }
        row.stack = ta_builder_string(r->builder, stack);
        r->kept++;
        r->status = ta_builder_add_stack(r->ctx, r->builder, &row);
    }
}
