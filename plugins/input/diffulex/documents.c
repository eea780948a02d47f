/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffulex's JSON files: section metrics, benchmark statistics, operator rows, trajectories. */
#include "base/convert.h"
#include "diffulex.h"

#include <inttypes.h>
#include <math.h>

/* A document that begins with an empty list of sections, or one of objects with names. */
static bool begins_with_sections(struct ta_slice head)
{
    static const char *const parts[] = {"{", "\"metrics\"", ":", "["};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t n = strlen(parts[i]);
        head = dx_skip_blanks(head);
        if (!ta_slice_starts(head, parts[i]))
            return false;
        head = ta_slice_from(head, n);
    }
    head = dx_skip_blanks(head);
    return ta_slice_starts(head, "]") ||
           (ta_slice_starts(head, "{") && dx_holds(head, "\"duration_sec\""));
}

int dx_sniff_document(struct ta_slice head)
{
    if (head.len == 0 || dx_holds(head, "\"traceEvents\""))
        return 0;
    if (head.ptr[0] == '{' && dx_holds(head, "\"metrics\"") &&
        (dx_holds(head, "\"throughput_tokens_per_sec\"") || dx_holds(head, "\"total_sections\"")))
        return 92;
    if (begins_with_sections(head))
        return dx_holds(head, "\"summary\"") ? 80 : 60;
    if (head.ptr[0] == '{' && dx_holds(head, "\"total_nfe\"") &&
        (dx_holds(head, "\"tpf\"") || dx_holds(head, "\"nfe_per_token\"")))
        return 92;
    if (head.ptr[0] == '[' && dx_holds(head, "\"self_cpu_time_total_us\""))
        return 92;
    if (head.ptr[0] == '[' && dx_holds(head, "\"trajectory\"") && dx_holds(head, "\"req_id\""))
        return 92;
    return 0;
}

/* ---- values --------------------------------------------------------------------------------- */

/* A value that is there but holds no number is accounted for; null is "not recorded". */
static void check(struct reading *r, const json_t *value, bool missing, const char *key)
{
    if (missing && value && !json_is_null(value))
        ta_quality_add(r->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "The value of \"%s\" is not a number within range", key);
}

static int64_t decimal(struct reading *r, const json_t *row, const char *key, int shift)
{
    const json_t *value = json_object_get(row, key);
    const int64_t number = ta_document_decimal(value, shift);
    check(r, value, number == TA_MISSING, key);
    return number;
}

static int64_t integer(struct reading *r, const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    const int64_t number = ta_document_integer(value);
    check(r, value, number == TA_MISSING, key);
    return number;
}

static double real(struct reading *r, const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    const double number = ta_document_double(value);
    check(r, value, isnan(number), key);
    return number;
}

static void drop(struct reading *r, const char *what, size_t index)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET, "%s: element %zu", what, index);
}

/* ---- sections ------------------------------------------------------------------------------- */

static void take_metrics(struct sections *s, struct ta_slice name, json_t *metrics)
{
    const char *key;
    json_t *value;
    char buffer[256];
    json_object_foreach(metrics, key, value)
    {
        const struct ta_slice text = ta_document_text(value);
        if (text.ptr)
            dx_sections_metric(s, name, ta_slice_of(key), text);
        else if (!json_is_null(value)) /* NaN is null, and has been accounted for */
            dx_sections_tag(s, name, ta_slice_of(key),
                            ta_document_show(value, buffer, sizeof buffer));
    }
}

static void take_tags(struct sections *s, struct ta_slice name, json_t *tags, bool texts_only)
{
    const char *key;
    json_t *value;
    char buffer[256];
    json_object_foreach(tags, key, value)
    {
        const bool wanted = !texts_only || ta_document_is_text(value);
        if (wanted && !json_is_null(value) && strcmp(key, "name") != 0 &&
            strcmp(key, "duration_sec") != 0)
            dx_sections_tag(s, name, ta_slice_of(key),
                            ta_document_show(value, buffer, sizeof buffer));
    }
}

static void take_section(struct sections *s, const json_t *row, size_t index, bool has_gpu)
{
    struct reading *r = s->r;
    const json_t *memory = json_object_get(row, "memory_delta_mb");
    struct section section = {
        .name = ta_document_text(json_object_get(row, "name")),
        .dur_ns = decimal(r, row, "duration_sec", 9),
        .seconds = ta_document_double(json_object_get(row, "duration_sec")),
        .tokens = integer(r, row, "total_tokens"),
        .tokens_per_s = real(r, row, "throughput_tokens_per_sec"),
        .gpu_change = has_gpu ? real(r, row, "gpu_utilization") / 100 : NAN,
        .memory_change = ta_document_mib(memory),
    };
    check(r, memory, section.memory_change == TA_MISSING, "memory_delta_mb");
    if (!section.name.ptr) {
        drop(r, "A section without a name", index);
        return;
    }
    r->kept++;
    dx_sections_add(s, &section);
    take_metrics(s, section.name, json_object_get(row, "custom_metrics"));
    take_tags(s, section.name, json_object_get(row, "metadata"), false);
    take_tags(s, section.name, json_object_get(row, "backend_data"), true);
}

