/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of one builder after the rows of another.
 *
 * Names, tracks and categories have ids in the order of first sight. Going through the ids of the
 * second builder in that order, and giving each the id that it has, or next gets, in the first one,
 * makes the ids that a single builder would have given. Those that were added before have theirs;
 * so several builders may be added to one in turn, each as often as it is filled again. */
#include "model/append.h"

#include "model/column.h"
#include "model/rank_rows.h"
#include "model/says.h"

#include <stdlib.h>

/* A table of so many rows more is freed when it was added: there will hardly be as many again. */
enum { MANY_ROWS = 64 * 1024 };

/* Where ids become others, and where both builders have their columns. */
struct appending {
    const struct ta_renaming *ids;
    struct ta_store *into, *from;
    double share; /* of the input, when they are added */
};

void ta_renaming_free(struct ta_renaming *ids)
{
    free(ids->names.at);
    free(ids->cats.at);
    free(ids->tracks.at);
    *ids = (struct ta_renaming){.names = {.at = NULL}};
}

bool ta_builder_fits(const struct ta_builder *into, const struct ta_builder *from,
                     const struct ta_renaming *ids)
{
    const struct ta_trace *a = into->trace, *b = from->trace;
    /* The first text of each means "absent". */
    const size_t names = b->strings.texts.n - (ids->names.n ? ids->names.n : 1);
    return !ta_dump_holds_more_than_tags(&a->dump) && !ta_dump_holds_more_than_tags(&b->dump) &&
           b->strings.texts.n - 1 <= b->strings.limit &&
           a->strings.texts.n - 1 + names <= a->strings.limit && b->categories.n < CATEGORIES_MAX &&
           a->categories.n + b->categories.n - ids->cats.n < CATEGORIES_MAX &&
           a->spans.n + b->spans.n < TA_NO_ROW - 1;
}

/* ---- names, tracks, categories --------------------------------------------------------------- */

static bool rename_names(struct ta_builder *into, const struct ta_builder *from,
                         struct ta_renaming *ids)
{
    const struct ta_strings *strings = &from->trace->strings;
    if (ids->names.n == 0 && !ta_vec_push(&ids->names, TA_STR_ABSENT))
        return false;
    while (ids->names.n < strings->texts.n) {
        ta_str id;
        if (ta_strings_intern(&into->trace->strings, strings->texts.at[ids->names.n], &id) !=
                TA_INTERN_OK ||
            !ta_vec_push(&ids->names, id))
            return false;
    }
    return true;
}

static bool rename_track(struct ta_builder *into, const struct ta_track *track,
                         struct ta_renaming *ids)
{
    struct ta_trace *trace = into->trace;
    const ta_str pid = ids->names.at[track->pid], tid = ids->names.at[track->tid];
    const uint64_t *index = ta_map_at(&into->track_of, (uint64_t)pid << 32 | tid, trace->tracks.n);
    return index &&
           (*index < trace->tracks.n ||
            ta_vec_push(&trace->tracks, (struct ta_track){.pid = pid, .tid = tid})) &&
           ta_vec_push(&ids->tracks, (uint32_t)*index);
}

static bool rename_tracks(struct ta_builder *into, const struct ta_builder *from,
                          struct ta_renaming *ids)
{
    const struct ta_track *tracks = from->trace->tracks.at;
    while (ids->tracks.n < from->trace->tracks.n)
        if (!rename_track(into, &tracks[ids->tracks.n], ids))
            return false;
    for (size_t i = 0; i < ids->tracks.n; i++)
        if (tracks[i].thread_name != TA_STR_ABSENT)
            into->trace->tracks.at[ids->tracks.at[i]].thread_name =
                ids->names.at[tracks[i].thread_name];
    return true;
}

static bool rename_category(struct ta_builder *into, struct ta_category category,
                            struct ta_renaming *ids)
{
    struct ta_trace *trace = into->trace;
    category.name = ids->names.at[category.name];
    const uint64_t *index = ta_map_at(&into->category_of, category.name, trace->categories.n);
    return index && (*index < trace->categories.n || ta_vec_push(&trace->categories, category)) &&
           ta_vec_push(&ids->cats, (ta_cat)*index);
}

