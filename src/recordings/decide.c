/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the facts of files to recordings and runs.
 *
 * Content speaks first: captures without replays, files without device work next to one of the same
 * rank that has it, world sizes, process ids, and when each recording began and ended.  Names
 * decide what content leaves open. */
#include "recordings/recordings.h"

#include "base/context.h"
#include "base/path.h"
#include "ingest/inputs/inputs.h"
#include "discover/names.h"
#include "recordings/traces.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- traces -------------------------------------------------------------------------------- */

static int64_t dated(const struct ta_ingested *file, int64_t time)
{
    if (time == TA_MISSING)
        return TA_MISSING;
    if (file->base_ns != TA_MISSING)
        return ta_add_sat(file->base_ns, time);
    return time >= TA_DATED_FROM_NS ? time : TA_MISSING;
}

static bool is_trace(const struct ta_ingested *file)
{
    return !file->refusal && !file->source->combines && !file->is_dump && !file->set;
}

/* A dump of several sections, each of which has a trace; no file before `first` is a dump.  Of
 * several that name the trace the last one wrote over it. */
static size_t owner_of(const struct ta_ingestion *ingestion, size_t first, const char *shown)
{
    for (size_t i = ingestion->n_files; i-- > first;) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (file->is_dump &&
            ta_is_product(file->source->shown, (const char *const *)file->products, shown))
            return i;
    }
    return SIZE_MAX;
}

static bool read_traces(struct deciding *d, const struct ta_run_options *options,
                        const struct ta_ingestion *ingestion)
{
    size_t first_dump = 0;
    while (first_dump < ingestion->n_files && !ingestion->files[first_dump].is_dump)
        first_dump++;
    d->traces = calloc(ingestion->n_files + 1, sizeof *d->traces);
    for (size_t i = 0; d->traces && i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (!is_trace(file))
            continue;
        struct trace *trace = &d->traces[d->n++];
        *trace = (struct trace){.file = i,
                                .facts = file,
                                .rank = file->rank,
                                .start = dated(file, file->first_ts),
                                .end = dated(file, file->last_ts),
                                .owner = owner_of(ingestion, first_dump, file->source->shown),
                                .witnessed = SIZE_MAX,
                                .run = SIZE_MAX};
        if (!ta_file_name_read(&d->recordings->arena, file->source->shown, file->traits.process,
                               &trace->name))
            return false;
        int64_t named = TA_MISSING;
        if (options->rank_regex || trace->rank == TA_MISSING)
            if (!ta_rank_in_path(file->source->shown, options->rank_regex, &named))
                return false;
        if (named != TA_MISSING)
            trace->rank = named;
    }
    return d->traces;
}

/* ---- what is set aside -------------------------------------------------------------- */

static bool has_devices(const struct trace *trace)
{
    return trace->facts->traits.activities > 0 || trace->facts->traits.graph_launches > 0;
}

static bool may_be_one_rank(const struct trace *a, const struct trace *b)
{
    return a->rank == TA_MISSING || b->rank == TA_MISSING || a->rank == b->rank;
}

static void set_aside(struct deciding *d, struct trace *trace, const struct trace *run,
                      enum ta_recording_kind kind, const char *why)
{
    trace->aside = true;
    d->recordings->files[trace->file] =
        (struct ta_recorded_file){.kind = kind,
                                  .recording = SIZE_MAX,
                                  .start_ns = trace->start,
                                  .map_of = kind == TA_RECORDING_CAPTURE ? run->file : SIZE_MAX,
                                  .why = why};
    trace->partner = run;
}

/* Its partials were merged with others before, into a summary. */
static bool cannot_be_set_aside(const struct trace *trace)
{
    return trace->facts->source->summary && trace->facts->source->summary->head.n_files > 1;
}

/* Whether a capture is rather of one run than of another: of one that replays graphs, then of the
 * one of its process, then of the one in the nearest folder. */
static bool is_nearer(const struct trace *capture, const struct trace *run,
                      const struct trace *than)
{
    const struct ta_traits *of = &run->facts->traits, *other = &than->facts->traits;
    const int64_t process = capture->facts->traits.process;
    const char *path = capture->facts->source->shown;
    if ((of->graph_launches > 0) != (other->graph_launches > 0))
        return of->graph_launches > 0;
    if (process != TA_MISSING && (of->process == process) != (other->process == process))
        return of->process == process;
    return ta_path_common(path, run->facts->source->shown) >
           ta_path_common(path, than->facts->source->shown);
}

