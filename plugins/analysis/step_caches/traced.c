/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that a cache answered, in a trace: calls of the denoiser that launch far fewer kernels than
 * the others of their pass.
 *
 * Other things make calls differ: a second model with fewer blocks, a first step that computes what
 * later ones keep, kernels that were not recorded.  A cache skips blocks of the same model, so what
 * it leaves of products and attention is what a full step has, too, and it skips some step that is
 * neither the first nor the last of the trace. */
#include "step_caches.h"

#include "lib/modules.h"
#include "model/busy.h"
#include "model/lost.h"
#include "model/named.h"
#include "model/program/generation.h"
#include "stat/interval.h"

#include <math.h>
#include <stdlib.h>

/* Of the kernels of a full step: a step is full from here on, and cached up to here. */
#define FULL_LEAST 0.9
#define CACHED_MOST 0.5

/* Two counts that are this near are one. */
#define SAME_LEAST 0.98

/* The largest count that a single call has is of a first step, if the next ones have as many. */
#define FIRST_LEAST 0.75

/* Of a cached step: products and attention that a full step has, too. */
#define SHARED_LEAST 0.9

/* A call of the denoiser. */
struct call {
    size_t line, pass;
    int64_t number;          /* of its step */
    int64_t kernels, layers; /* layers: kernels of attention, without any the products */
    int64_t start, end;      /* of its work on the device */
    int64_t dur, busy;
    double kept;
    int class;
    bool is_last;  /* before another model works, or another image begins */
    bool is_known; /* no kernel of it was lost */
};

struct walk {
    const struct ta_trace *trace;
    const struct ta_generation *found;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct ta_spans spans;
    struct call *calls; /* of the denoiser */
    size_t n, n_passes;
    uint32_t *place; /* of each call of the fact among these; UINT32_MAX for other models */
};

