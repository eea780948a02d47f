/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the allocator did, per device and oldest first; ranges that the program marked, and
 * settings. */
#include "lib/rows.h"
#include "model/allocator.h"
#include "snapshot.h"

#include <inttypes.h>
#include <stdio.h>

/* Microseconds beyond this do not fit into nanoseconds. */
#define TIME_US_LARGEST (INT64_MAX / 1000)

static int64_t take_time(const struct snapshot *s, ta_object object)
{
    const int64_t us = snapshot_integer(s, object, -1);
    return us < 0 || us > TIME_US_LARGEST ? TA_MISSING : us * 1000;
}

/* ---- history ------------------------------------------------------------------------------- */

enum { ACTION, ADDR, DEVICE_FREE, SIZE, TIME, FRAMES, FIELDS };

static const char *const names[FIELDS] = {
    [ACTION] = "action", [ADDR] = "addr",    [DEVICE_FREE] = "device_free",
    [SIZE] = "size",     [TIME] = "time_us", [FRAMES] = "frames",
};

static enum ta_alloc_action action_of(struct ta_slice name)
{
    static const char *const actions[TA_ALLOC_OTHER] = {
        [TA_ALLOC_ALLOC] = "alloc",
        [TA_ALLOC_FREE_REQUESTED] = "free_requested",
        [TA_ALLOC_FREE_COMPLETED] = "free_completed",
        [TA_ALLOC_SEGMENT_ALLOC] = "segment_alloc",
        [TA_ALLOC_SEGMENT_FREE] = "segment_free",
        [TA_ALLOC_SEGMENT_MAP] = "segment_map",
        [TA_ALLOC_SEGMENT_UNMAP] = "segment_unmap",
        [TA_ALLOC_OOM] = "oom",
        [TA_ALLOC_SNAPSHOT] = "snapshot",
    };
    for (int i = 0; i < TA_ALLOC_OTHER; i++)
        if (ta_slice_equal(name, ta_slice_of(actions[i])))
            return (enum ta_alloc_action)i;
    return TA_ALLOC_OTHER;
}

static void read_entry(struct snapshot *s, ta_object object, int64_t device)
{
    ta_object values[FIELDS];
    if (!snapshot_record(s, object, "history entry"))
        return;
    snapshot_fields(s, object, names, FIELDS, values);
    const struct ta_slice name = ta_object_text(s->objects, values[ACTION]);
    struct ta_alloc_event event = {
        .device = device,
        .action = action_of(name),
        .time_ns = take_time(s, values[TIME]),
        .frames = snapshot_stack(s, values[FRAMES]),
    };
    const bool is_oom = event.action == TA_ALLOC_OOM;
    event.address = snapshot_address(s, values[is_oom ? DEVICE_FREE : ADDR]);
    const bool sized = snapshot_size(s, values[SIZE], &event.size);
    if (!name.ptr || (!sized && event.action < TA_ALLOC_OOM)) {
        snapshot_drop(s, object, "history entry", "has no action or no usable size");
        return;
    }
    struct ta_alloc_event *added = LIST_ADD(s, &s->events);
    if (added)
        *added = event;
    s->kept++;
}

void snapshot_read_history(struct snapshot *s, ta_object traces)
{
    for (size_t device = 0; device < ta_object_size(s->objects, traces); device++) {
        const ta_object entries = ta_object_item(s->objects, traces, device);
        if (ta_object_kind(s->objects, entries) != TA_OBJECT_LIST || s->seen[entries]) {
            snapshot_drop(s, entries, "history", "is not a list, or is that of two devices");
            continue;
        }
        /* Many devices have none, and share an empty list. */
        s->seen[entries] = ta_object_size(s->objects, entries) > 0;
        for (size_t i = 0; i < ta_object_size(s->objects, entries) && !s->failed; i++)
            read_entry(s, ta_object_item(s->objects, entries, i), (int64_t)device);
    }
}

