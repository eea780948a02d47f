/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recompilations and graph breaks of torch.compile in a log: the place that has most of
 * them, and why. */
#include "lib/bars.h"

#include <traceanalyze/document.h>
#include <traceanalyze/rule.h>

#include <stdlib.h>

enum { COUNT, MEDIUM, BREAKS };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Recompilations of one place above which the rule fires"},
    [MEDIUM] = {"medium", TA_OPTION_INTEGER, 2, 0, 1e9, TA_OPTION_PLAIN,
                "Recompilations of one place above which it is one severity higher"},
    [BREAKS] = {"breaks", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
                "Graph breaks of one place above which the rule fires"},
    TA_OPTIONS_END,
};

enum { NAME = BAR_REFS, DATA, INDEX };

static const struct ta_ref reads[] = {
    BAR_READS,
    [NAME] = {"run.happenings", "name"},
    [DATA] = {"run.happenings", "data"},
    [INDEX] = {"run.happenings", "index"},
};

/* A place, by the first row that is of it. */
struct site {
    size_t row, count;
};

struct sites {
    struct site *at;
    size_t n, total;
    const struct site *most;
};

/* "forward in model.py:42" of "forward in model.py:42: tensor 'L['x']' size mismatch …". */
static struct ta_slice place_of(const struct ta_refs *in, size_t row)
{
    const struct ta_slice data = ta_ref_text(in, DATA, row);
    const char *end = data.len ? memmem(data.ptr, data.len, ": ", 2) : NULL;
    return end ? ta_slice_part(data, 0, (size_t)(end - data.ptr)) : data;
}

static struct ta_slice reason_of(const struct ta_refs *in, size_t row)
{
    const struct ta_slice data = ta_ref_text(in, DATA, row);
    const size_t place = place_of(in, row).len;
    return place < data.len ? ta_slice_from(data, place + 2) : (struct ta_slice){.len = 0};
}

/* False without memory.  Programs compile few places, however often. */
static bool find_sites(const struct ta_refs *in, const char *event, struct sites *sites)
{
    const size_t rows = ta_ref_rows(in, NAME);
    *sites = (struct sites){.at = calloc(rows + 1, sizeof *sites->at)};
    for (size_t row = 0; sites->at && row < rows; row++) {
        if (!ta_ref_reads(in, NAME, row, event))
            continue;
        const struct ta_slice place = place_of(in, row);
        size_t i = 0;
        while (i < sites->n && !ta_slice_equal(place_of(in, sites->at[i].row), place))
            i++;
        if (i == sites->n)
            sites->at[sites->n++] = (struct site){row, 0};
        sites->at[i].count++;
        sites->total++;
        if (!sites->most || sites->at[i].count > sites->most->count)
            sites->most = &sites->at[i];
    }
    return sites->at != NULL;
}

/* What makes a guard hold, by a word in it; the first that fits, "" fits all. */
static const struct {
    const char *word, *advice;
} cures[] = {
    {"check_obj_id",
     "The code is compiled for each object: share one between the calls (blocks that hold a "
     "processor each), compile the blocks one by one (compile_repeated_blocks), or raise "
     "torch._dynamo.config.recompile_limit above the number of objects."},
    {"size mismatch", "Make the size dynamic: torch._dynamo.mark_dynamic(tensor, dim) before the "
                      "call, or torch.compile(…, dynamic=True); or pad to a few sizes."},
    {".size()", "Make the size dynamic: torch._dynamo.mark_dynamic(tensor, dim) before the call, "
                "or torch.compile(…, dynamic=True); or pad to a few sizes."},
    {"stride", "Give the compiled function tensors of one layout: call .contiguous() before it, or "
               "make the sizes "
               "dynamic (torch.compile(…, dynamic=True))."},
    {"dtype", "Give the compiled function tensors of one type, device and requires_grad."},
    {"dispatch key", "Give the compiled function tensors of one type, device and requires_grad; "
                     "buffers keep theirs "
                     "when they are written in place."},
    {"requires_grad", "Give the compiled function tensors of one type, device and requires_grad."},
    {"grad_mode",
     "Call the compiled function in one gradient mode: all calls under torch.no_grad(), or none."},
    {"global_state",
     "Call the compiled function in one state of torch: the same gradients, autocast and "
     "deterministic settings."},
    {"", "A Python value that the compiled code depends on changes: pass it as a tensor, keep it "
         "constant, or take the code that needs it out of the compiled region."},
};