static bool is_matrix(enum ta_kernel_kind kind)
{
    return kind == TA_KERNEL_GEMM || kind == TA_KERNEL_CONV;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Whether a step begins another image, or another block of a video, than the step before it. */
static bool begins_line(const struct ta_generation_step *before,
                        const struct ta_generation_step *step)
{
    return step->image != before->image || step->block != before->block ||
           step->number <= before->number;
}

static bool take_calls(struct walk *w)
{
    const struct ta_generation *found = w->found;
    const struct ta_lost *lost = ta_trace_lost(w->trace);
    w->calls = calloc(found->n_calls + 1, sizeof *w->calls);
    w->place = malloc((found->n_calls + 1) * sizeof *w->place);
    if (!w->calls || !w->place || !lost)
        return false;
    const struct ta_generation_step *before = NULL;
    size_t line = 1;
    for (size_t i = 0; i < found->n_calls; i++) {
        const struct ta_generation_call *call = &found->calls[i];
        w->place[i] = UINT32_MAX;
        if (call->phase != TA_GENERATION_DENOISE || call->step >= found->n_steps)
            continue;
        const struct ta_generation_step *step = &found->steps[call->step];
        line += before && before != step && begins_line(before, step);
        before = step;
        w->place[i] = (uint32_t)w->n;
        const struct ta_generation_time *time = &call->time;
        const int64_t lost_ones = time->host_start == TA_MISSING
                                      ? 0
                                      : ta_lost_kernels(lost, time->host_start, time->host_end);
        w->calls[w->n++] =
            (struct call){.number = step->number,
                          .pass = i - step->first_call,
                          .kernels = time->kernels,
                          .start = time->gpu_start,
                          .end = time->gpu_end,
                          .dur = TA_MISSING,
                          .busy = TA_MISSING,
                          .line = line,
                          .kept = NAN,
                          .is_known = time->kernels > 0 && time->gpu_start != TA_MISSING &&
                                      lost_ones * 50 <= time->kernels};
        if (i - step->first_call >= w->n_passes)
            w->n_passes = i - step->first_call + 1;
    }
    return true;
}

/* The last call that begins before that time; NULL without one. */
static struct call *call_before(const struct walk *w, int64_t time)
{
    size_t low = 0, high = w->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->calls[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &w->calls[low - 1] : NULL;
}

/* Marks calls after which another model works before the next one. */
static void find_ends(struct walk *w)
{
    for (size_t i = 0; i < w->activities.n; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const uint32_t of = w->found->call_of[i];
        if (a->kernel == TA_NO_KERNEL || (of != UINT32_MAX && w->place[of] != UINT32_MAX))
            continue;
        const enum ta_kernel_kind kind = w->kernels.at[a->kernel].facts.kind;
        if (!is_matrix(kind) && kind != TA_KERNEL_ATTENTION)
            continue;
        struct call *call = call_before(w, w->spans.ts[a->span]);
        if (call && w->spans.ts[a->span] >= call->end)
            call->is_last = true;
    }
}

/* How long calls take: until the next one begins on the device, where no other model works. */
static bool time_calls(struct walk *w)
{
    const struct ta_intervals *busy = ta_trace_busy(w->trace);
    if (!busy)
        return false;
    find_ends(w);
    for (size_t i = 0; i < w->n; i++) {
        struct call *call = &w->calls[i];
        const bool is_last = call->is_last || i + 1 == w->n || call[1].line != call->line ||
                             call[1].start == TA_MISSING || call[1].start < call->start;
        if (call->start == TA_MISSING)
            continue;
        const int64_t end = is_last ? call->end : call[1].start;
        call->dur = end - call->start;
        call->busy = ta_intervals_within(busy, call->start, end);
    }
    return true;
}

/* The kernels of attention of each call; where full calls have none, their products. */
static void count_layers(struct walk *w)
{
    int64_t attention = 0;
    for (int is_attention = 1; is_attention >= 0 && attention == 0; is_attention--)
        for (size_t i = 0; i < w->activities.n; i++) {
            const struct ta_activity *a = &w->activities.at[i];
            if (w->found->call_of[i] == UINT32_MAX || a->kernel == TA_NO_KERNEL ||
                w->place[w->found->call_of[i]] == UINT32_MAX)
                continue;
            const enum ta_kernel_kind kind = w->kernels.at[a->kernel].facts.kind;
            if (is_attention ? kind != TA_KERNEL_ATTENTION : !is_matrix(kind))
                continue;
            w->calls[w->place[w->found->call_of[i]]].layers++;
            attention += is_attention;
        }
}

/* ---- full and cached ------------------------------------------------------------------------- */

/* The kernels of a full call of a pass; 0 where none is known. */
static int64_t find_full(const struct walk *w, size_t pass, int64_t *layers)
{
    int64_t most = 0, next = 0;
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->calls[i].pass == pass && w->calls[i].is_known && w->calls[i].kernels > most)
            most = w->calls[i].kernels;
    for (size_t i = 0; i < w->n; i++) {
        const struct call *call = &w->calls[i];
        if (call->pass != pass || !call->is_known)
            continue;
        const bool is_same = (double)call->kernels >= SAME_LEAST * (double)most;
        n += is_same;
        next = !is_same && call->kernels > next ? call->kernels : next;
    }
    if (n == 1 && (double)next >= FIRST_LEAST * (double)most)
        most = next;
    *layers = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->calls[i].pass == pass && w->calls[i].is_known && w->calls[i].kernels <= most &&
            w->calls[i].layers > *layers)
            *layers = w->calls[i].layers;
    return most;
}

/* Says of the calls of a pass what they are. */
static void class_pass(struct walk *w, size_t pass)
{
    int64_t layers;
    const double full = (double)find_full(w, pass, &layers);
    for (size_t i = 0; i < w->n; i++) {
        struct call *call = &w->calls[i];
        if (call->pass != pass || !call->is_known)
            continue;
        const double share = (double)call->kernels / full;
        const double kept = layers > 0 ? (double)call->layers / (double)layers : (double)NAN;
        /* Blocks that are skipped have no attention. */
        const bool skips = !(kept >= FULL_LEAST);
        call->class = share >= FULL_LEAST || !skips ? CLASS_FULL
                      : share > CACHED_MOST         ? CLASS_PARTIAL
                                                    : CLASS_CACHED;
        call->kept = call->class == CLASS_FULL ? 1 : kept;
    }
}

/* ---- whether it is a cache ------------------------------------------------------------------- */

/* What a product or attention is: kernel and grid. */
static uint64_t symbol_of(const struct ta_args *grid, const struct ta_activity *a)
{
    const ta_str at = ta_args_text(grid, a->span);
    return (uint64_t)a->kernel << 32 | (at == TA_STR_ABSENT ? UINT32_MAX : at);
}

/* The time of products and attention in calls that are not full, and how much of that is in ones
 * that some full call has as well.  False without memory. */
