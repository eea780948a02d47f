/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/traits.h"

#include "model/named.h"

/* What a call of the runtime or driver of any vendor does with graphs. */
enum call { OTHER, CAPTURE, INSTANTIATE, LAUNCH_GRAPH, LAUNCH, CALLS };

static bool holds(struct ta_slice name, const char *text)
{
    return memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

static uint8_t call_of(struct ta_slice name)
{
    if (!ta_slice_starts(name, "cu") && !ta_slice_starts(name, "hip"))
        return OTHER;
    return holds(name, "BeginCapture")       ? CAPTURE
           : holds(name, "GraphInstantiate") ? INSTANTIATE
           : holds(name, "GraphLaunch")      ? LAUNCH_GRAPH
           : holds(name, "LaunchKernel")     ? LAUNCH
                                             : OTHER;
}

static int64_t number_of(struct ta_slice text)
{
    enum { DIGITS_MOST = 18 };
    int64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || i == DIGITS_MOST)
            return TA_MISSING;
        number = 10 * number + (text.ptr[i] - '0');
    }
    return text.len ? number : TA_MISSING;
}

/* Annotations are on devices as well, whose ids are no processes; so operators and calls say it. */
int64_t ta_trace_process(const struct ta_trace *trace)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    for (size_t t = 0; t < tracks.n; t++) {
        const struct ta_track *track = &tracks.at[t];
        for (ta_row i = 0; i < track->n; i++) {
            const enum ta_event_class class = categories.at[spans.cat[track->first + i]].class;
            if (class == TA_CLASS_OP || class == TA_CLASS_RUNTIME)
                return track->pid == TA_STR_ABSENT ? TA_MISSING
                                                   : number_of(ta_trace_text(trace, track->pid));
            if (!ta_class_is_host(class))
                break; /* a stream of a device */
        }
    }
    return TA_MISSING;
}

bool ta_traits_find(const struct ta_trace *trace, struct ta_traits *traits)
{
    int64_t counts[CALLS] = {0};
    *traits = (struct ta_traits){.activities = (int64_t)ta_trace_activities(trace).n,
                                 .process = ta_trace_process(trace)};
    if (!ta_count_named(trace, call_of, counts))
        return false;
    traits->captures = counts[CAPTURE];
    traits->instantiations = counts[INSTANTIATE];
    traits->graph_launches = counts[LAUNCH_GRAPH];
    traits->launches = counts[LAUNCH];
    return true;
}
