/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How ranks divide the work, in a few words. */
#include "lib/scheme.h"

#include <stdio.h>

enum { DIMENSION, SIZE, BASIS, CONFIDENCE, LOOPS };
static const struct ta_ref reads[] = {
    [DIMENSION] = {"collectives.layout", "dimension"},
    [SIZE] = {"collectives.layout", "size"},
    [BASIS] = {"collectives.layout", "basis"},
    [CONFIDENCE] = {"collectives.layout", "confidence"},
    [LOOPS] = {"diffusion.loops", "rank"},
};

/* In the order in which they are said; the group of all ranks and unknown ones say nothing. */
static const struct {
    const char *dimension, *name;
} names[] = {{"tensor", "tensor parallel"},     {"sequence", "sequence parallel"},
             {"context", "context parallel"},   {"ring", "ring attention"},
             {"pipeline", "pipeline parallel"}, {"expert", "expert parallel"},
             {"guidance", "CFG parallel"},      {"data", "data parallel"},
             {"patches", "patch-parallel VAE"}};

/* What operations tell alone is known from here on, and only of a diffusion: others exchange for
 * more reasons. */
#define SURE 0.6

static bool is_known(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, BASIS, row, "description") ||
           (ta_ref_rows(in, LOOPS) > 0 && ta_ref_number(in, CONFIDENCE, row, 0) >= SURE);
}

/* Whether ranks are divided so; `size` is how many are in a group, 0 where groups differ. */
static bool is_used(const struct ta_refs *in, const char *dimension, int64_t *size)
{
    bool used = false;
    for (size_t i = 0; i < ta_ref_rows(in, DIMENSION); i++) {
        const int64_t ranks = ta_ref_integer(in, SIZE, i);
        if (!ta_ref_reads(in, DIMENSION, i, dimension) || !is_known(in, i) || ranks == 1)
            continue;
        *size = ranks == TA_MISSING || (used && ranks != *size) ? 0 : ranks;
        used = true;
    }
    return used;
}

const char *ta_scheme_say(char text[TA_SCHEME_TEXT_MAX], const struct ta_report *report)
{
    const struct ta_run_info *run = ta_report_run(report);
    const int64_t world = ta_max_i64(run->world_size, (int64_t)run->n_ranks);
    struct ta_refs in;
    int64_t sizes[TA_LENGTH(names)];
    size_t used[TA_LENGTH(names)], n = 0, at = 0;
    text[0] = '\0';
    if (world < 2 || run->n_ranks == 0) /* several runs have no ranks together */
        return text;
    ta_refs_open(&in, report, reads, TA_LENGTH(reads));
    for (size_t i = 0; i < TA_LENGTH(names); i++)
        if (is_used(&in, names[i].dimension, &sizes[n]))
            used[n++] = i;
    for (size_t i = 0; i < n && at < TA_SCHEME_TEXT_MAX; i++) {
        const char *before = i == 0 ? "" : i + 1 < n ? ", " : " and ";
        at += (size_t)snprintf(text + at, TA_SCHEME_TEXT_MAX - at, "%s%s", before,
                               names[used[i]].name);
        if (sizes[i] && sizes[i] != world && at < TA_SCHEME_TEXT_MAX)
            at += (size_t)snprintf(text + at, TA_SCHEME_TEXT_MAX - at, " by %lld",
                                   (long long)sizes[i]);
    }
    return text;
}