/* ---- annotations --------------------------------------------------------------------------- */

static enum ta_status read_annotation(struct snapshot *s, ta_object object)
{
    static const char *const keys[] = {"name", "stage", "device", "time_us"};
    ta_object values[4];
    if (!snapshot_record(s, object, "annotation"))
        return TA_OK;
    snapshot_fields(s, object, keys, 4, values);
    const struct ta_slice name = ta_object_text(s->objects, values[0]);
    if (!name.ptr) {
        snapshot_drop(s, object, "annotation", "has no name");
        return TA_OK;
    }
    s->kept++;
    const struct ta_happening row = {
        .rank = TA_MISSING,
        .name = ta_builder_string(s->builder, name),
        .data = ta_builder_string(s->builder, ta_object_text(s->objects, values[1])),
        .time_ns = take_time(s, values[3]),
    };
    return ta_builder_add_happening(s->ctx, s->builder, &row);
}

enum ta_status snapshot_read_annotations(struct snapshot *s, ta_object annotations)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < ta_object_size(s->objects, annotations) && status == TA_OK; i++)
        status = read_annotation(s, ta_object_item(s->objects, annotations, i));
    return status;
}

/* ---- settings ------------------------------------------------------------------------------ */

/* The text of a constant; containers have none. */
static struct ta_slice show(const struct snapshot *s, ta_object object, char *text, size_t size)
{
    int64_t value;
    switch (ta_object_kind(s->objects, object)) {
    case TA_OBJECT_TEXT:
        return ta_object_text(s->objects, object);
    case TA_OBJECT_BOOL:
        return ta_object_is_true(s->objects, object) ? TA_LIT("true") : TA_LIT("false");
    case TA_OBJECT_INT:
        if (!ta_object_signed(s->objects, object, &value))
            return (struct ta_slice){0};
        snprintf(text, size, "%" PRId64, value);
        return ta_slice_of(text);
    case TA_OBJECT_FLOAT:
        ta_number_format(text, ta_object_double(s->objects, object));
        return ta_slice_of(text);
    default:
        return (struct ta_slice){0};
    }
}

/* Steps between powers of two, by the power in MiB: {"1": 4, "2": 4, …}. */
static void read_divisions(struct snapshot *s, ta_object divisions)
{
    for (size_t i = 0; i + 1 < ta_object_size(s->objects, divisions); i += 2) {
        const struct ta_slice key =
            ta_object_text(s->objects, ta_object_item(s->objects, divisions, i));
        for (unsigned power = 0; key.ptr && power < TA_ALLOC_DIVISIONS; power++) {
            char text[16];
            snprintf(text, sizeof text, "%u", 1U << power);
            if (ta_slice_equal(key, ta_slice_of(text)))
                snapshot_size(s, ta_object_item(s->objects, divisions, i + 1),
                              &s->divisions[power]);
        }
    }
}

enum ta_status snapshot_read_settings(struct snapshot *s, ta_object settings)
{
    if (ta_object_kind(s->objects, settings) != TA_OBJECT_DICT)
        return TA_OK;
    enum ta_status status = TA_OK;
    for (size_t i = 0; i + 1 < ta_object_size(s->objects, settings) && status == TA_OK; i += 2) {
        const struct ta_slice key =
            ta_object_text(s->objects, ta_object_item(s->objects, settings, i));
        const ta_object setting = ta_object_item(s->objects, settings, i + 1);
        char text[TA_UNIT_TEXT_MAX];
        const struct ta_slice value = show(s, setting, text, sizeof text);
        if (ta_slice_equal(key, TA_LIT("roundup_power2_divisions")) &&
            ta_object_kind(s->objects, setting) == TA_OBJECT_DICT)
            read_divisions(s, setting);
        if (key.len == 0 || value.len == 0)
            continue;
        status = ta_rows_tag(s->ctx, s->builder, ta_builder_string(s->builder, key), value);
    }
    return status;
}
