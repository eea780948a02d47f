/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks.  Lists of frames and the frames themselves are shared by thousands of records, so each is
 * looked at once. */
#include "model/allocator.h"
#include "snapshot.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_MAX_BYTES = 2000 };

/* "function (file:line)", without the place where there is none, as in C++ frames. */
static ta_str make_frame(struct snapshot *s, ta_object frame)
{
    static const char *const names[] = {"name", "filename", "line"};
    ta_object values[3];
    snapshot_fields(s, frame, names, 3, values);
    const struct ta_slice name = ta_object_text(s->objects, values[0]);
    const struct ta_slice file = ta_object_text(s->objects, values[1]);
    const int64_t line = snapshot_integer(s, values[2], 0);
    char text[2 * NAME_MAX_BYTES + 64];
    const int name_bytes = (int)(name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES);
    const int file_bytes = (int)(file.len < NAME_MAX_BYTES ? file.len : NAME_MAX_BYTES);
    if (file.len == 0 || ta_slice_equal(file, TA_LIT("??")))
        snprintf(text, sizeof text, "%.*s", name_bytes, name.ptr ? name.ptr : "");
    else
        snprintf(text, sizeof text, "%.*s (%.*s:%" PRId64 ")", name_bytes, name.ptr ? name.ptr : "",
                 file_bytes, file.ptr, line);
    return ta_builder_string(s->builder, ta_slice_of(text));
}

uint32_t snapshot_stack(struct snapshot *s, ta_object frames)
{
    const size_t n = ta_object_size(s->objects, frames);
    if (n == 0 || ta_object_kind(s->objects, frames) > TA_OBJECT_TUPLE)
        return UINT32_MAX;
    uint64_t *known = ta_map_at(&s->stack_of, frames, UINT32_MAX);
    if (!known || *known != UINT32_MAX) {
        s->failed |= !known;
        return known ? (uint32_t)*known : UINT32_MAX;
    }
    ta_str *at = ta_arena_alloc(&s->arena, n * sizeof *at);
    struct ta_frames *stack = at ? LIST_ADD(s, &s->stacks) : NULL;
    if (!stack || s->stacks.n >= UINT32_MAX) {
        s->failed = true;
        return UINT32_MAX;
    }
    for (size_t i = 0; i < n; i++) {
        const ta_object frame = ta_object_item(s->objects, frames, i);
        uint64_t *text = ta_map_at(&s->frame_of, frame, UINT64_MAX);
        s->failed |= !text;
        if (text && *text == UINT64_MAX)
            *text = make_frame(s, frame);
        at[i] = text ? (ta_str)*text : TA_STR_ABSENT;
    }
    *stack = (struct ta_frames){.n = (uint32_t)n, .at = at};
    *known = s->stacks.n - 1;
    return (uint32_t)*known;
}
