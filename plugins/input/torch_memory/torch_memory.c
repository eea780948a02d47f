/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch_memory: snapshots of PyTorch's caching allocator, as torch.cuda.memory._dump_snapshot()
 * pickles them, and lists of segments of older versions, as pickle or JSON. */
#include "lib/levels.h"
#include "lib/rows.h"
#include "model/allocator.h"
#include "snapshot.h"

#include <traceanalyze/input.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- recognition --------------------------------------------------------------------------- */

static bool holds(struct ta_slice head, const char *text)
{
    return memmem(head.ptr, head.len, text, strlen(text)) != NULL;
}

/* Keys that every segment and every block has. */
static bool holds_segment(struct ta_slice head)
{
    return holds(head, "total_size") && holds(head, "blocks") && holds(head, "address");
}

static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head;
    const unsigned char first = head.len ? (unsigned char)head.ptr[0] : 0;
    if (first == 0x80 && head.len > 1)
        return head.ptr[1] >= 2 && head.ptr[1] <= 5 ? 100 : 0;
    /* Protocols 0 and 1 have no magic bytes.  One that would call something is refused by name. */
    if (first && strchr("(]}", first) && (holds(head, "segments") || holds_segment(head)))
        return 85;
    if (ta_pickle_calls(head))
        return 85;
    if (first && strchr("(]}", first))
        return 0;
    while (head.len && memchr(" \t\r\n", head.ptr[0], 4)) {
        head.ptr++;
        head.len--;
    }
    if (head.len == 0 || holds(head, "\"traceEvents\""))
        return 0;
    if (head.len > 4096)
        head.len = 4096;
    if (head.ptr[0] == '{')
        return holds(head, "\"segments\"") && holds_segment(head) ? 90 : 0;
    return head.ptr[0] == '[' && holds_segment(head) && !holds(head, "\"ph\"") ? 90 : 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

enum { SEGMENTS, TRACES, ANNOTATIONS, SETTINGS, HOST_SEGMENTS, HOST_TRACES, FIELDS };

static const char *const names[FIELDS] = {
    [SEGMENTS] = "segments",
    [TRACES] = "device_traces",
    [ANNOTATIONS] = "external_annotations",
    [SETTINGS] = "allocator_settings",
    [HOST_SEGMENTS] = "host_segments",
    [HOST_TRACES] = "host_traces",
};

/* ---- pinned host memory -------------------------------------------------------------------- */

/* Pinned host memory is another allocator's: it is read like device memory and summed up, but never
 * becomes part of the devices' state. */
static enum ta_status add_host_state(struct snapshot *s, size_t first_segment)
{
    int64_t sums[] = {0, 0}; /* reserved, allocated */
    static const char *const keys[] = {"pinned_host_reserved_bytes", "pinned_host_allocated_bytes"};
    for (size_t i = first_segment; i < s->segments.n; i++) {
        const struct ta_alloc_segment *segment = &s->segments.at[i];
        sums[0] = ta_add_sat(sums[0], ta_levels_bytes(segment->total));
        for (size_t k = segment->first; k < segment->first + segment->n; k++)
            if (s->blocks.at[k].state == TA_BLOCK_ALLOCATED)
                sums[1] = ta_add_sat(sums[1], ta_levels_bytes(s->blocks.at[k].size));
    }
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < 2 && status == TA_OK && s->segments.n > first_segment; i++) {
        const ta_str name = ta_builder_string(s->builder, ta_slice_of(keys[i]));
        status = ta_rows_figure(s->ctx, s->builder, TA_MISSING, name, "memory", (double)sums[i],
                                TA_UNIT_BYTES);
    }
    return status;
}

static enum ta_status add_host_history(struct snapshot *s, size_t first_event)
{
    struct ta_allocation_pattern row = {
        .rank = TA_MISSING, .min_bytes = TA_MISSING, .max_bytes = TA_MISSING, .small_ratio = NAN};
    int64_t small = 0;
    for (size_t i = first_event; i < s->events.n; i++) {
        const struct ta_alloc_event *event = &s->events.at[i];
        const int64_t size = ta_levels_bytes(event->size);
        row.deallocations += event->action == TA_ALLOC_FREE_COMPLETED;
        if (event->action != TA_ALLOC_ALLOC)
            continue;
        row.allocations++;
        row.bytes = ta_add_sat(row.bytes, size);
        small += size < 1 << 20;
        if (row.min_bytes == TA_MISSING || size < row.min_bytes)
            row.min_bytes = size;
        row.max_bytes = ta_max_i64(row.max_bytes, size);
    }
    if (s->events.n == first_event)
        return TA_OK;
    if (row.allocations)
        row.small_ratio = (double)small / (double)row.allocations;
    row.allocator = ta_builder_string(s->builder, TA_LIT("pinned host memory"));
    return ta_builder_add_allocation(s->ctx, s->builder, &row);
}