static bool find_shared(const struct walk *w, double *all, double *shared)
{
    const struct ta_args grid = ta_trace_args(w->trace, "grid");
    struct ta_map full = {0};
    *all = *shared = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < w->activities.n; i++) {
            const struct ta_activity *a = &w->activities.at[i];
            if (w->found->call_of[i] == UINT32_MAX || a->kernel == TA_NO_KERNEL ||
                w->place[w->found->call_of[i]] == UINT32_MAX)
                continue;
            const enum ta_kernel_kind kind = w->kernels.at[a->kernel].facts.kind;
            const struct call *call = &w->calls[w->place[w->found->call_of[i]]];
            if (!call->is_known || (kind != TA_KERNEL_ATTENTION && !is_matrix(kind)))
                continue;
            const uint64_t symbol = symbol_of(&grid, a);
            if (pass == 0 && call->class == CLASS_FULL) {
                ta_map_at(&full, symbol, 1);
            } else if (pass == 1 && call->class != CLASS_FULL) {
                *all += (double)w->spans.dur[a->span];
                *shared += ta_map_find(&full, symbol) ? (double)w->spans.dur[a->span] : 0;
            }
        }
    const bool done = !full.failed;
    ta_map_free(&full);
    return done;
}

/* Whether some step between others is cached; the first and the last may be cut. */
static bool has_inner(const struct walk *w)
{
    for (size_t i = w->n_passes; i + w->n_passes < w->n; i++)
        if (w->calls[i].is_known && w->calls[i].class != CLASS_FULL)
            return true;
    return false;
}

/* ---- functions of caches --------------------------------------------------------------------- */

/* What functions and modules of caches are called: the cache by a part of the name, and the
 * function in it that decides, where it is one. */
static const struct {
    const char *part, *method, *decides;
} methods[] = {
    {"cache_dit/", "cache-dit", "can_cache"},
    {"nn.Module: CachedBlocks", "cache-dit", NULL},
    {"hooks/first_block_cache.py", "first block cache", "_should_compute_remaining_blocks"},
    {"para_attn/first_block_cache", "first block cache", "get_can_use_cache"},
    {"nn.Module: CachedTransformerBlocks", "first block cache", NULL},
    {"first_block_cache", "first block cache", "can_use_cache"},
    {"teacache", "TeaCache", NULL},
    {"magcache", "MagCache", NULL},
    {"hooks/mag_cache.py", "MagCache", NULL},
    {"easycache", "EasyCache", NULL},
    {"hooks/faster_cache.py", "FasterCache", NULL},
    {"hooks/pyramid_attention_broadcast.py", "pyramid attention broadcast", NULL},
    {"hooks/taylorseer_cache.py", "TaylorSeer", NULL},
};

enum { DECIDES = 1 << 7 };

/* Place of the method and 1; with DECIDES where it is the function that decides. */
static uint8_t method_of(struct ta_slice name)
{
    const bool is_function = memmem(name.ptr, name.len, ".py(", 4) != NULL;
    if (!is_function && !ta_slice_starts(name, "nn.Module: "))
        return 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (ta_slice_has_word(name, methods[i].part))
            return (uint8_t)(i + 1) |
                   (methods[i].decides && ta_slice_has_word(name, methods[i].decides) ? DECIDES
                                                                                      : 0);
    return 0;
}

struct checks {
    const struct walk *walk;
    struct ta_intervals decisions; /* times of the host in functions that decide */
    int64_t calls, until;
    uint8_t first; /* method, by its first function */
};

static void take_function(void *user, ta_row row, uint8_t kind)
{
    struct checks *checks = user;
    const struct walk *w = checks->walk;
    const uint8_t method = kind & (uint8_t)~DECIDES;
    checks->first = checks->first ? checks->first : method;
    if (!(kind & DECIDES) || w->spans.ts[row] < checks->until)
        return;
    checks->calls++;
    checks->until = w->spans.ts[row] + w->spans.dur[row]; /* the function calls itself */
    ta_intervals_add(&checks->decisions, w->spans.ts[row], checks->until);
}

/* Between two pieces of work that are queued. */
#define QUEUED_GAP_NS 5000

/* How long devices idle in gaps that begin in [from, to); what they take from one piece of queued
 * work to the next is no idling. */