static bool rename_categories(struct ta_builder *into, const struct ta_builder *from,
                              struct ta_renaming *ids)
{
    const size_t n = from->trace->categories.n;
    while (ids->cats.n < n)
        if (!rename_category(into, from->trace->categories.at[ids->cats.n], ids))
            return false;
    return true;
}

/* Rows that came before something, when `before` were there already. */
static struct ta_row_counts add_marks(struct ta_row_counts before, struct ta_row_counts mark)
{
    return (struct ta_row_counts){.spans = before.spans + mark.spans,
                                  .edges = before.edges + mark.edges,
                                  .asyncs = before.asyncs + mark.asyncs,
                                  .counters = before.counters + mark.counters,
                                  .instants = before.instants + mark.instants,
                                  .flows = before.flows + mark.flows};
}

static bool add_kinds(struct ta_builder *into, const struct ta_builder *from,
                      const struct ta_renaming *ids)
{
    const struct ta_row_counts before = ta_builder_rows(into);
    for (size_t p = 0; p < from->kinds.list.n; p++) {
        const struct kinds_of_process *process = &from->kinds.list.at[p];
        for (size_t i = 0; i < process->n && i < from->trace->categories.n; i++) {
            int64_t *counts = kinds_at(&into->kinds, ids->names.at[process->pid], ids->cats.at[i]);
            if (!counts)
                return false;
            if (into->kinds.list.n > into->n_marked)
                into->kinds.list.at[into->n_marked++].before = add_marks(before, process->before);
            for (size_t phase = 0; phase < sizeof TA_PHASES; phase++)
                counts[phase] += process->counts[i][phase];
        }
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

/* Rows of one builder, and of the other. */
struct table_size {
    size_t *n, *max, *from_n, *from_max;
};

#define SIZE(a, b)                                                                                 \
    (struct table_size)                                                                            \
    {                                                                                              \
        &(a)->n, &(a)->max, &(b)->n, &(b)->max                                                     \
    }

/* Puts the rows of each column after those that are there, and forgets where they came from. */
static bool append_columns(const struct appending *with, const struct column_pair *pairs,
                           size_t count, struct table_size size)
{
    const size_t n = *size.n, more = *size.from_n, both = n + more;
    size_t row_size = 0;
    for (size_t i = 0; i < count; i++)
        row_size += pairs[i].into.size;
    const size_t room =
        both <= *size.max ? *size.max : columns_room(with->into, both, with->share, row_size);
    const size_t max = room < both ? both : room;
    const bool is_freed = more > MANY_ROWS;
    if (more == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = pairs[i].into.size;
        void **into = pairs[i].into.at, **from = pairs[i].from;
        void *grown = max > *size.max ? ta_store_resize(with->into, *into, max, bytes) : *into;
        if (!grown)
            return false;
        *into = grown;
        memcpy((char *)grown + n * bytes, *from, more * bytes);
        if (is_freed) {
            ta_store_free(with->from, *from);
            *from = NULL;
        }
    }
    *size.n = both;
    *size.max = max;
    *size.from_n = 0;
    if (is_freed)
        *size.from_max = 0;
    return true;
}

static void rename_strings(const struct appending *with, ta_str *column, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        column[i] = with->ids->names.at[column[i]];
}

static void rename_places(const struct appending *with, uint32_t *tracks, ta_cat *cats, size_t from,
                          size_t to)
{
    for (size_t i = from; i < to; i++)
        tracks[i] = with->ids->tracks.at[tracks[i]];
    for (size_t i = from; cats && i < to; i++)
        cats[i] = with->ids->cats.at[cats[i]];
}

static bool append_spans(struct ta_trace *into, struct ta_trace *from, const struct appending *with)
{
    struct span_columns *a = &into->spans, *b = &from->spans;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->dur, b->dur),
                                        PAIR(a->name, b->name), PAIR(a->cat, b->cat),
                                        PAIR(a->track, b->track)};
    const size_t n = a->n;
    if (!append_columns(with, pairs, 5, SIZE(a, b)))
        return false;
    rename_strings(with, a->name, n, a->n);
    rename_places(with, a->track, a->cat, n, a->n);
    return true;
}

