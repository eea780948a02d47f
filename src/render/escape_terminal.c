/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer for terminals: text within a width.
 *
 * What does not fit is said shorter first - kernels as people call them - and then loses its
 * middle; of "old → new" both names stay. */
#include "report/short_name.h"
#include "traceanalyze/output.h"

#include "base/utf8.h"
#include "base/visible.h"
#include "traceanalyze/model.h"

#include <utf8proc.h>

#define ELLIPSIS TA_LIT("\xe2\x80\xa6") /* U+2026 */
#define BECAME TA_LIT(" \xe2\x86\x92 ") /* " → " */

/* Columns of what one step shows: an escape is ASCII, all else one character. */
static size_t step_width(struct ta_slice step)
{
    if (step.len == 1 || step.ptr[0] == '\\')
        return step.len;
    int width = utf8proc_charwidth((utf8proc_int32_t)ta_utf8_decode(step.ptr, step.len));
    return width > 0 ? (size_t)width : 0;
}

size_t ta_terminal_width(struct ta_slice text)
{
    size_t width = 0;
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        struct ta_slice shown = {step, ta_visible_step(&text, step)};
        width += step_width(shown);
    }
    return width;
}

static void put_whole(struct ta_file *out, struct ta_slice text)
{
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = {step, ta_visible_step(&text, step)};
        ta_put(out, shown);
    }
}

/* Puts the middle of a text that is `total` columns wide away: a head and a tail stay, with
 * marks that take no column next to their base.  Returns the columns used, at most `width`. */
static size_t put_cut(struct ta_file *out, struct ta_slice text, size_t total, size_t width)
{
    const size_t tail = (width - 1) / 2, head = width - 1 - tail;
    size_t seen = 0, used = 0;
    bool in_head = true, in_tail = false, is_cut = false;
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        struct ta_slice shown = {step, ta_visible_step(&text, step)};
        size_t columns = step_width(shown);
        if (in_head && seen + columns > head) {
            in_head = false;
            is_cut = true;
            ta_put(out, ELLIPSIS);
            used++;
        }
        in_tail = in_tail || (!in_head && columns > 0 && total - seen <= tail);
        /* A text that was cut before shows one mark, not two in a row. */
        const bool is_mark = in_tail && is_cut && ta_slice_equal(shown, ELLIPSIS);
        if ((in_head || in_tail) && !is_mark) {
            ta_put(out, shown);
            used += columns;
            is_cut = false;
        }
        seen += columns;
    }
    return used;
}

static void put_blanks(struct ta_file *out, size_t n)
{
    for (; n; n--)
        ta_putc(out, ' ');
}

/* A text without arrow in at most `width` columns; returns the columns used. */
static size_t put_shorter(struct ta_file *out, struct ta_slice text, size_t width)
{
    struct ta_arena arena = {0};
    size_t total = ta_terminal_width(text);
    if (total > width) {
        text = ta_said_name(&arena, text);
        total = ta_terminal_width(text);
    }
    if (total > width) {
        text = ta_bare_name(text);
        total = ta_terminal_width(text);
    }
    if (total > width)
        total = put_cut(out, text, total, width);
    else
        put_whole(out, text);
    ta_arena_free(&arena);
    return total;
}

static size_t said_width(struct ta_slice text)
{
    struct ta_arena arena = {0};
    const size_t width = ta_terminal_width(ta_said_name(&arena, text));
    ta_arena_free(&arena);
    return width;
}

/* Columns of a half before each of two names is worth its own cut. */
enum { HALF_LEAST = 6 };

/* Of "old → new" each name has half of the room, or what the other one leaves. */
static size_t put_fitted(struct ta_file *out, struct ta_slice text, size_t width)
{
    const struct ta_slice arrow = BECAME;
    const char *at = memmem(text.ptr, text.len, arrow.ptr, arrow.len);
    const size_t room = width < 3 ? 0 : width - 3;
    if (!at || room < 2 * HALF_LEAST)
        return put_shorter(out, text, width);
    const struct ta_slice old = {text.ptr, (size_t)(at - text.ptr)};
    const struct ta_slice new = {at + arrow.len, text.len - old.len - arrow.len};
    const size_t before = said_width(old), after = said_width(new);
    const size_t half = room / 2;
    const size_t left = after < half ? room - after : before < half ? before : half;
    size_t used = put_shorter(out, old, left);
    ta_put(out, arrow);
    used += 3;
    return used + put_shorter(out, new, width - used);
}

void ta_put_terminal(struct ta_file *out, struct ta_slice text, size_t width, int pad)
{
    const size_t total = ta_terminal_width(text);
    const bool cut = width && total > width;
    if (pad < 0 && !cut && total < width)
        put_blanks(out, width - total);
    const size_t used = cut ? put_fitted(out, text, width) : total;
    if (!cut)
        put_whole(out, text);
    if (pad && (pad > 0 || cut) && used < width)
        put_blanks(out, width - used);
}
