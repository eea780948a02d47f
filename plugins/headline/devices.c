/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How busy the devices were, what bounds the run, and the worst finding. */
#include "lib/damage.h"
#include "lib/kernel_words.h"
#include "lib/lead.h"

#include <traceanalyze/rule.h>

#include <math.h>
#include <stdio.h>

enum {
    CLASS,
    BOUND,
    SHARE,
    BUSY,
    COPIES,
    WINDOW,
    PROGRAM,
    BUSY_NS,
    IDLE_OWNER,
    IDLE_NS,
    EDGE_CAUSE,
    EDGE_NS,
    DAMAGE,
    DAMAGE_SHARE,
    RECORDER,
    KERNELS,
    KERNEL_NS,
    OPTION,
    OPTION_PART,
    OPTION_COST,
    EXPLAINED,
    EXPLAINED_OF,
    IMAGES,
    BATCH,
    FRAMES
};
static const struct ta_ref reads[] = {[CLASS] = {"run.bound", "class"},
                                      [BOUND] = {"run.bound", "bound"},
                                      [SHARE] = {"run.bound", "share"},
                                      [BUSY] = {.scalar = "gpu_busy_share"},
                                      [COPIES] = {.scalar = "memcpy_exposed_share"},
                                      [WINDOW] = {.scalar = "program_window_ns"},
                                      [PROGRAM] = {"gpu_time.program", "window_ns"},
                                      [BUSY_NS] = {"gpu_time.program", "busy_ns"},
                                      [IDLE_OWNER] = {"gpu_idle.by_owner", "owner"},
                                      [IDLE_NS] = {"gpu_idle.by_owner", "total_ns"},
                                      [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
                                      [EDGE_NS] = {"gpu_idle.edges", "total_ns"},
                                      [DAMAGE] = {"health.damage", "damage"},
                                      [DAMAGE_SHARE] = {"health.damage", "share"},
                                      [RECORDER] = {.scalar = "recorder_cost_ns"},
                                      [KERNELS] = {"kernels.by_class", "class"},
                                      [KERNEL_NS] = {"kernels.by_class", "total_ns"},
                                      [OPTION] = {"recording.overhead", "is_option"},
                                      [OPTION_PART] = {"recording.overhead", "part"},
                                      [OPTION_COST] = {"recording.overhead", "cost_ns"},
                                      [EXPLAINED] = {"recording.explained", "explained_ns"},
                                      [EXPLAINED_OF] = {"recording.explained", "idle_ns"},
                                      [IMAGES] = {"diffusion.loops", "images"},
                                      [BATCH] = {"diffusion.loops", "batch"},
                                      [FRAMES] = {"diffusion.loops", "frames"}};

/* What one GPU, or several, do meanwhile, of each part of run.bound: the words around its share. */
static const struct {
    const char *bound, *one, *many, *after;
} meanwhile[] = {
    {"communication", "communicates", "communicate", " without computing"},
    {"imbalance", "waits", "wait", " for late ranks"},
    {"copy", "copies", "copy", " without computing"},
    {"launch", "waits", "wait", " for launches"},
    {"sync", "waits", "wait", " for a host that waited for it"},
    {"host computation", "waits", "wait", " for computation on the CPU"},
    {"input", "waits", "wait", " for data"},
    {"allocation", "waits", "wait", " for memory to be allocated or freed"},
    {"setup", "waits", "wait", " for first calls, loading or compilation"},
    {"dependency", "waits", "wait", " for other queued work"},
    {"host", "waits", "wait", " for a host of which nothing was recorded then"},
    {"preparation", "waits", "wait", " for its first work"},
    {"completion", "has no work left", "have no work left", ""},
    {"idle", "idles", "idle", " for reasons that were not recorded"},
};

/* Parts this close to each other both name the run; less than this is left out. */
#define CLOSE 0.05

/* From this share on, what lies before the recording is left out of what the devices were busy. */
#define MUCH_BEFORE 0.5

/* Windows of ranks that were recorded together are as long, but for the ends. */
#define ALIKE 0.99

static void say_share(struct ta_line *line, const char *before, double share, const char *after)
{
    char text[TA_UNIT_TEXT_MAX];
    ta_say_on(line, "%s %s%s", before, ta_unit_format(text, share, TA_UNIT_RATIO), after);
}

/* The words for a part of some size; SIZE_MAX for computing and what is small. */
static size_t words_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(meanwhile) && ta_ref_number(in, SHARE, row, 0) >= CLOSE; i++)
        if (ta_ref_reads(in, BOUND, row, meanwhile[i].bound))
            return i;
    return SIZE_MAX;
}

