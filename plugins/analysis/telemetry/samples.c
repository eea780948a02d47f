/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the samples of files to series.
 *
 * A stamped sample in several files, such as the samples of an earlier session of the process,
 * counts once. A file has up to hours of samples: what is kept of it is bounded. */
#include "base/vec.h"
#include "telemetry.h"

#include <stdlib.h>

/* ---- map ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The samples of a file that are of one rank, device and signal. */
struct group {
    struct ta_sample like; /* the first one */
    bool stamped;
    size_t n, end; /* of the readings; `end` moves on as they are filled in */
};

struct packing {
    struct group *groups;
    size_t n_groups, most;
    struct ta_map known;      /* number of a group by a hash, in the next free place */
    struct reading *readings; /* group by group */
};

static bool is_stamped(const struct ta_sample *sample)
{
    return !sample->relative && sample->time_ns != TA_MISSING;
}

static bool counts(const struct ta_sample *sample)
{
    return (unsigned)sample->signal < TA_SIGNAL_COUNT && isfinite(sample->value) &&
           (sample->signal != TA_SIGNAL_GPU_POWER || sample->value != 0);
}

static bool is_of(const struct group *group, const struct ta_sample *sample)
{
    return group->like.signal == sample->signal && group->like.device == sample->device &&
           group->like.rank == sample->rank && group->stamped == is_stamped(sample);
}

static bool add_group(struct packing *p, const struct ta_sample *sample)
{
    if (!ta_vec_grow((void **)&p->groups, &p->most, p->n_groups, sizeof *p->groups))
        return false;
    p->groups[p->n_groups++] = (struct group){.like = *sample, .stamped = is_stamped(sample)};
    return true;
}

/* The number of the group of a sample, SIZE_MAX without memory. */
static size_t find_group(struct packing *p, const struct ta_sample *sample)
{
    uint64_t key = mix((uint64_t)sample->rank, (uint64_t)sample->device);
    key = mix(key, (uint64_t)sample->signal << 1 | is_stamped(sample));
    for (;; key++) {
        const uint64_t *known = ta_map_at(&p->known, key, p->n_groups);
        if (!known)
            return SIZE_MAX;
        const size_t group = (size_t)*known;
        if (group == p->n_groups && !add_group(p, sample))
            return SIZE_MAX;
        if (is_of(&p->groups[group], sample))
            return group;
    }
}

static bool count_samples(struct packing *p, struct ta_samples samples)
{
    while (ta_samples_next(&samples)) {
        if (!counts(&samples.sample))
            continue;
        const size_t group = find_group(p, &samples.sample);
        if (group == SIZE_MAX)
            return false;
        p->groups[group].n++;
    }
    return true;
}

static void fill_readings(struct packing *p, struct ta_samples samples)
{
    size_t end = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        p->groups[i].end = end;
        end += p->groups[i].n;
    }
    while (ta_samples_next(&samples))
        if (counts(&samples.sample))
            p->readings[p->groups[find_group(p, &samples.sample)].end++] =
                (struct reading){samples.sample.time_ns, samples.sample.value + 0.0}; /* −0 is 0 */
}

/* A reading and what distinguishes it from others of its moment: the file, if it has no stamp, and
 * how many of that moment came before in the file. */
struct moment {
    struct reading reading;
    int64_t file;
    size_t order;
};

static int by_moment(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->reading.time != b->reading.time)
        return a->reading.time < b->reading.time ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The moments of the readings of one file, ascending. */
static void order_file(struct moment *moments, const struct reading *readings, size_t n,
                       int64_t file)
{
    bool ascending = true;
    for (size_t i = 0; i < n; i++) {
        moments[i] = (struct moment){readings[i], file, i};
        ascending &= i == 0 || readings[i - 1].time <= readings[i].time;
    }
    if (!ascending)
        qsort(moments, n, sizeof *moments, by_moment);
    for (size_t i = 0; i < n; i++)
        moments[i].order = i > 0 && moments[i - 1].reading.time == moments[i].reading.time
                               ? moments[i - 1].order + 1
                               : 0;
}

