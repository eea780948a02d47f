/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the loop of a log runs that takes most time: what an iteration takes in its bars of
 * progress, different speeds apart. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>

enum {
    RANK,
    NAME,
    MODEL,
    DONE,
    MEAN,
    CHANGE,
    BEFORE,
    AFTER,
    FIRST_ONE,
    REST,
    LOOP,
    COUNT,
    TOTAL,
    MIN,
    MAX,
    WARMUP,
    STEADY,
    FIRST
};
static const struct ta_ref reads[] = {
    [RANK] = {"progress.bars", "rank"},
    [NAME] = {"progress.bars", "loop"},
    [MODEL] = {"progress.bars", "model"},
    [DONE] = {"progress.bars", "done"},
    [MEAN] = {"progress.bars", "mean_ns"},
    [CHANGE] = {"progress.bars", "change_at"},
    [BEFORE] = {"progress.bars", "before_ns"},
    [AFTER] = {"progress.bars", "after_ns"},
    [FIRST_ONE] = {"progress.bars", "first_ns"},
    [REST] = {"progress.bars", "rest_ns"},
    [LOOP] = {"iterations.by_name", "loop"},
    [COUNT] = {"iterations.by_name", "count"},
    [TOTAL] = {"iterations.by_name", "total_ns"},
    [MIN] = {"iterations.by_name", "min_ns"},
    [MAX] = {"iterations.by_name", "max_ns"},
    [WARMUP] = {"iterations.by_name", "warmup"},
    [STEADY] = {"iterations.by_name", "steady_per_s"},
    [FIRST] = {"iterations.by_name", "first_ns"},
};

enum { NAME_MOST = 60, SPEEDS_MOST = 3 };

/* A first iteration that takes more than so many others also loads or compiles: it is no speed. */
#define LONG_FIRST 3

/* Bars whose means differ by no more than this have one speed. */
#define SAME_SPEED 1.15

static bool is_of_loop(const struct ta_refs *in, size_t a, size_t b)
{
    return ta_slice_equal(ta_ref_text(in, NAME, a), ta_ref_text(in, NAME, b)) &&
           ta_slice_equal(ta_ref_text(in, MODEL, a), ta_ref_text(in, MODEL, b));
}

static double time_of(const struct ta_refs *in, size_t bar)
{
    const double ns = ta_ref_number(in, MEAN, bar, NAN) * ta_ref_number(in, DONE, bar, NAN);
    return isnan(ns) ? 0 : ns;
}

/* A bar over the whole work, of which others count the parts. */
static bool is_outer(const struct ta_refs *in, size_t bar)
{
    return ta_ref_reads(in, NAME, bar, "Total progress") && ta_ref_rows(in, NAME) > 1;
}

/* A bar of the loop that takes most time; SIZE_MAX without any. */
static size_t main_loop(const struct ta_refs *in)
{
    size_t longest = SIZE_MAX;
    double most = 0;
    for (size_t bar = 0; bar < ta_ref_rows(in, NAME); bar++) {
        bool is_first = true;
        for (size_t other = 0; other < bar && is_first; other++)
            is_first = !is_of_loop(in, bar, other);
        double sum = 0;
        for (size_t other = bar; is_first && other < ta_ref_rows(in, NAME); other++)
            sum += is_of_loop(in, bar, other) ? time_of(in, other) : 0;
        if (sum > most && !is_outer(in, bar)) {
            most = sum;
            longest = bar;
        }
    }
    return longest;
}

/* Consecutive iterations of about one speed. */
struct speed {
    double n, ns, least, most;
};

/* Adds `count` iterations to the last speed, or to a new one as long as there is room. */
static void add_iterations(struct speed *speeds, size_t *n, double count, double mean)
{
    if (!(mean > 0) || !(count > 0))
        return;
    struct speed *last = *n ? &speeds[*n - 1] : NULL;
    const bool is_same = last && fmax(last->most, mean) <= SAME_SPEED * fmin(last->least, mean);
    if (!is_same && *n < SPEEDS_MOST) {
        last = &speeds[(*n)++];
        *last = (struct speed){.least = mean, .most = mean};
    }
    last->n += count;
    last->ns += count * mean;
    last->least = fmin(last->least, mean);
    last->most = fmax(last->most, mean);
}