/* " and waits 38.2 % for launches and 5.3 % for data", ", idles 30 % … and waits 5.3 % for data":
 * the one or two largest parts but computing and what lies before the recording.  After a list a
 * comma comes before them. */
static void say_parts(struct ta_line *line, const struct ta_refs *in, bool is_one, size_t most,
                      bool after_list)
{
    size_t rows[2], words[2], n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SHARE) && n < most; row++)
        if ((words[n] = words_of(in, row)) != SIZE_MAX &&
            !ta_ref_reads(in, BOUND, row, "before the recording"))
            rows[n++] = row;
    const char *last = "";
    for (size_t i = 0; i < n; i++) {
        const char *verb = is_one ? meanwhile[words[i]].one : meanwhile[words[i]].many;
        const bool again = strcmp(verb, last) == 0;
        const bool lists =
            i + 1 < n && strcmp(meanwhile[words[i]].one, meanwhile[words[i + 1]].one) != 0;
        ta_say_on(line, "%s%s%s%s", i == 0 && after_list && !lists ? "," : "", lists ? "," : " and",
                  again ? "" : " ", again ? "" : verb);
        /* Memory sets are part of run.bound, and of no figure. */
        const double share = ta_ref_number(in, SHARE, rows[i], 0);
        const bool copies = ta_ref_reads(in, BOUND, rows[i], "copy");
        say_share(line, "", copies ? ta_ref_scalar(in, COPIES, share) : share,
                  meanwhile[words[i]].after);
        last = verb;
    }
}

/* ", 31.5 % in GEMMs and 17.5 % in attention": the families of kernels that take most of the run,
 * none where most is in kernels of no family; without shares where kernels that run side by side
 * have more than the devices are busy.  Says whether any does. */
static bool say_families(struct ta_line *line, const struct ta_refs *in)
{
    const double run = ta_ref_sum(in, PROGRAM);
    size_t n = 0;
    double shares[2], all = 0;
    const char *names[2];
    for (size_t row = 0; row < ta_ref_rows(in, KERNELS) && n < 2; row++) {
        const double share = ta_ref_number(in, KERNEL_NS, row, 0) / run;
        if (share < CLOSE || ta_ref_reads(in, KERNELS, row, "other"))
            break;
        const struct ta_kernel_word *family = ta_kernel_word_of(in, KERNELS, row);
        if (family) {
            names[n] = family->name;
            shares[n++] = share;
            all += share;
        }
    }
    const bool overlap = all * run > 1.001 * ta_ref_sum(in, BUSY_NS);
    for (size_t i = 0; i < n; i++)
        if (overlap)
            ta_say_on(line, "%s%s", i ? " and " : ", most in ", names[i]);
        else {
            say_share(line, i ? " and" : ",", shares[i], " in ");
            ta_say_on(line, "%s", names[i]);
        }
    return n > 0;
}

/* What a run is called: whether arithmetic or memory bounds its kernels is no matter of the bound.
 */
static struct ta_slice class_of(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, BOUND, row, "compute") ? TA_LIT("GPU-bound")
                                                   : ta_ref_text(in, CLASS, row);
}

/* "The run is launch-bound": the largest part of its window, and one that is as large. */
static void say_bound(struct ta_line *line, const struct ta_refs *in)
{
    const struct ta_slice class = class_of(in, 0);
    ta_say(line, "The run is %.*s", (int)class.len, class.ptr);
    if (ta_ref_rows(in, SHARE) < 2 ||
        ta_ref_number(in, SHARE, 0, 0) - ta_ref_number(in, SHARE, 1, 0) >= CLOSE)
        return;
    const struct ta_slice second = class_of(in, 1);
    ta_say_on(line, " and %.*s", (int)second.len, second.ptr);
}

/* The part of the program's window in which devices run what was launched before the recording, and
 * nothing else. */