/* `rows` spans lie before those that the arguments belong to. */
static bool append_args(struct arg_column *a, struct arg_column *b, size_t rows,
                        const struct appending *with)
{
    if (b->n == 0)
        return true;
    if (!arg_columns_agree(with->into, a, with->from, b))
        return false;
    const struct column_pair narrow = PAIR(a->narrow, b->narrow), wide = PAIR(a->wide, b->wide);
    const struct column_pair pairs[] = {PAIR(a->row, b->row), a->is_wide ? wide : narrow,
                                        PAIR(a->is_text, b->is_text)};
    const size_t n = a->n;
    if (!append_columns(with, pairs, a->texts == ARG_SOME_TEXTS ? 3 : 2, SIZE(a, b)))
        return false;
    for (size_t i = n; i < a->n; i++) {
        a->row[i] += (ta_row)rows;
        if (arg_column_is_text(a, i))
            arg_column_set(a, i, with->ids->names.at[arg_column_value(a, i)]);
    }
    return true;
}

/* The places of the series of one trace among the series of the other. */
static bool place_series(struct counter_list *into, const struct counter_list *from,
                         const struct appending *with, uint32_t *places)
{
    for (size_t i = 0; i < from->list.n; i++) {
        const struct ta_counter_series *series = &from->list.at[i];
        places[i] =
            counter_list_at(into, with->ids->tracks.at[series->track],
                            with->ids->names.at[series->name], with->ids->names.at[series->series]);
        if (places[i] == UINT32_MAX)
            return false;
    }
    return true;
}

static bool append_counters(struct ta_trace *into, struct ta_trace *from,
                            const struct appending *with)
{
    struct counter_columns *a = &into->counters, *b = &from->counters;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->value, b->value),
                                        PAIR(a->place, b->place)};
    const size_t n = a->n;
    uint32_t *places = reallocarray(NULL, b->series.list.n + 1, sizeof *places);
    const bool done = places && place_series(&a->series, &b->series, with, places) &&
                      append_columns(with, pairs, 3, SIZE(a, b));
    for (size_t i = n; done && i < a->n; i++)
        a->place[i] = places[a->place[i]];
    free(places);
    return done;
}

static bool append_instants(struct ta_trace *into, struct ta_trace *from,
                            const struct appending *with)
{
    struct instant_columns *a = &into->instants, *b = &from->instants;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->name, b->name),
                                        PAIR(a->cat, b->cat), PAIR(a->track, b->track)};
    const size_t n = a->n;
    if (!append_columns(with, pairs, 4, SIZE(a, b)))
        return false;
    rename_strings(with, a->name, n, a->n);
    rename_places(with, a->track, a->cat, n, a->n);
    return true;
}

static bool append_flows(struct ta_trace *into, struct ta_trace *from, const struct appending *with)
{
    struct flow_columns *a = &into->flows, *b = &from->flows;
    const struct column_pair pairs[] = {PAIR(a->ts, b->ts), PAIR(a->name, b->name),
                                        PAIR(a->id, b->id), PAIR(a->track, b->track),
                                        PAIR(a->phase, b->phase)};
    const size_t n = a->n;
    if (!append_columns(with, pairs, 5, SIZE(a, b)))
        return false;
    rename_strings(with, a->name, n, a->n);
    rename_strings(with, a->id, n, a->n);
    rename_places(with, a->track, NULL, n, a->n);
    return true;
}

/* ---- begins and ends ------------------------------------------------------------------------- */

/* `rows` spans lie before those that the edges began; asynchronous ones only say whether they
 * did. */
