/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of records, and what becomes of records that cannot be used. */
#include "base/vec.h"
#include "snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

bool snapshot_grow(struct snapshot *s, void **at, size_t *max, size_t n, size_t size)
{
    if (!ta_vec_grow(at, max, n, size)) {
        s->failed = true;
        return false;
    }
    memset((char *)*at + n * size, 0, size);
    return true;
}

void snapshot_fields(const struct snapshot *s, ta_object dict, const char *const *names, size_t n,
                     ta_object *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = TA_NO_OBJECT;
    const size_t size = ta_object_size(s->objects, dict);
    for (size_t at = 0; at + 1 < size; at += 2) {
        const struct ta_slice key =
            ta_object_text(s->objects, ta_object_item(s->objects, dict, at));
        for (size_t i = 0; key.ptr && i < n; i++)
            if (ta_slice_equal(key, ta_slice_of(names[i])))
                values[i] = ta_object_item(s->objects, dict, at + 1);
    }
}

bool snapshot_size(const struct snapshot *s, ta_object object, uint64_t *size)
{
    uint64_t value;
    if (!ta_object_unsigned(s->objects, object, &value) || value > SIZE_LARGEST)
        return false;
    *size = value;
    return true;
}

int64_t snapshot_integer(const struct snapshot *s, ta_object object, int64_t otherwise)
{
    int64_t value;
    return ta_object_signed(s->objects, object, &value) ? value : otherwise;
}

uint64_t snapshot_address(const struct snapshot *s, ta_object object)
{
    uint64_t value;
    return ta_object_unsigned(s->objects, object, &value) ? value : 0;
}

void snapshot_drop(struct snapshot *s, ta_object object, const char *what, const char *why)
{
    const uint64_t offset = ta_object_offset(s->objects, object);
    s->dropped++;
    ta_quality_add(s->quality, TA_Q_BAD_RECORD, offset, "A %s %s, at byte offset %" PRIu64, what,
                   why, offset);
}

bool snapshot_record(struct snapshot *s, ta_object object, const char *what)
{
    if (ta_object_kind(s->objects, object) != TA_OBJECT_DICT) {
        snapshot_drop(s, object, what, "is not a dict");
        return false;
    }
    if (s->seen[object]) {
        snapshot_drop(s, object, what, "stands in the file once and is used twice");
        return false;
    }
    s->seen[object] = 1;
    return true;
}
