/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts as charts show them: what of them is visible, and what of them fits. */
#include "render/chart/measure.h"
#include "base/visible.h"
#include "report/short_name.h"
#include "traceanalyze/model.h"

#include <stdlib.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static char *visible_part(struct ta_arena *arena, struct ta_slice text)
{
    size_t size = text.len * TA_VISIBLE_STEP_MAX + 1;
    char *out = text.len < SIZE_MAX / TA_VISIBLE_STEP_MAX ? malloc(size) : NULL;
    if (!out) {
        arena->failed = true;
        return NULL;
    }
    struct ta_slice shown = {out, ta_visible(out, size, text)};
    char *copy = ta_arena_copy(arena, shown);
    free(out);
    return copy;
}

const char *ta_draw_text(struct ta_arena *arena, struct ta_slice text, size_t most)
{
    if (most == 0 || text.len <= most)
        return visible_part(arena, text);
    size_t first = most - most / 2, last = text.len - most / 2;
    while (first > 0 && is_continuation(text.ptr[first]))
        first--;
    while (last < text.len && is_continuation(text.ptr[last]))
        last++;
    char *head = visible_part(arena, (struct ta_slice){text.ptr, first});
    char *tail = visible_part(arena, ta_slice_from(text, last));
    return head && tail ? ta_arena_printf(arena, "%s…%s", head, tail) : NULL;
}

double ta_measure_width(struct ta_measure *measure, enum ta_face face, const char *line)
{
    return *line ? measure->width(measure, face, line) : 0;
}

/* About `keep` bytes of a name, half from each end, cut between code points; all where it has no
 * more. */
static const char *shorten_name(struct ta_arena *arena, const char *line, size_t length,
                                size_t keep)
{
    if (length <= keep)
        return ta_arena_copy(arena, (struct ta_slice){line, length});
    size_t head = keep - keep / 2, tail = length - keep / 2;
    while (head > 0 && is_continuation(line[head]))
        head--;
    while (tail < length && is_continuation(line[tail]))
        tail++;
    return ta_arena_printf(arena, "%.*s…%.*s", (int)head, line, (int)(length - tail), line + tail);
}

/* The same of a line; of "old → new" each name has half of it, or what the other one leaves. */
static const char *shorten(struct ta_arena *arena, const char *line, size_t length, size_t keep)
{
    enum { LEAST = 12 }; /* bytes of two names that are worth a cut each */
    static const char became[] = " → ";
    const size_t arrow = sizeof became - 1;
    const char *at = strstr(line, became);
    if (!at || keep < LEAST + arrow)
        return shorten_name(arena, line, length, keep);
    const size_t before = (size_t)(at - line), after = length - before - arrow;
    const size_t room = keep - arrow, half = room / 2;
    const size_t left = after < half ? room - after : before < half ? before : half;
    const char *old = shorten_name(arena, line, before, left);
    const char *new = shorten_name(arena, at + arrow, after, room - left);
    return old && new ? ta_arena_printf(arena, "%s%s%s", old, became, new) : NULL;
}

/* Frames of a stack without their folders, "f (vae.py:30)" of "f (/a/b/vae.py:30)": they differ at
 * both ends, and a cut in the middle would hide that. NULL without memory. */
static const char *without_folders(struct ta_arena *arena, const char *line)
{
    char *shown = ta_arena_alloc(arena, strlen(line) + 1);
    size_t n = 0;
    while (shown && *line) {
        shown[n++] = *line++;
        const size_t inside = line[-1] == '(' ? strcspn(line, "()") : 0;
        const char *folder = inside ? memrchr(line, '/', inside) : NULL;
        if (folder && memchr(folder, ':', (size_t)(line + inside - folder)))
            line = folder + 1;
    }
    if (shown)
        shown[n] = '\0';
    return shown;
}

/* Names as people say them, without the scopes, types and brackets that a cut in the middle would
 * leave of a function of C++; bare: without the arguments of templates, too.  A label has several
 * parts, of which each is a name by itself.  NULL without memory. */
static const char *as_said(struct ta_arena *arena, const char *line, bool bare)
{
    static const char separator[] = " · ";
    if (strstr(line, " → "))
        return line;
    const char *said = "";
    for (const char *rest = line; rest && said;) {
        const char *end = strstr(rest, separator);
        const size_t length = end ? (size_t)(end - rest) : strlen(rest);
        struct ta_slice name = ta_said_name(arena, (struct ta_slice){rest, length});
        name = bare ? ta_bare_name(name) : name;
        said =
            ta_arena_printf(arena, "%s%.*s%s", said, (int)name.len, name.ptr, end ? separator : "");
        rest = end ? end + sizeof separator - 1 : NULL;
    }
    return said;
}

const char *ta_measure_fit(struct ta_measure *measure, struct ta_arena *arena, enum ta_face face,
                           const char *line, double width)
{
    if (ta_measure_width(measure, face, line) <= width)
        return line;
    line = without_folders(arena, line);
    if (line)
        line = as_said(arena, line, false);
    if (line && ta_measure_width(measure, face, line) > width)
        line = as_said(arena, line, true);
    double least = 0, most = line ? ta_measure_width(measure, face, line) : 0;
    if (!line || most <= width)
        return line ? line : "";
    const size_t length = strlen(line);
    size_t fits = 0, too_long = length;
    const char *best = "";
    for (int tries = 0; fits + 1 < too_long; tries++) {
        /* How many bytes to try next, between what fits and what is too long: as many as would fit
         * if all letters were of one width, which is nearly right; measuring is dear.  Halfway when
         * that was not.
         */
        const double share = (width - least) / (most - least);
        enum { GUESSES = 4 };
        const size_t between = too_long - fits;
        const size_t more = ta_whole_size((double)between * (tries < GUESSES ? share : 0.5));
        const size_t keep = fits + (more < 1 ? 1 : more < between ? more : between - 1);
        const char *shorter = shorten(arena, line, length, keep);
        if (!shorter)
            return best;
        const double taken = ta_measure_width(measure, face, shorter);
        if (taken <= width) {
            fits = keep;
            least = taken;
            best = shorter;
        } else {
            too_long = keep;
            most = taken;
        }
    }
    return best;
}
