/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/waiting.h"

#include "model/host.h"

#include <stdlib.h>

/* Of the time of a thread that only waits, at least this many parts of PARTS are waits. */
enum { WAITS_LEAST = 95, PARTS = 100 };

/* What is known of a name. */
enum answer { NOT_ASKED, WAITS, WORKS };

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    unsigned char *answers; /* by name */
};

static bool is_wait(struct search *s, ta_str name)
{
    if (s->answers[name] == NOT_ASKED)
        s->answers[name] = ta_host_frame_idles(ta_trace_text(s->trace, name)) ? WAITS : WORKS;
    return s->answers[name] == WAITS;
}

/* A thread that runs operators or calls a runtime does more than wait, however little. */
static bool only_waits(struct search *s, const struct ta_track *track)
{
    double all = 0, waits = 0;
    for (ta_row row = track->first; row < track->first + track->n; row++) {
        const enum ta_event_class class = s->categories.at[s->spans.cat[row]].class;
        if (class != TA_CLASS_HOST)
            return false;
        all += (double)s->spans.self[row];
        if (s->spans.self[row] > 0 && is_wait(s, s->spans.name[row]))
            waits += (double)s->spans.self[row];
    }
    return waits > 0 && waits * PARTS >= all * WAITS_LEAST;
}

bool *ta_trace_waiting_threads(const struct ta_trace *trace)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    struct search s = {.trace = trace,
                       .spans = ta_trace_spans(trace),
                       .categories = ta_trace_categories(trace),
                       .answers = calloc(ta_trace_string_count(trace) + 1, 1)};
    bool *waits = s.answers ? calloc(tracks.n + 1, sizeof *waits) : NULL;
    size_t most = 0; /* the thread that does most is the program itself, even where it waits */
    for (size_t i = 1; i < tracks.n; i++)
        most = tracks.at[i].n > tracks.at[most].n ? i : most;
    for (size_t i = 0; waits && i < tracks.n; i++)
        waits[i] = i != most && only_waits(&s, &tracks.at[i]);
    free(s.answers);
    return waits;
}
