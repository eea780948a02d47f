/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines: what slices look like, and reading packed lanes. */
#include "traceanalyze/timeline.h"

static const struct ta_slice_look looks[TA_SLICE_KIND_COUNT] = {
    [TA_SLICE_COMPUTE] = {"Compute kernel", TA_INK_COMPUTE},
    [TA_SLICE_COMM] = {"Communication kernel", TA_INK_COMM},
    [TA_SLICE_MEMCPY] = {"Copy", TA_INK_MEMCPY},
    [TA_SLICE_MEMSET] = {"Memory set", TA_INK_MEMSET},
    [TA_SLICE_OP] = {"Operator", TA_INK_OP},
    [TA_SLICE_RUNTIME] = {"Runtime call", TA_INK_RUNTIME},
    [TA_SLICE_HOST] = {"Other host code", TA_INK_HOST},
    [TA_SLICE_RANGE] = {"Annotation", TA_INK_RANGE},
    [TA_SLICE_SYNC] = {"Synchronization", TA_INK_SYNC},
};

const struct ta_slice_look *ta_slice_look(enum ta_slice_kind kind)
{
    return &looks[(unsigned)kind < TA_SLICE_KIND_COUNT ? kind : TA_SLICE_HOST];
}

uint64_t ta_varint_read(const unsigned char **at, const unsigned char *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

struct ta_timeline_cursor ta_timeline_open(const struct ta_timeline_file *file,
                                           const struct ta_timeline_track *track,
                                           const struct ta_timeline_lane *lane)
{
    return (struct ta_timeline_cursor){.at = lane->bytes,
                                       .end = lane->bytes + lane->size,
                                       .labels = file->labels,
                                       .has_launches = track->has_launches};
}

bool ta_timeline_next(struct ta_timeline_cursor *c, struct ta_timeline_slice *slice)
{
    if (c->at == c->end)
        return false;
    slice->start_ns = c->now_ns + (int64_t)ta_varint_read(&c->at, c->end);
    slice->dur_ns = (int64_t)ta_varint_read(&c->at, c->end);
    slice->label = c->labels[ta_varint_read(&c->at, c->end)];
    slice->launch_track = UINT32_MAX;
    slice->delay_ns = TA_MISSING;
    const uint64_t launch = c->has_launches ? ta_varint_read(&c->at, c->end) : 0;
    if (launch) {
        slice->launch_track = (uint32_t)launch - 1;
        slice->delay_ns = ta_unzigzag(ta_varint_read(&c->at, c->end));
    }
    c->now_ns = slice->start_ns + slice->dur_ns;
    return true;
}