static void take_sections(struct reading *r, const json_t *root)
{
    struct sections s;
    const json_t *metrics = json_object_get(root, "metrics");
    const json_t *summary = json_object_get(root, "summary");
    bool has_gpu = false; /* whether utilization was measured at all: else every change is 0 */
    for (size_t i = 0; i < json_array_size(metrics) && !has_gpu; i++) {
        const json_t *row = json_array_get(metrics, i);
        const double change = ta_document_double(json_object_get(row, "gpu_utilization"));
        has_gpu = isfinite(change) && change != 0;
    }
    dx_sections_begin(&s, r);
    for (size_t i = 0; i < json_array_size(metrics) && r->status == TA_OK; i++)
        take_section(&s, json_array_get(metrics, i), i, has_gpu);
    dx_sections_total(&s, real(r, summary, "avg_throughput_tokens_per_sec"));
    dx_sections_end(&s, TA_EXACT_FULL);
}

/* ---- statistics of a benchmark -------------------------------------------------------------- */

static const struct statistic {
    const char *key, *name;
    enum ta_unit unit;
} statistics[] = {
    {"total_samples", "samples", TA_UNIT_COUNT},
    {"total_tokens", "tokens", TA_UNIT_COUNT},
    {"total_nfe", "nfe", TA_UNIT_COUNT},
    {"total_time", "total_time_ns", TA_UNIT_NS},
    {"e2e_total_time_s", "e2e_total_time_ns", TA_UNIT_NS},
    {"e2e_throughput_tok_s", "e2e_tokens_per_s", TA_UNIT_PER_S},
    {"throughput_tok_s", "e2e_tokens_per_s", TA_UNIT_PER_S}, /* as it was called before */
    {"avg_tokens_per_sample", "tokens_per_sample", TA_UNIT_NONE},
    {"avg_nfe_per_sample", "nfe_per_sample", TA_UNIT_NONE},
    {"avg_time_per_sample", "time_per_sample_ns", TA_UNIT_NS},
    {"ttft_s", "ttft_ns", TA_UNIT_NS},
    {"tpot_s", "tpot_ns", TA_UNIT_NS},
    {"prefill_throughput_tok_s", "prefill_tokens_per_s", TA_UNIT_PER_S},
    {"decode_throughput_tok_s", "decode_tokens_per_s", TA_UNIT_PER_S},
    {"tpf", "tpf", TA_UNIT_NONE},
    {"aggregate_tpf", "aggregate_tpf", TA_UNIT_NONE},
    {"last_batch_tpf", "last_batch_tpf", TA_UNIT_NONE},
    {"avg_e2e_tps", "tokens_per_s_of_samples", TA_UNIT_PER_S},
    {"avg_decode_tps", "decode_tokens_per_s_of_samples", TA_UNIT_PER_S},
    {"nfe_per_token", "nfe_per_token", TA_UNIT_NONE},
};

/* All of them as reported: the times of requests that ran together are added up in total_time, so
 * tokens over it are no throughput of the run. */
static void take_statistics(struct reading *r, const json_t *root)
{
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        const struct statistic *what = &statistics[i];
        const json_t *value = json_object_get(root, what->key);
        const double number = ta_document_double(value);
        check(r, value, isnan(number), what->key);
        if (isnan(number))
            continue;
        r->kept++;
        const ta_str name = ta_builder_string(r->builder, ta_slice_of(what->name));
        if (what->unit == TA_UNIT_NS) { /* exact, as far as a double goes */
            const int64_t ns = ta_document_decimal(value, 9);
            dx_add_figure(r, name, "generation", ns == TA_MISSING ? NAN : (double)ns, what->unit);
        } else {
            dx_add_figure(r, name, "generation", number, what->unit);
        }
    }
    const struct ta_slice stamp = ta_document_text(json_object_get(root, "timestamp"));
    if (r->status == TA_OK && stamp.ptr)
        r->status = ta_rows_tag(r->ctx, r->builder,
                                ta_builder_string(r->builder, TA_LIT("timestamp")), stamp);
}

/* ---- operators ------------------------------------------------------------------------------ */

