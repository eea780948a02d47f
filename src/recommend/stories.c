/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings that are one story become one: a rank is late because of what it alone does, its GPU is
 * slow because it is hot, ranks wait for each other because of one of them. */
#include "recommend/stories.h"

#include "recommend/recommend.h"
#include "recommend/rule.h"

#include <string.h>

/* The share of it that all other ranks have as well, up to which something is one rank's own. */
#define OF_ONE_RANK 0.5

/* How much larger the saving of a finding has to be to replace the one that speaks for it. */
#define MORE 1.1

/* ---- what findings are about ----------------------------------------------------------------- */

typedef bool part_fn(const struct ta_refs *in, const struct ta_found *found);

static bool is_straggler(const struct ta_refs *in, const struct ta_found *found)
{
    return ta_is_about_late_rank(in, &found->finding);
}

static bool is_late(const struct ta_refs *in, const struct ta_found *found)
{
    return found->finding.effect == TA_EFFECT_LATE_RANK || is_straggler(in, found);
}

static bool is_slowed(const struct ta_refs *in, const struct ta_found *found)
{
    (void)in;
    return found->finding.effect == TA_EFFECT_SLOWED_DEVICE;
}

static bool is_host_copy(const struct ta_refs *in, const struct ta_found *found)
{
    (void)in;
    return found->finding.effect == TA_EFFECT_HOST_COPY;
}

/* Late by a copy that the others have as well, only not as long. */
static bool is_late_by_copy(const struct ta_refs *in, const struct ta_found *found)
{
    return is_late(in, found) && is_host_copy(in, found);
}

static bool is_copy_of_others(const struct ta_refs *in, const struct ta_found *found)
{
    return is_host_copy(in, found) && !is_late(in, found);
}

static bool is_cached_step(const struct ta_refs *in, const struct ta_found *found)
{
    (void)in;
    return found->finding.effect == TA_EFFECT_CACHED_STEP;
}

/* What one rank does that the others do not. */
static bool is_own(const struct ta_refs *in, const struct ta_found *found)
{
    return found->ranks.rank != TA_MISSING && found->ranks.of_others <= OF_ONE_RANK &&
           !is_slowed(in, found);
}

static bool is_waiting(const struct ta_refs *in, const struct ta_found *found)
{
    (void)in;
    return found->finding.gain == TA_GAIN_RANKS;
}

/* The rank that a finding is about; TA_MISSING without one. */
static int64_t rank_of(const struct ta_found *found)
{
    const struct ta_finding *finding = &found->finding;
    if (finding->effect == TA_EFFECT_LATE_RANK || finding->effect == TA_EFFECT_SLOWED_DEVICE)
        return finding->rank;
    if (found->ranks.rank != TA_MISSING)
        return found->ranks.rank;
    return finding->evidence[0].row.kind == TA_CELL_INT ? finding->evidence[0].row.i : TA_MISSING;
}

static bool is_of_same_rank(const struct ta_found *teller, const struct ta_found *told)
{
    return rank_of(teller) != TA_MISSING && rank_of(teller) == rank_of(told);
}

/* The others wait for the rank, and without what it does no less than what they wait is saved: both
 * are known. */
static bool is_all_of(const struct ta_found *teller, const struct ta_found *told)
{
    return teller->ranks.is_last && told->finding.saving_high_ns != TA_MISSING &&
           teller->finding.saving_high_ns >= told->finding.saving_high_ns;
}

/* A remedy for the copies of one rank is a remedy for the copies of all. */
static bool is_same_action(const struct ta_found *teller, const struct ta_found *told)
{
    (void)teller;
    (void)told;
    return true;
}

/* Both are of all of that time: of the cached steps what they lose, of the copies what they cost.
 */
static bool is_same_time(const struct ta_found *teller, const struct ta_found *told)
{
    const double times = 1.25;
    const double a = (double)teller->finding.saving_high_ns;
    const double b = (double)told->finding.saving_high_ns;
    return a > 0 && b > 0 && a <= times * b && b <= times * a;
}

/* ---- the stories ----------------------------------------------------------------------------- */

