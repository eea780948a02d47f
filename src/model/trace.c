/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views on a frozen trace, and the end of its memory. */
#include "model/trace.h"

#include <stdlib.h>

static void free_spans(struct ta_store *store, struct span_columns *c)
{
    ta_store_free(store, c->ts);
    ta_store_free(store, c->dur);
    ta_store_free(store, c->self);
    ta_store_free(store, c->name);
    ta_store_free(store, c->cat);
    ta_store_free(store, c->track);
    ta_store_free(store, c->parent);
    ta_store_free(store, c->depth);
    ta_store_free(store, c->work);
}

static void free_others(struct ta_trace *t)
{
    ta_store_free(&t->store, t->counters.ts);
    ta_store_free(&t->store, t->counters.value);
    ta_store_free(&t->store, t->counters.place);
    counter_list_free(&t->counters.series);
    ta_store_free(&t->store, t->instants.ts);
    ta_store_free(&t->store, t->instants.name);
    ta_store_free(&t->store, t->instants.cat);
    ta_store_free(&t->store, t->instants.track);
    ta_store_free(&t->store, t->flows.ts);
    ta_store_free(&t->store, t->flows.name);
    ta_store_free(&t->store, t->flows.id);
    ta_store_free(&t->store, t->flows.track);
    ta_store_free(&t->store, t->flows.phase);
    ta_store_free(&t->store, t->asyncs.ts);
    ta_store_free(&t->store, t->asyncs.dur);
    ta_store_free(&t->store, t->asyncs.name);
    ta_store_free(&t->store, t->asyncs.id);
    ta_store_free(&t->store, t->asyncs.cat);
}

void ta_trace_free(struct ta_trace *trace)
{
    if (!trace)
        return;
    ta_facts_free(trace->facts);
    free_spans(&trace->store, &trace->spans);
    free_others(trace);
    for (size_t i = 0; i < trace->n_args; i++)
        arg_column_free(&trace->store, &trace->args[i]);
    free(trace->categories.at);
    free(trace->tracks.at);
    free(trace->kinds.at);
    free(trace->kernels.at);
    free(trace->devices.at);
    ta_store_free(&trace->store, trace->activities.at);
    ta_dump_free(&trace->dump, &trace->store);
    ta_store_close(&trace->store);
    ta_strings_free(&trace->strings);
    ta_arena_free(&trace->arena);
    free(trace);
}

struct arg_column *ta_trace_arg_column(struct ta_trace *trace, const char *key)
{
    for (size_t i = 0; i < trace->n_args; i++)
        if (ta_slice_equal(trace->args[i].key, ta_slice_of(key)))
            return &trace->args[i];
    return NULL;
}

/* ---- views ------------------------------------------------------------------------------- */

int64_t ta_trace_rank(const struct ta_trace *trace)
{
    return trace->rank;
}

int64_t ta_trace_origin(const struct ta_trace *trace)
{
    return trace->origin;
}

int64_t ta_trace_base_ns(const struct ta_trace *trace)
{
    return trace->base_ns;
}

struct ta_slice ta_trace_text(const struct ta_trace *trace, ta_str id)
{
    return ta_strings_text(&trace->strings, id);
}

size_t ta_trace_string_count(const struct ta_trace *trace)
{
    return trace->strings.texts.n;
}

struct ta_trace_file ta_trace_file(const struct ta_trace *trace)
{
    return trace->file;
}

struct ta_categories ta_trace_categories(const struct ta_trace *trace)
{
    return (struct ta_categories){trace->categories.n, trace->categories.at};
}

struct ta_tracks ta_trace_tracks(const struct ta_trace *trace)
{
    return (struct ta_tracks){trace->tracks.n, trace->tracks.at};
}

struct ta_spans ta_trace_spans(const struct ta_trace *trace)
{
    const struct span_columns *c = &trace->spans;
    return (struct ta_spans){c->n,   c->ts,    c->dur,    c->self,  c->name,
                             c->cat, c->track, c->parent, c->depth, c->work};
}

struct ta_activities ta_trace_activities(const struct ta_trace *trace)
{
    return (struct ta_activities){trace->activities.n, trace->activities.at};
}

struct ta_kernels ta_trace_kernels(const struct ta_trace *trace)
{
    return (struct ta_kernels){trace->kernels.n, trace->kernels.at};
}

struct ta_device_units ta_trace_device_units(const struct ta_trace *trace)
{
    return (struct ta_device_units){ta_max_i64(trace->units.multiprocessors, 0),
                                    ta_max_i64(trace->units.threads, 0)};
}

struct ta_devices ta_trace_devices(const struct ta_trace *trace)
{
    return (struct ta_devices){trace->devices.n, trace->devices.at};
}

static bool are_alike(const struct ta_device *a, const struct ta_device *b)
{
    return ta_slice_equal(a->name, b->name) && a->multiprocessors == b->multiprocessors &&
           a->memory_bytes == b->memory_bytes;
}

const struct ta_device *ta_trace_device(const struct ta_trace *trace, int64_t id)
{
    const struct ta_device *at = trace->devices.at;
    bool alike = trace->devices.n > 0;
    for (size_t i = 0; i < trace->devices.n; i++) {
        if (at[i].id == id && id != TA_MISSING)
            return &at[i];
        alike &= are_alike(&at[0], &at[i]);
    }
    return alike ? &at[0] : NULL;
}

struct ta_counters ta_trace_counters(const struct ta_trace *trace)
{
    const struct counter_columns *c = &trace->counters;
    return (struct ta_counters){c->n, c->ts, c->value, c->series.list.n, c->series.list.at};
}

struct ta_instants ta_trace_instants(const struct ta_trace *trace)
{
    const struct instant_columns *c = &trace->instants;
    return (struct ta_instants){c->n, c->ts, c->name, c->cat, c->track};
}

struct ta_flows ta_trace_flows(const struct ta_trace *trace)
{
    const struct flow_columns *c = &trace->flows;
    return (struct ta_flows){c->n, c->ts, c->name, c->id, c->track, c->phase};
}

struct ta_asyncs ta_trace_asyncs(const struct ta_trace *trace)
{
    const struct async_columns *c = &trace->asyncs;
    return (struct ta_asyncs){c->n, c->ts, c->dur, c->name, c->id, c->cat};
}

struct ta_kind_counts ta_trace_kind_counts(const struct ta_trace *trace)
{
    return (struct ta_kind_counts){trace->kinds.n, trace->kinds.at};
}

struct ta_args ta_trace_args(const struct ta_trace *trace, const char *key)
{
    const struct arg_column *c = ta_trace_arg_column((struct ta_trace *)(uintptr_t)trace, key);
    return c ? arg_column_view(c) : (struct ta_args){0};
}

size_t ta_args_search(const struct ta_args *args, ta_row row)
{
    size_t low = 0, high = args->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (args->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < args->n && args->row[low] == row ? low : args->n;
}