static const char *cure_of(struct ta_slice guard)
{
    size_t i = 0;
    while (cures[i].word[0] && !ta_slice_has_word(guard, cures[i].word))
        i++;
    return cures[i].advice;
}

enum { REASON_MOST = 120, PLACE_MOST = 100 };

/* Copies a guard without the ids of objects: ", 131625166300000" of "check_obj_id(L['x'], …)". */
static size_t without_ids(char *to, size_t size, struct ta_slice text)
{
    enum { ID = 9 }; /* digits; what else a guard compares has fewer */
    size_t n = 0;
    for (size_t i = 0; i < text.len && n < size;) {
        size_t digits = 0;
        while (i + 2 + digits < text.len && text.ptr[i] == ',' && text.ptr[i + 1] == ' ' &&
               text.ptr[i + 2 + digits] >= '0' && text.ptr[i + 2 + digits] <= '9')
            digits++;
        if (digits >= ID)
            i += 2 + digits;
        else
            to[n++] = text.ptr[i++];
    }
    return n;
}

/* What a guard or a reason says, as a sentence after these words; NULL without. */
static const char *reason_text(struct ta_advice *advice, const char *before, struct ta_slice text)
{
    char words[4 * REASON_MOST];
    const size_t all = without_ids(words, sizeof words, text);
    if (all == 0)
        return NULL;
    size_t n = all < REASON_MOST ? all : REASON_MOST;
    while (n < all && n > 0 && ((unsigned char)words[n] & 0xc0) == 0x80)
        n--;
    return ta_advice_printf(advice, "%s%.*s%s.", before, (int)n, words, n < all ? "…" : "");
}

static const char *times(struct ta_advice *advice, size_t n)
{
    return n == 1   ? "once"
           : n == 2 ? "twice"
                    : ta_advice_printf(advice, "%s times",
                                       ta_advice_number(advice, (double)n, TA_UNIT_COUNT));
}

/* " of 9 recompilations in all", where other places have some. */
static const char *of_all(struct ta_advice *advice, const struct sites *sites, const char *what)
{
    return sites->n > 1
               ? ta_advice_printf(advice, ", of %s %s at %s places",
                                  ta_advice_number(advice, (double)sites->total, TA_UNIT_COUNT),
                                  what, ta_advice_number(advice, (double)sites->n, TA_UNIT_COUNT))
               : "";
}

/* What the first iterations of bars take more than the others: there it compiles. */
static double first_extra(struct ta_ctx *ctx, const struct ta_refs *in, size_t row)
{
    (void)ctx;
    const double extra = ta_ref_number(in, BAR_FIRST, row, 0) - ta_ref_number(in, BAR_REST, row, 0);
    return extra >= 1e9 ? extra : 0;
}

