/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of one builder behind those of another.
 *
 * Names, tracks and categories have ids in the order of first sight.  Going through those of the
 * second builder in that order, and giving each the id that it has, or next gets, in the first one,
 * makes the ids that a single builder would have given. */
#include "model/append.h"

#include "model/column.h"

#include <stdlib.h>

/* From ids of the builder that is appended to ids of the other one, and where both have their
 * columns. */
struct renaming {
    ta_str *names;
    ta_cat *cats;
    uint32_t *tracks;
    struct ta_store *into, *from;
};

bool ta_builder_fits(const struct ta_builder *into, const struct ta_builder *from)
{
    const struct ta_trace *a = into->trace, *b = from->trace;
    /* The first text of each stands for "absent". */
    return !ta_dump_holds_any(&a->dump) && !ta_dump_holds_any(&b->dump) && /* rows have names too */
           a->strings.texts.n + b->strings.texts.n - 2 <= a->strings.limit &&
           a->categories.n + b->categories.n < CATEGORIES_MAX &&
           a->spans.n + b->spans.n < TA_NO_ROW - 1;
}

/* ---- names, tracks, categories --------------------------------------------------------------- */

static bool rename_names(struct ta_builder *into, const struct ta_builder *from, ta_str *names)
{
    const struct ta_strings *strings = &from->trace->strings;
    names[TA_STR_ABSENT] = TA_STR_ABSENT;
    for (size_t i = 1; i < strings->texts.n; i++)
        if (ta_strings_intern(&into->trace->strings, strings->texts.at[i], &names[i]) !=
            TA_INTERN_OK)
            return false;
    return true;
}

static bool rename_tracks(struct ta_builder *into, const struct ta_builder *from,
                          const ta_str *names, uint32_t *tracks)
{
    struct ta_trace *trace = into->trace;
    for (size_t i = 0; i < from->trace->tracks.n; i++) {
        const struct ta_track *track = &from->trace->tracks.at[i];
        const ta_str pid = names[track->pid], tid = names[track->tid];
        const uint64_t *index =
            ta_map_at(&into->track_of, (uint64_t)pid << 32 | tid, trace->tracks.n);
        if (!index || (*index == trace->tracks.n &&
                       !ta_vec_push(&trace->tracks, (struct ta_track){.pid = pid, .tid = tid})))
            return false;
        tracks[i] = (uint32_t)*index;
        if (track->thread_name != TA_STR_ABSENT)
            trace->tracks.at[*index].thread_name = names[track->thread_name];
    }
    return true;
}

static bool grow_kinds(struct ta_builder *into, size_t n)
{
    const size_t before = into->kind_counts_max;
    if (n <= before)
        return true;
    void *grown = reallocarray(into->kind_counts, n, sizeof *into->kind_counts);
    if (!grown)
        return false;
    into->kind_counts = grown;
    into->kind_counts_max = n;
    memset(into->kind_counts + before, 0, (n - before) * sizeof *into->kind_counts);
    return true;
}

static bool rename_categories(struct ta_builder *into, const struct ta_builder *from,
                              const ta_str *names, ta_cat *cats)
{
    struct ta_trace *trace = into->trace;
    const size_t n = from->trace->categories.n;
    if (!grow_kinds(into, trace->categories.n + n))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct ta_category category = from->trace->categories.at[i];
        category.name = names[category.name];
        const uint64_t *index = ta_map_at(&into->category_of, category.name, trace->categories.n);
        if (!index || (*index == trace->categories.n && !ta_vec_push(&trace->categories, category)))
            return false;
        cats[i] = (ta_cat)*index;
        for (size_t phase = 0; phase < sizeof TA_PHASES; phase++)
            into->kind_counts[*index][phase] += from->kind_counts[i][phase];
    }
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A column of both builders. */
struct column_pair {
    struct column_ref into;
    void *from; /* T ** */
};

#define PAIR(into, from)                                                                           \
    {                                                                                              \
        COLUMN(into), &(from)                                                                      \
    }

