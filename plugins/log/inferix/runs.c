/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs a console is of, and how long each took.
 *
 * Two texts tell the length of a run: "Profiling session 'X' ended (duration: 12.10s)" and, of the
 * pipeline in it, "Total time: 11500.00 ms".  The session is the run; the pipeline is a part of it,
 * and counts as the run only where there is no session:
 *
 *   1. A pipeline that is done while a session is open ran in it.
 *   2. One that is done before the end of a session of which no start was printed ran in that.
 *   3. Texts that went through a buffer come after the end of their session: such pipelines
 *      belong, in order, to the sessions without any that are long enough.
 *   4. Any other is a run without a session.
 *
 * Sessions of one rank that are open at the same time are one run, of which the outer one counts.
 * Where the lines of several ranks do not say which is whose, as many count as ran a pipeline, so
 * that sessions add up to the time of the stages. */
#include "base/vec.h"
#include "console.h"

#include <stdlib.h>

/* Durations of sessions have two decimals. */
enum { ROUNDING_NS = 10000000 };

/* ---- a list ---------------------------------------------------------------------------------- */

static struct run *add_run(struct console *c, struct ta_slice id)
{
    const bool has_room = ta_vec_grow((void **)&c->runs, &c->max_runs, c->n_runs, sizeof *c->runs);
    char *copy = id.ptr ? strndup(id.ptr, id.len) : NULL;
    if (!has_room || (id.ptr && !copy)) {
        free(copy);
        c->in.status = ta_fail(c->in.ctx, TA_ERR_NOMEM, "Cannot hold the sessions of a console");
        return NULL;
    }
    c->runs[c->n_runs] = (struct run){.rank = c->in.rank,
                                      .id = copy,
                                      .began = c->line_number,
                                      .ended = UINT64_MAX,
                                      .dur_ns = TA_MISSING};
    if (id.ptr)
        c->session = c->n_runs;
    return &c->runs[c->n_runs++];
}

static bool is_named(const struct run *run, struct ta_slice id)
{
    return run->id && ta_slice_equal(ta_slice_of(run->id), id);
}

static bool is_open(const struct console *c, const struct run *run)
{
    return run->id && run->ended == UINT64_MAX && run->rank == c->in.rank;
}

/* The open session of the name that began last; an empty name is any. */
static struct run *find_open(struct console *c, struct ta_slice id)
{
    for (size_t i = c->n_runs; i-- > 0;)
        if (is_open(c, &c->runs[i]) && (!id.ptr || is_named(&c->runs[i], id)))
            return &c->runs[i];
    return NULL;
}

/* ---- pipelines ------------------------------------------------------------------------------- */

static bool has_room(const struct run *session, int64_t dur_ns)
{
    return session->dur_ns != TA_MISSING &&
           ta_add_sat(session->inside_ns, dur_ns) <= ta_add_sat(session->dur_ns, ROUNDING_NS);
}

static void put_inside(struct run *session, int64_t dur_ns)
{
    session->inside_ns = ta_add_sat(session->inside_ns, dur_ns);
    session->pipelines++;
}

/* Of several ranks whose lines do not say whose they are each ran one. */
static struct run *with_fewest(struct console *c, struct run *open)
{
    for (size_t i = c->n_runs; i-- > 0;) {
        struct run *run = &c->runs[i];
        if (is_open(c, run) && strcmp(run->id, open->id) == 0 && run->pipelines < open->pipelines)
            open = run;
    }
    return open;
}

void console_take_total(struct console *c, int64_t dur_ns)
{
    struct run *open = find_open(c, (struct ta_slice){NULL, 0});
    c->is_ours = true;
    inferix_add_figure(&c->in, c->in.rank, "pipeline", TA_LIT("total_time_ns"), (double)dur_ns,
                       TA_UNIT_NS);
    if (open) {
        put_inside(with_fewest(c, open), dur_ns);
        return;
    }
    struct run *run = add_run(c, (struct ta_slice){NULL, 0});
    if (run) {
        run->dur_ns = dur_ns;
        run->ended = c->line_number;
    }
}

