/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FramePack's JSON files: the profiling report with sums per operation, memory snapshots and
 * iterations, and the memory log, which is the list of snapshots alone. */
#include "base/convert.h"

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    uint64_t kept, dropped;
    enum ta_status status;
};

/* ---- recognizing ------------------------------------------------------------------------- */

static struct ta_slice skip_blanks(struct ta_slice text)
{
    while (text.len && memchr(" \t\r\n", text.ptr[0], 4)) {
        text.ptr++;
        text.len--;
    }
    return text;
}

/* The first byte of the value of a key somewhere in the text; 0 without one. */
static char value_of(struct ta_slice text, struct ta_slice key)
{
    const char *at;
    while ((at = memmem(text.ptr, text.len, key.ptr, key.len))) {
        text.len -= (size_t)(at - text.ptr) + key.len;
        text.ptr = at + key.len;
        struct ta_slice rest = skip_blanks(text);
        if (!rest.len || rest.ptr[0] != ':')
            continue;
        rest = skip_blanks(ta_slice_from(rest, 1));
        if (rest.len)
            return rest.ptr[0];
    }
    return 0;
}

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = skip_blanks(probe->head);
    if (!head.len || value_of(head, TA_LIT("\"traceEvents\"")))
        return 0;
    if (head.ptr[0] == '{' && value_of(head, TA_LIT("\"timing_stats\"")) == '{') {
        /* The keys after it may lie beyond the head. */
        const bool sure = value_of(head, TA_LIT("\"memory_snapshots\"")) == '[' ||
                          value_of(head, TA_LIT("\"iteration_stats\"")) == '{' ||
                          value_of(head, TA_LIT("\"timestamp\""));
        return sure ? 92 : 82;
    }
    if (head.ptr[0] == '[' && value_of(head, TA_LIT("\"label\"")) &&
        value_of(head, TA_LIT("\"allocated_mb\"")) && value_of(head, TA_LIT("\"reserved_mb\"")))
        return 92;
    return 0;
}

/* ---- values ------------------------------------------------------------------------------ */

/* A value that is there, and is not null, but is no number either. */
static int64_t checked(struct reading *r, const json_t *value, int64_t number, const char *key,
                       const char *of)
{
    if (number == TA_MISSING && value && !json_is_null(value))
        ta_quality_add(r->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "\"%s\" of \"%.80s\" is not a number within range", key, of);
    return number;
}

static int64_t decimal(struct reading *r, const json_t *row, const char *key, int shift,
                       const char *of)
{
    const json_t *value = json_object_get(row, key);
    return checked(r, value, ta_document_decimal(value, shift), key, of);
}

static int64_t count_of(struct reading *r, const json_t *row, const char *of)
{
    const json_t *value = json_object_get(row, "count");
    const int64_t count = checked(r, value, ta_document_integer(value), "count", of);
    return count < 0 ? TA_MISSING : count;
}

static int64_t bytes_of(struct reading *r, const json_t *row, const char *key, const char *of)
{
    const json_t *value = json_object_get(row, key);
    const int64_t bytes = checked(r, value, ta_document_mib(value), key, of);
    return bytes < 0 ? TA_MISSING : bytes;
}

static void drop(struct reading *r, const char *what, const char *name)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET, "%s \"%.80s\" holds no usable figure",
                   what, name);
}

/* Operations are timed with a clock that can be set back.  What was recorded is kept, since the
 * total of an operation with more calls holds such a step as well, and nobody can see it there. */
static void note_clock(struct reading *r, int64_t total, int64_t min, const char *name)
{
    if ((total != TA_MISSING && total < 0) || (min != TA_MISSING && min < 0))
        ta_quality_add(r->quality, TA_Q_CLOCK_SET_BACK, TA_NO_OFFSET,
                       "\"%.80s\" took a negative time: the clock was set back while it ran", name);
}

/* ---- records ----------------------------------------------------------------------------- */

static void take_operation(struct reading *r, const char *name, const json_t *row)
{
    struct ta_timed_stage stage = ta_unknown_stage();
    stage.name = ta_builder_string(r->builder, ta_slice_of(name));
    stage.calls = count_of(r, row, name);
    stage.total_ns = decimal(r, row, "total", 9, name);
    stage.min_ns = decimal(r, row, "min", 9, name);
    stage.max_ns = decimal(r, row, "max", 9, name);
    stage.last_ns = decimal(r, row, "last", 9, name);
    if (stage.calls == TA_MISSING && stage.total_ns == TA_MISSING) {
        drop(r, "The operation", name);
        return;
    }
    note_clock(r, stage.total_ns, stage.min_ns, name);
    r->kept++;
    r->status = ta_builder_add_stage(r->ctx, r->builder, &stage);
}

