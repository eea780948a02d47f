/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch.cuda.memory_summary(): a table of 77 columns per device, whose numbers are cut to a unit
 * of their own each, so that one row may mix units. */
#include "torch_tables.h"

#include <inttypes.h>
#include <stdio.h>

enum { CUR = 1, PEAK, CELLS = 5 };

#define TITLE "memory summary, device ID"

int tt_sniff_memory(struct ta_slice head)
{
    return tt_holds(head, "PyTorch ") && tt_holds(head, TITLE) ? 91 : 0;
}

/* "| a | b |" into cells without blanks around them. */
static size_t split(struct ta_slice line, struct ta_slice cells[CELLS])
{
    size_t n = 0;
    line = ta_text_trim(line);
    if (line.len == 0 || line.ptr[0] != '|')
        return 0;
    for (size_t at = 1; at < line.len && n < CELLS;) {
        const char *bar = memchr(ta_slice_at(line, at), '|', line.len - at);
        if (!bar)
            break;
        const size_t end = (size_t)(bar - line.ptr);
        cells[n++] = ta_text_trim(ta_slice_part(line, at, end));
        at = end + 1;
    }
    return n;
}

/* The whole number after a label. */
static int64_t number_after(struct ta_slice text, const char *label)
{
    const char *at = memmem(text.ptr, text.len, label, strlen(label));
    if (!at)
        return TA_MISSING;
    const char *number = at + strlen(label);
    return ta_text_integer((struct ta_slice){number, (size_t)(ta_slice_end(text) - number)});
}

static void close_mark(struct text_reading *r, struct ta_memory_mark *mark, bool *open)
{
    if (!*open || r->status != TA_OK)
        return;
    *open = false;
    if (mark->allocated_bytes == TA_MISSING && mark->reserved_bytes == TA_MISSING) {
        tt_drop(r, "A memory summary without its rows ends");
        return;
    }
    r->kept++;
    r->status = ta_builder_add_memory_mark(r->ctx, r->builder, mark);
}

static void take_cells(struct ta_memory_mark *mark, const struct ta_slice *cells, size_t n)
{
    if (n == 2) {
        mark->ooms = number_after(cells[0], "OOMs:");
        mark->retries = number_after(cells[1], "retries:");
    } else if (n == CELLS && ta_slice_equal(cells[0], TA_LIT("Allocated memory"))) {
        mark->allocated_bytes = tt_bytes(cells[CUR]);
        mark->max_allocated_bytes = tt_bytes(cells[PEAK]);
    } else if (n == CELLS && ta_slice_equal(cells[0], TA_LIT("GPU reserved memory"))) {
        mark->reserved_bytes = tt_bytes(cells[CUR]);
        mark->max_reserved_bytes = tt_bytes(cells[PEAK]);
    }
}

void tt_read_memory(struct text_reading *r)
{
    struct ta_memory_mark mark = {0};
    struct ta_slice cells[CELLS];
    bool open = false;
    while (tt_next(r)) {
        const size_t n = split(r->lines->line, cells);
        if (n == 1 && tt_holds(cells[0], TITLE)) {
            close_mark(r, &mark, &open);
            mark = ta_unknown_memory_mark();
            mark.label = ta_builder_string(r->builder, TA_LIT("memory summary"));
            mark.device = number_after(cells[0], TITLE);
            open = true;
        } else if (open) {
            take_cells(&mark, cells, n);
        }
    }
    close_mark(r, &mark, &open);
    /* It is written beside a snapshot of the allocator, which has it all to the byte.  Summaries of
     * other moments are no copies of it. */
    char set[80];
    snprintf(set, sizeof set, "memory summary %" PRId64 " %" PRId64, mark.allocated_bytes,
             mark.max_allocated_bytes);
    ta_builder_set_copy(r->builder, ta_slice_of(set), TA_EXACT_CONSOLE);
}
