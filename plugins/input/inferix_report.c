/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report that Inferix writes at the end of a session: stages, denoising steps, blocks, models,
 * telemetry, what it made of them, and its advice.
 *
 * Events carry the time at which they were recorded, the end of what they measure.  The telemetry
 * begins with the samples of earlier sessions of the same process, which are left out.  A device
 * that is missing leaves samples full of zeros, and so does a power that cannot be read. */
#include "inferix.h"

#include <inttypes.h>

enum { SESSION_INFO, EVENTS, SUMMARY };

static const char *const keys[] = {
    [SESSION_INFO] = "session_info",
    [EVENTS] = "events",
    [SUMMARY] = "summary",
    "gpu_metrics",
    "cpu_metrics",
    "stage_analysis",
    "recommendations",
    "streaming_analysis",
    "computation_analysis",
    "cache_analysis",
    "diffusion_analysis",
    "model_analysis",
    "block_analysis",
    NULL,
};

/* Sorted or cut reports lack the first key as far as one can see; other dumps have a summary and
 * events as well. */
static int sniff(const struct ta_probe *probe)
{
    const unsigned found = inferix_keys(probe, keys);
    const unsigned own = found & ~(1u << EVENTS | 1u << SUMMARY);
    if (own & 1u << SESSION_INFO)
        return found & (found - 1) ? 95 : 60;
    return own & (own - 1) ? 85 : own ? 50 : 0;
}

/* ---- the session ----------------------------------------------------------------------------- */