static void rename_edges(struct pair_edge *edges, size_t from, size_t to, size_t rows,
                         const struct appending *with)
{
    for (size_t i = from; i < to; i++) {
        struct pair_edge *edge = &edges[i];
        edge->order = (uint32_t)i;
        edge->track = with->ids->tracks.at[edge->track];
        edge->name = with->ids->names.at[edge->name];
        edge->id = with->ids->names.at[edge->id];
        edge->cat = with->ids->cats.at[edge->cat];
        if (edge->row != TA_NO_ROW)
            edge->row += (ta_row)rows;
    }
}

static bool append_edges(struct ta_builder *into, struct ta_builder *from, size_t rows,
                         const struct appending *with)
{
    const size_t n = into->edges.n, n_async = into->async_edges.n;
    const struct column_pair pairs[] = {PAIR(into->edges.at, from->edges.at),
                                        PAIR(into->async_edges.at, from->async_edges.at)};
    if (!append_columns(with, &pairs[0], 1, SIZE(&into->edges, &from->edges)) ||
        !append_columns(with, &pairs[1], 1, SIZE(&into->async_edges, &from->async_edges)))
        return false;
    rename_edges(into->edges.at, n, into->edges.n, rows, with);
    rename_edges(into->async_edges.at, n_async, into->async_edges.n, 0, with);
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* What all devices have in common: 0 before the first one, -1 when two differ. */
static void merge_unit(int64_t *into, int64_t from)
{
    if (*into == 0 || from == 0)
        *into += from;
    else if (*into != from)
        *into = -1;
}

static void append_names(struct ta_map *into, const struct ta_map *from,
                         const struct ta_trace *trace, const struct ta_renaming *ids)
{
    for (size_t pid = 0; from->n != 0 && pid < trace->strings.texts.n; pid++) {
        const uint64_t *name = ta_map_find(from, pid);
        uint64_t *slot = name ? ta_map_at(into, ids->names.at[pid], 0) : NULL;
        if (slot)
            *slot = ids->names.at[*name];
    }
}

/* Of what a file says several times the last word counts. */
static bool take_facts(struct ta_builder *into, const struct ta_builder *from,
                       const struct ta_renaming *ids)
{
    if (from->rank != TA_MISSING)
        into->rank = from->rank;
    if (from->world_size != TA_MISSING)
        into->world_size = from->world_size;
    if (from->trace->view.base_ns != TA_MISSING)
        into->trace->view.base_ns = from->trace->view.base_ns;
    for (size_t i = 0; i < from->devices.n; i++)
        ta_builder_add_device(into, ta_slice_of(from->devices.at[i]));
    for (size_t i = 0; i < from->products.n; i++)
        ta_builder_add_product(into, ta_slice_of(from->products.at[i]));
    for (size_t i = 0; i < from->trace->devices.n; i++)
        ta_builder_describe_device(into, &from->trace->devices.at[i]);
    merge_unit(&into->trace->units.multiprocessors, from->trace->units.multiprocessors);
    merge_unit(&into->trace->units.threads, from->trace->units.threads);
    append_names(&into->process_names, &from->process_names, from->trace, ids);
    append_names(&into->process_labels, &from->process_labels, from->trace, ids);
    return !from->track_of.failed && !into->track_of.failed && !into->process_names.failed &&
           !into->process_labels.failed;
}

static bool append_rows(struct ta_builder *into, struct ta_builder *from,
                        const struct appending *with)
{
    struct ta_trace *a = into->trace, *b = from->trace;
    const size_t rows = a->spans.n;
    bool done = append_spans(a, b, with);
    for (size_t i = 0; done && i < a->n_args; i++)
        done = append_args(&a->args[i], &b->args[i], rows, with);
    return done && append_counters(a, b, with) && append_instants(a, b, with) &&
           append_flows(a, b, with) && append_edges(into, from, rows, with);
}

/* Rows of dumps have names as well; of those there are tags alone (ta_builder_fits()). */
static bool append_tags(struct ta_builder *into, struct ta_builder *from,
                        const struct ta_renaming *ids)
{
    const size_t n = from->trace->dump.rows[TA_DUMP_tag].n;
    for (size_t i = 0; i < n; i++) {
        struct ta_tag tag = *(const struct ta_tag *)ta_dump_row(&from->trace->dump, TA_DUMP_tag, i);
        tag.key = ids->names.at[tag.key];
        tag.value = ids->names.at[tag.value];
        if (!ta_dump_push(into, TA_DUMP_tag, &tag))
            return false;
    }
    return true;
}

/* A part that both have is one: several members of the file say what is known of it. */
static bool append_part(struct ta_rank_rows *into, struct ta_rank_rows *from)
{
    struct ta_renaming ids = {.names = {.at = NULL}};
    const bool done = ta_builder_append(into->builder, from->builder, &ids);
    ta_renaming_free(&ids);
    if (from->rank != TA_MISSING) {
        into->rank = from->rank;
        into->clock = from->clock;
        into->file = from->file;
    }
    into->keeps_clock |= from->keeps_clock;
    into->more_metadata += from->more_metadata;
    return done;
}

static bool append_parts(struct ta_builder *into, struct ta_builder *from)
{
    bool done = true;
    for (size_t i = 0; done && i < from->parts.n; i++) {
        struct ta_rank_rows *part = &from->parts.at[i];
        if (part->file)
            part->file = ta_arena_copy(&into->trace->arena, ta_slice_of(part->file));
        if (i < into->parts.n) {
            done = append_part(&into->parts.at[i], part);
        } else {
            done = ta_vec_push(&into->parts, *part);
            if (done)
                part->builder = NULL;
        }
    }
    ta_parts_free(from);
    return done;
}

bool ta_builder_append(struct ta_builder *into, struct ta_builder *from, struct ta_renaming *ids)
{
    const struct appending with = {.ids = ids,
                                   .into = &into->trace->store,
                                   .from = &from->trace->store,
                                   .share = into->share ? *into->share : 0};
    if (!rename_names(into, from, ids) || !rename_tracks(into, from, ids) ||
        !rename_categories(into, from, ids) || !add_kinds(into, from, ids) ||
        !take_facts(into, from, ids) || !append_rows(into, from, &with) ||
        !append_tags(into, from, ids) || !append_parts(into, from))
        return false;
    into->kept += from->kept;
    into->repaired += from->repaired;
    into->dropped += from->dropped;
    into->bytes_skipped += from->bytes_skipped;
    into->events += from->events;
    into->timed += from->timed;
    if (from->zero.spans) {
        into->zero.first = into->zero.spans ? into->zero.first : from->zero.first;
        into->zero.last = from->zero.last;
    }
    into->zero.spans += from->zero.spans;
    into->zero.others += from->zero.others;
    into->truncated |= from->truncated;
    if (from->first_ts != TA_MISSING &&
        (into->first_ts == TA_MISSING || from->first_ts < into->first_ts))
        into->first_ts = from->first_ts;
    if (from->last_ts != TA_MISSING &&
        (into->last_ts == TA_MISSING || from->last_ts > into->last_ts))
        into->last_ts = from->last_ts;
    /* What was added is forgotten, but for the rows, which are gone. */
    struct ta_trace *trace = from->trace;
    for (size_t i = 0; i < trace->tracks.n; i++)
        trace->tracks.at[i].thread_name = TA_STR_ABSENT;
    kinds_clear(&from->kinds);
    ta_map_free(&from->process_names);
    from->process_names = (struct ta_map){.slots = NULL};
    ta_map_free(&from->process_labels);
    from->process_labels = (struct ta_map){.slots = NULL};
    from->devices.n = from->products.n = 0;
    from->kept = from->repaired = from->dropped = from->bytes_skipped = from->events = 0;
    from->timed = 0;
    from->zero = (struct ta_zero_times){.spans = 0};
    from->first_ts = from->last_ts = from->rank = from->world_size = TA_MISSING;
    trace->view.base_ns = TA_MISSING;
    trace->units = (struct ta_device_units){.threads = 0};
    trace->devices.n = trace->dump.rows[TA_DUMP_tag].n = 0;
    from->truncated = false;
    return true;
}
