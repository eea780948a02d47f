/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function that is innermost for most of the time of call stacks. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdlib.h>

enum { TOTAL, STACK };
static const struct ta_ref reads[] = {
    [TOTAL] = {"stacks.folded", "total_ns"},
    [STACK] = {"stacks.folded", "stack"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

struct frame {
    struct ta_slice name;
    double weight;
};

static int by_name(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;
    return ta_slice_compare(a->name, b->name);
}

/* The frame that is innermost for most of the time. */
static struct frame heaviest(struct frame *frames, size_t n)
{
    struct frame most = {.weight = 0};
    qsort(frames, n, sizeof *frames, by_name);
    for (size_t first = 0, end; first < n; first = end) {
        struct frame sum = {.name = frames[first].name};
        for (end = first; end < n && ta_slice_equal(frames[end].name, sum.name); end++)
            sum.weight += frames[end].weight;
        if (sum.weight > most.weight)
            most = sum;
    }
    return most;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    struct frame *frames = calloc(ta_ref_rows(in, TOTAL) + 1, sizeof *frames);
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX];
    double all = 0;
    for (size_t i = 0; frames && i < ta_ref_rows(in, TOTAL); i++) {
        /* The innermost frame of "outer;…;inner". */
        const struct ta_slice stack = ta_ref_text(in, STACK, i);
        size_t start = stack.len;
        while (start > 0 && stack.ptr[start - 1] != ';')
            start--;
        frames[i] =
            (struct frame){ta_slice_from(stack, start), fmax(0, ta_ref_number(in, TOTAL, i, NAN))};
        all += frames[i].weight;
    }
    const struct frame most =
        frames ? heaviest(frames, ta_ref_rows(in, TOTAL)) : (struct frame){.weight = 0};
    free(frames);
    if (!(most.weight > 0))
        return;
    const struct ta_slice name = ta_line_name(line, most.name, NAME_MOST);
    ta_say(line, "%.*s itself takes %s of the time of all call stacks (%s).", (int)name.len,
           name.ptr, ta_unit_format(share, most.weight / all, TA_UNIT_RATIO),
           ta_unit_format(time, most.weight, TA_UNIT_NS));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 5, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, stacks, &ops, .title = "Call stacks",
          .summary = "The function that takes most time itself", .version = "1");