/* Returns when the session began. */
static int64_t take_session(struct inferix *in, json_t *document)
{
    json_t *info = inferix_object(in, document, "session_info");
    const struct ta_slice id = ta_document_text(json_object_get(info, "id"));
    const struct ta_session session = {.rank = TA_MISSING,
                                       .id = inferix_intern(in, id),
                                       .start_ns = inferix_decimal(in, info, "start_time", 9),
                                       .end_ns = inferix_decimal(in, info, "end_time", 9),
                                       .dur_ns = inferix_decimal(in, info, "duration", 9)};
    if (!info)
        return TA_MISSING;
    INFERIX_ADD(in, session, &session);
    in->kept++;
    inferix_tags(in, inferix_object(in, info, "tags"));
    if (id.ptr) /* the raw dump of the session has its telemetry as well, and per device */
        ta_builder_set_copy(in->builder, id, TA_EXACT_FULL);
    return session.start_ns;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void take_stage(struct inferix *in, const char *name, json_t *stage)
{
    const struct ta_timed_stage row = {.rank = TA_MISSING,
                                       .name = inferix_intern(in, ta_slice_of(name)),
                                       .calls = inferix_count(in, stage, "call_count"),
                                       .total_ns = inferix_decimal(in, stage, "total_time", 9),
                                       .min_ns = inferix_decimal(in, stage, "min_time", 9),
                                       .max_ns = inferix_decimal(in, stage, "max_time", 9),
                                       .last_ns = TA_MISSING,
                                       .median_ns = TA_MISSING,
                                       .device_ns = TA_MISSING,
                                       .step = TA_MISSING};
    INFERIX_ADD(in, stage, &row);
    in->kept++;
    inferix_figure(in, "stage", ta_slice_of(name), TA_LIT("percentage_of_total"),
                   ta_document_text(json_object_get(stage, "percentage_of_total")));
}

static void take_stages(struct inferix *in, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "stage_analysis");
    const char *name;
    json_t *stage;
    json_object_foreach(inferix_object(in, analysis, "stages"), name, stage)
    {
        if (json_is_object(stage))
            take_stage(in, name, stage);
        else
            inferix_drop(in, "A stage is not an object");
    }
    inferix_figures(in, "stage", analysis, false);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What is summed up over the events of a report. */
struct sums {
    int64_t hits, misses, evictions, end_ns;
    size_t n_steps, n_blocks, n_models, n_layers, max_layers;
    struct ta_layer *layers;
};

static void take_step(struct inferix *in, struct sums *sums, json_t *data)
{
    const struct ta_diffusion_step step = {
        .rank = TA_MISSING,
        .step = inferix_integer(in, data, "step"),
        .timestep = inferix_real(in, data, "timestep"),
        .block_size = inferix_integer(in, data, "block_size"),
        .dur_ns = inferix_decimal(in, data, "computation_time_ms", 6),
        .guidance_scale = inferix_real(in, data, "guidance_scale"),
        .end_ns = sums->end_ns};
    INFERIX_ADD(in, diffusion_step, &step);
    sums->n_steps++;
}

/* The memory of a block is the largest that was allocated so far. */
static void mark_memory(struct inferix *in, const struct ta_diffusion_block *block)
{
    char label[40] = "block";
    if (block->block != TA_MISSING)
        snprintf(label, sizeof label, "block %" PRId64, block->block);
    const struct ta_memory_mark mark = {.rank = TA_MISSING,
                                        .label = inferix_intern(in, ta_slice_of(label)),
                                        .device = TA_MISSING,
                                        .time_ns = block->end_ns,
                                        .allocated_bytes = TA_MISSING,
                                        .reserved_bytes = TA_MISSING,
                                        .max_allocated_bytes = block->memory_bytes,
                                        .max_reserved_bytes = TA_MISSING,
                                        .total_bytes = TA_MISSING,
                                        .ooms = TA_MISSING,
                                        .retries = TA_MISSING};
    INFERIX_ADD(in, memory_mark, &mark);
}

static void take_block(struct inferix *in, struct sums *sums, json_t *data)
{
    const struct ta_diffusion_block block = {
        .rank = TA_MISSING,
        .block = inferix_integer(in, data, "block_index"),
        .frames = inferix_integer(in, data, "block_size"),
        .dur_ns = inferix_decimal(in, data, "computation_time_ms", 6),
        .memory_bytes = inferix_mib(in, data, "memory_usage_mb"),
        .end_ns = sums->end_ns};
    INFERIX_ADD(in, diffusion_block, &block);
    if (block.memory_bytes != TA_MISSING)
        mark_memory(in, &block);
    sums->n_blocks++;
}

static void add_model(struct inferix *in, ta_str name, json_t *data)
{
    const struct ta_model_info model = {
        .rank = TA_MISSING,
        .name = name,
        .type = inferix_text(in, json_object_get(data, "model_type")),
        .parameters = inferix_integer(in, data, "parameters_count")};
    INFERIX_ADD(in, model, &model);
}

static void take_model(struct inferix *in, struct sums *sums, json_t *data)
{
    add_model(in, inferix_text(in, json_object_get(data, "model_name")), data);
    sums->n_models++;
}

static struct ta_layer *find_layer(struct inferix *in, struct sums *sums, ta_str name)
{
    for (size_t i = 0; i < sums->n_layers; i++)
        if (sums->layers[i].name == name)
            return &sums->layers[i];
    if (sums->n_layers == sums->max_layers) {
        const size_t max = sums->max_layers ? 2 * sums->max_layers : 16;
        struct ta_layer *grown = reallocarray(sums->layers, max, sizeof *grown);
        if (!grown) {
            in->status = ta_fail(in->ctx, TA_ERR_NOMEM, "Cannot hold the layers of a report");
            return NULL;
        }
        sums->layers = grown;
        sums->max_layers = max;
    }
    struct ta_layer *layer = &sums->layers[sums->n_layers++];
    *layer = (struct ta_layer){.rank = TA_MISSING,
                               .name = name,
                               .min_ns = INT64_MAX,
                               .max_ns = INT64_MIN + 1,
                               .parameters = TA_MISSING};
    return layer;
}

static void take_layer(struct inferix *in, struct sums *sums, json_t *data)
{
    const int64_t dur = inferix_decimal(in, data, "computation_time_ms", 6);
    struct ta_layer *layer =
        find_layer(in, sums, inferix_text(in, json_object_get(data, "layer_name")));
    if (!layer || dur == TA_MISSING)
        return;
    const int64_t parameters = inferix_integer(in, data, "parameters_count");
    layer->calls++;
    layer->total_ns = ta_add_sat(layer->total_ns, dur);
    layer->min_ns = ta_min_i64(layer->min_ns, dur);
    layer->max_ns = ta_max_i64(layer->max_ns, dur);
    if (parameters != TA_MISSING)
        layer->parameters = parameters;
}

/* Inferix counts "hits" and "misses" only, though its documentation says "hit" and "miss". */
static void take_lookup(struct sums *sums, json_t *data)
{
    const struct ta_slice type = ta_document_text(json_object_get(data, "event_type"));
    sums->hits += ta_slice_equal(type, TA_LIT("hit")) || ta_slice_equal(type, TA_LIT("hits"));
    sums->misses += ta_slice_equal(type, TA_LIT("miss")) || ta_slice_equal(type, TA_LIT("misses"));
    sums->evictions +=
        ta_slice_equal(type, TA_LIT("eviction")) || ta_slice_equal(type, TA_LIT("evictions"));
}

static void add_happening(struct inferix *in, const struct sums *sums, struct ta_slice name,
                          json_t *data)
{
    char buffer[256];
    const bool has_data = json_is_object(data) ? json_object_size(data) > 0 : data != NULL;
    const struct ta_happening happening = {
        .rank = TA_MISSING,
        .name = inferix_intern(in, name),
        .data = has_data ? inferix_intern(in, ta_document_show(data, buffer, sizeof buffer))
                         : TA_STR_ABSENT,
        .time_ns = sums->end_ns};
    INFERIX_ADD(in, happening, &happening);
}

static void take_event(struct inferix *in, struct sums *sums, json_t *event)
{
    const struct ta_slice name = ta_document_text(json_object_get(event, "name"));
    if (!name.ptr) {
        inferix_drop(in, "An event has no name");
        return;
    }
    json_t *data = json_object_get(event, "data");
    sums->end_ns = inferix_decimal(in, event, "timestamp", 9);
    if (ta_slice_equal(name, TA_LIT("diffusion_step")))
        take_step(in, sums, data);
    else if (ta_slice_equal(name, TA_LIT("block_computation")))
        take_block(in, sums, data);
    else if (ta_slice_equal(name, TA_LIT("model_parameters")))
        take_model(in, sums, data);
    else if (ta_slice_equal(name, TA_LIT("layer_computation")))
        take_layer(in, sums, data);
    else if (ta_slice_equal(name, TA_LIT("cache_event")))
        take_lookup(sums, data);
    else
        add_happening(in, sums, name, data);
    in->kept++;
}

static void add_sums(struct inferix *in, const struct sums *sums)
{
    const struct ta_cache_count cache = {.rank = TA_MISSING,
                                         .cache = inferix_intern(in, TA_LIT("cache")),
                                         .hits = sums->hits,
                                         .misses = sums->misses,
                                         .evictions = sums->evictions};
    if (sums->hits + sums->misses > 0)
        INFERIX_ADD(in, cache, &cache);
    for (size_t i = 0; i < sums->n_layers; i++) {
        struct ta_layer layer = sums->layers[i];
        if (layer.calls == 0)
            layer.total_ns = layer.min_ns = layer.max_ns = TA_MISSING;
        INFERIX_ADD(in, layer, &layer);
    }
}

/* ---- what the report worked out -------------------------------------------------------------- */

/* The analyses copy the events they are made of, and stand in where those are not. */
static void take_copies(struct inferix *in, struct sums *sums, json_t *document)
{
    json_t *steps = inferix_object(in, document, "diffusion_analysis");
    json_t *blocks = inferix_object(in, document, "block_analysis");
    size_t i;
    json_t *data;
    sums->end_ns = TA_MISSING;
    if (sums->n_steps == 0)
        json_array_foreach(inferix_array(in, steps, "steps"), i, data) take_step(in, sums, data);
    if (sums->n_blocks == 0)
        json_array_foreach(inferix_array(in, blocks, "blocks"), i, data) take_block(in, sums, data);
    inferix_figures(in, "diffusion", steps, false);
    inferix_figures(in, "block", blocks, false);
}

static void take_models(struct inferix *in, const struct sums *sums, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "model_analysis");
    const char *name;
    json_t *model;
    if (sums->n_models == 0)
        json_object_foreach(inferix_object(in, analysis, "models"), name, model)
            add_model(in, inferix_intern(in, ta_slice_of(name)), model);
    inferix_figures(in, "model", analysis, false);
}

