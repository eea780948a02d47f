/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that travel to the script (timeline_data.js reads them).
 *
 * All numbers are varints.  First the texts, labels, files, tracks and lanes; then columns, one
 * after the other, each with its length in front and each over all lanes: gaps, durations, labels,
 * launching tracks, launch delays, busy bins; times and values of counters.  Like stands beside
 * like, which is what deflate is good at. */
#include "timeline_lanes.h"

#include <math.h>
#include <traceanalyze/base.h>

/* The columns behind those of the lanes. */
enum { TIMES, VALUES, COUNTER_COLUMNS };

struct packer {
    struct lanes lanes;
    struct packed *packed;
    struct bytes texts, labels, files, columns[COUNTER_COLUMNS];
    struct ta_map text_of; /* address of a text → its number */
    uint64_t n_texts;
};

/* ---- texts and labels: each once ------------------------------------------------------------ */

/* 0 stands for a text that was not recorded. */
static void put_text(struct packer *p, struct bytes *to, struct ta_slice text)
{
    if (!text.ptr) {
        put_number(to, 0);
        return;
    }
    const uint64_t *at = ta_map_at(&p->text_of, (uintptr_t)text.ptr, p->n_texts + 1);
    if (at && *at == p->n_texts + 1) {
        p->n_texts++;
        put_number(&p->texts, text.len);
        put_bytes(&p->texts, text.ptr, text.len);
    }
    put_number(to, at ? *at : 0);
}

/* All labels keep their numbers; those that no slice of the page has stay without texts. */
static void put_labels(struct packer *p)
{
    static const struct ta_timeline_label unused = {.kind = 0};
    for (size_t i = 0; i < p->lanes.timeline->n_labels; i++) {
        const struct ta_timeline_label *label =
            p->lanes.is_used[i] ? &p->lanes.timeline->labels[i] : &unused;
        put_text(p, &p->labels, label->name);
        put_text(p, &p->labels, label->category);
        put_text(p, &p->labels, label->shapes);
        put_number(&p->labels, label->kind);
    }
}

/* ---- tracks and counters ------------------------------------------------------------------- */

/* The lanes of the track are those from *lane on. */
static void put_track(struct packer *p, const struct ta_timeline_track *track,
                      const struct lane **lane)
{
    put_text(p, &p->files, ta_slice_of(track->process));
    put_text(p, &p->files, ta_slice_of(track->thread));
    put_text(p, &p->files, ta_slice_of(track->pid));
    put_text(p, &p->files, ta_slice_of(track->tid));
    put_number(&p->files, track->device == TA_MISSING ? 0 : ta_zigzag(track->device) + 1);
    put_number(&p->files, track->has_launches);
    put_number(&p->files, track->n_lanes);
    for (size_t i = 0; i < track->n_lanes; i++, ++*lane) {
        put_number(&p->files, (*lane)->kept);
        put_number(&p->files, (*lane)->left_out);
        put_number(&p->files, (*lane)->busy_size);
        p->packed->n_kept += (*lane)->kept;
    }
    p->packed->n_too_deep += track->n_too_deep;
}

/* Whether all values are integers that differ by what a varint is good at. */
static bool is_integral(const struct ta_timeline_counter *counter)
{
    for (size_t i = 0; i < counter->n; i++)
        if (!(fabs(counter->values[i]) < 1e15) || trunc(counter->values[i]) != counter->values[i])
            return false;
    return true;
}