/* A session whose start was not printed holds the pipelines before its end, back to the session
 * before. */
static void adopt_before(struct console *c, struct run *session)
{
    for (struct run *run = session; run-- > c->runs;) {
        if (run->rank != session->rank)
            continue;
        if (run->id || run->is_of_another || !has_room(session, run->dur_ns))
            return;
        put_inside(session, run->dur_ns);
        run->is_of_another = true;
    }
}

/* Pipelines that were printed late, in the order of the sessions before them. */
static void adopt_late(struct console *c)
{
    for (size_t i = 0; i < c->n_runs; i++) {
        struct run *late = &c->runs[i];
        for (size_t k = 0; k < i && !late->id && !late->is_of_another; k++) {
            struct run *session = &c->runs[k];
            if (!session->id || session->rank != late->rank || session->pipelines ||
                !has_room(session, late->dur_ns))
                continue;
            put_inside(session, late->dur_ns);
            late->is_of_another = true;
        }
    }
}

/* ---- sessions -------------------------------------------------------------------------------- */

void console_take_session(struct console *c)
{
    struct ta_slice text = c->line, id;
    while (c->in.status == TA_OK && console_behind(&text, SESSION)) {
        c->is_ours = true;
        const struct ta_slice rest = text;
        if (console_before(&text, "' ended (duration: ", &id)) {
            struct run *session = find_open(c, id);
            const bool began = session != NULL;
            if (!began)
                session = add_run(c, id);
            if (!session)
                return;
            session->ended = c->line_number;
            session->dur_ns = ta_text_decimal(console_number_at(text), 9);
            c->session = (size_t)(session - c->runs);
            if (!began)
                adopt_before(c, session);
            continue;
        }
        text = rest;
        if (!console_before(&text, "' started", &id))
            continue;
        /* Readings, which another thread prints, may come first. */
        struct run *session = find_open(c, id);
        if (!session || session->was_started)
            session = add_run(c, id);
        if (session)
            session->was_started = true;
    }
    text = c->line;
    if (!console_behind(&text, METRICS) || !console_before(&text, ") ===", &id))
        return;
    for (size_t i = 0; i < c->n_runs; i++)
        if (is_named(&c->runs[i], id) && c->runs[i].rank == c->in.rank)
            return;
    add_run(c, id);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Whether the two were open at the same time. */
static bool overlap(const struct run *a, const struct run *b)
{
    return a->id && b->id && a->rank == b->rank && a->ended != UINT64_MAX &&
           b->ended != UINT64_MAX && a->began < b->ended && b->began < a->ended;
}

/* A session inside one of another name is a part of it; of sessions of one name, as many ranks at
 * once have, the ones without a pipeline are not counted where another one has one. */
static void join_overlapping(struct console *c)
{
    for (size_t i = 0; i < c->n_runs; i++)
        for (size_t k = 0; k < c->n_runs; k++) {
            struct run *a = &c->runs[i], *b = &c->runs[k];
            if (i == k || a->is_of_another || b->is_of_another || !overlap(a, b))
                continue;
            const bool same_name = strcmp(a->id, b->id) == 0;
            const bool is_inside = b->began >= a->began && b->ended <= a->ended;
            const bool is_longer = a->pipelines == 0 && b->dur_ns > a->dur_ns;
            if (same_name ? b->pipelines == 0 && !is_longer : is_inside)
                b->is_of_another = true;
        }
}

void console_add_sessions(struct console *c)
{
    adopt_late(c);
    join_overlapping(c);
    for (size_t i = 0; i < c->n_runs; i++) {
        const struct run *run = &c->runs[i];
        struct ta_session session = ta_unknown_session();
        if (run->is_of_another)
            continue;
        session.rank = run->rank;
        session.id = run->id ? inferix_intern(&c->in, ta_slice_of(run->id)) : TA_STR_ABSENT;
        session.dur_ns = run->dur_ns;
        if (session.dur_ns == TA_MISSING && run->pipelines) /* its end was not printed */
            session.dur_ns = run->inside_ns;
        INFERIX_ADD(&c->in, session, &session);
        c->in.kept++;
    }
}