static void take_snapshots(struct reading *r, const json_t *snapshots)
{
    for (size_t i = 0; r->status == TA_OK && i < json_array_size(snapshots); i++) {
        const json_t *row = json_array_get(snapshots, i);
        const struct ta_slice label = ta_document_text(json_object_get(row, "label"));
        /* Of a text jansson says where it ends, so a short copy is enough for messages. */
        char name[81] = "";
        if (label.len)
            memcpy(name, label.ptr, label.len < sizeof name ? label.len : sizeof name - 1);
        struct ta_memory_mark mark = ta_unknown_memory_mark();
        mark.label = label.ptr ? ta_builder_string(r->builder, label) : TA_STR_ABSENT;
        mark.time_ns = decimal(r, row, "timestamp", 9, name);
        mark.allocated_bytes = bytes_of(r, row, "allocated_mb", name);
        mark.reserved_bytes = bytes_of(r, row, "reserved_mb", name);
        mark.max_allocated_bytes = bytes_of(r, row, "max_allocated_mb", name);
        if (mark.allocated_bytes == TA_MISSING && mark.reserved_bytes == TA_MISSING &&
            mark.max_allocated_bytes == TA_MISSING) {
            drop(r, "The memory snapshot", name);
            continue;
        }
        r->kept++;
        r->status = ta_builder_add_memory_mark(r->ctx, r->builder, &mark);
    }
}

static void take_iterations(struct reading *r, const json_t *row)
{
    static const char name[] = "iterations";
    if (json_object_size(row) == 0) /* nobody fed the iteration profiler */
        return;
    const struct ta_iterations iterations = {
        .rank = TA_MISSING,
        .name = ta_builder_string(r->builder, ta_slice_of(name)),
        .count = count_of(r, row, name),
        .total_ns = decimal(r, row, "total", 9, name),
        .min_ns = decimal(r, row, "min", 9, name),
        .max_ns = decimal(r, row, "max", 9, name),
        .median_ns = decimal(r, row, "median", 9, name),
    };
    if (iterations.count == TA_MISSING && iterations.total_ns == TA_MISSING) {
        drop(r, "The record", name);
        return;
    }
    note_clock(r, iterations.total_ns, iterations.min_ns, name);
    r->kept++;
    r->status = ta_builder_add_iterations(r->ctx, r->builder, &iterations);
}

/* ---- the file ---------------------------------------------------------------------------- */

static json_t *part_of(struct reading *r, const json_t *root, const char *key, json_type type)
{
    json_t *part = json_object_get(root, key);
    if (!part || json_is_null(part) || json_typeof(part) == type)
        return part;
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET, "\"%s\" is not of the expected type",
                   key);
    return NULL;
}

static enum ta_status take_report(struct reading *r, const json_t *root)
{
    json_t *operations = part_of(r, root, "timing_stats", JSON_OBJECT);
    json_t *snapshots = part_of(r, root, "memory_snapshots", JSON_ARRAY);
    json_t *iterations = part_of(r, root, "iteration_stats", JSON_OBJECT);
    if (!operations && !snapshots && !iterations)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "JSON, but not a FramePack report: it has neither \"timing_stats\" nor "
                       "\"memory_snapshots\" nor \"iteration_stats\"");
    ta_builder_set_copy(r->builder, TA_LIT("framepack"), TA_EXACT_FULL);
    const char *name;
    json_t *row;
    json_object_foreach(operations, name, row)
    {
        if (r->status == TA_OK)
            take_operation(r, name, row);
    }
    take_snapshots(r, snapshots);
    if (r->status == TA_OK)
        take_iterations(r, iterations);
    const struct ta_happening written = {
        .rank = TA_MISSING,
        .name = ta_builder_string(r->builder, TA_LIT("profiling report written")),
        .data = TA_STR_ABSENT,
        .time_ns = decimal(r, root, "timestamp", 9, "report"),
    };
    if (r->status == TA_OK && written.time_ns != TA_MISSING)
        r->status = ta_builder_add_happening(r->ctx, r->builder, &written);
    return r->status;
}

static enum ta_status take_document(struct reading *r, const json_t *root)
{
    if (json_is_object(root)) {
        const enum ta_status status = take_report(r, root);
        if (status != TA_OK)
            return status;
    } else if (json_is_array(root)) {
        /* The report in the same folder holds the same snapshots. */
        ta_builder_set_copy(r->builder, TA_LIT("framepack"), TA_EXACT_TABLE);
        take_snapshots(r, root);
    } else {
        return ta_fail(r->ctx, TA_ERR_INPUT, "JSON, but neither an object nor an array");
    }
    ta_builder_count(r->builder, r->kept, 0, r->dropped);
    if (r->status == TA_OK && r->kept == 0 && r->dropped)
        return ta_fail(r->ctx, TA_ERR_INPUT, "No usable record: %" PRIu64 " were dropped",
                       r->dropped);
    if (r->kept == 0)
        ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "It holds no records");
    return r->status;
}

static enum ta_status read_dump(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    json_t *root = ta_document_read(ctx, reader, builder);
    if (!root)
        return ta_ctx_status(ctx);
    const enum ta_status status = take_document(&r, root);
    json_decref(root);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_dump};

TA_PLUGIN(input, framepack, &ops, .title = "FramePack report",
          .summary = "FramePack's profiling_report.json and memory logs: operations, memory "
                     "snapshots, iterations",
          .version = "1");
