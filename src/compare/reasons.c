/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second sentence of a comparison: what explains most of the change.
 *
 *     Most of the saving (64.8 ms of 69.7 ms) comes from the 16 denoising steps, partly because
 *     ncclDevKernel_SendRecv takes 9.01 ms instead of 40.6 ms
 *
 * Of a diffusion its phases and steps, and why these take another time; else the latter alone. */
#include "compare/cause.h"
#include "compare/swap.h"
#include "report/unit.h"

#include <ctype.h>
#include <math.h>

enum { NAME_MOST = 48 };

/* From these parts of a change on it is nearly all, or most, of it; above, something works against
 * it. */
#define NEARLY 0.95
#define MOST 0.5
#define MORE 1.05
/* What changes by this part of a window that stays as long is worth a word. */
#define SHIFT 0.02

static const char *text_of(const char *text)
{
    return text ? text : ""; /* without memory */
}

void diff_two(struct diff_two *two, double before, double after, enum ta_unit unit)
{
    static const char arrow[] = " → ";
    char pair[TA_UNIT_PAIR_MAX];
    ta_unit_format_pair(pair, before, after, unit);
    const char *middle = strstr(pair, arrow);
    if (strstr(pair, "\u202f")) { /* thousands of a small unit */
        ta_unit_format(two->before, before, unit);
        ta_unit_format(two->after, after, unit);
        return;
    }
    snprintf(two->before, sizeof two->before, "%.*s", (int)(middle ? middle - pair : 0), pair);
    snprintf(two->after, sizeof two->after, "%s", middle ? middle + strlen(arrow) : pair);
}

const char *diff_instead(struct diff *diff, const char *verb, double before, double after,
                         enum ta_unit unit)
{
    struct diff_two two;
    char alone[TA_UNIT_TEXT_MAX];
    diff_two(&two, before, after, unit);
    if (before == 0 && after != 0)
        return ta_arena_printf(&diff->arena, "is new and %s %s", verb,
                               ta_unit_format(alone, after, unit));
    if (after == 0 && before != 0)
        return ta_arena_printf(&diff->arena, "took %s and is gone",
                               ta_unit_format(alone, before, unit));
    return ta_arena_printf(&diff->arena, "%s %s instead of %s", verb, two.after, two.before);
}

/* ---- what changed by itself ---------------------------------------------------------------- */

/* What the GPU waits for, as part of a sentence. */
static const char *idle_for(struct diff *diff, struct ta_slice cause)
{
    static const struct {
        const char *cause, *words;
    } all[] = {{"operator dispatch", "operators that the host dispatches"},
               {"python", "Python between launches"},
               {"launch calls", "launch calls"},
               {"runtime calls", "runtime calls"},
               {"host untraced", "host work that was not recorded"},
               {"synchronization", "the host waiting for the GPU"},
               {"blocking copy", "blocking copies"},
               {"memory allocation", "memory allocation"},
               {"compilation", "compilation"},
               {"first call", "first calls"},
               {"data loading", "data loading"},
               {"host collective", "collectives of the host"},
               {"launch latency", "launch latency"},
               {"host computation", "computation on the host"},
               {"began before the recording", "work from before the recording"},
               {"launch not recorded", "launches that were not recorded"},
               {"kernels not recorded", "kernels that were not recorded"},
               {"within a graph", "gaps within graphs"},
               {"micro gap", "gaps between queued kernels"},
               {"queued, same stream", "gaps between queued kernels of a stream"},
               {"queued, dependency", "queued work that waits for another stream"},
               {"out of order", "kernels recorded out of order"},
               {"late start", "a late start"},
               {"profiler", "the profiler"}};
    for (size_t i = 0; i < TA_LENGTH(all); i++)
        if (ta_slice_equal(cause, ta_slice_of(all[i].cause)))
            return all[i].words;
    return ta_arena_copy(&diff->arena, cause);
}

