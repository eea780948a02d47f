/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sglang's diffusion server writes with --perf-dump-path: a request with its total, its
 * stages, its denoising steps and the memory at moments that have a name.
 *
 * Stages and steps are timed on the host, without a wait for the GPU: a step can hold time of the
 * one before, so steps are shown as they are and add up to more or less than their stage.  What of
 * the total no stage has is a figure of its own. */
#include "lib/json_rows.h"
#include "lib/outer_keys.h"

#include <traceanalyze/plugin.h>

enum { TOTAL, STAGES, STEPS, MEMORY, COMMIT, META };

static const char *const keys[] = {"total_duration_ms",
                                   "steps",
                                   "denoise_steps_ms",
                                   "memory_checkpoints",
                                   "commit_hash",
                                   "meta",
                                   NULL};

static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    if (!(found & 1u << TOTAL) || !(found & 1u << STAGES))
        return 0;
    return found & (1u << STEPS | 1u << MEMORY | 1u << COMMIT | 1u << META) ? 92 : 82;
}

/* Returns the sum of the stages. */
static int64_t take_stages(struct ta_json_rows *r, const json_t *stages)
{
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *row = json_array_get(stages, i);
        const struct ta_slice name = ta_document_text(json_object_get(row, "name"));
        const int64_t dur_ns = ta_json_rows_decimal(r, row, "duration_ms", 6);
        if (name.len == 0 || dur_ns == TA_MISSING) {
            ta_json_rows_drop(r, "A stage has no name or no time");
            continue;
        }
        const struct ta_timed_stage stage =
            ta_single_call(ta_builder_string(r->builder, name), dur_ns);
        TA_JSON_ROWS_ADD(r, stage, &stage);
        sum = ta_add_sat(sum, dur_ns);
    }
    return sum;
}

/* Steps as objects, or, in the first version, as numbers in a list. */
static void take_steps(struct ta_json_rows *r, json_t *steps)
{
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *row = json_array_get(steps, i);
        const bool is_number = !json_is_object(row);
        const struct ta_diffusion_step step = {
            .rank = TA_MISSING,
            .step = is_number ? (int64_t)i : ta_document_integer(json_object_get(row, "step")),
            .timestep = NAN,
            .block_size = TA_MISSING,
            .dur_ns = is_number ? ta_json_rows_value(r, row, "denoise_steps_ms", 6)
                                : ta_json_rows_decimal(r, row, "duration_ms", 6),
            .guidance_scale = NAN,
            .end_ns = TA_MISSING,
        };
        if (step.dur_ns == TA_MISSING)
            ta_json_rows_drop(r, "A denoising step has no time");
        else
            TA_JSON_ROWS_ADD(r, diffusion_step, &step);
    }
}

static void take_memory(struct ta_json_rows *r, json_t *checkpoints)
{
    const char *label;
    json_t *row;
    json_object_foreach(checkpoints, label, row)
    {
        struct ta_memory_mark mark = ta_unknown_memory_mark();
        mark.label = ta_builder_string(r->builder, ta_slice_of(label));
        mark.allocated_bytes = ta_json_rows_mib(r, row, "allocated_mb");
        mark.reserved_bytes = ta_json_rows_mib(r, row, "reserved_mb");
        mark.max_allocated_bytes = ta_json_rows_mib(r, row, "peak_allocated_mb");
        mark.max_reserved_bytes = ta_json_rows_mib(r, row, "peak_reserved_mb");
        if (mark.allocated_bytes == TA_MISSING && mark.reserved_bytes == TA_MISSING &&
            mark.max_allocated_bytes == TA_MISSING && mark.max_reserved_bytes == TA_MISSING)
            ta_json_rows_drop(r, "A memory checkpoint has no size");
        else
            TA_JSON_ROWS_ADD(r, memory_mark, &mark);
    }
}

static void take_request(struct ta_json_rows *r, json_t *root)
{
    const struct ta_slice id = ta_document_text(json_object_get(root, "request_id"));
    struct ta_session session = ta_unknown_session();
    session.id = id.ptr ? ta_builder_string(r->builder, id) : TA_STR_ABSENT;
    session.dur_ns = ta_json_rows_decimal(r, root, "total_duration_ms", 6);
    session.is_request = true;
    if (session.dur_ns != TA_MISSING)
        TA_JSON_ROWS_ADD(r, session, &session);
    json_t *stages = ta_json_rows_part(r, root, "steps", JSON_ARRAY);
    const int64_t sum = take_stages(r, stages);
    /* Not where a stage was dropped, or the file is cut among them. */
    const bool has_more = json_object_iter_next(root, json_object_iter_at(root, "steps"));
    if (json_array_size(stages) && has_more && r->dropped == 0 && session.dur_ns != TA_MISSING &&
        sum <= session.dur_ns)
        ta_json_rows_figure(r, "outside_stages_ns", "request", (double)(session.dur_ns - sum),
                            TA_UNIT_NS);
    take_steps(r, ta_json_rows_part(r, root, "denoise_steps_ms", JSON_ARRAY));
    take_memory(r, ta_json_rows_part(r, root, "memory_checkpoints", JSON_OBJECT));
    static const char *const words[] = {"tag", "commit_hash", "timestamp"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ta_json_rows_tag(r, words[i], json_object_get(root, words[i]));
    json_t *meta = ta_json_rows_part(r, root, "meta", JSON_OBJECT);
    const char *key;
    json_t *value;
    json_object_foreach(meta, key, value)
    {
        ta_json_rows_tag(r, key, value);
    }
}

static enum ta_status read_dump(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct ta_json_rows r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    json_t *root = ta_document_read(ctx, reader, builder);
    if (!root)
        return ta_ctx_status(ctx);
    take_request(&r, root);
    json_decref(root);
    return ta_json_rows_end(&r, "total, stage, denoising step or memory checkpoint");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_dump};

TA_PLUGIN(input, sglang_perf, &ops, .title = "sglang performance dump",
          .summary = "sglang --perf-dump-path: stages, denoising steps and memory of a request",
          .version = "1");