static enum ta_status read_host(struct snapshot *s, ta_object segments, ta_object traces)
{
    const size_t n_segments = s->segments.n, n_blocks = s->blocks.n, n_events = s->events.n;
    snapshot_read_segments(s, segments);
    snapshot_read_history(s, traces);
    enum ta_status status = add_host_state(s, n_segments);
    if (status == TA_OK)
        status = add_host_history(s, n_events);
    s->segments.n = n_segments;
    s->blocks.n = n_blocks;
    s->events.n = n_events;
    return status;
}

static enum ta_status read_root(struct snapshot *s)
{
    const ta_object root = ta_objects_root(s->objects);
    const enum ta_object_kind kind = ta_object_kind(s->objects, root);
    if (kind == TA_OBJECT_DICT) {
        ta_object values[FIELDS];
        snapshot_fields(s, root, names, FIELDS, values);
        if (ta_object_kind(s->objects, values[SEGMENTS]) != TA_OBJECT_LIST &&
            ta_object_kind(s->objects, values[TRACES]) != TA_OBJECT_LIST)
            return ta_fail(
                s->ctx, TA_ERR_INPUT,
                "Not a snapshot of an allocator: it has neither a list \"segments\" nor a "
                "list \"device_traces\"");
        snapshot_read_segments(s, values[SEGMENTS]);
        snapshot_read_history(s, values[TRACES]);
        enum ta_status status = read_host(s, values[HOST_SEGMENTS], values[HOST_TRACES]);
        if (status == TA_OK)
            status = snapshot_read_annotations(s, values[ANNOTATIONS]);
        return status == TA_OK ? snapshot_read_settings(s, values[SETTINGS]) : status;
    }
    if (kind != TA_OBJECT_LIST)
        return ta_fail(s->ctx, TA_ERR_INPUT,
                       "Not a snapshot of an allocator: neither a dict nor a list");
    snapshot_read_segments(s, root);
    return TA_OK;
}

static enum ta_status hand_over(struct snapshot *s)
{
    if (s->failed)
        return ta_fail(s->ctx, TA_ERR_NOMEM, "Cannot hold a snapshot of an allocator");
    ta_builder_count(s->builder, s->kept, 0, s->dropped);
    ta_builder_skipped(s->builder, ta_objects_unread(s->objects));
    if (s->kept == 0 && s->dropped)
        return ta_fail(s->ctx, TA_ERR_INPUT,
                       "Not a snapshot of an allocator: none of its %" PRIu64
                       " records is a segment or an entry of a history",
                       s->dropped);
    if (s->kept == 0)
        ta_quality_add(s->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET,
                       "The snapshot holds neither segments nor history");
    struct ta_allocator allocator = {
        .segments = s->segments.at,
        .blocks = s->blocks.at,
        .events = s->events.at,
        .stacks = s->stacks.at,
        .n_segments = s->segments.n,
        .n_blocks = s->blocks.n,
        .n_events = s->events.n,
        .n_stacks = s->stacks.n,
    };
    memcpy(allocator.divisions, s->divisions, sizeof allocator.divisions);
    return ta_builder_set_allocator(s->ctx, s->builder, &allocator);
}

static enum ta_status read_snapshot(struct ta_ctx *ctx, struct ta_reader *reader,
                                    struct ta_builder *builder)
{
    struct ta_objects *objects = ta_objects_read(ctx, reader);
    if (!objects)
        return ta_ctx_status(ctx);
    struct snapshot s = {
        .ctx = ctx,
        .builder = builder,
        .quality = ta_reader_quality(reader),
        .objects = objects,
        .seen = calloc(ta_objects_count(objects), 1),
    };
    s.failed = !s.seen;
    enum ta_status status = s.failed ? TA_OK : read_root(&s);
    if (status == TA_OK)
        status = hand_over(&s);
    free(s.segments.at);
    free(s.blocks.at);
    free(s.events.at);
    free(s.stacks.at);
    free(s.seen);
    ta_arena_free(&s.arena);
    ta_map_free(&s.stack_of);
    ta_map_free(&s.frame_of);
    ta_objects_free(objects);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_snapshot};

TA_PLUGIN(input, torch_memory, &ops, .title = "PyTorch memory snapshot",
          .summary = "Snapshots of PyTorch's caching allocator (pickles of "
                     "torch.cuda.memory._dump_snapshot, lists of segments as pickle or JSON)",
          .version = "1");