static void take_operator(struct operators *o, const json_t *row, size_t index)
{
    struct reading *r = o->r;
    const struct ta_slice name = ta_document_text(json_object_get(row, "name"));
    char buffer[256];
    const json_t *shapes = json_object_get(row, "input_shapes");
    const struct ta_slice shown = ta_document_show(shapes, buffer, sizeof buffer);
    const bool has_shapes = shown.len && !ta_slice_equal(shown, TA_LIT("[]"));
    struct operator_row op = {.profile = TA_STR_ABSENT};
    op.sum = (struct ta_operator_sum){
        .rank = TA_MISSING,
        .name = ta_builder_string(r->builder, name),
        .shapes = has_shapes ? ta_builder_string(r->builder, shown) : TA_STR_ABSENT,
        .calls = integer(r, row, "count"),
        .self_cpu_ns = decimal(r, row, "self_cpu_time_total_us", 3),
        .cpu_ns = decimal(r, row, "cpu_time_total_us", 3),
        .self_device_ns = decimal(r, row, "self_cuda_time_total_us", 3),
        .device_ns = decimal(r, row, "cuda_time_total_us", 3),
        .self_cpu_bytes = integer(r, row, "self_cpu_memory_usage"),
        .self_device_bytes = integer(r, row, "self_cuda_memory_usage"),
        .flops = TA_MISSING,
    };
    if (!name.ptr || (op.sum.calls == TA_MISSING && op.sum.cpu_ns == TA_MISSING)) {
        drop(r, "An operator without a name or figures", index);
        return;
    }
    r->kept++;
    dx_operators_add(o, &op);
}

static void take_operators(struct reading *r, const json_t *root)
{
    struct operators o;
    dx_operators_begin(&o, r);
    for (size_t i = 0; i < json_array_size(root) && r->status == TA_OK; i++)
        take_operator(&o, json_array_get(root, i), i);
    dx_operators_end(&o, TA_EXACT_FULL);
}

/* ---- trajectories --------------------------------------------------------------------------- */

static void take_trajectory(struct reading *r, const json_t *row, size_t index)
{
    const json_t *steps = json_object_get(row, "trajectory");
    const struct ta_slice id = ta_document_text(json_object_get(row, "req_id"));
    if (!json_is_array(steps)) {
        drop(r, "A request without its trajectory", index);
        return;
    }
    struct ta_request request = {
        .rank = TA_MISSING,
        .id = id.ptr ? ta_builder_string(r->builder, id) : TA_STR_ABSENT,
        .first_token_ns = TA_MISSING,
    };
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const int64_t dur_ns = decimal(r, step, "step_time", 9);
        int64_t tokens = integer(r, step, "num_generated_tokens");
        const bool decodes = !json_is_true(json_object_get(step, "is_prefill"));
        if (dur_ns == TA_MISSING || dur_ns < 0 || !json_is_object(step)) {
            r->dropped++;
            ta_quality_add(r->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET,
                           "A step of a trajectory has no time");
            continue;
        }
        r->kept++;
        if (tokens == TA_MISSING || tokens < 0)
            tokens = 0;
        request.steps++;
        request.dur_ns = ta_add_sat(request.dur_ns, dur_ns);
        request.tokens = ta_add_sat(request.tokens, tokens);
        if (tokens && request.first_token_ns == TA_MISSING)
            request.first_token_ns = request.dur_ns;
        if (!decodes)
            continue;
        request.decode_steps++;
        request.decode_ns = ta_add_sat(request.decode_ns, dur_ns);
        request.decode_tokens = ta_add_sat(request.decode_tokens, tokens);
    }
    if (request.steps)
        r->status = ta_builder_add_request(r->ctx, r->builder, &request);
}

static void take_trajectories(struct reading *r, const json_t *root)
{
    for (size_t i = 0; i < json_array_size(root) && r->status == TA_OK; i++)
        take_trajectory(r, json_array_get(root, i), i);
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool take_document(struct reading *r, const json_t *root)
{
    const json_t *first = json_array_get(root, 0);
    if (json_is_array(json_object_get(root, "metrics")))
        take_sections(r, root);
    else if (json_object_get(root, "total_nfe"))
        take_statistics(r, root);
    else if (json_object_get(first, "self_cpu_time_total_us"))
        take_operators(r, root);
    else if (json_object_get(first, "trajectory"))
        take_trajectories(r, root);
    else
        return false;
    return true;
}

enum ta_status dx_read_document(struct reading *r)
{
    json_t *root = ta_document_read(r->ctx, r->reader, r->builder);
    if (!root)
        return ta_ctx_status(r->ctx);
    const bool known = take_document(r, root);
    json_decref(root);
    ta_builder_count(r->builder, r->kept, 0, r->dropped);
    if (r->status != TA_OK)
        return r->status;
    if (!known)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "JSON, but not of Diffulex: it has neither \"metrics\" nor \"total_nfe\", "
                       "operator rows or trajectories");
    if (r->kept == 0 && r->dropped)
        return ta_fail(r->ctx, TA_ERR_INPUT, "No usable record: dropped=%" PRIu64, r->dropped);
    if (r->kept == 0)
        ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "The file holds no records");
    return TA_OK;
}
