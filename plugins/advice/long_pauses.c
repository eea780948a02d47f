/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading or compilation that takes a good part of a log, by the clock of its lines. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, LEAST };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
               "Share of the log that loading or compiling takes above which the rule fires"},
    [LEAST] = {"least", TA_OPTION_INTEGER, 10e9, 0, 1e15, TA_OPTION_NS,
               "Time of it below which the rule keeps silent"},
    TA_OPTIONS_END,
};

enum { RANK, WORK, PAUSE, BETWEEN, BEFORE, LOG, BAR };

static const struct ta_ref reads[] = {
    [RANK] = {"progress.pauses", "rank"},      [WORK] = {"progress.pauses", "work"},
    [PAUSE] = {"progress.pauses", "pause_ns"}, [BETWEEN] = {"progress.pauses", "between_ns"},
    [BEFORE] = {"progress.pauses", "before"},  [LOG] = {"progress.pauses", "log_ns"},
    [BAR] = {"progress.bars", "elapsed_ns"},
};

static const struct kind {
    const char *work, *subject, *advice, *details;
} kinds[] = {
    {"loading", "Loading models",
     "Keep the models loaded and serve further requests from the same process; read them as "
     "safetensors from a local NVMe disk.",
     "Where several ranks load, let each read only its own shard, or one read and broadcast: full "
     "copies compete for disk and host memory."},
    {"compiling", "Compilation",
     "Keep compiled code between runs: TORCHINDUCTOR_CACHE_DIR in a folder that lasts, or "
     "torch.compiler.save_cache_artifacts().",
     "Compile repeated blocks once (compile_repeated_blocks), and leave max-autotune to long-lived "
     "servers."},
};

/* The whole time of a kind in one log, and its longest pause. */
struct sum {
    double ns, log_ns;
    size_t longest, n;
};

static bool is_of_log(const struct ta_refs *in, size_t a, size_t b)
{
    return ta_ref_number(in, RANK, a, 0) == ta_ref_number(in, RANK, b, 0) &&
           ta_ref_number(in, LOG, a, 0) == ta_ref_number(in, LOG, b, 0);
}

/* Time of bars that is not between two lines with a clock: a log whose last lines have none lasts
 * so much longer. */
static double bars_beyond(const struct ta_refs *in)
{
    double ns = ta_ref_sum(in, BAR);
    for (size_t i = 0; i < ta_ref_rows(in, PAUSE); i++)
        ns -= ta_ref_number(in, BETWEEN, i, 0) - ta_ref_number(in, PAUSE, i, 0);
    return fmax(0, ns);
}

/* The log where it takes the largest share. */
static struct sum worst_sum(const struct ta_refs *in, const struct kind *kind)
{
    struct sum worst = {0};
    const double beyond = bars_beyond(in);
    for (size_t first = 0, end; first < ta_ref_rows(in, PAUSE); first = end) {
        struct sum sum = {.log_ns = ta_ref_number(in, LOG, first, NAN) + beyond};
        for (end = first; end < ta_ref_rows(in, PAUSE) && is_of_log(in, first, end); end++) {
            if (!ta_ref_reads(in, WORK, end, kind->work))
                continue;
            const double ns = ta_ref_number(in, PAUSE, end, 0);
            if (sum.n++ == 0 || ns > ta_ref_number(in, PAUSE, sum.longest, 0))
                sum.longest = end;
            sum.ns += ns;
        }
        if (sum.log_ns > 0 && (worst.n == 0 || sum.ns / sum.log_ns > worst.ns / worst.log_ns))
            worst = sum;
    }
    return worst;
}

static void advise_kind(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                        const struct kind *kind)
{
    const struct sum sum = worst_sum(in, kind);
    if (sum.n == 0 || sum.ns < ta_ctx_option(ctx, LEAST) ||
        sum.ns < ta_ctx_option(ctx, SHARE) * sum.log_ns)
        return;
    const struct ta_place longest = ta_place_at(in, PAUSE, sum.longest);
    const struct ta_evidence evidence[] = {ta_place_evidence(&longest)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = ta_advice_printf(advice, "long-%s", kind->work),
            .rule = "long_pauses",
            .title = ta_advice_printf(advice, "%s takes %s of the log (%s)%s", kind->subject,
                                      ta_advice_number(advice, sum.ns / sum.log_ns, TA_UNIT_RATIO),
                                      ta_advice_part(advice, sum.ns, sum.log_ns, TA_UNIT_NS),
                                      ta_place_owner(advice, in->report, &longest)),
            .why = ta_advice_printf(advice, "%s of this time follows the line \"%s\".",
                                    sum.n > 1 ? ta_advice_number(advice, longest.value, TA_UNIT_NS)
                                              : "All",
                                    ta_place_text(advice, in, &longest, BEFORE)),
            .advice = kind->advice,
            .details = kind->details,
            .severity = sum.ns > sum.log_ns / 3 ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = ta_whole(0.4 * sum.ns),
            .saving_high_ns = ta_whole(sum.ns),
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "%s > %s of the log", kind->work,
                ta_advice_number(advice, ta_ctx_option(ctx, SHARE), TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        advise_kind(ctx, in, advice, &kinds[i]);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, long_pauses, &ops, .title = "Long loading and compilation",
          .summary = "Fires when a log pauses long after a line that says what is loaded or "
                     "compiled",
          .version = "1", .options = options);
