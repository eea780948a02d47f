/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of one rank, copied from a builder to one of its own. */
#include "model/rank_rows.h"

#include "model/column.h"
#include "model/says.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- parts --------------------------------------------------------------------------------- */

struct ta_rank_rows *ta_builder_add_part(struct ta_builder *builder, int64_t rank)
{
    const struct ta_strings *strings = &builder->trace->strings;
    struct ta_builder *own = calloc(1, sizeof *own);
    if (own &&
        ta_builder_init(own, builder->quality, builder->needs, builder->keys, builder->n_keys,
                        strings->limit) &&
        ta_vec_push(&builder->parts, (struct ta_rank_rows){.rank = rank, .builder = own}))
        return &builder->parts.at[builder->parts.n - 1];
    if (own)
        ta_builder_free(own);
    free(own);
    return NULL;
}

void ta_parts_free(struct ta_builder *builder)
{
    for (size_t i = 0; i < builder->parts.n; i++) {
        if (builder->parts.at[i].builder)
            ta_builder_free(builder->parts.at[i].builder);
        free(builder->parts.at[i].builder);
    }
    free(builder->parts.at);
    builder->parts.at = NULL;
    builder->parts.n = builder->parts.max = 0;
}

/* ---- ids ------------------------------------------------------------------------------------- */

enum { UNKNOWN = UINT32_MAX };

/* What is copied where. */
struct copying {
    struct ta_builder *from, *into;
    const struct ta_rank_rows *part;
    const struct ta_division *division;
    uint32_t number; /* of the part */
    ta_str *names;   /* by name: the same one in the part, UNKNOWN: not there yet */
    uint32_t *cats;  /* likewise */
    uint32_t *tracks;
    ta_row *rows; /* of spans; TA_NO_ROW: of another part */
};

static ta_str name_of(const struct copying *c, ta_str name)
{
    if (c->names[name] == UNKNOWN)
        c->names[name] = ta_builder_string(c->into, ta_trace_text(c->from->trace, name));
    return c->names[name];
}

/* A row number `i` of the table whose marks are at `place` in struct ta_row_counts. */
static bool is_ours(const struct copying *c, uint32_t track, size_t i, size_t place)
{
    const uint32_t part = c->division->of_track[track];
    if (part != TA_PART_BY_PLACE)
        return part == c->number;
    const struct ta_stretch *stretch = &c->division->stretches[c->number];
    size_t from, to;
    memcpy(&from, (const char *)&stretch->from + place, sizeof from);
    memcpy(&to, (const char *)&stretch->to + place, sizeof to);
    return i >= from && i < to;
}

#define IS_OURS(c, track, i, table)                                                                \
    is_ours((c), (track), (i), offsetof(struct ta_row_counts, table))

/* UINT32_MAX without memory. */
static uint32_t track_of(const struct copying *c, uint32_t track)
{
    if (c->tracks[track] != UNKNOWN)
        return c->tracks[track];
    const struct ta_track *old = &c->from->trace->tracks.at[track];
    const uint32_t place =
        ta_builder_track(c->into, name_of(c, c->division->pids[track]), name_of(c, old->tid));
    if (place == UINT32_MAX)
        return UINT32_MAX;
    struct ta_track *new = &c->into->trace->tracks.at[place];
    if (old->thread_name != TA_STR_ABSENT)
        new->thread_name = name_of(c, old->thread_name);
    if (c->division->names[track] != TA_STR_ABSENT) {
        uint64_t *slot = ta_map_at(&c->into->process_names, new->pid, 0);
        if (!slot)
            return UINT32_MAX;
        *slot = name_of(c, c->division->names[track]);
    }
    return c->tracks[track] = place;
}

/* UINT32_MAX without memory. */
static uint32_t category_of(const struct copying *c, ta_cat cat)
{
    if (c->cats[cat] != UNKNOWN)
        return c->cats[cat];
    struct ta_trace *trace = c->into->trace;
    struct ta_category category = c->from->trace->categories.at[cat];
    category.name = name_of(c, category.name);
    if (!ta_vec_push(&trace->categories, category))
        return UINT32_MAX;
    return c->cats[cat] = (uint32_t)trace->categories.n - 1;
}

static int64_t time_of(const struct copying *c, int64_t ts_ns)
{
    return c->part->keeps_clock ? ta_clock_back(&c->part->clock, ts_ns) : ts_ns;
}

