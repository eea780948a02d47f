/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs the reports of other profilers are of.
 *
 * Some profilers write one report per process and run: a session, the stages of a program, all that
 * was recorded so far.  A process has one session at a time, so two reports of one rank are two
 * runs unless their content says that one process wrote both: a later session carries on the
 * samples of an earlier one, a later export repeats the stages of an earlier one.  Reports of
 * different ranks are of one run where they were recorded at the same time or lie together, and no
 * rank is there twice. */
#include "ingest/dumps/dumps.h"
#include "recordings/witnesses.h"

#include <stdlib.h>

/* ---- reading ------------------------------------------------------------------------------- */

static void take_time(struct period *period, int64_t start, int64_t end)
{
    if (start == TA_MISSING || end == TA_MISSING)
        return;
    if (period->start == TA_MISSING || start < period->start)
        period->start = start;
    if (period->end == TA_MISSING || end > period->end)
        period->end = end;
}

/* Its session, or from its first date to its last. */
static struct period dump_period(const struct ta_trace *trace)
{
    const struct ta_dump *dump = &trace->dump;
    struct period period = {TA_MISSING, TA_MISSING};
    for (size_t i = 0; i < dump->rows[TA_DUMP_session].n; i++) {
        const struct ta_session *session = ta_dump_row(dump, TA_DUMP_session, i);
        take_time(&period, session->start_ns,
                  session->end_ns == TA_MISSING ? session->start_ns : session->end_ns);
    }
    if (period.start != TA_MISSING) /* it says so itself */
        return period;
    for (size_t i = 0; i < dump->rows[TA_DUMP_memory_mark].n; i++) {
        const struct ta_memory_mark *mark = ta_dump_row(dump, TA_DUMP_memory_mark, i);
        take_time(&period, mark->time_ns, mark->time_ns);
    }
    for (size_t i = 0; i < dump->rows[TA_DUMP_happening].n; i++) {
        const struct ta_happening *happening = ta_dump_row(dump, TA_DUMP_happening, i);
        take_time(&period, happening->time_ns, happening->time_ns);
    }
    struct ta_samples samples = ta_dump_samples(dump);
    while (ta_samples_next(&samples))
        if (!samples.sample.relative)
            take_time(&period, samples.sample.time_ns, samples.sample.time_ns);
    return period;
}

static bool is_session(const struct ta_dump *dump)
{
    return dump->rows[TA_DUMP_session].n > 0;
}

/* Whether its profiler writes one such file per process and run. */
static bool is_witness(const struct ta_trace *trace, const struct period *period)
{
    const struct ta_dump *dump = &trace->dump;
    if (ta_is_export(trace))
        return true;
    return dump->set && dump->exactness == TA_EXACT_FULL && period->start != TA_MISSING &&
           (is_session(dump) || dump->rows[TA_DUMP_stage].n || dump->rows[TA_DUMP_iterations].n);
}

bool read_witness(const struct deciding *d, size_t file, struct witness *witness)
{
    const struct ta_ingested *facts = &d->ingestion->files[file];
    struct ta_file_name name;
    int64_t rank = facts->rank;
    if (!ta_file_name_read(&d->recordings->arena, facts->source->shown, TA_MISSING, &name) ||
        (rank == TA_MISSING && !ta_rank_in_path(facts->source->shown, NULL, &rank)))
        return false;
    *witness = (struct witness){.file = file,
                                .facts = facts,
                                .family = name.family,
                                .folder = ta_copy_folder(facts->source->shown),
                                .rank = rank,
                                .period = facts->dump ? dump_period(facts->dump)
                                                      : (struct period){TA_MISSING, TA_MISSING},
                                .run = SIZE_MAX};
    return true;
}

static bool list_witnesses(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    d->witnesses = ta_arena_alloc(&r->arena, (d->ingestion->n_files + 1) * sizeof *d->witnesses);
    bool done = d->witnesses != NULL;
    for (size_t i = 0; done && i < d->ingestion->n_files; i++) {
        struct witness *witness = &d->witnesses[d->n_witnesses];
        if (r->files[i].kind != TA_RECORDING_DUMP || !d->ingestion->files[i].dump)
            continue;
        done = read_witness(d, i, witness);
        d->n_witnesses += done && is_witness(witness->facts->dump, &witness->period);
    }
    return done;
}

/* ---- two of them --------------------------------------------------------------------------- */

static bool is_dated(const struct witness *witness)
{
    return witness->period.start != TA_MISSING;
}

