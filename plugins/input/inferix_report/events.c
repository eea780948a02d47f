/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a session report, and the analyses that stand in where they were left out. */
#include "base/convert.h"
#include "base/vec.h"
#include "report.h"

#include <inttypes.h>

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
    if (block.memory_bytes != TA_MISSING) {
        /* The memory of a block is the largest that was allocated so far. */
        char label[40] = "block";
        if (block.block != TA_MISSING)
            snprintf(label, sizeof label, "block %" PRId64, block.block);
        struct ta_memory_mark mark = ta_unknown_memory_mark();
        mark.label = inferix_intern(in, ta_slice_of(label));
        mark.time_ns = block.end_ns;
        mark.max_allocated_bytes = block.memory_bytes;
        INFERIX_ADD(in, memory_mark, &mark);
    }
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
    if (!ta_vec_grow((void **)&sums->layers, &sums->max_layers, sums->n_layers,
                     sizeof *sums->layers)) {
        in->status = ta_fail(in->ctx, TA_ERR_NOMEM, "Cannot hold the layers of a report");
        return NULL;
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

static void take_layers(struct inferix *in, const struct sums *sums, json_t *document)
{
    json_t *analysis = inferix_object(in, document, "computation_analysis");
    const char *name;
    json_t *layer;
    if (sums->n_layers == 0)
        json_object_foreach(inferix_object(in, analysis, "layer_performance"), name, layer)
        {
            struct ta_layer row = ta_unknown_layer();
            row.name = inferix_intern(in, ta_slice_of(name));
            row.calls = inferix_count(in, layer, "call_count");
            row.total_ns = inferix_decimal(in, layer, "total_time_ms", 6);
            row.min_ns = inferix_decimal(in, layer, "min_time_ms", 6);
            row.max_ns = inferix_decimal(in, layer, "max_time_ms", 6);
            INFERIX_ADD(in, layer, &row);
            in->kept++;
        }
    size_t i;
    json_array_foreach(inferix_array(in, analysis, "bottlenecks"), i, layer) inferix_figure(
        in, "layer", ta_document_text(json_object_get(layer, "layer")),
        TA_LIT("percentage_of_total"), ta_document_text(json_object_get(layer, "percentage")));
}

void inferix_report_events(struct inferix *in, json_t *document)
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
