/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run a dump of another profiler is of: by the report that it belongs to, by its name, by its
 * time, then by its folder. */
#include "recordings/witnesses.h"

/* ---- by reports ---------------------------------------------------------------------------- */

/* Durations in what programs print are rounded. */
#define ROUNDING_NS INT64_C(100000000)

static bool has_rank_of(const struct witness *dump, const struct witness *report)
{
    return dump->rank == TA_MISSING || report->rank == TA_MISSING || dump->rank == report->rank;
}

/* Whether a dump holds records of the session or program that a report is on, in another form: a
 * console may lie above. */
static bool is_form_of(const struct witness *dump, const struct witness *report)
{
    const char *set = dump->facts->set;
    return set && *set && report->facts->set && strcmp(set, report->facts->set) == 0 &&
           has_rank_of(dump, report) &&
           (dump->facts->is_console ? ta_folder_is_below(report->folder, dump->folder)
                                    : ta_slice_equal(report->folder, dump->folder));
}

static bool has_session_of(const struct ta_dump *dump, int64_t dur_ns)
{
    for (size_t i = 0; i < dump->rows[TA_DUMP_session].n; i++) {
        const struct ta_session *session = ta_dump_row(dump, TA_DUMP_session, i);
        const int64_t longer = ta_add_sat(session->dur_ns, -dur_ns);
        if (session->dur_ns != TA_MISSING && longer <= ROUNDING_NS && longer >= -ROUNDING_NS)
            return true;
    }
    return false;
}

/* How much a dump says that it is of a report whose form it is: of its time, or as long. */
static int likeness(const struct witness *dump, const struct witness *report)
{
    const struct period *period = &report->period;
    if (period->start == TA_MISSING)
        return 1;
    if (dump->period.end != TA_MISSING)
        return dump->period.end >= period->start ? 2 : 0;
    return 1 + has_session_of(&dump->facts->dump->dump, period->end - period->start);
}

/* The run of the reports whose form a dump is; of several the last that began before its last
 * record. */
static size_t run_of_form(const struct deciding *d, const struct witness *dump)
{
    const struct witness *report = NULL;
    int best = 0;
    bool several = false;
    for (size_t i = 0; i < d->n_witnesses; i++) { /* in the order of time */
        const struct witness *other = &d->witnesses[i];
        const int like = dump->facts->dump && is_form_of(dump, other) ? likeness(dump, other) : 0;
        if (like == 0 || like < best)
            continue;
        several = like == best && other->run != report->run && dump->period.end == TA_MISSING;
        report = other;
        best = like;
    }
    return report && !several ? d->run_of[report->run] : SIZE_MAX;
}

/* ---- by names, times and folders ----------------------------------------------------------- */

/* How many bytes of a name the family of a run begins with, whole words only; 0 when it does not.
 */
static size_t shared_name(const char *family, const char *name)
{
    const size_t n = strlen(family);
    if (n == 0 || strncmp(family, name, n) != 0)
        return 0;
    return name[n] == '\0' || strchr("-_./", name[n]) ? n : 0;
}

static size_t run_by_name(const struct deciding *d, const char *family)
{
    size_t run = SIZE_MAX, longest = 0;
    for (size_t i = 0; i < d->n; i++) {
        const size_t n = shared_name(d->traces[i].name.family, family);
        if (n > longest) {
            longest = n;
            run = d->traces[i].run;
        }
    }
    for (size_t i = 0; i < d->n_witnesses; i++) {
        const size_t n = shared_name(d->witnesses[i].family, family);
        if (n > longest) {
            longest = n;
            run = d->run_of[d->witnesses[i].run];
        }
    }
    return run;
}

/* A run that is the only one so far; SIZE_MAX - 1: there are several. */
static size_t only(size_t so_far, size_t run)
{
    return so_far == SIZE_MAX || so_far == run ? run : SIZE_MAX - 1;
}