static void put_counter(struct packer *p, const struct ta_timeline_counter *counter)
{
    const bool integral = is_integral(counter);
    put_text(p, &p->files, ta_slice_of(counter->process));
    put_text(p, &p->files, ta_slice_of(counter->name));
    put_text(p, &p->files, ta_slice_of(counter->series));
    put_text(p, &p->files,
             counter->unit == TA_UNIT_HERTZ ? TA_LIT("hertz")
                                            : ta_slice_of(ta_unit_name(counter->unit)));
    put_number(&p->files, counter->n);
    put_number(&p->files, counter->n_recorded);
    put_number(&p->files, integral);
    int64_t before_ns = 0, before = 0;
    for (size_t i = 0; i < counter->n; i++) {
        put_signed(&p->columns[TIMES], counter->ts_ns[i] - before_ns);
        before_ns = counter->ts_ns[i];
        if (integral) {
            put_signed(&p->columns[VALUES], ta_whole(counter->values[i]) - before);
            before = ta_whole(counter->values[i]);
        } else {
            put_bytes(&p->columns[VALUES], &counter->values[i], sizeof(double));
        }
    }
}

static void put_file(struct packer *p, const struct ta_timeline_file *file,
                     const struct lane **lane)
{
    put_signed(&p->files, file->rank);
    put_text(p, &p->files, ta_slice_of(file->path));
    put_signed(&p->files, file->offset_ns);
    put_number(&p->files, (uint64_t)file->end_ns);
    put_number(&p->files, (uint64_t)lanes_bin_width(&p->lanes, file));
    put_number(&p->files, file->n_tracks);
    for (size_t i = 0; i < file->n_tracks; i++)
        put_track(p, &file->tracks[i], lane);
    put_number(&p->files, file->n_counters);
    for (size_t i = 0; i < file->n_counters; i++)
        put_counter(p, &file->counters[i]);
    p->packed->n_slices += file->n_slices;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_column(struct packer *p, struct bytes *all, int column)
{
    size_t n = 0;
    for (size_t i = 0; i < p->lanes.n_parts; i++)
        n += p->lanes.parts[i].columns[column].n;
    put_number(all, n);
    for (size_t i = 0; i < p->lanes.n_parts; i++)
        put_bytes(all, p->lanes.parts[i].columns[column].at, p->lanes.parts[i].columns[column].n);
}

static void put_all(struct packer *p, struct bytes *all)
{
    put_number(all, p->n_texts);
    put_bytes(all, p->texts.at, p->texts.n);
    put_number(all, p->lanes.timeline->n_labels);
    put_bytes(all, p->labels.at, p->labels.n);
    put_number(all, p->lanes.timeline->n_files);
    put_bytes(all, p->files.at, p->files.n);
    for (int i = 0; i < LANE_COLUMNS; i++)
        put_column(p, all, i);
    for (int i = 0; i < COUNTER_COLUMNS; i++) {
        put_number(all, p->columns[i].n);
        put_bytes(all, p->columns[i].at, p->columns[i].n);
    }
}

static bool has_failed(const struct packer *p)
{
    bool failed = p->texts.failed || p->labels.failed || p->files.failed || p->text_of.failed;
    for (int i = 0; i < COUNTER_COLUMNS; i++)
        failed |= p->columns[i].failed;
    return failed;
}

static bool put_timeline(struct packer *p, const struct ta_timeline *timeline, struct bytes *all)
{
    const struct lane *lane = p->lanes.at;
    for (size_t i = 0; i < timeline->n_files; i++)
        put_file(p, &timeline->files[i], &lane);
    put_labels(p);
    put_all(p, all);
    return !has_failed(p) && !all->failed;
}

static void packer_free(struct packer *p)
{
    for (int i = 0; i < COUNTER_COLUMNS; i++)
        free(p->columns[i].at);
    free(p->texts.at);
    free(p->labels.at);
    free(p->files.at);
    ta_map_free(&p->text_of);
    lanes_free(&p->lanes);
}

bool timeline_pack(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct pick *pick,
                   struct packed *packed)
{
    struct bytes all = {0};
    struct packer p = {.packed = packed};
    *packed = (struct packed){0};
    const bool done = lanes_pack(ctx, timeline, pick, &p.lanes) && put_timeline(&p, timeline, &all);
    if (done) {
        packed->bytes = all.at;
        packed->size = all.n;
    } else {
        free(all.at);
    }
    packer_free(&p);
    return done;
}