static void note_time(const struct copying *c, int64_t ts_ns)
{
    struct ta_builder *into = c->into;
    if (ts_ns == 0)
        return;
    if (into->first_ts == TA_MISSING || ts_ns < into->first_ts)
        into->first_ts = ts_ns;
    if (into->last_ts == TA_MISSING || ts_ns > into->last_ts)
        into->last_ts = ts_ns;
}

/* An instant, a flow or a sample. */
static void note_other(const struct copying *c, int64_t ts_ns)
{
    c->into->zero.others += ts_ns == 0;
    note_time(c, ts_ns);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool copy_spans(struct copying *c)
{
    const struct span_columns *a = &c->from->trace->spans;
    struct span_columns *b = &c->into->trace->spans;
    const struct column_ref columns[] = {COLUMN(b->ts), COLUMN(b->dur), COLUMN(b->name),
                                         COLUMN(b->cat), COLUMN(b->track)};
    for (size_t row = 0; row < a->n; row++) {
        c->rows[row] = TA_NO_ROW;
        const bool ours = c->division->of_row ? c->division->of_row[row] == c->number
                                              : IS_OURS(c, a->track[row], row, spans);
        if (!ours)
            continue;
        if (b->n >= b->max && !columns_grow(&c->into->trace->store, columns, 5, b->n, &b->max, 0))
            return false;
        const uint32_t track = track_of(c, a->track[row]), cat = category_of(c, a->cat[row]);
        if (track == UINT32_MAX || cat == UINT32_MAX)
            return false;
        c->rows[row] = (ta_row)b->n;
        b->ts[b->n] = time_of(c, a->ts[row]);
        b->dur[b->n] = a->dur[row];
        b->name[b->n] = name_of(c, a->name[row]);
        b->cat[b->n] = (ta_cat)cat;
        b->track[b->n] = track;
        note_time(c, b->ts[b->n]);
        c->into->timed++;
        c->into->zero.spans += b->ts[b->n++] == 0;
    }
    return true;
}

static bool copy_args(struct copying *c, size_t key)
{
    const struct arg_column *a = &c->from->trace->args[key];
    struct arg_column *b = &c->into->trace->args[key];
    for (size_t i = 0; i < a->n; i++) {
        const ta_row row = c->rows[a->row[i]];
        if (row == TA_NO_ROW)
            continue;
        const bool is_text = arg_column_is_text(a, i);
        int64_t value = arg_column_value(a, i);
        if (is_text)
            value = name_of(c, (ta_str)value);
        if (!arg_column_add(&c->into->trace->store, b, row, value, is_text, 0))
            return false;
    }
    return true;
}

/* Ends of spans stand on tracks, which say whose they are where begins do not. */
static bool copy_edges(struct copying *c)
{
    for (size_t i = 0; i < c->from->edges.n; i++) {
        struct pair_edge edge = c->from->edges.at[i];
        if (edge.row != TA_NO_ROW ? c->rows[edge.row] == TA_NO_ROW
                                  : !IS_OURS(c, edge.track, i, edges))
            continue;
        const uint32_t track = track_of(c, edge.track), cat = category_of(c, edge.cat);
        if (track == UINT32_MAX || cat == UINT32_MAX)
            return false;
        edge.ts = time_of(c, edge.ts);
        edge.order = (uint32_t)c->into->edges.n;
        edge.track = track;
        edge.cat = (ta_cat)cat;
        edge.name = name_of(c, edge.name);
        edge.row = edge.row == TA_NO_ROW ? TA_NO_ROW : c->rows[edge.row];
        note_time(c, edge.ts);
        if (!column_push(&c->into->trace->store, &c->into->edges, edge))
            return false;
    }
    return true;
}

static bool copy_asyncs(struct copying *c)
{
    for (size_t i = 0; i < c->from->async_edges.n; i++) {
        struct pair_edge edge = c->from->async_edges.at[i];
        if (!IS_OURS(c, edge.track, i, asyncs))
            continue;
        const uint32_t track = track_of(c, edge.track), cat = category_of(c, edge.cat);
        if (track == UINT32_MAX || cat == UINT32_MAX)
            return false;
        edge.ts = time_of(c, edge.ts);
        edge.order = (uint32_t)c->into->async_edges.n;
        edge.track = track;
        edge.cat = (ta_cat)cat;
        edge.name = name_of(c, edge.name);
        edge.id = name_of(c, edge.id);
        note_time(c, edge.ts);
        if (!column_push(&c->into->trace->store, &c->into->async_edges, edge))
            return false;
    }
    return true;
}

static bool copy_counters(struct copying *c)
{
    const struct counter_columns *a = &c->from->trace->counters;
    struct counter_columns *b = &c->into->trace->counters;
    const struct column_ref columns[] = {COLUMN(b->ts), COLUMN(b->value), COLUMN(b->place)};
    for (size_t i = 0; i < a->n; i++) {
        const struct ta_counter_series *series = &a->series.list.at[a->place[i]];
        if (!IS_OURS(c, series->track, i, counters))
            continue;
        const uint32_t track = track_of(c, series->track);
        const uint32_t place = track == UINT32_MAX
                                   ? UINT32_MAX
                                   : counter_list_at(&b->series, track, name_of(c, series->name),
                                                     name_of(c, series->series));
        if (place == UINT32_MAX ||
            !columns_grow(&c->into->trace->store, columns, 3, b->n, &b->max, 0))
            return false;
        b->ts[b->n] = time_of(c, a->ts[i]);
        b->value[b->n] = a->value[i];
        b->place[b->n] = place;
        note_other(c, b->ts[b->n++]);
    }
    return true;
}

static bool copy_instants(struct copying *c)
{
    const struct instant_columns *a = &c->from->trace->instants;
    struct instant_columns *b = &c->into->trace->instants;
    const struct column_ref columns[] = {COLUMN(b->ts), COLUMN(b->name), COLUMN(b->cat),
                                         COLUMN(b->track)};
    for (size_t i = 0; i < a->n; i++) {
        if (!IS_OURS(c, a->track[i], i, instants))
            continue;
        const uint32_t track = track_of(c, a->track[i]), cat = category_of(c, a->cat[i]);
        if (track == UINT32_MAX || cat == UINT32_MAX ||
            !columns_grow(&c->into->trace->store, columns, 4, b->n, &b->max, 0))
            return false;
        b->ts[b->n] = time_of(c, a->ts[i]);
        b->name[b->n] = name_of(c, a->name[i]);
        b->cat[b->n] = (ta_cat)cat;
        b->track[b->n] = track;
        note_other(c, b->ts[b->n++]);
    }
    return true;
}

static bool copy_flows(struct copying *c)
{
    const struct flow_columns *a = &c->from->trace->flows;
    struct flow_columns *b = &c->into->trace->flows;
    const struct column_ref columns[] = {COLUMN(b->ts), COLUMN(b->name), COLUMN(b->id),
                                         COLUMN(b->track), COLUMN(b->phase)};
    for (size_t i = 0; i < a->n; i++) {
        if (!IS_OURS(c, a->track[i], i, flows))
            continue;
        const uint32_t track = track_of(c, a->track[i]);
        if (track == UINT32_MAX ||
            !columns_grow(&c->into->trace->store, columns, 5, b->n, &b->max, 0))
            return false;
        b->ts[b->n] = time_of(c, a->ts[i]);
        b->name[b->n] = name_of(c, a->name[i]);
        b->id[b->n] = name_of(c, a->id[i]);
        b->track[b->n] = track;
        b->phase[b->n] = a->phase[i];
        note_other(c, b->ts[b->n++]);
    }
    return true;
}

/* Merging names and orders processes in its own way. */
static void correct_metadata(const struct copying *c)
{
    const size_t metadata = (size_t)(strchr(TA_PHASES, 'M') - TA_PHASES);
    for (size_t p = 0; p < c->into->kinds.list.n && c->part->more_metadata; p++) {
        const struct kinds_of_process *process = &c->into->kinds.list.at[p];
        for (size_t cat = 0; cat < process->n && cat < c->into->trace->categories.n; cat++) {
            int64_t *count = &process->counts[cat][metadata];
            if (c->into->trace->categories.at[cat].name != TA_STR_ABSENT || *count == 0)
                continue;
            *count += c->part->more_metadata;
            c->into->events += (uint64_t)c->part->more_metadata;
            return;
        }
    }
}

static bool copy_kinds(struct copying *c)
{
    for (size_t p = 0; p < c->from->kinds.list.n; p++) {
        const struct kinds_of_process *process = &c->from->kinds.list.at[p];
        if (c->division->of_process[p] != c->number)
            continue;
        for (size_t cat = 0; cat < process->n && cat < c->from->trace->categories.n; cat++)
            for (size_t phase = 0; phase < sizeof TA_PHASES; phase++) {
                const int64_t count = process->counts[cat][phase];
                if (!count)
                    continue;
                const uint32_t ours = category_of(c, (ta_cat)cat);
                int64_t *counts =
                    ours == UINT32_MAX
                        ? NULL
                        : kinds_at(&c->into->kinds, name_of(c, process->pid), (ta_cat)ours);
                if (!counts)
                    return false;
                counts[phase] += count;
                c->into->events += (uint64_t)count;
            }
    }
    correct_metadata(c);
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static bool has_tag(const struct ta_dump *dump, ta_str key)
{
    for (size_t i = 0; i < dump->rows[TA_DUMP_tag].n; i++)
        if (((const struct ta_tag *)ta_dump_row(dump, TA_DUMP_tag, i))->key == key)
            return true;
    return false;
}

/* What the file says of all ranks, where it says nothing else of this one. */
static bool copy_facts(const struct copying *c)
{
    const struct ta_builder *from = c->from;
    struct ta_builder *into = c->into;
    const struct ta_trace *a = from->trace;
    struct ta_trace *b = into->trace;
    if (b->view.base_ns == TA_MISSING && !c->part->keeps_clock)
        b->view.base_ns = a->view.base_ns;
    if (b->devices.n == 0) {
        for (size_t i = 0; i < a->devices.n; i++)
            ta_builder_describe_device(into, &a->devices.at[i]);
        b->units = a->units;
    }
    for (size_t i = 0; i < a->dump.rows[TA_DUMP_tag].n; i++) {
        struct ta_tag tag = *(const struct ta_tag *)ta_dump_row(&a->dump, TA_DUMP_tag, i);
        tag.key = name_of(c, tag.key);
        tag.value = name_of(c, tag.value);
        if (!has_tag(&b->dump, tag.key) && !ta_dump_push(into, TA_DUMP_tag, &tag))
            return false;
    }
    return true;
}

static bool copy_all(struct copying *c)
{
    bool done = copy_facts(c) && copy_spans(c);
    for (size_t key = 0; done && key < c->from->trace->n_args; key++)
        done = copy_args(c, key);
    return done && copy_edges(c) && copy_asyncs(c) && copy_counters(c) && copy_instants(c) &&
           copy_flows(c) && copy_kinds(c) && !c->into->track_of.failed;
}

/* All of them UNKNOWN; NULL without memory. */
static uint32_t *make_list(size_t n)
{
    uint32_t *list = reallocarray(NULL, n + 1, sizeof *list);
    if (list)
        memset(list, 0xff, (n + 1) * sizeof *list);
    return list;
}

bool ta_builder_take_part(struct ta_builder *from, size_t i, const struct ta_division *division)
{
    const struct ta_trace *trace = from->trace;
    struct ta_builder *into = from->parts.at[i].builder;
    struct ta_store *store = &from->trace->store;
    struct copying c = {.from = from,
                        .into = into,
                        .part = &from->parts.at[i],
                        .division = division,
                        .number = (uint32_t)i,
                        .names = make_list(trace->strings.texts.n),
                        .cats = make_list(trace->categories.n),
                        .tracks = make_list(trace->tracks.n),
                        .rows = ta_store_resize(store, NULL, trace->spans.n + 1, sizeof *c.rows)};
    into->quality = from->quality;
    into->trace->store.space = store->space;
    into->trace->step_marker = trace->step_marker;
    into->n_passing = from->n_passing;
    into->captures = from->captures;
    into->path = from->path;
    into->path_rank = TA_MISSING;
    into->kernels_elsewhere = from->kernels_elsewhere;
    into->zero.first = from->zero.first; /* byte offsets, in the file */
    into->zero.last = from->zero.last;
    bool done = c.names && c.cats && c.tracks && c.rows;
    if (done)
        c.names[TA_STR_ABSENT] = TA_STR_ABSENT;
    done = done && copy_all(&c);
    into->kept = into->events;
    free(c.names);
    free(c.cats);
    free(c.tracks);
    ta_store_free(store, c.rows);
    return done;
}