static double share_before(const struct ta_refs *in)
{
    static const size_t tables[][2] = {{IDLE_OWNER, IDLE_NS}, {EDGE_CAUSE, EDGE_NS}};
    double before = 0;
    for (size_t t = 0; t < TA_LENGTH(tables); t++)
        for (size_t i = 0; i < ta_ref_rows(in, tables[t][1]); i++)
            if (ta_ref_reads(in, tables[t][0], i, "began before the recording"))
                before += ta_ref_number(in, tables[t][1], i, 0);
    return before / ta_ref_sum(in, PROGRAM);
}

/* " of 391 ms", the program's window, which all shares of the first screen are of; " of the 12.5 ms
 * to 19.9 ms of each" where recordings of ranks differ in length. */
static void say_window(struct ta_line *line, const struct ta_refs *in)
{
    double shortest = INFINITY, longest = 0;
    char text[2][TA_UNIT_TEXT_MAX];
    for (size_t i = 0; i < ta_ref_rows(in, PROGRAM); i++) {
        shortest = fmin(shortest, ta_ref_number(in, PROGRAM, i, INFINITY));
        longest = fmax(longest, ta_ref_number(in, PROGRAM, i, 0));
    }
    ta_unit_format(text[0], shortest, TA_UNIT_NS);
    ta_unit_format(text[1], ta_ref_scalar(in, WINDOW, -1), TA_UNIT_NS);
    if (shortest < ALIKE * longest)
        ta_say_on(line, " of the %s to %s of each", text[0], text[1]);
    else
        ta_say_on(line, " of %s", text[1]);
}

/* What of the run the devices were busy: " 30.7 % of 391 ms"; " 93.1 % of the other 10.5 ms" where
 * what lies before the recording is most of the run. */
static void say_busy(struct ta_line *line, const struct ta_refs *in)
{
    const double before = share_before(in);
    if (before < MUCH_BEFORE) {
        say_share(line, "", ta_ref_scalar(in, BUSY, 0), "");
        say_window(line, in);
        return;
    }
    char length[TA_UNIT_TEXT_MAX];
    say_share(line, "", fmin(1, ta_ref_sum(in, BUSY_NS) / (ta_ref_sum(in, PROGRAM) * (1 - before))),
              " of the other");
    ta_say_on(line, " %s",
              ta_unit_format(length, (1 - before) * ta_ref_scalar(in, WINDOW, 0), TA_UNIT_NS));
}

/* What was chosen to be recorded and costs the host much, where the devices wait much for launches
 * and the finding does not say so; empty where that is not so. */
static struct ta_slice find_recorder(const struct ta_refs *in, const struct ta_finding *worst)
{
    const double much = 0.1, waits = 0.25; /* of the window */
    double launch = 0, chosen = 0;
    struct ta_slice part = {.len = 0};
    for (size_t row = 0; row < ta_ref_rows(in, SHARE); row++)
        if (ta_ref_reads(in, BOUND, row, "launch"))
            launch = ta_ref_number(in, SHARE, row, 0);
    for (size_t row = 0; row < ta_ref_rows(in, OPTION); row++) {
        const struct ta_cell *cell = ta_ref_cell(in, OPTION, row);
        if (cell->kind == TA_CELL_BOOL && cell->b &&
            ta_ref_number(in, OPTION_COST, row, 0) > chosen) {
            chosen = ta_ref_number(in, OPTION_COST, row, 0);
            part = ta_ref_text(in, OPTION_PART, row);
        }
    }
    return (worst && worst->recorder_ns > 0) || launch < waits ||
                   chosen < much * ta_ref_scalar(in, WINDOW, INFINITY)
               ? (struct ta_slice){.len = 0}
               : part;
}

/* Whether the recorder explains at least half of the idle time that it may explain. */
static bool is_likely(const struct ta_refs *in)
{
    return 2 * ta_ref_sum(in, EXPLAINED) >= ta_ref_sum(in, EXPLAINED_OF);
}

/* What this run makes, where it is one thing. */
static const char *made_by(const struct ta_refs *in)
{
    const bool is_one = ta_ref_rows(in, IMAGES) == 1 && ta_ref_number(in, IMAGES, 0, 0) == 1 &&
                        ta_ref_number(in, BATCH, 0, 1) == 1;
    return !is_one ? "run" : ta_ref_number(in, FRAMES, 0, 1) > 1 ? "video" : "image";
}

