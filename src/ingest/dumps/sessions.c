/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of earlier sessions. Files are sorted by folder, set and rank, so that the files of one
 * session are adjacent. */
#include "ingest/dumps/dumps.h"

#include "discover/discover.h"

#include <stdlib.h>

int64_t ta_session_start(const struct ta_dump *dump)
{
    int64_t start = TA_MISSING;
    for (size_t i = 0; i < dump->rows[TA_DUMP_session].n; i++) {
        const struct ta_session *session = ta_dump_row(dump, TA_DUMP_session, i);
        if (session->start_ns != TA_MISSING && (start == TA_MISSING || session->start_ns < start))
            start = session->start_ns;
    }
    return start;
}

static int by_session(const void *left, const void *right)
{
    const struct ta_kept *a = *(struct ta_kept *const *)left, *b = *(struct ta_kept *const *)right;
    int order = ta_slice_compare(ta_copy_folder(a->shown), ta_copy_folder(b->shown));
    if (!order)
        order = strcmp(a->trace->dump.set, b->trace->dump.set);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_since(void *user, const void *row)
{
    const struct ta_sample *sample = row;
    return sample->relative || sample->time_ns == TA_MISSING ||
           sample->time_ns >= *(const int64_t *)user;
}

/* The files of one session.  Each of several sessions of that name began at or after `start`. */
static void drop_before(struct ta_kept *const *files, size_t n, struct ta_quality *quality)
{
    int64_t start = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const int64_t own = ta_session_start(&files[i]->trace->dump);
        if (own != TA_MISSING && (start == TA_MISSING || own < start))
            start = own;
    }
    for (size_t i = 0; start != TA_MISSING && i < n; i++) {
        struct ta_dump *dump = &files[i]->trace->dump;
        if (dump->rows[TA_DUMP_session].n)
            continue;
        const size_t dropped = ta_dump_filter(dump, TA_DUMP_sample, is_since, &start);
        if (dropped)
            ta_quality_add(quality, TA_Q_OTHER_SESSION, TA_NO_OFFSET,
                           "\"%s\" begins with samples of an earlier session: values=%zu",
                           files[i]->shown, dropped);
    }
}

/* What the samples of one signal and device cover. */
struct covered {
    enum ta_signal signal;
    int64_t device, first, last;
    size_t n;
};

static void cover(struct covered *covered, const struct ta_dump *dump)
{
    struct ta_samples samples = ta_dump_samples(dump);
    while (ta_samples_next(&samples)) {
        const struct ta_sample *s = &samples.sample;
        if (s->relative || s->time_ns == TA_MISSING)
            continue;
        if (covered->n == 0)
            *covered = (struct covered){s->signal, s->device, s->time_ns, s->time_ns, 0};
        if (s->signal != covered->signal || s->device != covered->device)
            continue;
        covered->first = s->time_ns < covered->first ? s->time_ns : covered->first;
        covered->last = s->time_ns > covered->last ? s->time_ns : covered->last;
        covered->n++;
    }
}

/* Says so when the files of one session have samples of a part of it only: more than a twentieth
 * and more than four intervals are missing. */
static void check_coverage(struct ta_kept *const *files, size_t n, struct ta_quality *quality)
{
    struct covered covered = {.n = 0};
    int64_t session_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ta_dump *dump = &files[i]->trace->dump;
        cover(&covered, dump);
        for (size_t k = 0; k < dump->rows[TA_DUMP_session].n; k++) {
            const struct ta_session *session = ta_dump_row(dump, TA_DUMP_session, k);
            if (session->start_ns != TA_MISSING && session->dur_ns > 0)
                session_ns = ta_add_sat(session_ns, session->dur_ns);
        }
    }
    if (covered.n < 2 || session_ns == 0)
        return;
    const double session = (double)session_ns, span = (double)covered.last - (double)covered.first;
    const double missing = session - span, interval = span / ((double)covered.n - 1);
    if (missing > session / 20 && missing > 4 * interval)
        ta_quality_add(
            quality, TA_Q_PARTIAL_SAMPLES, TA_NO_OFFSET,
            "The samples of \"%s\" cover %.4g s of the %.4g s of its session; energy and "
            "means are of these",
            files[0]->shown, span / 1e9, session / 1e9);
}

bool ta_drop_earlier_samples(struct ta_kept *files, size_t n, struct ta_quality *quality)
{
    struct ta_kept **list = reallocarray(NULL, n + 1, sizeof *list);
    size_t used = 0;
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++)
        if (files[i].trace->dump.set)
            list[used++] = &files[i];
    qsort(list, used, sizeof *list, by_session);
    for (size_t first = 0, end; first < used; first = end) {
        for (end = first; end < used && by_session(&list[first], &list[end]) == 0; end++)
            ;
        drop_before(&list[first], end - first, quality);
        check_coverage(&list[first], end - first, quality);
    }
    free(list);
    return true;
}
