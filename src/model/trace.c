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
    free(trace->replayed.at);
    free(trace->devices.at);
    ta_damage_free(&trace->damage);
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

const struct ta_trace_view *ta_trace_view(const struct ta_trace *trace)
{
    return &trace->view;
}

void ta_trace_show(struct ta_trace *trace)
{
    const struct span_columns *s = &trace->spans;
    const struct counter_columns *c = &trace->counters;
    const struct instant_columns *i = &trace->instants;
    const struct flow_columns *f = &trace->flows;
    const struct async_columns *a = &trace->asyncs;
    struct ta_trace_view *view = &trace->view;
    view->device_units = (struct ta_device_units){ta_max_i64(trace->units.multiprocessors, 0),
                                                  ta_max_i64(trace->units.threads, 0)};
    view->categories = (struct ta_categories){trace->categories.n, trace->categories.at};
    view->tracks = (struct ta_tracks){trace->tracks.n, trace->tracks.at};
    view->spans = (struct ta_spans){s->n,   s->ts,    s->dur,    s->self,  s->name,
                                    s->cat, s->track, s->parent, s->depth, s->work};
    view->activities = (struct ta_activities){trace->activities.n, trace->activities.at};
    view->kernels = (struct ta_kernels){trace->kernels.n, trace->kernels.at};
    view->replayed = (struct ta_replayed_graphs){trace->replayed.n, trace->replayed.at};
    view->counters =
        (struct ta_counters){c->n, c->ts, c->value, c->series.list.n, c->series.list.at};
    view->instants = (struct ta_instants){i->n, i->ts, i->name, i->cat, i->track};
    view->flows = (struct ta_flows){f->n, f->ts, f->name, f->id, f->track, f->phase};
    view->asyncs = (struct ta_asyncs){a->n, a->ts, a->dur, a->name, a->id, a->cat};
    view->kind_counts = (struct ta_kind_counts){trace->kinds.n, trace->kinds.at};
}

struct ta_slice ta_trace_text(const struct ta_trace *trace, ta_str id)
{
    return ta_strings_text(&trace->strings, id);
}

size_t ta_trace_string_count(const struct ta_trace *trace)
{
    return trace->strings.texts.n;
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

struct ta_args ta_trace_args(const struct ta_trace *trace, const char *key)
{
    const struct arg_column *c = ta_trace_arg_column((struct ta_trace *)(uintptr_t)trace, key);
    return c ? arg_column_view(c) : (struct ta_args){0};
}