/* Puts `more` rows of each column behind the `n` there, and frees where they came from. */
static bool append_columns(const struct renaming *ids, const struct column_pair *pairs,
                           size_t count, size_t *n, size_t *max, size_t more)
{
    if (more == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        const size_t size = pairs[i].into.size;
        void **into = pairs[i].into.at, **from = pairs[i].from;
        if (*n + more > *max) {
            void *grown = ta_store_resize(ids->into, *into, *n + more, size);
            if (!grown)
                return false;
            *into = grown;
        }
        memcpy((char *)*into + *n * size, *from, more * size);
        ta_store_free(ids->from, *from);
        *from = NULL;
    }
    *n += more;
    *max = *n > *max ? *n : *max;
    return true;
}

static void rename_strings(const struct renaming *ids, ta_str *column, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        column[i] = ids->names[column[i]];
}

static void rename_places(const struct renaming *ids, uint32_t *tracks, ta_cat *cats, size_t from,
                          size_t to)
{
    for (size_t i = from; i < to; i++)
        tracks[i] = ids->tracks[tracks[i]];
    for (size_t i = from; cats && i < to; i++)
        cats[i] = ids->cats[cats[i]];
}

static bool append_spans(struct ta_trace *into, struct ta_trace *from, const struct renaming *ids)
{
    struct span_columns *a = &into->spans, *b = &from->spans;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->dur, b->dur),
                                        PAIR(a->name, b->name), PAIR(a->cat, b->cat),
                                        PAIR(a->track, b->track)};
    const size_t n = a->n;
    if (!append_columns(ids, pairs, 5, &a->n, &a->max, b->n))
        return false;
    rename_strings(ids, a->name, n, a->n);
    rename_places(ids, a->track, a->cat, n, a->n);
    return true;
}

/* `rows` spans lie before those that the arguments belong to. */
static bool append_args(struct arg_column *a, struct arg_column *b, size_t rows,
                        const struct renaming *ids)
{
    const struct column_pair pairs[] = {PAIR(a->row, b->row), PAIR(a->value, b->value),
                                        PAIR(a->is_text, b->is_text)};
    const size_t n = a->n;
    if (!append_columns(ids, pairs, 3, &a->n, &a->max, b->n))
        return false;
    for (size_t i = n; i < a->n; i++) {
        a->row[i] += (ta_row)rows;
        if (a->is_text[i])
            a->value[i] = ids->names[a->value[i]];
    }
    return true;
}

static bool append_counters(struct ta_trace *into, struct ta_trace *from,
                            const struct renaming *ids)
{
    struct counter_columns *a = &into->counters, *b = &from->counters;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->value, b->value),
                                        PAIR(a->name, b->name), PAIR(a->series, b->series),
                                        PAIR(a->track, b->track)};
    const size_t n = a->n;
    if (!append_columns(ids, pairs, 5, &a->n, &a->max, b->n))
        return false;
    rename_strings(ids, a->name, n, a->n);
    rename_strings(ids, a->series, n, a->n);
    rename_places(ids, a->track, NULL, n, a->n);
    return true;
}

static bool append_instants(struct ta_trace *into, struct ta_trace *from,
                            const struct renaming *ids)
{
    struct instant_columns *a = &into->instants, *b = &from->instants;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->name, b->name),
                                        PAIR(a->cat, b->cat), PAIR(a->track, b->track)};
    const size_t n = a->n;
    if (!append_columns(ids, pairs, 4, &a->n, &a->max, b->n))
        return false;
    rename_strings(ids, a->name, n, a->n);
    rename_places(ids, a->track, a->cat, n, a->n);
    return true;
}

static bool append_flows(struct ta_trace *into, struct ta_trace *from, const struct renaming *ids)
{
    struct flow_columns *a = &into->flows, *b = &from->flows;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->name, b->name),
                                        PAIR(a->id, b->id), PAIR(a->track, b->track),
                                        PAIR(a->phase, b->phase)};
    const size_t n = a->n;
    if (!append_columns(ids, pairs, 5, &a->n, &a->max, b->n))
        return false;
    rename_strings(ids, a->name, n, a->n);
    rename_strings(ids, a->id, n, a->n);
    rename_places(ids, a->track, NULL, n, a->n);
    return true;
}

/* ---- begins and ends ------------------------------------------------------------------------- */

/* `rows` spans lie before those that the edges began; asynchronous ones only say whether they
 * did. */
static void rename_edges(struct pair_edge *edges, size_t from, size_t to, size_t rows,
                         const struct renaming *ids)
{
    for (size_t i = from; i < to; i++) {
        struct pair_edge *edge = &edges[i];
        edge->order = (uint32_t)i;
        edge->track = ids->tracks[edge->track];
        edge->name = ids->names[edge->name];
        edge->id = ids->names[edge->id];
        edge->cat = ids->cats[edge->cat];
        if (edge->row != TA_NO_ROW)
            edge->row += (ta_row)rows;
    }
}

