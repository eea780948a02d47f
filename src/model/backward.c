/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/backward.h"

#include "base/vec.h"
#include "model/fact.h"
#include "model/track_rows.h"
#include "traceanalyze/base.h"

#include <stdlib.h>

struct links {
    struct ta_backward_links shown;
    TA_VEC(struct ta_backward_link) found;
};

/* The operator that begins at a time of a track, the innermost or the outermost of several: the
 * arrow begins at what was recorded for the backward pass, and ends at what runs all of it. */
static ta_row operator_at(const struct ta_trace *trace, uint32_t track, int64_t ts, bool innermost)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_category *categories = ta_trace_categories(trace).at;
    const struct ta_track *rows = &ta_trace_tracks(trace).at[track];
    const ta_row end = rows->first + rows->n;
    ta_row found = TA_NO_ROW;
    for (ta_row row = ta_track_row_from(&spans, rows, ts); row < end && spans.ts[row] == ts; row++)
        if (categories[spans.cat[row]].class == TA_CLASS_OP && (innermost || found == TA_NO_ROW))
            found = row;
    return found;
}

static ta_row node_around(const struct ta_trace *trace, ta_row row)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const ta_row outer = row == TA_NO_ROW ? TA_NO_ROW : spans.parent[row];
    const bool evaluates =
        outer != TA_NO_ROW && ta_is_backward_node(ta_trace_text(trace, spans.name[outer]));
    return evaluates ? outer : row;
}

/* An arrow without an id has no other end. */
static bool is_arrow(const struct ta_trace *trace, const struct ta_flows *flows, size_t i,
                     char phase)
{
    return flows->phase[i] == phase && flows->id[i] != TA_STR_ABSENT &&
           ta_trace_text(trace, flows->id[i]).len > 0 &&
           ta_is_backward_flow(ta_trace_text(trace, flows->name[i]));
}

/* The end of an arrow may stand before its begin in the file. */
static bool find_links(const struct ta_trace *trace, struct links *links)
{
    const struct ta_flows flows = ta_trace_flows(trace);
    struct ta_map begun = {0}; /* flow by its id */
    bool done = true;
    for (size_t i = 0; i < flows.n; i++)
        if (is_arrow(trace, &flows, i, 's'))
            (void)ta_map_at(&begun, flows.id[i], i);
    for (size_t i = 0; done && i < flows.n; i++) {
        if (!is_arrow(trace, &flows, i, 'f'))
            continue;
        const uint64_t *from = ta_map_find(&begun, flows.id[i]);
        const ta_row backward = operator_at(trace, flows.track[i], flows.ts[i], false);
        const struct ta_backward_link link = {
            from ? operator_at(trace, flows.track[*from], flows.ts[*from], true) : TA_NO_ROW,
            backward, node_around(trace, backward)};
        if (link.forward == TA_NO_ROW || link.backward == TA_NO_ROW)
            links->shown.n_loose++;
        else
            done = ta_vec_push(&links->found, link);
    }
    done = done && !begun.failed;
    ta_map_free(&begun);
    return done;
}

static void free_links(void *at)
{
    struct links *links = at;
    free(links->found.at);
    free(links);
}

static void *make_links(const struct ta_trace *trace)
{
    struct links *links = calloc(1, sizeof *links);
    if (!links)
        return NULL;
    if (!find_links(trace, links)) {
        free_links(links);
        return NULL;
    }
    links->shown.n = links->found.n;
    links->shown.at = links->found.at;
    return links;
}

const struct ta_backward_links *ta_trace_backward(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_BACKWARD, make_links, free_links);
}