static void add_layer_sum(struct inferix *in, const char *name, json_t *layer)
{
    const struct ta_layer row = {.rank = TA_MISSING,
                                 .name = inferix_intern(in, ta_slice_of(name)),
                                 .calls = inferix_count(in, layer, "call_count"),
                                 .total_ns = inferix_decimal(in, layer, "total_time_ms", 6),
                                 .min_ns = inferix_decimal(in, layer, "min_time_ms", 6),
                                 .max_ns = inferix_decimal(in, layer, "max_time_ms", 6),
                                 .parameters = TA_MISSING};
    INFERIX_ADD(in, layer, &row);
    in->kept++;
}

static void take_layers(struct inferix *in, const struct sums *sums, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "computation_analysis");
    const char *name;
    json_t *layer;
    if (sums->n_layers == 0)
        json_object_foreach(inferix_object(in, analysis, "layer_performance"), name, layer)
            add_layer_sum(in, name, layer);
    size_t i;
    json_array_foreach(inferix_array(in, analysis, "bottlenecks"), i, layer) inferix_figure(
        in, "layer", ta_document_text(json_object_get(layer, "layer")),
        TA_LIT("percentage_of_total"), ta_document_text(json_object_get(layer, "percentage")));
}

/* The share of small allocations is one figure for all allocators. */
static void take_allocations(struct inferix *in, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "memory_analysis");
    json_t *fragmentation = inferix_object(in, analysis, "fragmentation_analysis");
    json_t *patterns = inferix_object(in, analysis, "allocation_patterns");
    const char *name;
    json_t *pattern;
    json_object_foreach(patterns, name, pattern)
    {
        const struct ta_allocation_pattern row = {
            .rank = TA_MISSING,
            .allocator = inferix_intern(in, ta_slice_of(name)),
            .allocations = inferix_integer(in, pattern, "total_allocations"),
            .deallocations = inferix_integer(in, pattern, "total_deallocations"),
            .bytes = inferix_decimal(in, pattern, "total_bytes_allocated", 0),
            .min_bytes = inferix_decimal(in, pattern, "min_allocation_size_bytes", 0),
            .max_bytes = inferix_decimal(in, pattern, "max_allocation_size_bytes", 0),
            .small_ratio = json_object_size(patterns) == 1
                               ? inferix_real(in, fragmentation, "small_allocation_ratio")
                               : (double)NAN};
        INFERIX_ADD(in, allocation, &row);
        in->kept++;
    }
    inferix_figures(in, "allocation", fragmentation, false);
}