/* The ends of "old → new (set 1)"; false where it is no such pair. */
static bool split_pair(struct ta_slice name, struct ta_slice *old, struct ta_slice *new)
{
    const struct ta_slice arrow = TA_LIT(" → "), set = TA_LIT(" (set ");
    const char *end = ta_slice_end(name);
    const char *middle = memmem(name.ptr, name.len, arrow.ptr, arrow.len);
    if (!middle)
        return false;
    const char *after = middle + arrow.len;
    const char *number = memmem(after, (size_t)(end - after), set.ptr, set.len);
    *old = (struct ta_slice){name.ptr, (size_t)(middle - name.ptr)};
    *new = (struct ta_slice){after, (size_t)((number ? number : end) - after)};
    return true;
}

/* All idle time: causes are no two of a kind where one run recorded more of the host. */
static struct diff_clause clause_of_all_idle(struct diff *diff)
{
    double ns[TA_DIFF_SIDES] = {0, 0};
    for (size_t i = 0; i < diff->n_bars; i++)
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            if (ta_slice_equal(diff->bars[i].kind, TA_LIT("idle")))
                ns[side] += diff_per_unit(diff, side, diff->bars[i].ns[side]);
    return (struct diff_clause){
        .what = "idle time of the GPU",
        .does = diff_instead(diff, "is", ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS),
        .ns = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE]};
}

static struct diff_clause clause_of_idle(struct diff *diff, const struct diff_cause *cause)
{
    if (diff->recorded_text)
        return clause_of_all_idle(diff);
    const bool is_part = cause->part.len > 0;
    const char *why = idle_for(diff, is_part ? cause->part : cause->name);
    const char *change =
        diff_instead(diff, "is", cause->ns[TA_DIFF_BASE], cause->ns[TA_DIFF_NEW], TA_UNIT_NS);
    struct diff_two part;
    if (!is_part)
        return (struct diff_clause){
            .what = ta_arena_printf(&diff->arena, "idle time of the GPU for %s", text_of(why)),
            .does = change};
    diff_two(&part, cause->part_ns[TA_DIFF_BASE], cause->part_ns[TA_DIFF_NEW], TA_UNIT_NS);
    return (struct diff_clause){
        .what = "idle time of the GPU",
        .does = ta_arena_printf(&diff->arena, "%s, mainly for %s (%s instead of %s)",
                                text_of(change), text_of(why), part.after, part.before)};
}

/* " (522 ms instead of 402 ms in each of 216 calls)" of a stage that both runs call as often,
 * unless offloading says more. */
static const char *of_calls(struct diff *diff, const struct diff_cause *cause)
{
    enum { FEW = 2 };
    const double calls = (double)cause->calls[TA_DIFF_BASE];
    struct diff_two each;
    if (diff->unit || diff->offload.sign || cause->calls[TA_DIFF_BASE] <= FEW ||
        cause->calls[TA_DIFF_BASE] != cause->calls[TA_DIFF_NEW])
        return "";
    diff_two(&each, cause->ns[TA_DIFF_BASE] / calls, cause->ns[TA_DIFF_NEW] / calls, TA_UNIT_NS);
    return ta_arena_printf(&diff->arena, " (%s instead of %s in each of %.0f calls)", each.after,
                           each.before, calls);
}