static const struct story {
    part_fn *teller, *told; /* the one that saves most speaks for all that are related to it */
    bool (*is_related)(const struct ta_found *teller, const struct ta_found *told);
    bool with_advice; /* what to do about the one that costs most is said as well */
    bool only_first;  /* no more than one is told */
} stories[] = {
    /* What one rank alone does is why the others wait for it. */
    {is_late, is_own, is_of_same_rank, true, false},
    {is_late_by_copy, is_copy_of_others, is_same_action, false, false},
    /* A GPU whose clock is lowered makes its rank late: the straggler says so itself. */
    {is_straggler, is_slowed, is_of_same_rank, false, false},
    {is_slowed, is_late, is_of_same_rank, false, false},
    /* That ranks wait for each other is no other effect than what makes one of them late. */
    {is_own, is_waiting, is_all_of, false, true},
    /* A step cache gains little because of what its steps copy. */
    {is_host_copy, is_cached_step, is_same_time, false, true},
};

/* ---- joining --------------------------------------------------------------------------------- */

void ta_finding_add_detail(struct ta_advice *advice, struct ta_finding *finding,
                           const char *sentence)
{
    finding->details = finding->details
                           ? ta_advice_printf(advice, "%s %s.", finding->details, sentence)
                           : ta_advice_printf(advice, "%s.", sentence);
}

static void add_evidence(struct ta_advice *advice, struct ta_finding *to,
                         const struct ta_finding *from)
{
    const size_t n = to->n_evidence + from->n_evidence;
    struct ta_evidence *all = ta_arena_alloc(ta_advice_arena(advice), n * sizeof *all);
    if (!all) {
        ta_advice_fail(advice);
        return;
    }
    memcpy(all, to->evidence, to->n_evidence * sizeof *all);
    memcpy(all + to->n_evidence, from->evidence, from->n_evidence * sizeof *all);
    to->evidence = all;
    to->n_evidence = n;
}

/* They are about the same time, so both save what the larger one does. */
static void add_saving(struct ta_finding *to, const struct ta_finding *from)
{
    if (from->saving_high_ns == TA_MISSING)
        return;
    if (to->saving_high_ns == TA_MISSING)
        to->saving_low_ns = from->saving_low_ns;
    if (to->saving_high_ns == TA_MISSING ||
        (double)from->saving_high_ns > MORE * (double)to->saving_high_ns)
        to->saving_high_ns = from->saving_high_ns;
}

/* The one that saves most of those that are told by `teller`, of all that can tell without one;
 * SIZE_MAX for none. */
static size_t find(const struct story *story, const struct ta_refs *in, const struct ta_found *at,
                   size_t n, size_t teller)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const bool fits = teller == SIZE_MAX ? story->teller(in, &at[i])
                                             : i != teller && story->told(in, &at[i]) &&
                                                   story->is_related(&at[teller], &at[i]);
        if (fits && (most == SIZE_MAX ||
                     ta_finding_worth(&at[i].finding) > ta_finding_worth(&at[most].finding)))
            most = i;
    }
    return most;
}

static size_t join(struct ta_advice *advice, const struct story *story, const struct ta_refs *in,
                   struct ta_found *at, size_t n)
{
    size_t teller = find(story, in, at, n, SIZE_MAX), most;
    bool is_first = true;
    while (teller != SIZE_MAX && (is_first || !story->only_first) &&
           (most = find(story, in, at, n, teller)) != SIZE_MAX) {
        struct ta_finding *speaker = &at[teller].finding;
        const struct ta_finding *told = &at[most].finding;
        if (is_first && story->with_advice)
            speaker->advice = ta_advice_printf(advice, "%s %s", speaker->advice, told->advice);
        ta_finding_add_detail(advice, speaker, told->title);
        add_evidence(advice, speaker, told);
        add_saving(speaker, told);
        if (told->severity > speaker->severity)
            speaker->severity = told->severity;
        memmove(&at[most], &at[most + 1], (n - most - 1) * sizeof *at);
        n--;
        teller -= most < teller;
        is_first = false;
    }
    return n;
}

size_t ta_stories_join(struct ta_advice *advice, const struct ta_refs *in, struct ta_found *at,
                       size_t n)
{
    for (size_t i = 0; i < TA_LENGTH(stories); i++)
        n = join(advice, &stories[i], in, at, n);
    return n;
}