static void take_rest(struct inferix *in, json_t *document)
{
    json_t *cache = inferix_object(in, document, "cache_analysis");
    json_t *streaming = inferix_object(in, document, "streaming_analysis");
    inferix_figures(in, "cache", inferix_object(in, cache, "cache_performance"), false);
    inferix_figures(in, "cache", inferix_object(in, cache, "cache_efficiency"), false);
    /* One event has no rate, which is then written as 0. */
    if (inferix_integer(in, streaming, "total_streaming_events") < 2)
        json_object_del(streaming, "current_fps");
    inferix_figures(in, "streaming", streaming, false);
    size_t i;
    json_t *advice;
    json_array_foreach(inferix_array(in, document, "recommendations"), i, advice)
    {
        const struct ta_given_advice row = {
            .rank = TA_MISSING,
            .category = inferix_text(in, json_object_get(advice, "category")),
            .priority = inferix_text(in, json_object_get(advice, "priority")),
            .issue = inferix_text(in, json_object_get(advice, "issue")),
            .suggestion = inferix_text(in, json_object_get(advice, "suggestion"))};
        if (row.issue == TA_STR_ABSENT && row.suggestion == TA_STR_ABSENT) {
            inferix_drop(in, "A recommendation says nothing");
            continue;
        }
        INFERIX_ADD(in, advice, &row);
        in->kept++;
    }
}

/* ---- telemetry ------------------------------------------------------------------------------- */

/* A sample of an earlier session is of no use here and no loss. */
static bool is_earlier(struct inferix *in, int64_t time_ns, int64_t start_ns)
{
    if (time_ns == TA_MISSING || start_ns == TA_MISSING || time_ns >= start_ns)
        return false;
    in->dropped++;
    ta_quality_add(in->quality, TA_Q_OTHER_SESSION, TA_NO_OFFSET,
                   "Samples begin before the session that the file is about");
    return true;
}

/* Sums and largest values over all devices that the process can see. */
static void take_gpu_sample(struct inferix *in, json_t *sample, int64_t start_ns)
{
    const int64_t time = inferix_decimal(in, sample, "timestamp", 9);
    const double total = inferix_known(inferix_bytes(inferix_mib(in, sample, "memory_total_mb")));
    if (is_earlier(in, time, start_ns))
        return;
    in->kept++;
    if (isnan(total)) /* no device */
        return;
    const int64_t used = inferix_mib(in, sample, "memory_used_mb");
    const double utilization = inferix_real(in, sample, "utilization");
    const double temperature = inferix_real(in, sample, "temperature");
    const double power = inferix_real(in, sample, "power");
    inferix_sample(in, TA_SIGNAL_GPU_UTILIZATION, TA_MISSING, time, inferix_percent(utilization));
    inferix_sample(in, TA_SIGNAL_GPU_MEMORY_USED, TA_MISSING, time, inferix_bytes(used));
    inferix_sample(in, TA_SIGNAL_GPU_MEMORY_TOTAL, TA_MISSING, time, total);
    inferix_sample(in, TA_SIGNAL_GPU_TEMPERATURE, TA_MISSING, time, inferix_known(temperature));
    inferix_sample(in, TA_SIGNAL_GPU_POWER, TA_MISSING, time, inferix_known(power));
}

