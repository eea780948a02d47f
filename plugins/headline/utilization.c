/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much devices were in use, as sampled; before it, what keeps them slow meanwhile. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { USED, SIGNAL, SAMPLES, MEAN, LIMIT, SHARE };
static const struct ta_ref reads[] = {
    [USED] = {.scalar = "gpu_utilization"},       [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SAMPLES] = {"telemetry.by_rank", "samples"}, [MEAN] = {"telemetry.by_rank", "mean"},
    [LIMIT] = {"telemetry.limits", "limit"},      [SHARE] = {"telemetry.limits", "share"},
};

/* What the utilization of single devices says. */
struct use {
    int64_t samples; /* most of a device */
    size_t n, idle;  /* devices, and those that run next to nothing */
    double sum;      /* of the others */
    int64_t first;   /* of the idle ones */
};

static struct use look_at(const struct ta_refs *in)
{
    const double next_to_nothing = 0.02;
    struct use use = {.samples = 0};
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++) {
        const double mean = ta_ref_number(in, MEAN, row, NAN);
        if (!ta_ref_reads(in, SIGNAL, row, "gpu_utilization") || isnan(mean))
            continue;
        use.samples = ta_max_i64(use.samples, ta_ref_integer(in, SAMPLES, row));
        use.n++;
        if (mean > next_to_nothing)
            use.sum += mean;
        else if (use.idle++ == 0)
            use.first = ta_ref_device(in, MEAN, row);
    }
    return use;
}

/* The largest share of the busy samples in which a device does little. */
static double little_work(const struct ta_refs *in)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
        if (ta_ref_reads(in, LIMIT, row, "little_work"))
            most = fmax(most, ta_ref_number(in, SHARE, row, 0));
    return most;
}

static void say_use(struct ta_line *line, const struct ta_refs *in, double share)
{
    const struct use use = look_at(in);
    const bool some_idle = use.idle > 0 && use.idle < use.n;
    const double often = 0.2, little = little_work(in);
    char text[TA_UNIT_TEXT_MAX];
    if (some_idle)
        share = use.sum / (double)(use.n - use.idle);
    ta_unit_format(text, share, TA_UNIT_RATIO);
    if (some_idle)
        ta_say(line, "%zu of %zu devices are in use %s of the time", use.n - use.idle, use.n, text);
    else if (use.samples == 1)
        ta_say(line, "The devices were in use %s when they were sampled, once", text);
    else
        ta_say(line, "The devices are in use %s of the time", text);
    if (little > often)
        ta_say_on(line, ", but do little in up to %s of that",
                  ta_unit_format(text, little, TA_UNIT_RATIO));
    if (some_idle && use.idle == 1 && use.first != TA_MISSING)
        ta_say_on(line, "; device %lld runs nothing", (long long)use.first);
    ta_say_on(line, ".");
}

static bool is_of(const struct ta_finding *worst, const char *rule)
{
    return worst && strcmp(worst->rule, rule) == 0;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const double share = ta_ref_scalar(in, USED, -1);
    /* A device that waits for memory of the host or for other ranks only looks in use. */
    const bool only_looks = is_of(worst, "host_memory") || is_of(worst, "little_work");
    if (share < 0)
        return;
    if (only_looks || (is_of(worst, "device_limits") && worst->severity > TA_INFO)) {
        ta_say(line, "%s.", worst->title);
        ta_line_covers_finding(line);
    }
    if (!only_looks)
        say_use(line, in, share);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_USE, .place = 1, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, utilization, &ops, .title = "Utilization",
          .summary = "Use of devices, as sampled", .version = "1");