/* Puts sorted moments back, those that several files have once: the larger.  Returns how many. */
static size_t join(struct reading *readings, const struct moment *moments, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct reading reading = moments[i].reading;
        if (i > 0 && by_moment(&moments[i - 1], &moments[i]) == 0)
            readings[kept - 1].value = fmax(readings[kept - 1].value, reading.value);
        else
            readings[kept++] = reading;
    }
    return kept;
}

/* ---- many samples -------------------------------------------------------------------------- */

/* Means over equal spans, at the time of their first sample.  Returns how many. */
static size_t take_means(const struct moment *moments, size_t n, struct reading *means)
{
    const int64_t first = moments[0].reading.time;
    if (first == TA_MISSING)
        return 0;
    /* The narrowest span of 2^n ns of which SPANS cover the samples. */
    const int64_t last = moments[n - 1].reading.time;
    int64_t width = 1;
    while ((last - first) / width >= SPANS)
        width *= 2;
    size_t n_means = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const int64_t span = (moments[i].reading.time - first) / width;
        double sum = 0;
        for (end = i; end < n && (moments[end].reading.time - first) / width == span; end++)
            sum += moments[end].reading.value;
        means[n_means++] = (struct reading){moments[i].reading.time, sum / (double)(end - i)};
    }
    return n_means;
}

/* Where the samples of a group lie in time, if they are since the first of them. */
static void set_origin(int64_t *row, const struct group *group)
{
    if (!group->stamped && group->like.origin_ns)
        row[ORIGIN] = group->like.origin_ns;
}

/* Adds a group of more samples than are kept; false without memory. */
static bool add_many(const struct ta_trace *trace, struct ta_partial *out,
                     const struct group *group, struct reading *readings)
{
    struct moment *moments = calloc(group->n, sizeof *moments);
    double *steps = calloc(group->n, sizeof *steps);
    struct reading *means = calloc(SPANS + 1, sizeof *means);
    const bool done = moments && steps && means;
    if (done) {
        order_file(moments, readings, group->n, 0);
        for (size_t i = 0; i < group->n; i++)
            readings[i] = moments[i].reading;
        const struct summary summary =
            telemetry_sum_up((struct readings){readings, group->n}, steps);
        const size_t n = take_means(moments, group->n, means);
        int64_t *row = TA_PARTIAL_ROW(
            out, ta_row_rank(trace, group->like.rank), ta_key_int(group->like.device),
            ta_key_int(group->like.signal), ta_row_file(trace),
            ta_key_text((struct ta_slice){(const char *)means, n * sizeof *means}));
        row[COUNT] = summary.n;
        row[LEAST] = ta_real_cell(summary.least);
        row[MOST] = ta_real_cell(summary.most);
        row[SUM] = ta_real_cell(summary.sum);
        row[JOULES] = ta_real_cell(summary.joules);
        row[COVERED] = summary.covered_ns;
        row[FIRST] = summary.first_ns;
        row[LAST] = summary.last_ns;
        row[STAMPED] = group->stamped;
        set_origin(row, group);
        const double scale = telemetry_signals[group->like.signal].steps;
        struct ta_dist *dist = ta_partial_dist(out, row, VALUES);
        for (size_t i = 0; i < group->n; i++)
            ta_dist_add(dist, ta_whole(fmin(fmax(readings[i].value * scale, 0), 9e18)));
    }
    free(moments);
    free(steps);
    free(means);
    return done;
}

