/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs can name the kernels that they capture (torch.cuda.graph_annotations), which then have
 * the name among their arguments.  Where no capture is known, it is their operator. */
#include "normalize/replays.h"

#include "model/trace.h"

#include <stdlib.h>

/* A mark of a replay, which becomes an operator. */
struct marked {
    size_t activity;
    ta_row launch;
    ta_str mark;
};

static int by_launch(const void *left, const void *right, void *user)
{
    const struct marked *a = left, *b = right;
    const int64_t *ts = user;
    if (a->launch != b->launch)
        return ts[a->launch] != ts[b->launch] ? (ts[a->launch] < ts[b->launch] ? -1 : 1)
               : a->launch < b->launch        ? -1
                                              : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    return a->activity < b->activity ? -1 : a->activity > b->activity;
}

static bool is_captured(const struct ta_trace *trace, const struct ta_activity *a)
{
    return ta_class_is_captured(trace->categories.at[trace->spans.cat[a->op]].class);
}

bool add_marks(struct mapping *m)
{
    struct ta_trace *trace = m->trace;
    const struct arg_column *names = ta_trace_arg_column(trace, "name");
    TA_VEC(struct marked) found = {0};
    bool done = true;
    const struct ta_args args = names ? arg_column_view(names) : (struct ta_args){0};
    for (size_t i = 0; done && args.n && i < trace->activities.n; i++) {
        const struct ta_activity *a = &trace->activities.at[i];
        const ta_str mark = a->launch == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(&args, a->span);
        if (mark != TA_STR_ABSENT && ta_trace_text(trace, mark).len &&
            is_graph_launch(ta_trace_text(trace, trace->spans.name[a->launch])) &&
            !is_captured(trace, a))
            done = ta_vec_push(&found, ((struct marked){i, a->launch, mark}));
    }
    if (!done || found.n == 0) {
        free(found.at);
        return done;
    }
    qsort_r(found.at, found.n, sizeof *found.at, by_launch, trace->spans.ts);
    struct adding adding = {.m = m, .track = (uint32_t)trace->tracks.n};
    const ta_row first = (ta_row)trace->spans.n;
    const struct capture_row row = {.category = TA_LIT("user_annotation"),
                                    .class = TA_CLASS_CAPTURED_OP,
                                    .parent = CAPTURE_OUTSIDE};
    done = make_room_for_rows(trace, trace->spans.n + found.n);
    for (size_t i = 0; done && i < found.n; i++) {
        const struct marked *marked = &found.at[i];
        if (i == 0 || marked[-1].launch != marked->launch || marked[-1].mark != marked->mark) {
            add_row_of_capture(&adding, &row, first, marked->launch);
            trace->spans.name[trace->spans.n - 1] = marked->mark;
        }
        trace->activities.at[marked->activity].op = (ta_row)trace->spans.n - 1;
    }
    done = done &&
           ta_vec_push(&trace->tracks,
                       ((struct ta_track){.first = first, .n = (ta_row)trace->spans.n - first}));
    free(found.at);
    return close_added_rows(&adding) && done;
}