/* "The GPU has 712 ms of work in this 1.20 s image and idles 40.4 % of it, likely because recording
 * Python stacks slows the host.": where recording explains most of the idle time.  Says whether it
 * did. */
static bool say_recorder(struct ta_line *line, const struct ta_refs *in,
                         const struct ta_finding *worst)
{
    const struct ta_slice part = find_recorder(in, worst);
    char busy[TA_UNIT_TEXT_MAX], window[TA_UNIT_TEXT_MAX], idle[TA_UNIT_TEXT_MAX];
    if (part.len == 0 || !is_likely(in))
        return false;
    ta_unit_format(window, ta_ref_scalar(in, WINDOW, 0), TA_UNIT_NS);
    ta_unit_format(idle, 1 - ta_ref_scalar(in, BUSY, 1), TA_UNIT_RATIO);
    if (ta_ref_rows(in, PROGRAM) < 2)
        ta_say(line, "The GPU has %s of work in this %s %s and idles %s of it",
               ta_unit_format(busy, ta_ref_sum(in, BUSY_NS), TA_UNIT_NS), window, made_by(in),
               idle);
    else
        ta_say(line, "The GPUs are idle %s of the %s run", idle, window);
    ta_say_on(line, ", likely because recording %.*s slows the host.", (int)part.len, part.ptr);
    return true;
}

/* "The run is GPU-bound: the GPU is busy 56.6 % of 1.07 s, 32.9 % in convolutions.", "The GPU
 * is busy 13.3 % of the 87.4 ms and waits 78.3 % for launches.", without the parts that the finding
 * is about. */
static void say_use(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst,
                    bool with_bound)
{
    const bool is_one = ta_ref_rows(in, PROGRAM) < 2, computes = ta_run_computes(in, BOUND, 0);
    const char *const gpus = is_one ? "he GPU is busy" : "he GPUs are busy";
    if (with_bound && ta_ref_rows(in, SHARE)) {
        say_bound(line, in);
        ta_say_on(line, ": t%s", gpus);
    } else {
        ta_say(line, "T%s", gpus);
    }
    ta_say_on(line, ta_lacks_work(in, DAMAGE, DAMAGE_SHARE) ? " at least" : "");
    say_busy(line, in);
    const bool lists = computes && say_families(line, in);
    if (with_bound && (!worst || worst->gain == TA_GAIN_DEVICE))
        say_parts(line, in, is_one, computes ? 1 : 2, lists);
    const double before = share_before(in);
    if (before >= CLOSE && before < MUCH_BEFORE)
        say_share(line, ", and another", before, " with work from before the recording");
    ta_say_on(line, ".");
}

/* A finding without time to save, such as one on memory, may have advice all the same. */
static void say_finding(struct ta_line *line, const struct ta_finding *worst, bool slowed)
{
    if (worst)
        ta_say(line, "%s.", worst->title);
    else if (slowed)
        ta_say(line, "No rule found other time to save.");
    else if (!ta_line_has_advice(line))
        ta_say(line, "No rule found time to save.");
}

/* Whether what the devices were busy says more than the finding does: it is about kernels, or not
 * all of what the devices did is known. */
static bool is_use_news(const struct ta_refs *in, const struct ta_finding *worst)
{
    return worst->gain == TA_GAIN_DEVICE || ta_lacks_work(in, DAMAGE, DAMAGE_SHARE) ||
           share_before(in) >= CLOSE;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    if (ta_ref_scalar(in, BUSY, -1) < 0)
        return;
    const bool has_phases = !ta_line_is_empty(line);
    ta_line_covers_finding(line);
    const bool slowed = say_recorder(line, in, worst);
    const bool suffices = ta_finding_suffices(in, BOUND, worst);
    if (!suffices && !slowed && !has_phases)
        say_use(line, in, worst, true);
    say_finding(line, worst, slowed);
    if (suffices && !slowed && is_use_news(in, worst))
        say_use(line, in, worst, worst->gain == TA_GAIN_DEVICE);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_DEVICES, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, devices, &ops, .title = "Devices",
          .summary = "How busy the devices were, and what bounds the run", .version = "1");