static bool append_edges(struct ta_builder *into, struct ta_builder *from, size_t rows,
                         const struct renaming *ids)
{
    const size_t n = into->edges.n, n_async = into->async_edges.n;
    const struct column_pair pairs[] = {PAIR(into->edges.at, from->edges.at),
                                        PAIR(into->async_edges.at, from->async_edges.at)};
    if (!append_columns(ids, &pairs[0], 1, &into->edges.n, &into->edges.max, from->edges.n) ||
        !append_columns(ids, &pairs[1], 1, &into->async_edges.n, &into->async_edges.max,
                        from->async_edges.n))
        return false;
    rename_edges(into->edges.at, n, into->edges.n, rows, ids);
    rename_edges(into->async_edges.at, n_async, into->async_edges.n, 0, ids);
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void add_counts(struct ta_builder *into, const struct ta_builder *from)
{
    into->kept += from->kept;
    into->repaired += from->repaired;
    into->dropped += from->dropped;
    into->bytes_skipped += from->bytes_skipped;
    into->events += from->events;
    into->timed += from->timed;
    into->zero_times += from->zero_times;
    into->truncated |= from->truncated;
    if (from->first_ts != TA_MISSING &&
        (into->first_ts == TA_MISSING || from->first_ts < into->first_ts))
        into->first_ts = from->first_ts;
    if (from->last_ts != TA_MISSING &&
        (into->last_ts == TA_MISSING || from->last_ts > into->last_ts))
        into->last_ts = from->last_ts;
}

/* Of what a file says several times the last word counts. */
static bool take_facts(struct ta_builder *into, const struct ta_builder *from,
                       const struct renaming *ids)
{
    if (from->rank != TA_MISSING)
        into->rank = from->rank;
    if (from->world_size != TA_MISSING)
        into->world_size = from->world_size;
    if (from->trace->base_ns != TA_MISSING)
        into->trace->base_ns = from->trace->base_ns;
    for (size_t i = 0; i < from->devices.n; i++)
        ta_builder_add_device(into, ta_slice_of(from->devices.at[i]));
    if (into->trace->units.multiprocessors == 0)
        into->trace->units = from->trace->units;
    for (size_t pid = 0; pid < from->trace->strings.texts.n; pid++) {
        const uint64_t *name = ta_map_find(&from->process_names, pid);
        uint64_t *slot = name ? ta_map_at(&into->process_names, ids->names[pid], 0) : NULL;
        if (slot)
            *slot = ids->names[*name];
    }
    return !from->track_of.failed && !into->track_of.failed && !into->process_names.failed;
}

static bool append_rows(struct ta_builder *into, struct ta_builder *from,
                        const struct renaming *ids)
{
    struct ta_trace *a = into->trace, *b = from->trace;
    const size_t rows = a->spans.n;
    bool done = append_spans(a, b, ids);
    for (size_t i = 0; done && i < a->n_args; i++)
        done = append_args(&a->args[i], &b->args[i], rows, ids);
    return done && append_counters(a, b, ids) && append_instants(a, b, ids) &&
           append_flows(a, b, ids) && append_edges(into, from, rows, ids);
}

bool ta_builder_append(struct ta_builder *into, struct ta_builder *from)
{
    const struct ta_trace *b = from->trace;
    struct renaming ids = {
        .names = reallocarray(NULL, b->strings.texts.n, sizeof *ids.names),
        .cats = reallocarray(NULL, b->categories.n + 1, sizeof *ids.cats),
        .tracks = reallocarray(NULL, b->tracks.n + 1, sizeof *ids.tracks),
        .into = &into->trace->store,
        .from = &from->trace->store,
    };
    const bool done = ids.names && ids.cats && ids.tracks && rename_names(into, from, ids.names) &&
                      rename_tracks(into, from, ids.names, ids.tracks) &&
                      rename_categories(into, from, ids.names, ids.cats) &&
                      take_facts(into, from, &ids) && append_rows(into, from, &ids);
    if (done)
        add_counts(into, from);
    free(ids.names);
    free(ids.cats);
    free(ids.tracks);
    return done;
}
