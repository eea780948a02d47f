/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of what happens once: code is loaded and compiled, libraries set themselves up, the
 * driver gives out memory, before the first work of a device and between its activities.  What is
 * made ready again and again is a finding of its own (interruptions). */
#include "lib/uncached.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD, MOST };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that set-up takes, from which the rule fires"},
    [MOST] = {"most", TA_OPTION_NUMBER, 0.25, 0, 1, TA_OPTION_RATIO,
              "Share of the run from which set-up is the first finding"},
    TA_OPTIONS_END,
};

enum {
    WINDOW,
    SETUP,
    CAUSE,
    CAUSE_TIME,
    EDGE,
    EDGE_CAUSE,
    EDGE_TIME,
    SITE_CAUSE,
    SITE,
    SITE_TIME,
    EDGE_SITE_EDGE,
    EDGE_SITE_CAUSE,
    EDGE_SITE,
    EDGE_SITE_TIME,
    PHASE,
    PHASE_IDLE,
    UNCACHED
};

static const struct ta_ref reads[] = {
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [SETUP] = {"gpu_idle.by_rank", "setup_ns"},
    [CAUSE] = {"gpu_idle.by_cause", "cause"},
    [CAUSE_TIME] = {"gpu_idle.by_cause", "total_ns"},
    [EDGE] = {"gpu_idle.edges", "edge"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_TIME] = {"gpu_idle.edges", "total_ns"},
    [SITE_CAUSE] = {"gpu_idle.by_site", "cause"},
    [SITE] = {"gpu_idle.by_site", "site"},
    [SITE_TIME] = {"gpu_idle.by_site", "total_ns"},
    [EDGE_SITE_EDGE] = {"gpu_idle.edge_sites", "edge"},
    [EDGE_SITE_CAUSE] = {"gpu_idle.edge_sites", "cause"},
    [EDGE_SITE] = {"gpu_idle.edge_sites", "site"},
    [EDGE_SITE_TIME] = {"gpu_idle.edge_sites", "total_ns"},
    [PHASE] = {"interruptions.by_call", "phase"},
    [PHASE_IDLE] = {"interruptions.by_call", "idle_ns"},
    UNCACHED_READS(UNCACHED),
};

enum { FIRST_CALLS, COMPILATION, ALLOCATION, CAUSES };

static const struct {
    const char *cause, *words;
} causes[CAUSES] = {
    [FIRST_CALLS] = {"first call", "first calls load code and libraries"},
    [COMPILATION] = {"compilation", "code is compiled, loaded or captured"},
    [ALLOCATION] = {"memory allocation", "the driver allocates memory"},
};

/* From this share on nothing but set-up was recorded, and from this one of it a cause is named. */
#define ALL 0.85
#define PART 0.1

/* Set-up of a device, by cause. */
struct setup {
    struct ta_place window;
    double ns, by_cause[CAUSES];
};

/* Rows of a cause: idle time before the first work, and within. */
static struct ta_look before_of(size_t c)
{
    return (struct ta_look){.cells = EDGE_TIME,
                            .where = {{EDGE, "before"}, {EDGE_CAUSE, causes[c].cause}}};
}

static struct ta_look within_of(size_t c)
{
    return (struct ta_look){.cells = CAUSE_TIME, .where = {{CAUSE, causes[c].cause}}};
}

/* Causes that no device has need not be looked for on each of thousands. */
struct there {
    bool before[CAUSES], within[CAUSES];
};

static struct there find_there(const struct ta_refs *in)
{
    struct there there;
    struct ta_place at;
    for (size_t c = 0; c < CAUSES; c++) {
        const struct ta_look before = before_of(c), within = within_of(c);
        there.before[c] = ta_look_worst(in, &before, &at);
        there.within[c] = ta_look_worst(in, &within, &at);
    }
    return there;
}