static void advise_recompilations(struct ta_ctx *ctx, const struct ta_refs *in,
                                  struct ta_advice *advice, const struct sites *sites)
{
    const double limit = ta_ctx_option(ctx, COUNT);
    if (!sites->most || (double)sites->most->count <= limit)
        return;
    const struct site *most = sites->most;
    const struct ta_slice place = place_of(in, most->row), guard = reason_of(in, most->row);
    const double time = bars_loss(ctx, in, first_extra).all;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, INDEX, most->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "recompilations",
            .rule = "recompilations",
            .title = ta_advice_printf(
                advice, "torch.compile recompiles %.*s %s%s%s",
                (int)(place.len < PLACE_MOST ? place.len : PLACE_MOST), place.ptr,
                times(advice, most->count), of_all(advice, sites, "recompilations"),
                time > 0 ? ta_advice_printf(advice, ": first iterations take %s longer",
                                            ta_advice_number(advice, time, TA_UNIT_NS))
                         : ""),
            .why = reason_text(advice, "A guard of the compiled code fails: ", guard),
            .advice = cure_of(guard),
            .severity = (double)most->count > ta_ctx_option(ctx, MEDIUM) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = time > 0 ? ta_whole(0.5 * time) : TA_MISSING,
            .saving_high_ns = time > 0 ? ta_whole(time) : TA_MISSING,
            .confidence = 0.9,
            .threshold = ta_advice_printf(advice, "recompilations of one place > %.0f", limit),
        });
}

/* A function that torch.compile gave up on. */
static void advise_limit(const struct ta_refs *in, struct ta_advice *advice,
                         const struct sites *sites)
{
    const struct site *most = sites->most;
    const struct ta_slice place = place_of(in, most->row), reason = reason_of(in, most->row);
    const char *comma = reason.len ? memchr(reason.ptr, ',', reason.len) : NULL;
    const size_t n = comma ? (size_t)(comma - reason.ptr) : 0; /* "after 8 compilations, GUARD" */
    const struct ta_slice guard = n ? ta_text_trim(ta_slice_from(reason, n + 1)) : reason;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, INDEX, most->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "recompile-limit",
            .rule = "recompilations",
            .title = ta_advice_printf(
                advice, "torch.compile gave up on %.*s%s%.*s and runs it uncompiled%s",
                (int)(place.len < PLACE_MOST ? place.len : PLACE_MOST), place.ptr, n ? " " : "",
                (int)n, n ? reason.ptr : "", of_all(advice, sites, "such functions")),
            .why = reason_text(advice, "The last guard that failed: ", guard),
            .advice = cure_of(guard),
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold = "recompile limit reached",
        });
}

static void advise_breaks(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          const struct sites *sites)
{
    const double limit = ta_ctx_option(ctx, BREAKS);
    if (!sites->most || (double)sites->most->count <= limit)
        return;
    const struct site *most = sites->most;
    const struct ta_slice place = place_of(in, most->row);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, INDEX, most->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "graph-breaks",
            .rule = "recompilations",
            .title = sites->n > 1
                         ? ta_advice_printf(
                               advice,
                               "Graph breaks split the compiled code at %zu places (%zu breaks), "
                               "most at %.*s",
                               sites->n, sites->total,
                               (int)(place.len < PLACE_MOST ? place.len : PLACE_MOST), place.ptr)
                         : ta_advice_printf(advice, "%.*s breaks the compiled graph %s",
                                            (int)(place.len < PLACE_MOST ? place.len : PLACE_MOST),
                                            place.ptr, times(advice, most->count)),
            .why = reason_text(advice, "", reason_of(in, most->row)),
            .advice = "Change that line so that torch can trace it (no .item(), printing or branch "
                      "on the values of tensors), or move it out of the compiled region; "
                      "torch.compile(fullgraph=True) makes each break an error.",
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "graph breaks of one place > %.0f", limit),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct sites recompiled = {0}, broken, given_up;
    bool done = find_sites(in, "recompile limit", &given_up);
    const bool is_given_up = done && given_up.most;
    if (is_given_up)
        advise_limit(in, advice, &given_up);
    free(given_up.at);
    done = done && find_sites(in, "recompilation", &recompiled);
    if (done && !is_given_up) /* which they led to */
        advise_recompilations(ctx, in, advice, &recompiled);
    free(recompiled.at);
    done = done && find_sites(in, "graph break", &broken);
    if (!done)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot count recompilations");
    advise_breaks(ctx, in, advice, &broken);
    free(broken.at);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, recompilations, &ops, .title = "Recompilations and graph breaks",
          .summary = "Fires when a log has recompilations or graph breaks of torch.compile",
          .version = "1", .options = options);
