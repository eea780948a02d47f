/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flat summary of Inferix: the last reading of each device counter, which users save per rank
 * with a session and tags of their own. */
#include "lib/inferix.h"

static const char *const keys[] = {"profiling_enabled", "gpu", "cpu", "timestamp", NULL};

static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    return found & 1 ? (found & ~1u ? 95 : 80) : 0;
}

static void take_session(struct inferix *in, json_t *document)
{
    const struct ta_slice id = ta_document_text(json_object_get(document, "session_id"));
    struct ta_session session = ta_unknown_session();
    session.id = inferix_intern(in, id);
    session.dur_ns = inferix_decimal(in, document, "duration", 9);
    if (id.ptr || session.dur_ns != TA_MISSING) {
        INFERIX_ADD(in, session, &session);
        in->kept++;
    }
    if (id.ptr) /* of the timeline that a report of this session has */
        ta_builder_set_copy(in->builder, id, TA_EXACT_TEXT);
    inferix_tags(in, inferix_object(in, document, "tags"));
}

/* Sums and largest values over all devices, as in a report. */
static void take_gpu(struct inferix *in, json_t *members, int64_t time)
{
    if (!members)
        return;
    const struct inferix_gpu gpu = {
        .used = inferix_bytes(inferix_mib(in, members, "memory_used_mb")),
        .total = inferix_bytes(inferix_mib(in, members, "memory_total_mb")),
        .utilization = inferix_real(in, members, "utilization_percent"),
        .temperature = inferix_real(in, members, "temperature_celsius"),
        .power = (double)NAN,
    };
    in->kept += inferix_gpu_sample(in, time, &gpu);
}

static void take_cpu(struct inferix *in, json_t *cpu, int64_t time)
{
    const double usage = inferix_real(in, cpu, "usage_percent");
    const int64_t used = inferix_mib(in, cpu, "memory_used_mb");
    const int64_t total = inferix_mib(in, cpu, "memory_total_mb");
    if (isnan(usage) && used == TA_MISSING && total == TA_MISSING)
        return;
    inferix_cpu_sample(in, time, usage, used, total);
    in->kept++;
}

static enum ta_status read_flat(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct inferix in = inferix_begin(ctx, reader, builder);
    json_t *document = ta_document_read(ctx, reader, builder);
    if (!document)
        return ta_ctx_status(ctx);
    const bool disabled = json_is_false(json_object_get(document, "profiling_enabled"));
    const int64_t time = inferix_decimal(&in, document, "timestamp", 9);
    take_session(&in, document);
    take_gpu(&in, inferix_object(&in, document, "gpu"), time);
    take_cpu(&in, inferix_object(&in, document, "cpu"), time);
    json_decref(document);
    if (in.status == TA_OK && in.kept == 0 && disabled) {
        ta_quality_add(in.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "Profiling was switched off");
        return TA_OK;
    }
    return inferix_end(&in, "reading of a device or of the host, and no session");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_flat};

TA_PLUGIN(
    input, inferix_flat, &ops, .title = "Inferix flat summary",
    .summary = "Utilization and memory of device and host, from get_profiling_summary() of Inferix",
    .version = "1");
