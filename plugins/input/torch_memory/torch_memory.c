/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch_memory: snapshots of PyTorch's caching allocator, as torch.cuda.memory._dump_snapshot()
 * pickles them, and lists of segments of older versions, as pickle or JSON. */
#include "snapshot.h"

#include <traceanalyze/input.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>
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
    /* Protocols 0 and 1 have no magic bytes. */
    if (first && strchr("(]}", first))
        return holds(head, "segments") || holds_segment(head) ? 85 : 0;
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

/* Pinned host memory is another allocator's; it is not mixed into that of the devices. */
static void pass_over(struct snapshot *s, ta_object list)
{
    const size_t n = ta_object_size(s->objects, list);
    const uint64_t offset = ta_object_offset(s->objects, list);
    if (n == 0)
        return;
    s->dropped += n;
    ta_quality_add_severity(s->quality, TA_Q_BAD_RECORD, TA_QUALITY_INFO, offset, TA_NO_OFFSET,
                            "%zu records of pinned host memory are not analyzed, at byte offset "
                            "%" PRIu64,
                            n, offset);
}

static enum ta_status read_dict(struct snapshot *s, ta_object root)
{
    ta_object values[FIELDS];
    snapshot_fields(s, root, names, FIELDS, values);
    if (ta_object_kind(s->objects, values[SEGMENTS]) != TA_OBJECT_LIST &&
        ta_object_kind(s->objects, values[TRACES]) != TA_OBJECT_LIST)
        return ta_fail(s->ctx, TA_ERR_INPUT,
                       "Not a snapshot of an allocator: it has neither a list \"segments\" nor a "
                       "list \"device_traces\"");
    snapshot_read_segments(s, values[SEGMENTS]);
    snapshot_read_history(s, values[TRACES]);
    pass_over(s, values[HOST_SEGMENTS]);
    pass_over(s, values[HOST_TRACES]);
    enum ta_status status = snapshot_read_annotations(s, values[ANNOTATIONS]);
    return status == TA_OK ? snapshot_read_settings(s, values[SETTINGS]) : status;
}

static enum ta_status read_root(struct snapshot *s)
{
    const ta_object root = ta_objects_root(s->objects);
    const enum ta_object_kind kind = ta_object_kind(s->objects, root);
    if (kind == TA_OBJECT_DICT)
        return read_dict(s, root);
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
    const struct ta_allocator allocator = {
        .segments = s->segments.at,
        .blocks = s->blocks.at,
        .events = s->events.at,
        .stacks = s->stacks.at,
        .n_segments = s->segments.n,
        .n_blocks = s->blocks.n,
        .n_events = s->events.n,
        .n_stacks = s->stacks.n,
    };
    return ta_builder_set_allocator(s->ctx, s->builder, &allocator);
}

static void release(struct snapshot *s)
{
    free(s->segments.at);
    free(s->blocks.at);
    free(s->events.at);
    free(s->stacks.at);
    free(s->seen);
    ta_arena_free(&s->arena);
    ta_map_free(&s->stack_of);
    ta_map_free(&s->frame_of);
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
    release(&s);
    ta_objects_free(objects);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_snapshot};

TA_PLUGIN(input, torch_memory, &ops, .title = "PyTorch memory snapshot",
          .summary = "Snapshots of PyTorch's caching allocator (pickles of "
                     "torch.cuda.memory._dump_snapshot, lists of segments as pickle or JSON)",
          .version = "1");