/* The speeds of the first rank that has the loop: the others run it at the same time. */
static size_t find_speeds(const struct ta_refs *in, size_t loop, struct speed *speeds)
{
    size_t n = 0;
    const double rank = ta_ref_number(in, RANK, loop, -1);
    for (size_t bar = loop; bar < ta_ref_rows(in, NAME); bar++) {
        if (!is_of_loop(in, loop, bar) || ta_ref_number(in, RANK, bar, -1) != rank)
            continue;
        const double done = ta_ref_number(in, DONE, bar, 0);
        const double at = ta_ref_number(in, CHANGE, bar, NAN);
        const double rest = ta_ref_number(in, REST, bar, NAN);
        if (done >= 3 && ta_ref_number(in, FIRST_ONE, bar, NAN) > LONG_FIRST * rest) {
            add_iterations(speeds, &n, done - 1, rest);
        } else if (isnan(at)) {
            add_iterations(speeds, &n, done, ta_ref_number(in, MEAN, bar, NAN));
        } else {
            add_iterations(speeds, &n, at - 1, ta_ref_number(in, BEFORE, bar, NAN));
            add_iterations(speeds, &n, done - at + 1, ta_ref_number(in, AFTER, bar, NAN));
        }
    }
    return n;
}

static void say_speeds(struct ta_line *line, const struct speed *speeds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct speed *speed = &speeds[i];
        char mean[TA_UNIT_TEXT_MAX], least[TA_UNIT_TEXT_MAX], most[TA_UNIT_TEXT_MAX];
        const char *before = i == 0 ? " " : ", later ";
        ta_unit_format(mean, speed->ns / speed->n, TA_UNIT_NS);
        if (speed->most > SAME_SPEED * speed->least) /* what is left after the last of them */
            ta_say_on(line, "%s%s to %s", before, ta_unit_format(least, speed->least, TA_UNIT_NS),
                      ta_unit_format(most, speed->most, TA_UNIT_NS));
        else
            ta_say_on(line, "%s%s", before, mean);
    }
    ta_say_on(line, ".");
}

/* "The first prompt took 642 s, the other 71.2 s." */
static void say_prompts(struct ta_line *line, const struct ta_refs *in)
{
    size_t row = 0;
    while (row < ta_ref_rows(in, LOOP) && !ta_ref_reads(in, LOOP, row, "prompt"))
        row++;
    if (row == ta_ref_rows(in, LOOP))
        return;
    const double n = ta_ref_number(in, COUNT, row, 0), total = ta_ref_number(in, TOTAL, row, NAN);
    const double warmup = ta_ref_number(in, WARMUP, row, 0);
    const double others = 1e9 / ta_ref_number(in, STEADY, row, NAN);
    const double one = ta_ref_number(in, FIRST, row, NAN);
    char first[TA_UNIT_TEXT_MAX], rest[TA_UNIT_TEXT_MAX];
    if (n == 1) {
        ta_say(line, "The prompt took %s.", ta_unit_format(first, total, TA_UNIT_NS));
    } else if (warmup == 1 && !isnan(others)) {
        ta_unit_format(first, total - others * (n - 1), TA_UNIT_NS);
        ta_unit_format(rest, others, TA_UNIT_NS);
        ta_say(line,
               n > 2 ? "The first prompt took %s, the others %s each."
                     : "The first prompt took %s, the second %s.",
               first, rest);
    } else if (n == 2 && !isnan(one)) {
        ta_say(line, "The first prompt took %s, the second %s.",
               ta_unit_format(first, one, TA_UNIT_NS),
               ta_unit_format(rest, total - one, TA_UNIT_NS));
    } else {
        ta_say(line, "%.0f prompts took %s to %s each.", n,
               ta_unit_format(first, ta_ref_number(in, MIN, row, NAN), TA_UNIT_NS),
               ta_unit_format(rest, ta_ref_number(in, MAX, row, NAN), TA_UNIT_NS));
    }
}

/* "WAN21: an iteration takes 24.6 s, later 4.13 s." */
static void say_iterations(struct ta_line *line, const struct ta_refs *in)
{
    struct speed speeds[SPEEDS_MOST] = {0};
    const size_t loop = main_loop(in);
    if (loop == SIZE_MAX)
        return;
    const size_t n = find_speeds(in, loop, speeds);
    struct ta_slice name = ta_ref_text(in, NAME, loop);
    name = ta_line_name(line, name.len ? name : ta_ref_text(in, MODEL, loop), NAME_MOST);
    if (name.len)
        ta_say(line, "%.*s: an iteration takes", (int)name.len, name.ptr);
    else
        ta_say(line, "An iteration takes");
    say_speeds(line, speeds, n);
}

/* Whether the finding says how long iterations take, and when. */
static bool tells_speeds(const struct ta_finding *worst)
{
    return worst && (strcmp(worst->rule, "speed_change") == 0 ||
                     strcmp(worst->rule, "offloaded_weights") == 0);
}

/* What a user waits for comes first. */
static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    say_prompts(line, in);
    if (!tells_speeds(worst))
        say_iterations(line, in);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 1, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, progress, &ops, .title = "Progress bars",
          .summary = "How fast the loop of a log runs, and its prompts", .version = "1");
