/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How busy the devices were, what bounds the run, and the worst finding. */
#include "lib/kernel_words.h"
#include "lib/lead.h"

#include <math.h>
#include <stdio.h>

enum {
    CLASS,
    BOUND,
    SHARE,
    BUSY,
    WINDOW,
    GPU_WINDOW,
    PROGRAM,
    BUSY_NS,
    BEFORE,
    AFTER,
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
                                      [WINDOW] = {.scalar = "program_window_ns"},
                                      [GPU_WINDOW] = {.scalar = "gpu_window_ns"},
                                      [PROGRAM] = {"gpu_time.program", "window_ns"},
                                      [BUSY_NS] = {"gpu_time.program", "busy_ns"},
                                      [BEFORE] = {"gpu_time.program", "before_ns"},
                                      [AFTER] = {"gpu_time.program", "after_ns"},
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
    {"before the recording", "is held up", "are held up", " by what lies before the recording"},
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

static double sum(const struct ta_refs *in, size_t ref)
{
    double total = 0;
    for (size_t i = 0; i < ta_ref_rows(in, ref); i++)
        total += ta_ref_number(in, ref, i, 0);
    return total;
}

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
 * the one or two largest parts but computing, and what lies before the recording where shares are
 * not of the program's window.  After a list a comma comes before them. */
static void say_parts(struct ta_line *line, const struct ta_refs *in, bool is_one, size_t most,
                      bool after_list, bool of_program)
{
    size_t rows[2], words[2], n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SHARE) && n < most; row++)
        if ((words[n] = words_of(in, row)) != SIZE_MAX &&
            (of_program || !ta_ref_reads(in, BOUND, row, "before the recording")))
            rows[n++] = row;
    const char *last = "";
    for (size_t i = 0; i < n; i++) {
        const char *verb = is_one ? meanwhile[words[i]].one : meanwhile[words[i]].many;
        const bool again = strcmp(verb, last) == 0;
        const bool lists =
            i + 1 < n && strcmp(meanwhile[words[i]].one, meanwhile[words[i + 1]].one) != 0;
        ta_say_on(line, "%s%s%s%s", i == 0 && after_list && !lists ? "," : "", lists ? "," : " and",
                  again ? "" : " ", again ? "" : verb);
        say_share(line, "", ta_ref_number(in, SHARE, rows[i], 0), meanwhile[words[i]].after);
        last = verb;
    }
}

/* ", 31.5 % in GEMMs and 17.5 % in attention": the families of kernels that take most of the run,
 * none where most is in kernels of no family; without shares where kernels that run side by side
 * have more than the devices are busy.  Says whether any does. */
static bool say_families(struct ta_line *line, const struct ta_refs *in, double run)
{
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
    const bool overlap = all * run > 1.001 * sum(in, BUSY_NS);
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

/* Whether the devices did more than was recorded of them. */
static bool lacks_work(const struct ta_refs *in)
{
    enum { PERCENT = 2 };
    for (size_t i = 0; i < ta_ref_rows(in, DAMAGE); i++) {
        const struct ta_slice damage = ta_ref_text(in, DAMAGE, i);
        if (!ta_slice_equal(damage, TA_LIT("overlong")) &&
            !ta_slice_equal(damage, TA_LIT("out of order")) &&
            ta_ref_number(in, DAMAGE_SHARE, i, 0) * 100 > PERCENT)
            return true;
    }
    return false;
}

/* What of the run the devices were busy: " 30.7 % of 391 ms"; of the window of the devices where
 * the rest of the program's window only waits for what lies before the recording, " 93.1 % of the
 * other 10.5 ms" where that is most of the run.  Returns the time, of all devices, that these
 * shares are of. */
static double say_busy(struct ta_line *line, const struct ta_refs *in)
{
    const char *its = ta_ref_rows(in, PROGRAM) < 2 ? "its" : "their";
    const double program = sum(in, PROGRAM), edges = sum(in, BEFORE) + sum(in, AFTER);
    const double longest = ta_ref_scalar(in, GPU_WINDOW, -1);
    const bool differ = longest >= 0 && edges > 0.01 * program && edges < program;
    double before = 0;
    char length[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX], of_run[TA_UNIT_TEXT_MAX];
    for (size_t row = 0; row < ta_ref_rows(in, SHARE); row++)
        if (ta_ref_reads(in, BOUND, row, "before the recording"))
            before = ta_ref_number(in, SHARE, row, 0);
    ta_unit_format(share, sum(in, BUSY_NS) / (program - edges), TA_UNIT_RATIO);
    ta_unit_format(length, longest, TA_UNIT_NS);
    if (differ && before >= CLOSE) {
        ta_say_on(line, " %s of the %s from %s first work to %s last", share, length, its, its);
        return program - edges;
    }
    if (before >= MUCH_BEFORE) {
        const double rest = program * (1 - before);
        say_share(line, "", fmin(1, sum(in, BUSY_NS) / rest), " of the other");
        ta_say_on(line, " %s",
                  ta_unit_format(length, (1 - before) * ta_ref_scalar(in, WINDOW, 0), TA_UNIT_NS));
        return program;
    }
    ta_unit_format(of_run, ta_ref_scalar(in, WINDOW, -1), TA_UNIT_NS);
    say_share(line, "", ta_ref_scalar(in, BUSY, 0), " of");
    ta_say_on(line, " %s", of_run);
    return program;
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
    return 2 * sum(in, EXPLAINED) >= sum(in, EXPLAINED_OF);
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
               ta_unit_format(busy, sum(in, BUSY_NS), TA_UNIT_NS), window, made_by(in), idle);
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
    ta_say_on(line, lacks_work(in) ? " at least" : "");
    const double run = say_busy(line, in);
    const bool lists = computes && say_families(line, in, run);
    if (with_bound && (!worst || worst->gain == TA_GAIN_DEVICE))
        say_parts(line, in, is_one, computes ? 1 : 2, lists, run >= sum(in, PROGRAM));
    ta_say_on(line, ".");
}

static void say_finding(struct ta_line *line, const struct ta_finding *worst, bool slowed)
{
    ta_say(line, "%s.",
           worst    ? worst->title
           : slowed ? "No rule found anything else worth changing"
                    : "No rule found anything worth changing");
}

/* Whether what the devices were busy says more than the finding does: it is about kernels, or not
 * all of what the devices did is known. */
static bool is_use_news(const struct ta_refs *in, const struct ta_finding *worst)
{
    double before = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SHARE); row++)
        if (ta_ref_reads(in, BOUND, row, "before the recording"))
            before = ta_ref_number(in, SHARE, row, 0);
    return worst->gain == TA_GAIN_DEVICE || lacks_work(in) || before >= CLOSE;
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