/* "transformer_forward (113 s instead of 86.7 s)". */
static const char *with_times(struct diff *diff, struct ta_slice name,
                              const double ns[TA_DIFF_SIDES])
{
    struct diff_two two;
    name = diff_brief(diff, name, NAME_MOST);
    diff_two(&two, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    return ta_arena_printf(&diff->arena, "%.*s (%s instead of %s)", (int)name.len, name.ptr,
                           two.after, two.before);
}

/* "slower calls, as many as before, of transformer_forward (…) and vae_decode (…)": two stages that
 * changed alike. */
static struct diff_clause clause_of_two(struct diff *diff, const struct diff_cause *cause)
{
    const char *first = with_times(diff, cause->name, cause->ns);
    const char *second = with_times(diff, cause->also, cause->also_ns);
    const bool is_slower = cause->ns[TA_DIFF_NEW] > cause->ns[TA_DIFF_BASE];
    const char *calls = !cause->as_often ? ""
                        : is_slower      ? "slower calls, as many as before, of "
                                         : "faster calls, as many as before, of ";
    return (struct diff_clause){.what = ta_arena_printf(&diff->arena, "%s%s and %s", calls,
                                                        text_of(first), text_of(second)),
                                .is_plural = true};
}

/* Of kernels that all changed alike what is known of the clock. */
static const char *of_clock(struct diff *diff)
{
    static const double same = 0.02;
    const double base = diff->clock[TA_DIFF_BASE], new = diff->clock[TA_DIFF_NEW];
    struct diff_two two;
    if (!(base > 0 && new > 0))
        return ", all alike (device or clock)";
    if (fabs(new / base - 1) < same)
        return ", all alike, at the same mean GPU clock";
    diff_two(&two, base, new, TA_UNIT_HERTZ);
    return ta_arena_printf(&diff->arena, ", all alike, at a mean GPU clock of %s instead of %s",
                           two.after, two.before);
}

/* What changed most, with what it did. */
static struct diff_clause clause_of_cause(struct diff *diff, const struct diff_cause *cause)
{
    const double before = cause->ns[TA_DIFF_BASE], after = cause->ns[TA_DIFF_NEW];
    struct ta_slice old, new;
    if (cause->name.len == 0)
        return (struct diff_clause){0};
    if (ta_slice_equal(cause->kind, TA_LIT("idle")))
        return clause_of_idle(diff, cause);
    if (ta_slice_equal(cause->kind, TA_LIT("rest"))) /* may be less than nothing */
        return (struct diff_clause){.what = ta_arena_printf(&diff->arena, "time %.*s",
                                                            (int)cause->name.len, cause->name.ptr)};
    if (cause->also.len)
        return clause_of_two(diff, cause);
    const bool is_pair = split_pair(cause->name, &old, &new);
    if (!is_pair)
        new = cause->name;
    new = diff_brief(diff, new, NAME_MOST);
    const bool is_kernels = ta_slice_equal(cause->kind, diff_compute) &&
                            memmem(cause->name.ptr, cause->name.len, " kernels", 8) &&
                            !is_pair; /* "all 10 kernels", "169 compute kernels" */
    const char *verb = is_kernels ? "take" : "takes";
    const char *change = diff_instead(diff, verb, before, after, TA_UNIT_NS);
    const char *replaced = "";
    if (is_pair) {
        old = diff_brief(diff, old, NAME_MOST);
        replaced = ta_arena_printf(&diff->arena, "replaced %.*s and ", (int)old.len, old.ptr);
    }
    return (struct diff_clause){
        .what = ta_arena_copy(&diff->arena, new),
        .does = ta_arena_printf(&diff->arena, "%s%s%s%s", text_of(replaced), text_of(change),
                                cause->is_clock                               ? of_clock(diff)
                                : ta_slice_equal(cause->kind, diff_all_ranks) ? " on all ranks"
                                : ta_slice_equal(cause->kind, TA_LIT("comm"))
                                    ? ", with its wait for other ranks"
                                    : "",
                                of_calls(diff, cause)),
        .is_plural = is_kernels};
}

/* ---- kernels that do what others did --------------------------------------------------------- */

static double ranks_of(const struct diff *diff)
{
    return fmax(1, (double)diff->ranks.n); /* kernels are summed over all */
}

static bool explains(const struct diff *diff, double change, double whole)
{
    return (change > 0) == (whole > 0) && fabs(change) / ranks_of(diff) >= fabs(whole) / 2;
}

static double part_of(const struct diff *diff, double change)
{
    return ranks_of(diff) > 1 ? (double)NAN : change;
}

/* "attention runs qk_int8 instead of flash_fwd", where that is most of the change. */
static struct diff_clause clause_of_swap(struct diff *diff, double whole)
{
    struct diff_swap swap;
    if (diff->is_other_work || !diff_find_swap(diff, &swap))
        return (struct diff_clause){0};
    const double change = swap.ns[TA_DIFF_NEW] - swap.ns[TA_DIFF_BASE] + swap.company_ns;
    if (!explains(diff, change, whole))
        return (struct diff_clause){0};
    const bool is_gemm = ta_slice_equal(swap.kind, TA_LIT("gemm"));
    const bool is_conv = ta_slice_equal(swap.kind, TA_LIT("conv"));
    return (struct diff_clause){.what = is_gemm   ? "GEMMs"
                                        : is_conv ? "convolutions"
                                                  : "attention",
                                .does = ta_arena_printf(&diff->arena, "run%s %s%s",
                                                        is_gemm || is_conv ? "" : "s",
                                                        text_of(diff_swap_text(diff, &swap)),
                                                        ranks_of(diff) > 1 ? " on all ranks" : ""),
                                .ns = part_of(diff, change)};
}

/* The kind of attention that takes the devices longest, and the time of all of it per unit. */
static struct ta_slice attention_of(const struct diff *diff, int side, double *ns)
{
    const struct ta_refs *in = &diff->in[side];
    struct ta_slice most = {.len = 0};
    double longest = 0, all = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_ATTENTION); i++) {
        const double time = ta_ref_number(in, TA_AS_ATTENTION_TIME, i, 0);
        all += time;
        if (time > longest) {
            longest = time;
            most = ta_ref_text(in, TA_AS_ATTENTION, i);
        }
    }
    *ns = diff_per_unit(diff, side, ta_whole(all));
    return most;
}

