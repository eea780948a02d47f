/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each host span does: names are looked at once each, not per span. */
#include "model/host.h"
#include "normalize/normalize.h"

#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

#include <stdlib.h>

/* What a name meant last, so that most spans need no hashing. */
struct recent {
    ta_cat cat;
    uint8_t work, known;
};

struct classifying {
    const struct ta_trace *trace;
    struct recent *recent; /* by name */
    struct ta_map known;   /* work by category and name */
};

static uint8_t classify(struct classifying *c, ta_cat cat, ta_str name)
{
    uint64_t *work = ta_map_at(&c->known, (uint64_t)cat << 32 | name, TA_HOST_WORK_COUNT);
    if (!work)
        return TA_HOST_UNTRACED;
    if (*work == TA_HOST_WORK_COUNT)
        *work = ta_host_classify(c->trace->categories.at[cat].class,
                                 ta_trace_text(c->trace, c->trace->categories.at[cat].name),
                                 ta_trace_text(c->trace, name));
    return (uint8_t)*work;
}

bool ta_classify_hosts(struct ta_trace *trace)
{
    struct classifying c = {.trace = trace,
                            .recent = calloc(trace->strings.texts.n + 1, sizeof *c.recent)};
    trace->spans.work = ta_store_resize(&trace->store, NULL, trace->spans.n + 1, 1);
    const bool done = c.recent && trace->spans.work;
    if (done) {
        const struct span_columns *spans = &trace->spans;
        for (size_t row = 0; row < spans->n; row++) {
            const ta_cat cat = spans->cat[row];
            struct recent *recent = &c.recent[spans->name[row]];
            if (!ta_class_is_host(trace->categories.at[cat].class)) {
                spans->work[row] = TA_HOST_UNTRACED;
                continue;
            }
            if (!recent->known || recent->cat != cat)
                *recent = (struct recent){cat, classify(&c, cat, spans->name[row]), 1};
            spans->work[row] = recent->work;
        }
    }
    free(c.recent);
    ta_map_free(&c.known);
    return done && !c.known.failed;
}