static struct setup setup_of(const struct ta_refs *in, const struct ta_place *window,
                             const struct there *there)
{
    static const struct ta_look setup_look = {.cells = SETUP};
    struct setup setup = {.window = *window};
    struct ta_place idle = {.table = NULL}, at;
    const int64_t rank = ta_ref_rank(in, WINDOW, window->row);
    const bool is_cached = !ta_uncached(in, UNCACHED, rank);
    for (size_t c = 0; c < CAUSES; c++) {
        if (c == ALLOCATION && !is_cached)
            continue;
        const struct ta_look before = before_of(c), within = within_of(c);
        if (there->before[c] && ta_look_same(in, &before, window, &at)) {
            setup.by_cause[c] += at.value;
            setup.ns += at.value;
        }
        if (there->within[c] && ta_look_same(in, &within, window, &at))
            setup.by_cause[c] += at.value;
    }
    if (ta_look_same(in, &setup_look, window, &idle))
        for (size_t row = 0; row < ta_ref_rows(in, PHASE_IDLE); row++)
            if (ta_ref_integer(in, UNCACHED + UNCACHED_RANK, row) == rank &&
                (ta_ref_reads(in, PHASE, row, "steady") ||
                 (!is_cached && ta_ref_reads(in, UNCACHED + UNCACHED_WHAT, row, "allocation"))))
                idle.value -= ta_ref_number(in, PHASE_IDLE, row, 0);
    setup.ns += fmax(0, idle.value);
    return setup;
}

/* ---- places -------------------------------------------------------------------------------- */

enum { PLACES = 3, NAMES_MOST = 256 };

/* The places with most of the time, largest first. */
struct places {
    struct place {
        const char *name;
        double ns;
        bool is_before; /* most of it lies before the first work */
    } at[PLACES];
    size_t n;
};

static bool is_of_setup(const struct ta_refs *in, size_t cause, size_t row)
{
    for (size_t c = 0; c < CAUSES; c++)
        if (ta_ref_reads(in, cause, row, causes[c].cause))
            return true;
    return false;
}

/* A stage of torch.compile has two ranges, of which one says that it is timed. */
static struct ta_slice plain(struct ta_slice name)
{
    static const char timed[] = " (dynamo_timed)";
    return ta_slice_ends(name, timed) ? ta_slice_part(name, 0, name.len - (sizeof timed - 1))
                                      : name;
}

/* The time of a place in one of the two tables. */
static double time_of(const struct ta_refs *in, size_t cause, size_t site, size_t time,
                      struct ta_slice name)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, site); row++)
        if (is_of_setup(in, cause, row) &&
            ta_slice_equal(plain(ta_ref_text(in, site, row)), plain(name)))
            sum += ta_ref_number(in, time, row, 0);
    return sum;
}

static void add_place(const struct ta_refs *in, struct ta_advice *advice, struct places *places,
                      const struct ta_place *at, size_t site)
{
    const struct ta_slice name = ta_ref_text(in, site, at->row);
    const double within = time_of(in, SITE_CAUSE, SITE, SITE_TIME, name);
    const double before = time_of(in, EDGE_SITE_CAUSE, EDGE_SITE, EDGE_SITE_TIME, name);
    const struct ta_slice shown = plain(ta_slice_of(ta_place_text(advice, in, at, site)));
    const struct place place = {ta_advice_printf(advice, "%.*s", (int)shown.len, shown.ptr),
                                within + before, before > within};
    size_t i = places->n;
    for (size_t k = 0; k < places->n; k++)
        if (strcmp(places->at[k].name, place.name) == 0)
            return;
    while (i > 0 && places->at[i - 1].ns < place.ns)
        i--;
    if (i == PLACES)
        return;
    const size_t last = places->n < PLACES ? places->n++ : PLACES - 1;
    for (size_t k = last; k > i; k--)
        places->at[k] = places->at[k - 1];
    places->at[i] = place;
}

/* Rows are the largest first, so that a few of each table have them. */
static struct places places_of(const struct ta_refs *in, struct ta_advice *advice)
{
    struct places places = {.n = 0};
    for (size_t row = 0; row < ta_ref_rows(in, SITE) && row < NAMES_MOST; row++) {
        const struct ta_place at = ta_place_at(in, SITE_TIME, row);
        if (at.table && is_of_setup(in, SITE_CAUSE, row) && ta_ref_text(in, SITE, row).len)
            add_place(in, advice, &places, &at, SITE);
    }
    for (size_t row = 0; row < ta_ref_rows(in, EDGE_SITE) && row < NAMES_MOST; row++) {
        const struct ta_place at = ta_place_at(in, EDGE_SITE_TIME, row);
        if (at.table && ta_ref_reads(in, EDGE_SITE_EDGE, row, "before") &&
            is_of_setup(in, EDGE_SITE_CAUSE, row) && ta_ref_text(in, EDGE_SITE, row).len)
            add_place(in, advice, &places, &at, EDGE_SITE);
    }
    return places;
}