/* "attention runs flash 2 instead of math: its kernels take 94.1 ms instead of 411 ms": another
 * implementation whose kernels are no pairs, such as GEMMs and softmax against one fused kernel. */
static struct diff_clause clause_of_attention(struct diff *diff, double whole)
{
    double ns[TA_DIFF_SIDES];
    const struct ta_slice base = attention_of(diff, TA_DIFF_BASE, &ns[TA_DIFF_BASE]);
    const struct ta_slice new = attention_of(diff, TA_DIFF_NEW, &ns[TA_DIFF_NEW]);
    const double change = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE];
    if (diff->is_other_work || base.len == 0 || new.len == 0 || ta_slice_equal(base, new) ||
        !explains(diff, change, whole))
        return (struct diff_clause){0};
    const char *times = diff_instead(diff, "take", ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    return (struct diff_clause){
        .what = "attention",
        .does = ta_arena_printf(&diff->arena, "runs %.*s instead of %.*s: its kernels %s%s",
                                (int)new.len, new.ptr, (int)base.len, base.ptr, text_of(times),
                                ranks_of(diff) > 1 ? " on all ranks" : ""),
        .ns = part_of(diff, change)};
}

/* ---- kinds of work ----------------------------------------------------------------------------
 */

static const struct diff_bar *class_at(const struct diff *diff, struct ta_slice name)
{
    for (size_t i = 0; i < diff->n_classes; i++)
        if (ta_slice_equal(diff->classes[i].name, name))
            return &diff->classes[i];
    return NULL;
}

/* "fused kernels (Triton), which replaced pointwise and norm kernels: 23.1 ms instead of 88.2 ms
 * in all", where a compiler fused them, or did no longer. */
static struct diff_clause clause_of_fusion(struct diff *diff, double whole)
{
    const struct diff_bar *small = class_at(diff, diff_fusible),
                          *fused = class_at(diff, diff_fused);
    double ns[TA_DIFF_SIDES];
    if (!small || !fused)
        return (struct diff_clause){0};
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        ns[side] = (double)small->ns[side] + (double)fused->ns[side];
    const double change = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE];
    const double more = (double)fused->ns[TA_DIFF_NEW] - (double)fused->ns[TA_DIFF_BASE];
    const double less = (double)small->ns[TA_DIFF_NEW] - (double)small->ns[TA_DIFF_BASE];
    if ((change > 0) != (whole > 0) || fabs(change) < fabs(whole) / 2 || (more > 0) == (less > 0) ||
        (more > 0) == (whole > 0))
        return (struct diff_clause){0};
    struct diff_two two;
    diff_two(&two, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    return (struct diff_clause){
        .what = more > 0 ? "fused kernels (Triton)" : "pointwise and norm kernels",
        .does = ta_arena_printf(&diff->arena, "replaced %s: %s instead of %s",
                                more > 0 ? "pointwise and norm kernels" : "fused ones (Triton)",
                                two.after, two.before),
        .ns = change,
        .is_plural = true};
}

