/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process of a file launched what devices did.
 *
 * A launch and what it launched have one id, which a profiler counts per process: where the events
 * of several processes are in one file, several launches may share an id. An id that only one
 * process has shows whose an activity is. Of others a launch that came after the activity began is
 * not the one; over a whole device, the process all of whose launches fit is. */
#include "normalize/file_ranks.h"

#include "traceanalyze/model.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* Cells of the matrix of votes at most. */
enum { VOTES_MOST = 1 << 22 };

struct call {
    int64_t id, ts;
    uint32_t process;
    bool is_taken; /* by an activity of a shared device */
};

struct owners {
    const struct ta_trace *trace;
    struct ta_file_process *processes;
    size_t n;
    const uint32_t *process_of_track;
    const struct arg_column *correlation;
    TA_VEC(struct call) calls; /* by id and start */
    /* By process of the activity, then process of the launch: activities that fit, and how many of
     * them have an id that no other process has. */
    uint32_t *fits, *sure;
    struct ta_map ids; /* of activities, with their process */
    int64_t *n_ids;    /* by process of the activities: distinct ones */
};

static enum ta_event_class class_of(const struct owners *o, size_t row)
{
    return o->trace->categories.at[o->trace->spans.cat[row]].class;
}

static int by_id(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

static bool list_calls(struct owners *o)
{
    const struct arg_column *column = o->correlation;
    for (size_t i = 0; column && i < column->n; i++) {
        const ta_row row = column->row[i];
        const int64_t id = arg_column_value(column, i);
        if (id <= 0 || arg_column_is_text(column, i) || class_of(o, row) != TA_CLASS_RUNTIME)
            continue;
        const uint32_t process = o->process_of_track[o->trace->spans.track[row]];
        if (!ta_vec_push(&o->calls, (struct call){id, o->trace->spans.ts[row], process, false}))
            return false;
    }
    if (o->calls.n)
        qsort(o->calls.at, o->calls.n, sizeof *o->calls.at, by_id);
    return true;
}

/* The calls with an id: from *first on, so many. */
static size_t find_calls(const struct owners *o, int64_t id, size_t *first)
{
    size_t low = 0, high = o->calls.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (o->calls.at[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (high < o->calls.n && o->calls.at[high].id == id)
        high++;
    return high - low;
}

/* Calls `each` for every activity of a device that has an id. */
static void each_activity(struct owners *o,
                          void (*each)(struct owners *o, size_t row, int64_t id, uint32_t *of_row),
                          uint32_t *of_row)
{
    const struct arg_column *column = o->correlation;
    for (size_t i = 0; column && i < column->n; i++)
        if (ta_class_is_device(class_of(o, column->row[i])) && !arg_column_is_text(column, i))
            each(o, column->row[i], arg_column_value(column, i), of_row);
}

static void vote(struct owners *o, size_t row, int64_t id, uint32_t *of_row)
{
    size_t first;
    const size_t n = find_calls(o, id, &first);
    const struct call *calls = n ? &o->calls.at[first] : NULL;
    const size_t device = o->process_of_track[o->trace->spans.track[row]];
    const size_t n_before = o->ids.n;
    bool is_sure = true;
    (void)of_row;
    ta_map_at(&o->ids, (uint64_t)id * o->n + device, 0);
    o->n_ids[device] += o->ids.n > n_before;
    for (size_t i = 1; i < n; i++)
        is_sure &= calls[i].process == calls[0].process;
    if (n && is_sure)
        o->sure[device * o->n + calls[0].process]++;
    for (size_t i = 0; i < n && calls[i].ts <= o->trace->spans.ts[row]; i++)
        if (i == 0 || calls[i].process != calls[i - 1].process)
            o->fits[device * o->n + calls[i].process]++;
}

/* Gives an activity to the last launch before it that has none yet. */
static void choose(struct owners *o, size_t row, int64_t id, uint32_t *of_row)
{
    size_t first;
    const size_t n = find_calls(o, id, &first);
    const struct ta_file_process *device =
        &o->processes[o->process_of_track[o->trace->spans.track[row]]];
    struct call *best = NULL;
    if (!device->is_shared)
        return;
    for (size_t i = first; i < first + n; i++) {
        struct call *call = &o->calls.at[i];
        const bool fits = call->ts <= o->trace->spans.ts[row];
        if (!best || (fits && (!call->is_taken || best->is_taken)))
            best = call;
    }
    of_row[row] = best ? best->process : device->owner;
    if (best)
        best->is_taken = true;
}

/* The place of a process among those with launches, or among those with activities. */
static size_t place_among(const struct owners *o, size_t process, bool devices)
{
    size_t place = 0;
    for (size_t i = 0; i < process; i++)
        place += devices ? o->processes[i].n_activities > 0 : o->processes[i].n_calls > 0;
    return place;
}

/* Who launched what process `device` did: where two fit equally well, they stand in one order. */
static void decide(struct owners *o, size_t device)
{
    struct ta_file_process *process = &o->processes[device];
    const uint32_t *fits = o->fits + device * o->n, *sure = o->sure + device * o->n;
    uint64_t all_sure = 0;
    size_t n_sure = 0;
    process->owner = NONE;
    for (size_t i = 0; i < o->n; i++)
        all_sure += sure[i];
    for (size_t i = 0; i < o->n; i++) {
        n_sure += sure[i] && (uint64_t)sure[i] * 50 >= all_sure;
        if (fits[i] == 0)
            continue;
        const uint32_t best = process->owner;
        const bool is_better =
            best == NONE || sure[i] > sure[best] ||
            (sure[i] == sure[best] &&
             (fits[i] > fits[best] ||
              (fits[i] == fits[best] && place_among(o, i, false) == place_among(o, device, true))));
        if (is_better)
            process->owner = (uint32_t)i;
    }
    process->is_shared = n_sure > 1;
}

/* A process that launches as others do and owns no device shares the one of another, when ids come
 * there more than once. */
static void find_shared(struct owners *o)
{
    for (size_t d = 0; d < o->n; d++)
        if (o->processes[d].n_activities && o->processes[d].owner != NONE)
            o->processes[o->processes[d].owner].owns = true;
    for (size_t i = 0; i < o->n; i++) {
        if (o->processes[i].n_calls == 0 || o->processes[i].owns)
            continue;
        for (size_t d = 0; d < o->n; d++) {
            const uint32_t fits = o->fits[d * o->n + i];
            struct ta_file_process *device = &o->processes[d];
            if (device->owner == NONE || !fits)
                continue;
            const uint32_t best = o->fits[d * o->n + device->owner];
            device->is_shared |=
                (uint64_t)fits * 4 >= best && 2 * device->n_activities >= 3 * o->n_ids[d];
        }
    }
}

static bool choose_rows(struct owners *o, uint32_t **of_row)
{
    bool is_shared = false;
    for (size_t i = 0; i < o->n; i++)
        is_shared |= o->processes[i].is_shared;
    if (!is_shared)
        return true;
    *of_row = reallocarray(NULL, o->trace->spans.n + 1, sizeof **of_row);
    if (!*of_row)
        return false;
    memset(*of_row, 0xff, (o->trace->spans.n + 1) * sizeof **of_row);
    each_activity(o, choose, *of_row);
    for (size_t row = 0; row < o->trace->spans.n; row++)
        if ((*of_row)[row] != NONE)
            o->processes[(*of_row)[row]].owns = true;
    return true;
}

bool ta_find_device_owners(const struct ta_builder *builder, struct ta_file_process *processes,
                           size_t n, const uint32_t *process_of_track, uint32_t **of_row)
{
    struct ta_trace *trace = builder->trace;
    struct owners o = {.trace = trace,
                       .processes = processes,
                       .n = n,
                       .process_of_track = process_of_track,
                       .correlation = ta_trace_arg_column(trace, "correlation")};
    *of_row = NULL;
    for (size_t i = 0; i < n; i++)
        processes[i].owner = NONE;
    if (n * n > VOTES_MOST)
        return true;
    o.fits = calloc(n * n + 1, sizeof *o.fits);
    o.sure = calloc(n * n + 1, sizeof *o.sure);
    o.n_ids = calloc(n + 1, sizeof *o.n_ids);
    bool done = o.fits && o.sure && o.n_ids && list_calls(&o);
    if (done) {
        each_activity(&o, vote, NULL);
        for (size_t d = 0; d < n; d++)
            if (processes[d].n_activities)
                decide(&o, d);
        find_shared(&o);
        done = !o.ids.failed && choose_rows(&o, of_row);
    }
    free(o.fits);
    free(o.sure);
    free(o.n_ids);
    free(o.calls.at);
    ta_map_free(&o.ids);
    return done;
}