static bool are_at_one_time(const struct witness *a, const struct witness *b)
{
    return is_dated(a) && is_dated(b) && a->period.start < b->period.end &&
           b->period.start < a->period.end;
}

static bool are_alike(const struct witness *a, const struct witness *b)
{
    return strcmp(a->facts->format, b->facts->format) == 0 &&
           strcmp(a->facts->set ? a->facts->set : "", b->facts->set ? b->facts->set : "") == 0;
}

/* Forms of one export have one name; later exports of one run begin with the stages of earlier
 * ones. */
static bool are_one_export(const struct witness *a, const struct witness *b)
{
    return strcmp(a->family, b->family) == 0 || ta_exports_repeat(a->facts->dump, b->facts->dump);
}

/* Whether they are reports on the same. */
static bool are_one(const struct witness *a, const struct witness *b)
{
    if (ta_is_export(a->facts->dump) && ta_is_export(b->facts->dump))
        return are_one_export(a, b);
    return are_alike(a, b) && a->rank == b->rank && is_session(&a->facts->dump->dump) &&
           a->period.start == b->period.start && a->period.end == b->period.end;
}

/* Whether they are of different ranks of one world. */
static bool are_of_ranks(const struct witness *a, const struct witness *b)
{
    const int64_t x = a->facts->world_size, y = b->facts->world_size;
    return a->rank != TA_MISSING && b->rank != TA_MISSING && a->rank != b->rank &&
           (x == TA_MISSING || y == TA_MISSING || x == y);
}

/* The session before it of the same process, whose samples it repeats: the last one that ended in
 * its folder, of its rank before others. */
static const struct witness *session_before(const struct deciding *d, const struct witness *session)
{
    const struct witness *before = NULL;
    if (!ta_quality_count(&session->facts->quality, TA_Q_OTHER_SESSION))
        return NULL;
    for (size_t i = 0; i < d->n_witnesses; i++) {
        const struct witness *other = &d->witnesses[i];
        if (strcmp(other->facts->format, session->facts->format) != 0 || !is_dated(other) ||
            other->period.end > session->period.start ||
            !ta_slice_equal(other->folder, session->folder))
            continue;
        const bool has_rank = other->rank == session->rank;
        const bool had_rank = before && before->rank == session->rank;
        if (!before || has_rank > had_rank ||
            (has_rank == had_rank && other->period.end > before->period.end))
            before = other;
    }
    return before;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* How well a report fits a run of other ranks. */
struct fit {
    bool clashes;  /* it has a report of this rank, or of another world */
    int likeness;  /* by place and time; 0: not at all */
    int64_t apart; /* from the start of the one nearest in time */
};

static void add_fit(struct fit *fit, const struct witness *witness, const struct witness *other)
{
    const bool is_beside =
        ta_slice_equal(witness->folder, other->folder) && are_alike(witness, other);
    const int likeness = 2 * is_beside + are_at_one_time(witness, other);
    const int64_t start = witness->period.start, begun = other->period.start;
    const int64_t apart = start > begun ? start - begun : begun - start;
    fit->clashes |= !are_of_ranks(witness, other);
    fit->likeness = likeness > fit->likeness ? likeness : fit->likeness;
    fit->apart = apart < fit->apart ? apart : fit->apart;
}

/* The run of other ranks that a report is of; `fits` has room for one of each run. */
static size_t fitting_run(const struct deciding *d, size_t n, const struct witness *witness,
                          struct fit *fits)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < d->n_witnessed; k++)
        fits[k] = (struct fit){.apart = INT64_MAX};
    for (size_t i = 0; i < n; i++)
        if (strcmp(d->witnesses[i].facts->format, witness->facts->format) == 0)
            add_fit(&fits[d->witnesses[i].run], witness, &d->witnesses[i]);
    for (size_t k = 0; k < d->n_witnessed; k++)
        if (!fits[k].clashes && fits[k].likeness &&
            (best == SIZE_MAX || fits[k].likeness > fits[best].likeness ||
             (fits[k].likeness == fits[best].likeness && fits[k].apart < fits[best].apart)))
            best = k;
    return best;
}

/* All reports of two runs are of the first of them; the last run takes the other's number. */
static size_t join(struct deciding *d, size_t n, size_t a, size_t b)
{
    const size_t into = a < b ? a : b, from = a < b ? b : a;
    for (size_t i = 0; i < n; i++) {
        size_t *run = &d->witnesses[i].run;
        *run = *run == from ? into : *run == d->n_witnessed - 1 ? from : *run;
    }
    d->n_witnessed--;
    return into;
}