static int64_t idle_from(const struct ta_intervals *busy, int64_t from, int64_t to)
{
    int64_t idle = 0;
    for (size_t i = ta_intervals_behind(busy, from); i + 1 < busy->n && busy->at[i].end < to; i++) {
        const int64_t gap = busy->at[i + 1].start - busy->at[i].end;
        idle += gap > QUEUED_GAP_NS ? gap : 0;
    }
    return idle;
}

/* What deciding costs: the device idles while the host decides, and works on what that launches.
 * Waiting for work that was launched before costs nothing.  TA_MISSING without memory. */
static int64_t cost_of(struct checks *checks)
{
    const struct walk *w = checks->walk;
    const struct ta_intervals *busy = ta_trace_busy(w->trace);
    struct ta_intervals *times = &checks->decisions;
    int64_t cost = 0;
    ta_intervals_unite(times);
    if (!busy || times->failed)
        return TA_MISSING;
    for (size_t i = 0; i < times->n; i++)
        cost = ta_add_sat(cost, idle_from(busy, times->at[i].start, times->at[i].end));
    for (size_t i = 0; times->n && i < w->activities.n; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (a->launch != TA_NO_ROW &&
            ta_intervals_within(times, w->spans.ts[a->launch], w->spans.ts[a->launch] + 1))
            cost = ta_add_sat(cost, w->spans.dur[a->span]);
    }
    return cost;
}

/* ---- a trace --------------------------------------------------------------------------------- */

static void add_calls(const struct walk *w, struct ta_slice name, struct ta_partial *out)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct call *call = &w->calls[i];
        if (!call->is_known)
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_row_file(w->trace),
                           ta_key_text(name), ta_key_int((int64_t)i));
        row[PASS] = w->n_passes > 1 ? (int64_t)call->pass + 1 : TA_MISSING;
        row[IMAGE] = (int64_t)call->line;
        row[STEP] = call->number;
        row[CLASS] = call->class;
        row[DUR] = call->dur;
        row[BUSY] = call->busy;
        row[KERNELS] = call->kernels;
        row[KEPT] = ta_real_cell(call->kept);
    }
}

static bool add_checks(const struct walk *w, struct ta_slice name, struct checks *checks,
                       struct ta_partial *out)
{
    const int64_t cost = cost_of(checks);
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_text(name),
                                  ta_key_text(ta_slice_of(methods[checks->first - 1].method)));
    if (checks->calls) {
        ta_sum(&row[CHECK_CALLS], checks->calls);
        ta_sum(&row[CHECK_NS], cost);
    }
    return cost != TA_MISSING;
}

static bool judge(struct walk *w, struct checks *checks, struct ta_partial *const *out)
{
    enum { PASSES_MOST = 8 };
    if (!take_calls(w) || !time_calls(w))
        return false;
    if (w->n_passes > PASSES_MOST)
        return true; /* no guidance has so many */
    count_layers(w);
    for (size_t pass = 0; pass < w->n_passes; pass++)
        class_pass(w, pass);
    double all, shared;
    if (!find_shared(w, &all, &shared) ||
        !ta_each_named(w->trace, method_of, take_function, checks))
        return false;
    const bool is_cache = has_inner(w) && shared >= SHARED_LEAST * all;
    if (!is_cache && !checks->first)
        return true;
    if (!is_cache)
        for (size_t i = 0; i < w->n; i++)
            w->calls[i].class = CLASS_FULL;
    const struct ta_slice denoiser = w->found->denoiser == TA_STR_ABSENT
                                         ? TA_LIT("")
                                         : ta_trace_text(w->trace, w->found->denoiser);
    const struct ta_slice name =
        ta_is_module(denoiser) ? ta_module_class(denoiser) : TA_LIT("denoiser");
    add_calls(w, name, out[OF_STEPS]);
    return !checks->first || add_checks(w, name, checks, out[OF_CHECKS]);
}

bool step_caches_of_trace(const struct ta_trace *trace, struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .found = ta_program_generation(trace),
                     .activities = ta_trace_activities(trace),
                     .kernels = ta_trace_kernels(trace),
                     .spans = ta_trace_spans(trace)};
    if (!w.found)
        return false;
    struct checks checks = {.walk = &w, .until = INT64_MIN};
    const bool done = w.found->n_steps == 0 || !w.found->call_of || judge(&w, &checks, out);
    ta_intervals_free(&checks.decisions);
    free(w.calls);
    free(w.place);
    return done;
}