static const char *why(struct ta_advice *advice, const struct places *places)
{
    const bool is_context = places->n && places->at[0].is_before &&
                            ta_slice_starts(ta_slice_of(places->at[0].name), "aten::empty");
    const char *next = "";
    for (size_t i = 1; i < places->n; i++)
        next = ta_advice_printf(advice, "%s%s%s (%s)", next,
                                i > 1 ? " and " : "The next longest are ", places->at[i].name,
                                ta_advice_number(advice, places->at[i].ns, TA_UNIT_NS));
    if (!is_context && !*next)
        return NULL;
    return ta_advice_printf(advice, "%s%s%s%s",
                            is_context ? "The first use of a GPU creates its context." : "",
                            is_context && *next ? " " : "", next, *next ? "." : "");
}

/* ---- the finding --------------------------------------------------------------------------- */

/* The causes that have a part worth naming, largest first. */
static const char *words_of(struct ta_advice *advice, const struct setup *setup)
{
    const char *words = "";
    bool is_said[CAUSES] = {false};
    double all = 0;
    for (size_t c = 0; c < CAUSES; c++)
        all += setup->by_cause[c];
    for (size_t n = 0; n < CAUSES; n++) {
        size_t most = CAUSES;
        for (size_t c = 0; c < CAUSES; c++)
            if (!is_said[c] && setup->by_cause[c] >= PART * all &&
                (most == CAUSES || setup->by_cause[c] > setup->by_cause[most]))
                most = c;
        if (most == CAUSES)
            break;
        is_said[most] = true;
        words = ta_advice_printf(advice, "%s%s%s", words, n ? ", and " : "", causes[most].words);
    }
    return words;
}

static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                 const struct setup *setup)
{
    const double share = setup->ns / setup->window.value;
    const bool is_most = share >= ta_ctx_option(ctx, MOST);
    const char *sums = ta_advice_printf(
        advice, "%s of the run (%s)", ta_advice_number(advice, share, TA_UNIT_RATIO),
        ta_advice_part(advice, setup->ns, setup->window.value, TA_UNIT_NS));
    const char *owner =
        ta_ref_rows(in, WINDOW) > 1 ? ta_place_owner(advice, in->report, &setup->window) : "";
    const char *words = words_of(advice, setup);
    const struct places places = places_of(in, advice);
    const char *where =
        places.n ? ta_advice_printf(advice, ", longest in %s (%s)", places.at[0].name,
                                    ta_advice_number(advice, places.at[0].ns, TA_UNIT_NS))
                 : "";
    const struct ta_evidence evidence = ta_place_evidence(&setup->window);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "setup",
            .rule = "setup",
            .title = share >= ALL ? ta_advice_printf(advice,
                                                     "The recording shows set-up, not the "
                                                     "program%s: %s for %s%s",
                                                     owner, words, sums, where)
                                  : ta_advice_printf(advice,
                                                     "Set-up, once per process, "
                                                     "takes %s%s: %s%s",
                                                     sums, owner, words, where),
            .why = why(advice, &places),
            .advice = "Record after 2 or 3 warm-up steps: schedule(wait=1, warmup=2, active=3).",
            .details = "Only where each job starts a process is this time saved: keep the process "
                       "and its models for many jobs, and compiled code in a folder that lasts "
                       "(TORCHINDUCTOR_CACHE_DIR).",
            .severity = is_most ? TA_HIGH : TA_LOW,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .about_input = is_most,
            .threshold = ta_advice_printf(
                advice, "set-up > %s of the run",
                ta_advice_number(advice, ta_ctx_option(ctx, THRESHOLD), TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct there there = find_there(in);
    struct setup worst = {.ns = 0};
    for (size_t row = 0; row < ta_ref_rows(in, WINDOW); row++) {
        const struct ta_place window = ta_place_at(in, WINDOW, row);
        if (!window.table || window.value <= 0)
            continue;
        const struct setup setup = setup_of(in, &window, &there);
        if (!worst.window.table || setup.ns / window.value > worst.ns / worst.window.value)
            worst = setup;
    }
    if (worst.window.table && worst.ns / worst.window.value > ta_ctx_option(ctx, THRESHOLD))
        give(ctx, in, advice, &worst);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, setup, &ops, .title = "Set-up in the recording",
          .summary = "Fires when a recording holds much of what happens once per process",
          .version = "1", .options = options);