static int by_start(const void *left, const void *right)
{
    const struct witness *a = left, *b = right;
    if (a->period.start != b->period.start) /* TA_MISSING is the least */
        return a->period.start < b->period.start ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static bool find_runs_of_profilers(struct deciding *d)
{
    struct fit *fits = calloc(d->n_witnesses + 1, sizeof *fits);
    for (size_t i = 0; fits && i < d->n_witnesses; i++) {
        struct witness *witness = &d->witnesses[i];
        const struct witness *before = session_before(d, witness);
        size_t run = before && before < witness ? before->run : SIZE_MAX;
        for (size_t k = 0; k < i; k++) {
            const size_t other = d->witnesses[k].run;
            if (other != run && are_one(&d->witnesses[k], witness))
                run = run == SIZE_MAX ? other : join(d, i, run, other);
        }
        if (run == SIZE_MAX)
            run = fitting_run(d, i, witness, fits);
        witness->run = run == SIZE_MAX ? d->n_witnessed++ : run;
    }
    free(fits);
    return fits;
}

/* Reports of different profilers are of one run where they lie together or are of one time, and no
 * other run is as well. */
static bool join_profilers(struct deciding *d)
{
    size_t *others = calloc(d->n_witnesses + 1, sizeof *others); /* number of the only one + 1 */
    bool is_joined = others != NULL;
    while (is_joined) {
        is_joined = false;
        for (size_t k = 0; k < d->n_witnessed; k++)
            others[k] = 0;
        for (size_t i = 0; i < d->n_witnesses; i++)
            for (size_t k = 0; k < d->n_witnesses; k++) {
                const struct witness *a = &d->witnesses[i], *b = &d->witnesses[k];
                if (a->run != b->run && strcmp(a->facts->format, b->facts->format) != 0 &&
                    (ta_slice_equal(a->folder, b->folder) || are_at_one_time(a, b)))
                    others[a->run] =
                        !others[a->run] || others[a->run] == b->run + 1 ? b->run + 1 : SIZE_MAX;
            }
        for (size_t k = 0; k < d->n_witnessed && !is_joined; k++) {
            is_joined = others[k] && others[k] != SIZE_MAX && others[others[k] - 1] == k + 1;
            if (is_joined)
                join(d, d->n_witnesses, k, others[k] - 1);
        }
    }
    free(others);
    return others;
}

/* ---- traces -------------------------------------------------------------------------------- */

/* The only run of reports in a folder, or with a date in the time of a trace; SIZE_MAX. */
static size_t only_run(const struct deciding *d, const struct ta_slice *folder,
                       const struct trace *at)
{
    size_t run = SIZE_MAX;
    for (size_t i = 0; i < d->n_witnesses; i++) {
        const struct witness *witness = &d->witnesses[i];
        if (folder && !ta_slice_equal(witness->folder, *folder))
            continue;
        if (at && (!is_dated(witness) || at->start == TA_MISSING ||
                   at->start >= witness->period.end || witness->period.start >= at->end))
            continue;
        if (run != SIZE_MAX && run != witness->run)
            return SIZE_MAX;
        run = witness->run;
    }
    return run;
}

/* The run of the report that names a trace as its own, is in its folder, or of its time. */
static size_t witnessed_run(const struct deciding *d, const struct trace *trace)
{
    const struct ta_slice folder = ta_copy_folder(trace->facts->source->shown);
    for (size_t i = 0; i < d->n_witnesses; i++)
        if (d->witnesses[i].file == trace->owner)
            return d->witnesses[i].run;
    const size_t beside = only_run(d, &folder, NULL);
    if (beside != SIZE_MAX)
        return beside;
    const size_t there = only_run(d, &folder, trace);
    return there != SIZE_MAX ? there : only_run(d, NULL, trace);
}

bool find_witnesses(struct deciding *d)
{
    if (d->ingestion->is_one || d->is_given)
        return true;
    if (!list_witnesses(d))
        return false;
    qsort(d->witnesses, d->n_witnesses, sizeof *d->witnesses, by_start);
    if (!find_runs_of_profilers(d) || !join_profilers(d))
        return false;
    for (size_t i = 0; i < d->n && d->n_witnessed > 1; i++)
        d->traces[i].witnessed = witnessed_run(d, &d->traces[i]);
    return true;
}