/* The only run whose sessions or traces a dump with dates is within. */
static size_t run_by_time(const struct deciding *d, const struct period *period)
{
    size_t run = SIZE_MAX;
    if (period->start == TA_MISSING)
        return SIZE_MAX;
    for (size_t i = 0; i < d->n; i++) {
        const struct trace *trace = &d->traces[i];
        if (!trace->aside && trace->start != TA_MISSING && trace->start <= period->end &&
            period->start <= trace->end)
            run = only(run, trace->run);
    }
    for (size_t i = 0; i < d->n_witnesses; i++) {
        const struct period *other = &d->witnesses[i].period;
        if (other->start != TA_MISSING && other->start <= period->end &&
            period->start <= other->end)
            run = only(run, d->run_of[d->witnesses[i].run]);
    }
    return run;
}

/* The only run with traces or reports in a folder. */
static size_t run_by_folder(const struct deciding *d, struct ta_slice folder)
{
    size_t run = SIZE_MAX;
    for (size_t i = 0; i < d->n; i++)
        if (ta_slice_equal(ta_copy_folder(d->traces[i].facts->source->shown), folder))
            run = only(run, d->traces[i].run);
    for (size_t i = 0; i < d->n_witnesses; i++)
        if (ta_slice_equal(d->witnesses[i].folder, folder))
            run = only(run, d->run_of[d->witnesses[i].run]);
    return run;
}

/* The run of the last report that names a file as its own. */
static size_t run_by_owner(const struct deciding *d, const char *shown)
{
    for (size_t i = d->n_witnesses; i-- > 0;) {
        const struct ta_ingested *report = d->witnesses[i].facts;
        if (ta_is_product(report->source->shown, (const char *const *)report->products, shown))
            return d->run_of[d->witnesses[i].run];
    }
    return SIZE_MAX;
}

/* SIZE_MAX: nothing says it. */
static size_t run_of(const struct deciding *d, const struct witness *dump)
{
    for (size_t i = 0; i < d->n_witnesses; i++)
        if (d->witnesses[i].file == dump->file && d->run_of[d->witnesses[i].run] != SIZE_MAX)
            return d->run_of[d->witnesses[i].run];
    const size_t n_runs = d->recordings->n_runs;
    size_t run = run_by_owner(d, dump->facts->source->shown);
    run = run < n_runs ? run : run_of_form(d, dump);
    run = run < n_runs ? run : run_by_name(d, dump->family);
    run = run < n_runs ? run : run_by_time(d, &dump->period);
    run = run < n_runs ? run : run_by_folder(d, dump->folder);
    return run < n_runs ? run : SIZE_MAX;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void take_period(struct ta_recording *recording, const struct period *period)
{
    if (period->start == TA_MISSING)
        return;
    if (recording->start_ns == TA_MISSING || period->start < recording->start_ns)
        recording->start_ns = period->start;
    if (recording->end_ns == TA_MISSING || period->end > recording->end_ns)
        recording->end_ns = period->end;
}

bool place_dumps(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    for (size_t i = 0; i < r->n_files; i++) {
        struct ta_recorded_file *file = &r->files[i];
        struct witness dump;
        if (file->kind != TA_RECORDING_DUMP)
            continue;
        if (r->n_runs > 1 && !read_witness(d, i, &dump))
            return false;
        const size_t run = r->n_runs == 1 ? 0 : run_of(d, &dump);
        if (run == SIZE_MAX) {
            file->why = "Neither its name nor its time nor its folder says which of the runs it is "
                        "of";
            continue;
        }
        file->recording = r->runs[run].chosen;
        file->counts = true;
        file->why = "";
        r->at[file->recording].n_files++;
    }
    for (size_t i = 0; r->n_runs > 1 && i < d->n_witnesses; i++) {
        const size_t run = d->run_of[d->witnesses[i].run];
        if (run != SIZE_MAX && !has_traces(d, run))
            take_period(&r->at[r->runs[run].chosen], &d->witnesses[i].period);
    }
    return true;
}