/* "GEMM kernels, which take 80 ms instead of 60 ms", where no kernel says as much by itself. */
static struct diff_clause clause_of_class(struct diff *diff, double whole)
{
    const struct diff_cause *cause = &diff->cause;
    const double own = cause->ns[TA_DIFF_NEW] - cause->ns[TA_DIFF_BASE];
    const struct diff_bar *most = NULL;
    double largest = fmax(fabs(whole) / 2, 1.5 * fabs(own));
    for (size_t i = 0; i < diff->n_classes; i++) {
        const struct diff_bar *bar = &diff->classes[i];
        const double change = (double)bar->ns[TA_DIFF_NEW] - (double)bar->ns[TA_DIFF_BASE];
        if (!ta_slice_equal(bar->kind, diff_compute) || (change > 0) != (whole > 0) ||
            fabs(change) < largest)
            continue;
        largest = fabs(change);
        most = bar;
    }
    if (!most || cause->is_clock)
        return (struct diff_clause){0};
    const bool has_noun = memmem(most->name.ptr, most->name.len, "kernels", 7);
    return (struct diff_clause){.what = ta_arena_printf(&diff->arena, "%.*s%s", (int)most->name.len,
                                                        most->name.ptr, has_noun ? "" : " kernels"),
                                .does = diff_instead(diff, "take", (double)most->ns[TA_DIFF_BASE],
                                                     (double)most->ns[TA_DIFF_NEW], TA_UNIT_NS),
                                .ns =
                                    (double)most->ns[TA_DIFF_NEW] - (double)most->ns[TA_DIFF_BASE],
                                .is_plural = true};
}

/* Why the same work takes another time. */
static struct diff_clause find_reason(struct diff *diff, double whole)
{
    const struct diff_cause *cause = &diff->cause;
    struct diff_clause clause = clause_of_swap(diff, whole);
    if (!clause.what)
        clause = clause_of_attention(diff, whole);
    if (!clause.what && !diff->phases.task)
        clause = clause_of_fusion(diff, whole);
    if (!clause.what && !diff->phases.task)
        clause = clause_of_class(diff, whole);
    if (clause.what || diff->phases.task)
        return clause;
    clause = clause_of_cause(diff, cause);
    if (ta_slice_equal(cause->kind, diff_all_ranks))
        clause.ns = (double)NAN;
    else if (clause.ns == 0)
        clause.ns = cause->ns[TA_DIFF_NEW] - cause->ns[TA_DIFF_BASE] +
                    (cause->also_ns[TA_DIFF_NEW] - cause->also_ns[TA_DIFF_BASE]);
    return clause;
}

/* ---- the sentence -------------------------------------------------------------------------- */

/* "Most of the saving (64.8 ms of 69.7 ms) comes from".  What is said of several runs is said of
 * the shown ones. */