/* A capture next to a run of its process: the one that replays a graph before others. */
static void find_captures(struct deciding *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        const struct trace *run = NULL;
        if (!is_capture(trace) || cannot_be_set_aside(trace))
            continue;
        for (size_t k = 0; k < d->n; k++) {
            const struct trace *other = &d->traces[k];
            if (is_capture(other) || !has_devices(other) || !may_be_one_rank(trace, other))
                continue;
            if (!run || is_nearer(trace, other, run))
                run = other;
        }
        if (run)
            set_aside(
                d, trace, run, TA_RECORDING_CAPTURE,
                "It captures a graph and replays none; another recording of its process does");
    }
}

/* Recordings without device work: of a rank that has another one with it, or of a process that is
 * no rank where all others are. */
static bool find_hosts(struct deciding *d)
{
    struct ta_map runs = {0}; /* the last trace with device work, by rank */
    const struct trace *other = NULL;
    bool others_are_ranks = true, done = true;
    for (size_t k = 0; done && k < d->n; k++) {
        const struct trace *run = &d->traces[k];
        if (run->aside || !has_devices(run))
            continue;
        other = run;
        others_are_ranks &= run->rank != TA_MISSING;
        uint64_t *at = ta_map_at(&runs, (uint64_t)run->rank, k);
        done = at != NULL;
        if (done)
            *at = k;
    }
    for (size_t i = 0; done && i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        if (trace->aside || has_devices(trace) || cannot_be_set_aside(trace))
            continue;
        const uint64_t *same =
            trace->rank == TA_MISSING ? NULL : ta_map_find(&runs, (uint64_t)trace->rank);
        if (same)
            set_aside(d, trace, &d->traces[*same], TA_RECORDING_HOST,
                      "No device work was recorded in it; another recording of its rank has some");
        else if (other && trace->rank == TA_MISSING && trace->name.is_front_end)
            set_aside(d, trace, other, TA_RECORDING_HOST,
                      "The process of a server that hands out work, as its name says; no device "
                      "work was recorded in it");
        else if (other && others_are_ranks && trace->rank == TA_MISSING)
            set_aside(d, trace, other, TA_RECORDING_HOST,
                      "A process of the host without device work and without a rank; the "
                      "other files are ranks that have both");
    }
    ta_map_free(&runs);
    return done;
}

/* ---- merged files --------------------------------------------------------------------------- */

static bool is_of_ranks(const struct ta_ingested *facts, int64_t rank)
{
    for (size_t i = 0; i < facts->n_row_ranks; i++)
        if (facts->row_ranks[i] == rank)
            return true;
    return false;
}

/* A file of several ranks next to the files that it was merged of: these have its ranks, all of
 * them, and about as many events. */
static void find_merges(struct deciding *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        if (trace->facts->n_row_ranks < 2)
            continue;
        uint64_t events = 0;
        size_t n = 0;
        const struct trace *first = NULL;
        for (size_t k = 0; k < d->n; k++) {
            const struct trace *other = &d->traces[k];
            if (other->facts->n_row_ranks || !is_of_ranks(trace->facts, other->rank))
                continue;
            events += other->facts->events;
            first = first ? first : other;
            n++;
        }
        const uint64_t all = trace->facts->events;
        if (n == trace->facts->n_row_ranks && all / 10 * 9 <= events && events <= all / 10 * 11)
            set_aside(d, trace, first, TA_RECORDING_REPEAT,
                      "It holds the ranks of other files, which count, merged into one");
    }
}

/* ---- what is no recording ------------------------------------------------------------------- */

/* A file named as the recordings of its folder are is missed, whatever its bytes are.  Many other
 * files have ranks in their names, such as "config_rank1.json": another document that is whole is
 * missed only where all but its rank is the name of a trace. */
static bool is_named_as_one(const struct ta_file_name *name, bool is_document,
                            const struct ta_file_name *names, size_t n)
{
    if (!is_document && (name->rank != TA_MISSING || name->tensor != TA_MISSING ||
                         name->worker != TA_MISSING || name->counts != TA_ORDINAL_NONE))
        return true;
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i].family, name->family) == 0)
            return true;
    return false;
}

