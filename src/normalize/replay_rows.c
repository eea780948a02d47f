/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of captures in the trace of their replays: for each replay the rows of its capture are
 * added after the spans of the trace, with captured classes, which last no time and belong to no
 * thread.
 */
#include "normalize/replays.h"

#include "model/trace.h"

static ta_str text_of(struct adding *adding, struct ta_slice text)
{
    uint64_t *known = ta_map_at(&adding->texts, (uintptr_t)text.ptr, 0);
    if (!known || *known)
        return known ? (ta_str)*known : TA_STR_ABSENT;
    ta_str id = TA_STR_ABSENT;
    if (ta_strings_intern(&adding->m->trace->strings, text, &id) == TA_INTERN_NOMEM)
        adding->m->failed = true;
    *known = id;
    return id;
}

static ta_cat category_of(struct adding *adding, const struct capture_row *row)
{
    struct ta_trace *trace = adding->m->trace;
    const ta_str name = text_of(adding, row->category);
    uint64_t *known =
        ta_map_at(&adding->cats, (uint64_t)name << 8 | (uint64_t)row->class, trace->categories.n);
    if (known && *known == trace->categories.n && trace->categories.n < CATEGORIES_MAX)
        adding->m->failed |=
            !ta_vec_push(&trace->categories, ((struct ta_category){name, row->class}));
    adding->m->failed |= !known;
    return known && *known < trace->categories.n ? (ta_cat)*known : 0;
}

static void add_args(struct adding *adding, const struct ta_captures *of,
                     const struct capture_row *from, ta_row row)
{
    struct ta_trace *trace = adding->m->trace;
    for (size_t i = 0; i < from->n_args; i++) {
        const struct capture_arg *arg = &of->args.at[from->first_arg + i];
        size_t k = arg->key < trace->n_args ? arg->key : 0; /* mostly the keys are the same */
        if (trace->n_args && !ta_slice_equal(trace->args[k].key, of->keys.at[arg->key]))
            for (k = 0; k < trace->n_args; k++)
                if (ta_slice_equal(trace->args[k].key, of->keys.at[arg->key]))
                    break;
        if (k < trace->n_args &&
            !arg_column_add(&trace->store, &trace->args[k], row,
                            arg->text.ptr ? (int64_t)text_of(adding, arg->text) : arg->value,
                            arg->text.ptr != NULL, 0))
            adding->m->failed = true;
    }
}

void add_row_of_capture(struct adding *adding, const struct capture_row *from, ta_row first,
                        ta_row launch)
{
    struct ta_trace *trace = adding->m->trace;
    struct span_columns *c = &trace->spans;
    const ta_row row = (ta_row)c->n++;
    c->ts[row] = c->ts[launch];
    c->dur[row] = c->self[row] = 0;
    c->name[row] = text_of(adding, from->name);
    c->cat[row] = category_of(adding, from);
    c->track[row] = adding->track;
    c->parent[row] = from->parent == CAPTURE_OUTSIDE ? launch : first + from->parent;
    c->depth[row] = (uint16_t)(c->depth[c->parent[row]] + (c->depth[c->parent[row]] < UINT16_MAX));
    if (c->work)
        c->work[row] = TA_HOST_UNTRACED;
}

bool make_room_for_rows(struct ta_trace *trace, size_t n)
{
    struct span_columns *c = &trace->spans;
#define GROW(column)                                                                               \
    do {                                                                                           \
        void *grown = ta_store_resize(&trace->store, (column), n + 1, sizeof *(column));           \
        if (!grown)                                                                                \
            return false;                                                                          \
        (column) = grown;                                                                          \
    } while (0)
    if (n >= TA_NO_ROW)
        return false;
    GROW(c->ts);
    GROW(c->dur);
    GROW(c->self);
    GROW(c->name);
    GROW(c->cat);
    GROW(c->track);
    GROW(c->parent);
    GROW(c->depth);
    if (c->work)
        GROW(c->work);
#undef GROW
    c->max = n;
    for (size_t i = 0; i < trace->n_args; i++)
        if (!arg_column_own_rows(&trace->store, &trace->args[i]))
            return false;
    return true;
}

static bool open_adding(struct adding *adding)
{
    struct mapping *m = adding->m;
    struct ta_trace *trace = m->trace;
    size_t rows = 0;
    for (size_t r = 0; r < m->replays.n; r++) {
        const struct replay_kind *kind = &m->kinds.at[m->replays.at[r].kind];
        rows += kind->capture ? kind->capture->rows.n : 0;
    }
    adding->track = (uint32_t)trace->tracks.n;
    return make_room_for_rows(trace, trace->spans.n + rows) &&
           ta_vec_push(&trace->tracks,
                       ((struct ta_track){.first = (ta_row)trace->spans.n, .n = (ta_row)rows}));
}

static void add_replay(struct adding *adding, const struct replay *replay)
{
    struct mapping *m = adding->m;
    const struct replay_kind *kind = &m->kinds.at[replay->kind];
    if (!kind->capture)
        return;
    const ta_row first = (ta_row)m->trace->spans.n;
    const ta_row launch = activity_at(m, replay->first)->launch;
    for (size_t i = 0; i < kind->capture->rows.n && !m->failed; i++) {
        const struct capture_row *row = &kind->capture->rows.at[i];
        add_row_of_capture(adding, row, first, launch);
        if (kind->shapes)
            add_args(adding, kind->capture->of, row, first + (ta_row)i);
    }
    for (size_t i = 0; i < replay->n; i++)
        if (kind->nodes[i] != NO_NODE)
            m->trace->activities.at[m->order.at[replay->first + i]].op =
                first + kind->capture->nodes.at[kind->nodes[i]].row;
}

bool close_added_rows(struct adding *adding)
{
    struct ta_trace *trace = adding->m->trace;
    for (size_t i = 0; i < trace->n_args; i++)
        if (trace->args[i].n)
            arg_column_index(&trace->store, &trace->args[i], trace->spans.n);
    const bool failed = adding->texts.failed || adding->cats.failed;
    ta_map_free(&adding->texts);
    ta_map_free(&adding->cats);
    return !failed && !adding->m->failed;
}

bool add_captured_rows(struct mapping *m)
{
    struct adding adding = {.m = m};
    bool any = false;
    for (size_t k = 0; k < m->kinds.n; k++)
        any |= m->kinds.at[k].capture != NULL;
    if (!any)
        return true;
    bool done = open_adding(&adding);
    for (size_t r = 0; done && r < m->replays.n; r++)
        add_replay(&adding, &m->replays.at[r]);
    return close_added_rows(&adding) && done;
}