static const char *head_of(struct diff *diff, const struct diff_clause *clause, double whole,
                           const char *per)
{
    const double share = fabs(clause->ns / whole);
    const bool several = diff->sides[TA_DIFF_BASE].n > 1 || diff->sides[TA_DIFF_NEW].n > 1;
    const char *it = several     ? "the change between the runs of median length"
                     : whole > 0 ? "the increase"
                                 : "the saving";
    char part[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
    if (isnan(share))
        return ta_arena_printf(&diff->arena, "Most of %s comes from", it);
    ta_unit_format(part, fabs(clause->ns), TA_UNIT_NS);
    ta_unit_format(all, fabs(whole), TA_UNIT_NS);
    const bool is_whole = strcmp(part, all) == 0;
    return ta_arena_printf(&diff->arena, "%s of %s (%s%s%s%s) comes from",
                           share > MORE      ? "More than all"
                           : share >= NEARLY ? "Nearly all"
                           : share >= MOST   ? "Most"
                                             : "The largest part",
                           it, part,
                           is_whole       ? ""
                           : share > MORE ? " against "
                                          : " of ",
                           is_whole ? "" : all, per);
}

/* "VAE decode, which takes 70 ms instead of 18 ms". */
static const char *noun_of(struct diff *diff, const struct diff_clause *clause)
{
    if (!clause->does)
        return clause->what;
    return text_of(ta_arena_printf(&diff->arena, "%s, which %s", clause->what, clause->does));
}

/* "because VAE decode takes 70 ms instead of 18 ms", after the steps that this is about: a part of
 * them where both are more than the whole. */
static const char *because(struct diff *diff, const struct diff_clause *reason,
                           const struct diff_clause *steps, double whole)
{
    const double share = fabs(reason->ns / steps->ns);
    const char *how = isnan(share)     ? "mainly "
                      : share < MOST   ? "partly "
                      : share < NEARLY ? "mostly "
                                       : "";
    if (fabs(reason->ns) + fabs(steps->ns) < fabs(whole))
        return ta_arena_printf(&diff->arena, "; another part from %s", noun_of(diff, reason));
    return ta_arena_printf(&diff->arena, ", %sbecause%s %s%s%s", how, reason->does ? "" : " of",
                           reason->what, reason->does ? " " : "", text_of(reason->does));
}

/* " and another 20 ms from text encode, …", "; VAE decode, …, works against it (+38 ms)". */
static const char *second_part(struct diff *diff, const struct diff_phase_story *story)
{
    char ns[TA_UNIT_TEXT_MAX];
    const struct diff_clause *next = &story->next, *against = &story->against;
    if (next->what && !(fabs(against->ns) > fabs(next->ns)))
        return ta_arena_printf(&diff->arena, ", and another %s from %s",
                               ta_unit_format(ns, fabs(next->ns), TA_UNIT_NS), noun_of(diff, next));
    if (!against->what)
        return "";
    return ta_arena_printf(&diff->arena, "; %s%s work%s against it (%s)", noun_of(diff, against),
                           against->does ? "," : "", against->is_plural ? "" : "s",
                           ta_unit_format(ns, against->ns, TA_UNIT_NS_CHANGE));
}

/* Whether two names have the same letters and digits: a range of the program is its phase again. */
static bool is_same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !isalnum((unsigned char)*a))
            a++;
        while (*b && !isalnum((unsigned char)*b))
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* Of a diffusion the phases and steps, with the reason for their time, or what else changed. */
static const char *say_phases(struct diff *diff, double whole)
{
    const struct diff_phase_story *story = &diff->phases;
    struct diff_clause steps = story->most, reason = {0};
    const char *per = !story->is_each || !story->made     ? ""
                      : strcmp(story->made, "image") == 0 ? " an image"
                                                          : " a video";
    /* Stages are the phases once more. */
    if (story->is_of_time && !ta_slice_equal(diff->cause.kind, TA_LIT("stage")))
        reason = find_reason(diff, whole);
    if (reason.what && is_same_name(reason.what, steps.what))
        reason.what = NULL;
    const char *end =
        reason.what ? because(diff, &reason, &steps, story->whole) : second_part(diff, story);
    if (reason.what)
        steps.does = NULL;
    return ta_arena_printf(&diff->arena, "%s %s%s",
                           text_of(head_of(diff, &steps, story->whole, per)), noun_of(diff, &steps),
                           text_of(end));
}

const char *diff_say_reasons(struct diff *diff, double whole)
{
    const struct diff_phase_story *story = &diff->phases;
    /* Images of another size make other kernels do the same; of a step of a run phases are no part.
     */
    const bool has_phases = story->most.what && (!diff->is_other_work || story->task) &&
                            (!diff->unit || story->is_each);
    if (has_phases)
        return say_phases(diff, whole);
    const struct diff_clause reason = find_reason(diff, whole);
    if (!reason.what)
        return NULL;
    return ta_arena_printf(&diff->arena, "%s %s", text_of(head_of(diff, &reason, whole, "")),
                           noun_of(diff, &reason));
}

const char *diff_say_shift(struct diff *diff, double whole)
{
    const struct diff_cause *shift = &diff->shift;
    const double change = shift->ns[TA_DIFF_NEW] - shift->ns[TA_DIFF_BASE];
    const struct diff_clause clause = clause_of_cause(diff, shift);
    if (!clause.does || fabs(change) < SHIFT * whole)
        return NULL;
    return ta_arena_printf(&diff->arena, "Within it, %s %s, and other changes make up for it",
                           clause.what, clause.does);
}