/* The first reading of a process counts from nothing and says 0. */
static void take_cpu_sample(struct inferix *in, json_t *sample, int64_t start_ns, bool first)
{
    const int64_t time = inferix_decimal(in, sample, "timestamp", 9);
    const double usage = inferix_real(in, sample, "cpu_usage");
    const int64_t used = inferix_mib(in, sample, "memory_used_mb");
    const int64_t total = inferix_mib(in, sample, "memory_total_mb");
    if (is_earlier(in, time, start_ns))
        return;
    in->kept++;
    inferix_sample(in, TA_SIGNAL_CPU_UTILIZATION, TA_MISSING, time,
                   inferix_percent(first ? inferix_known(usage) : usage));
    inferix_sample(in, TA_SIGNAL_CPU_MEMORY_USED, TA_MISSING, time, inferix_bytes(used));
    inferix_sample(in, TA_SIGNAL_CPU_MEMORY_TOTAL, TA_MISSING, time,
                   inferix_known(inferix_bytes(total)));
}

static void take_samples(struct inferix *in, json_t *document, int64_t start_ns)
{
    size_t i;
    json_t *sample;
    json_t *gpu = inferix_object(in, document, "gpu_metrics");
    json_array_foreach(inferix_array(in, gpu, "timeline"), i, sample)
    {
        if (json_is_object(sample))
            take_gpu_sample(in, sample, start_ns);
        else
            inferix_drop(in, "A sample is not an object");
    }
    json_t *cpu = inferix_object(in, document, "cpu_metrics");
    json_array_foreach(inferix_array(in, cpu, "timeline"), i, sample)
    {
        if (json_is_object(sample))
            take_cpu_sample(in, sample, start_ns, i == 0);
        else
            inferix_drop(in, "A sample is not an object");
    }
}

/* What the report made of its samples; of devices only where there was one. */
static void take_summaries(struct inferix *in, json_t *document)
{
    json_t *summary = inferix_object(in, document, "summary");
    json_t *gpu = inferix_object(in, document, "gpu_metrics");
    json_t *cpu = inferix_object(in, document, "cpu_metrics");
    json_t *memory = inferix_object(in, gpu, "memory_analysis");
    if (!(inferix_real(in, memory, "total_memory_mb") <= 0)) {
        inferix_figures(in, "gpu", inferix_object(in, summary, "gpu"), false);
        inferix_figures(in, "gpu_memory", memory, false);
        inferix_figures(in, "gpu_utilization", inferix_object(in, gpu, "utilization_analysis"),
                        false);
        inferix_figures(in, "gpu_temperature", inferix_object(in, gpu, "temperature_analysis"),
                        false);
        inferix_figures(in, "gpu_power", inferix_object(in, gpu, "power_analysis"), false);
    }
    inferix_figures(in, "cpu", inferix_object(in, summary, "cpu"), false);
    inferix_figures(in, "cpu_utilization", inferix_object(in, cpu, "cpu_analysis"), false);
    inferix_figures(in, "cpu_memory", inferix_object(in, cpu, "memory_analysis"), false);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void take_events(struct inferix *in, json_t *document)
{
    struct sums sums = {.layers = NULL};
    size_t i;
    json_t *event;
    json_array_foreach(inferix_array(in, document, "events"), i, event)
        take_event(in, &sums, event);
    take_copies(in, &sums, document);
    take_models(in, &sums, document);
    take_layers(in, &sums, document);
    add_sums(in, &sums);
    free(sums.layers);
}

static enum ta_status read_report(struct ta_ctx *ctx, struct ta_reader *reader,
                                  struct ta_builder *builder)
{
    struct inferix in = inferix_begin(ctx, reader, builder);
    json_t *document = ta_document_read(ctx, reader, builder);
    if (!document)
        return ta_ctx_status(ctx);
    const int64_t start_ns = take_session(&in, document);
    take_stages(&in, document);
    take_events(&in, document);
    take_allocations(&in, document);
    take_rest(&in, document);
    take_samples(&in, document, start_ns);
    take_summaries(&in, document);
    json_decref(document);
    return inferix_end(&in, "session, stage, event, sample or recommendation");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_report};

TA_PLUGIN(input, inferix_report, &ops, .title = "Inferix report",
          .summary = "Session reports of Inferix: stages, denoising steps, blocks, telemetry",
          .version = "1");