enum ta_status telemetry_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                             struct ta_partial *const *out)
{
    const struct ta_samples samples = ta_trace_samples(trace);
    telemetry_map_sessions(trace, out[1], out[2]);
    struct packing p = {.readings = calloc(samples.left + 1, sizeof *p.readings)};
    bool done = p.readings && telemetry_map_run(trace, out[3]) && count_samples(&p, samples);
    if (done)
        fill_readings(&p, samples);
    for (size_t i = 0; done && i < p.n_groups; i++) {
        const struct group *group = &p.groups[i];
        struct reading *first = p.readings + (group->end - group->n);
        if (group->n > EXACT_MOST)
            done = add_many(trace, out[0], group, first);
        else
            set_origin(
                TA_PARTIAL_ROW(
                    out[0], ta_row_rank(trace, group->like.rank), ta_key_int(group->like.device),
                    ta_key_int(group->like.signal),
                    group->stamped ? ta_key_int(TA_MISSING) : ta_row_file(trace),
                    ta_key_text((struct ta_slice){(const char *)first, group->n * sizeof *first})),
                group);
    }
    free(p.groups);
    free(p.readings);
    ta_map_free(&p.known);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the samples of a file");
}

/* ---- series -------------------------------------------------------------------------------- */

/* Copies the readings of all rows; a text lies at no particular address.  False without memory. */
static bool unpack(struct all *all)
{
    const size_t n = ta_partial_rows(all->partial);
    size_t most = 0;
    all->row_first = calloc(n + 1, sizeof *all->row_first);
    for (int pass = 0; pass < 2 && all->row_first; pass++) {
        size_t end = 0;
        for (size_t i = 0; i < n; i++) {
            const struct ta_slice text =
                ta_partial_text(all->partial, ta_partial_at(all->partial, i), READINGS);
            /* A damaged summary may have any number. */
            const size_t bytes = text.len / sizeof *all->unpacked * sizeof *all->unpacked;
            all->row_first[i] = end;
            if (pass && bytes)
                memcpy(all->unpacked + end, text.ptr, bytes);
            end += bytes / sizeof *all->unpacked;
        }
        all->row_first[n] = most = end;
        if (pass == 0)
            all->unpacked = calloc(most + 1, sizeof *all->unpacked);
        if (!all->unpacked)
            return false;
    }
    return all->row_first != NULL;
}

const struct reading *telemetry_row_readings(const struct all *all, size_t row, size_t *n)
{
    *n = all->row_first[row + 1] - all->row_first[row];
    return all->unpacked + all->row_first[row];
}

static bool is_many(const struct all *all, size_t row)
{
    return ta_partial_at(all->partial, row)[COUNT] != TA_MISSING;
}

/* Of files that were sampled at the same time, the one with more samples counts. */
static void drop_overlaps(struct all *all, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (size_t k = i + 1; k < end; k++) {
            const int64_t *a = ta_partial_at(all->partial, i), *b = ta_partial_at(all->partial, k);
            if (!is_many(all, i) || !is_many(all, k) || a[STAMPED] != 1 || b[STAMPED] != 1 ||
                a[FIRST] > b[LAST] || b[FIRST] > a[LAST])
                continue;
            all->dropped[a[COUNT] >= b[COUNT] ? k : i] = true;
        }
}

/* Whether a stamped sample lies where a file with many has its own. */
static bool is_covered(const struct all *all, size_t first, size_t end, int64_t time)
{
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(all->partial, i);
        if (is_many(all, i) && !all->dropped[i] && row[STAMPED] == 1 && time >= row[FIRST] &&
            time <= row[LAST])
            return true;
    }
    return false;
}

/* Puts a reading of a row on the axis of all; false when it is not of the run. */
static bool place(const struct all *all, size_t row, struct reading *reading)
{
    const int64_t origin = ta_partial_at(all->partial, row)[ORIGIN];
    if (origin == TA_MISSING)
        return true;
    reading->time = ta_add_sat(reading->time, ta_add_sat(origin, -all->window.origin));
    return reading->time >= all->window.from && reading->time < all->window.to;
}

/* Many samples of which a part is of the run are that many means: the sums are of all. */
static bool is_summed(const struct all *all, size_t row)
{
    return is_many(all, row) &&
           !(all->window.known && ta_partial_at(all->partial, row)[ORIGIN] != TA_MISSING);
}