bool ta_recordings_find_strays(struct ta_recordings *recordings, struct ta_ingestion *ingestion)
{
    struct ta_arena *arena = &recordings->arena;
    struct ta_file_name *names = ta_arena_alloc(arena, (ingestion->n_files + 1) * sizeof *names);
    size_t n = 0;
    bool done = names != NULL;
    for (size_t i = 0; done && i < ingestion->n_files; i++)
        if (is_trace(&ingestion->files[i]))
            done = ta_file_name_read(arena, ingestion->files[i].source->shown, TA_MISSING,
                                     &names[n++]);
    for (size_t i = 0; done && i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        struct ta_file_name name;
        if (!file->is_other || !file->source->is_below)
            continue;
        done = ta_file_name_read(arena, file->source->shown, TA_MISSING, &name);
        if (!done || is_named_as_one(&name, file->is_document, names, n))
            continue;
        file->is_stray = true;
        file->dropped = file->events = file->bytes_skipped = 0; /* it has no events to lose */
        ta_quality_free(&file->quality);
        ta_quality_init(&file->quality);
    }
    return done;
}

/* ---- one recording twice -------------------------------------------------------------------- */

/* JAX writes perfetto_trace.json.gz next to a trace of the same events. */
static void find_repeats(struct deciding *d)
{
    static const char name[] = "perfetto_trace.json";
    for (size_t i = 0; i < d->n; i++) {
        struct trace *trace = &d->traces[i];
        const char *shown = trace->facts->source->shown, *slash = strrchr(shown, '/');
        const size_t folder = slash ? (size_t)(slash - shown) + 1 : 0;
        if (strncmp(shown + folder, name, sizeof name - 1) != 0)
            continue;
        for (size_t k = 0; k < d->n && !trace->aside; k++) {
            const struct ta_ingested *a = trace->facts, *b = d->traces[k].facts;
            if (k != i && !d->traces[k].aside && a->events == b->events &&
                a->first_ts == b->first_ts && a->last_ts == b->last_ts &&
                strncmp(b->source->shown, shown, folder) == 0)
                set_aside(d, trace, &d->traces[k], TA_RECORDING_REPEAT,
                          "It holds the events of another file of its folder, which count");
        }
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void classify_others(struct deciding *d, const struct ta_ingestion *ingestion)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        struct ta_recorded_file *recorded = &d->recordings->files[i];
        *recorded = (struct ta_recorded_file){.kind = TA_RECORDING_RUN,
                                              .recording = SIZE_MAX,
                                              .start_ns = dated(file, file->first_ts),
                                              .map_of = SIZE_MAX};
        if (file->source->copy_of || file->source->combines)
            recorded->kind = TA_RECORDING_COPY;
        else if (file->refusal)
            recorded->kind = TA_RECORDING_NONE;
        else if (!is_trace(file))
            recorded->kind = TA_RECORDING_DUMP;
        recorded->why = file->refusal ? file->refusal
                        : recorded->kind == TA_RECORDING_COPY
                            ? "Its events are those of other files, which count"
                            : NULL;
    }
}

enum ta_status ta_recordings_decide(struct ta_ctx *ctx, const struct ta_run_options *options,
                                    const struct ta_ingestion *ingestion,
                                    struct ta_recordings *recordings)
{
    struct deciding d = {
        .recordings = recordings, .ingestion = ingestion, .is_given = options->n_inputs > 1};
    recordings->n_files = ingestion->n_files;
    recordings->files =
        ta_arena_alloc(&recordings->arena, (ingestion->n_files + 1) * sizeof *recordings->files);
    bool done = recordings->files != NULL;
    if (done)
        classify_others(&d, ingestion);
    done = done && read_traces(&d, options, ingestion);
    if (done && !ingestion->is_one) {
        find_merges(&d);
        find_repeats(&d);
        find_captures(&d);
        done = find_hosts(&d);
    }
    done = done && find_witnesses(&d) && find_runs(&d) && name_runs(&d) && find_recordings(&d) &&
           place_dumps(&d);
    free(d.traces);
    return done && !recordings->arena.failed
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot decide what the files are: files=%zu",
                         ingestion->n_files);
}

void ta_recordings_free(struct ta_recordings *recordings)
{
    ta_arena_free(&recordings->arena);
}