/* Adds the kept samples of rows [first, end); `moments` has room for them. */
static void add_exact(struct all *all, struct series *series, struct moment *moments)
{
    struct reading *readings = all->readings + all->n_readings;
    size_t n = 0, files = 0;
    for (size_t i = series->first_row; i < series->end_row; i++) {
        const int64_t *row = ta_partial_at(all->partial, i), file = row[FILE_KEY];
        size_t more, kept = n;
        if (is_summed(all, i) || all->dropped[i])
            continue;
        const struct reading *at = telemetry_row_readings(all, i, &more);
        for (size_t k = 0; k < more; k++) {
            struct reading reading = at[k];
            if (!place(all, i, &reading))
                series->outside++;
            else if (file != TA_MISSING ||
                     !is_covered(all, series->first_row, series->end_row, reading.time))
                readings[kept++] = reading;
        }
        series->is_dated |= row[ORIGIN] != TA_MISSING;
        order_file(moments + n, readings + n, kept - n, file);
        n = kept;
        files++;
    }
    if (files > 1)
        qsort(moments, n, sizeof *moments, by_moment);
    n = join(readings, moments, n);
    series->first = all->n_readings;
    series->end = all->n_readings += n;
}

/* Readings that stand for many, each a mean, after the exact ones. */
static void add_means(struct all *all, struct series *series)
{
    series->first_mean = all->n_readings;
    for (size_t i = series->first_row; i < series->end_row; i++) {
        if (!is_summed(all, i) || all->dropped[i])
            continue;
        const int64_t *cells = ta_partial_at(all->partial, i);
        const struct summary summary = {.n = cells[COUNT],
                                        .first_ns = cells[FIRST],
                                        .last_ns = cells[LAST],
                                        .covered_ns = cells[COVERED],
                                        .least = ta_real_of(cells[LEAST]),
                                        .most = ta_real_of(cells[MOST]),
                                        .sum = ta_real_of(cells[SUM]),
                                        .joules = ta_real_of(cells[JOULES])};
        size_t means;
        const struct reading *at = telemetry_row_readings(all, i, &means);
        telemetry_join(&series->summary, &summary);
        for (size_t k = 0; k < means; k++) {
            all->readings[all->n_readings] = at[k];
            place(all, i, &all->readings[all->n_readings++]);
        }
    }
    series->end_mean = all->n_readings;
}

bool telemetry_find_series(struct all *all)
{
    const size_t n = ta_partial_rows(all->partial);
    size_t most = 0;
    if (!unpack(all))
        return false;
    for (size_t first = 0, end; first < n; first = end) {
        end = ta_partial_group_end(all->partial, first, SIGNAL);
        const size_t length = all->row_first[end] - all->row_first[first];
        most = length > most ? length : most;
    }
    all->readings = calloc(all->row_first[n] + 1, sizeof *all->readings);
    all->at = calloc(n + 1, sizeof *all->at);
    all->dropped = calloc(n + 1, sizeof *all->dropped);
    struct moment *moments = calloc(most + 1, sizeof *moments);
    const bool done = all->readings && all->at && all->dropped && moments;
    if (done) {
        telemetry_find_window(all);
        telemetry_drop_twins(all);
    }
    for (size_t first = 0, end; done && first < n; first = end) {
        end = ta_partial_group_end(all->partial, first, SIGNAL);
        const int64_t *row = ta_partial_at(all->partial, first);
        struct series *series = &all->at[all->n++];
        *series = (struct series){.rank = row[RANK],
                                  .device = row[DEVICE],
                                  .signal = (enum ta_signal)row[SIGNAL],
                                  .first_row = first,
                                  .end_row = end,
                                  .used = true};
        drop_overlaps(all, first, end);
        add_exact(all, series, moments);
        add_means(all, series);
    }
    free(moments);
    return done;
}

size_t telemetry_device_end(const struct all *all, size_t first)
{
    size_t end = first;
    while (end < all->n && all->at[end].rank == all->at[first].rank &&
           all->at[end].device == all->at[first].device)
        end++;
    return end;
}
