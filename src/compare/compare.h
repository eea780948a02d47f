/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a comparison share. */
#ifndef TA_COMPARE_H
#define TA_COMPARE_H

#include "compare/diff.h"
#include "compare/likeness.h"
#include "plugin/builtin.h"
#include "plugin/registry.h"
#include "traceanalyze/base.h"

struct diff;
struct diff_bar;
struct ta_durations;

/* ---- parts ------------------------------------------------------------------------------- */

/* A part of a comparison: the tables that it makes in a section.  They run in the order of
 * ta_diff_parts[]. */
struct diff_part {
    struct ta_part declares;
    const char *section;                                            /* NULL: it makes nothing */
    bool (*add)(struct diff *diff, struct ta_section_builder *out); /* false without memory */
};

extern const struct diff_part diff_of_stages, diff_of_ops, diff_of_kernels, diff_of_copies;
extern const struct diff_part diff_of_aliases, diff_of_kernel_sets, diff_of_op_sets;
extern const struct diff_part diff_of_windows, diff_of_ranks, diff_of_figures;
extern const struct diff_part diff_of_step_times, diff_of_step_classes, diff_of_memory;
extern const struct diff_part diff_of_divergence, diff_of_units, diff_of_means, diff_of_machine;
extern const struct diff_part diff_of_environment, diff_of_offloading, diff_of_runs;
extern const struct diff_part diff_of_loops, diff_of_signals, diff_of_verdict;
extern const struct diff_part diff_of_phases, diff_of_first_figures, diff_of_findings;
extern const struct diff_part diff_of_slower, diff_of_recorded;

/* ---- names ------------------------------------------------------------------------------- */

/* What the columns of a table that lists names are read as. */
struct diff_source {
    enum ta_reading name, group; /* group: what a name is of, or TA_AS_NOTHING */
    enum ta_reading calls, total, self;
    const char *const *groups; /* rows of these groups alone, ends with NULL; NULL is all */
};

/* How two names came together. */
enum diff_method {
    DIFF_ALONE, /* not at all: the name is on one side only */
    DIFF_EXACT,
    DIFF_NORMALIZED,
    DIFF_POSITION,
    DIFF_SIMILAR
};

/* A name of one side. */
struct diff_item {
    struct ta_slice name, group; /* if there are several groups, the group of the longest total */
    struct ta_slice kind;        /* of a kernel what it does; empty when its name does not say */
    int64_t calls, total_ns, self_ns; /* self: without what runs inside, where a table shows it */
    int64_t *run_ns; /* total of each run of the side, TA_MISSING where the name is not */
    /* The name that it has on the other side, NULL for none yet; how it was matched, and with what
     * confidence. */
    struct diff_item *mate;
    enum diff_method method;
    double confidence;
    size_t set;     /* number of the set of names that took the place of others, from 1; 0: none */
    size_t counted; /* number of the last count that it was in */
    size_t *places, n_places; /* on the new side: the rows of the program that was read last */
    struct diff_words words;  /* of the name, once it was looked for by them */
};

struct diff_items {
    struct diff_item *at; /* by name, each once */
    size_t n;
};

/* Whether two kernels are known to do different work: they are no pair then, whatever they are
 * called and wherever they run. */
static inline bool diff_is_other_kind(const struct diff_item *a, const struct diff_item *b)
{
    return a->kind.len && b->kind.len && !ta_slice_equal(a->kind, b->kind);
}

/* A list of names, which several tables may make together. */
struct diff_list {
    struct diff_source sources[2];
    size_t n_sources;
};

/* Reads the names of the shown run of a side; false without memory. */
bool diff_items_read(struct diff *diff, int side, const struct diff_list *list,
                     struct diff_items *items);

/* ---- pairs ------------------------------------------------------------------------------- */

/* What the runs say about a change; NaN where they are too few. */
struct diff_evidence {
    double ratio;           /* new over base, of the geometric means of the runs */
    double ci_low, ci_high; /* of that */
    double p, q;            /* q: over all names of the table */
    double spread;          /* relative deviation between runs */
    double detectable;      /* least true change that would be seen in four of five comparisons */
};

extern const struct diff_evidence diff_no_evidence;

struct diff_pair {
    const struct diff_item *item[TA_DIFF_SIDES]; /* NULL: added or removed */
    enum diff_method method;
    double confidence; /* 0…1 that they are the same thing */
    size_t set;        /* of a name on one side only: see struct diff_item */
    struct diff_evidence evidence;
};

struct diff_pairs {
    struct diff_pair *at; /* by the size of the change, largest first */
    size_t n;
};

struct diff_order;

/* Finds for each name its counterpart, by its place in the program, too, where an order is given.
 * False without memory. */
bool diff_match(struct diff *diff, const struct diff_order *order,
                struct diff_items items[TA_DIFF_SIDES], struct diff_pairs *pairs);
/* Makes a pair of two names. */
void diff_join(struct diff_item *base, struct diff_item *new, enum diff_method method,
               double confidence);

/* Fills in what the runs say about each pair; `figure` is what stored spreads of such names begin
 * with, such as "total@op:".  False without memory. */
bool diff_judge_pairs(struct diff *diff, const char *figure, struct diff_pairs *pairs);

/* New minus base, 0 for a side that has it not. */
int64_t diff_pair_change(const struct diff_pair *pair);

/* ---- tables -------------------------------------------------------------------------------- */

/* clang-format off */

/* How times changed: two columns from enumerator `delta` on. */
#define DIFF_CHANGE_COLUMNS(delta, type) \
    [(delta)] = {"delta_ns", "Change", type, TA_UNIT_NS_CHANGE, .better = TA_LOWER, \
                 .doc = "After minus before"}, \
    [(delta) + 1] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, \
                     .better = TA_LOWER, .doc = "Change divided by the value before"}

/* clang-format on */

/* Without a confidence interval, a smaller change than this counts as none. */
#define DIFF_SAME_SHARE 0.005

/* ---- the comparison --------------------------------------------------------------------- */

/* Work that a run is made of; images, videos or requests of a diffusion where each of them is
 * denoised and decoded. */
enum diff_unit { DIFF_IMAGES, DIFF_STEPS, DIFF_FRAMES, DIFF_UNITS };

/* What recording of the host slows it. */
enum diff_recorded { DIFF_RECORDED_OPS = 1, DIFF_RECORDED_SHAPES = 2, DIFF_RECORDED_STACKS = 4 };

/* What explains most of a change. */
struct diff_cause {
    struct ta_slice name, kind; /* empty: nothing does */
    double ns[TA_DIFF_SIDES];   /* for each unit, where the runs did different numbers of them */
    struct ta_slice part;       /* of idle time the cause that changed most; else empty */
    double part_ns[TA_DIFF_SIDES];
    bool is_clock;        /* all kernels changed alike */
    struct ta_slice also; /* of stages the next one, where it is a good part as well */
    double also_ns[TA_DIFF_SIDES];
    bool as_often;                /* both of them are called as often as before */
    int64_t calls[TA_DIFF_SIDES]; /* of a stage; 0: not known */
};

/* Something that explains a part of a change: "VAE decode", "takes 70 ms instead of 18 ms". */
struct diff_clause {
    const char *what; /* NULL: nothing */
    const char *does; /* NULL where `what` says it all: "8 denoising steps instead of 4" */
    double ns;        /* the part; NaN: not known */
    bool is_plural;
};

/* What of a diffusion explains most of a change, in words. */
struct diff_phase_story {
    const char *task; /* "smaller images (…)": what is asked for differs; NULL: it does not */
    const char *made; /* "image", "video": each is denoised and decoded; NULL: not known */
    int64_t n_made;   /* of them in each run; 0: another number */
    struct diff_clause most, next, against;
    double whole;      /* the change that these are parts of */
    bool is_of_time;   /* the same work takes another time, for which there is a reason */
    bool is_each;      /* parts are of an image each */
    const char *step;  /* what marked steps are: "block", "image", "denoising step"; or NULL */
    const char *steps; /* "4 denoising steps instead of 6", whatever that explains; or NULL */
};

/* Memory at a label of both runs. */
struct diff_level_change {
    struct ta_slice label; /* empty: none */
    int64_t bytes[TA_DIFF_SIDES];
};

/* The call site whose bytes at the peak changed most. */
struct diff_part_of_peak {
    struct ta_slice site; /* empty: none */
    int64_t bytes[TA_DIFF_SIDES];
    struct ta_slice next; /* another one that changed nearly as much; empty: none */
    int64_t next_bytes[TA_DIFF_SIDES];
};

/* Whether models stay on the device that did not, or the other way. */
struct diff_offload {
    int sign;         /* −1 lost, 1 gained, 0 neither */
    const char *what; /* "memory at after_sampling" */
    int64_t bytes[TA_DIFF_SIDES];
};

/* The loop of both runs that takes most time, by their bars of progress. */
struct diff_loop {
    struct ta_slice name;                       /* empty: none */
    double ns[TA_DIFF_SIDES], n[TA_DIFF_SIDES]; /* of an iteration, and how many */
    int64_t offloaded_bytes[TA_DIFF_SIDES];
    double change_at[TA_DIFF_SIDES], after_ns[TA_DIFF_SIDES]; /* of another speed; or NaN */
    const char *figure;                                       /* the id of `ns` in diff.metrics */
};

/* What slows devices, where that changed most. */
struct diff_limit {
    struct ta_slice name;
    double share[TA_DIFF_SIDES]; /* of the busy samples */
};

/* A name of a side that both sides have another one for, "old → new". */
struct diff_alias {
    int side;
    struct ta_slice name, joint; /* on this side, and for both */
};

struct diff_aliases {
    struct diff_alias *at; /* by side and name */
    size_t n;
};

/* Names of both sides that took the place of one another. */
struct diff_set {
    bool is_of_ops;              /* they are operators, else kernels */
    struct ta_slice op;          /* lowest operator or range that all are in; may be empty */
    size_t names[TA_DIFF_SIDES]; /* how many */
    int64_t ns[TA_DIFF_SIDES];
};

/* A figure of both sides. */
struct diff_figure {
    const char *id, *title;
    double value[TA_DIFF_SIDES];
    enum ta_unit unit;
    bool is_told;  /* on the first screen */
    bool is_noise; /* the runs say that it did not change, or cannot say that it did */
};

/* Windows of both sides, each with the other (waterfall.c). */
struct diff_couples {
    struct diff_couple *at;
    size_t n;
};

/* The first steps of a run, where each takes longer than any after them. */
struct diff_warm_up {
    int64_t steps;
    double ns; /* of the rank that is longest at each */
};

/* One comparison while it is made. */
struct diff {
    struct ta_ctx *ctx;
    const struct ta_registry *registry;
    const struct ta_diff_side *sides;
    const struct ta_judging *judging;
    /* The run of each side that tables show: the one of median length. What is said to the
     * nanosecond is said of these two; the others are evidence of its confidence. */
    const struct ta_report *shown[TA_DIFF_SIDES];
    struct ta_refs in[TA_DIFF_SIDES]; /* what their tables are read as */
    struct ta_arena arena;            /* of everything below */
    struct ta_report *out;
    struct diff_pairs stages, kernels, copies, ops; /* of the shown runs */
    struct diff_items op_items[TA_DIFF_SIDES];      /* of `ops` */
    struct diff_aliases kernel_names, op_names, stage_names;
    struct diff_set *sets;             /* by number */
    size_t n_sets, n_counts;           /* counts of members so far */
    struct diff_couples ranks;         /* windows of ranks and devices that both sides have */
    int64_t window_ns[TA_DIFF_SIDES];  /* longest windows; TA_MISSING without any */
    int64_t compute_ns[TA_DIFF_SIDES]; /* of that what compute takes; TA_MISSING without devices */
    struct diff_warm_up warm_up[TA_DIFF_SIDES];
    const struct diff_bar *bars; /* terms of the longest windows, the largest change first */
    size_t n_bars;
    const struct diff_bar *classes; /* the same by kind of work, of a unit; none without devices */
    size_t n_classes;
    const char *unit; /* that the runs did different numbers of; NULL: as many, or unknown */
    int64_t units[TA_DIFF_SIDES];    /* how many; 1 without */
    double center_ns[TA_DIFF_SIDES]; /* time of a run, as the ratio takes it; NaN: not known */
    const char *on, *apart; /* "8 ranks instead of 4"; "model and frames": what the runs are not
                               alike in; NULL: nothing that is known */
    const char *settings;   /* "precision (bf16 → fp32)": what work depends on; NULL: alike */
    unsigned recorded[TA_DIFF_SIDES]; /* what of the host, of enum diff_recorded */
    const char *recorded_text;        /* "only the baseline recorded operators"; NULL: alike */
    bool is_recorders;                /* that explains a part of the change */
    bool has_other_recording;         /* what was recorded of the runs differs */
    bool has_other_shapes;            /* of inputs, where both recorded them */
    double slowed; /* how many times as long calls take that are as many; 0: no finding of that */
    struct diff_cause cause;     /* of the change of the longest window */
    struct diff_figure *figures; /* rows of diff.metrics */
    size_t n_figures;
    const char *told_of; /* "Time per video": of what the verdict compares the time; or NULL */
    double told_ns[TA_DIFF_SIDES];
    bool is_doubtful;        /* the runs did other work, or may have */
    struct diff_cause shift; /* the term that changed most, whichever way */
    struct diff_phase_story phases;
    struct diff_level_change level; /* where memory changed most */
    struct diff_offload offload;
    struct diff_loop loop;
    struct diff_loop prompts; /* of iterations without a bar, likewise */
    double shared_loops;      /* share of the time of loops that both have; -1: no loops */
    struct diff_limit limit;
    double recompilations[TA_DIFF_SIDES]; /* 0 where none, or not known */
    struct diff_part_of_peak peak;        /* what of the memory at the peak changed most */
    double clock[TA_DIFF_SIDES];          /* mean over the devices in Hz, 0: unknown */
    double shared;        /* share of the time that both have in common; -1: unknown */
    bool has_other_steps; /* the steps of both are of different kinds */
    const char *formats[TA_DIFF_SIDES]; /* of their files where they differ; or NULL */
    bool is_alien;                      /* the runs have nothing in common */
    bool is_other_work;                 /* they have less than half of it */
    bool is_timed;                      /* figures say how long both runs took */
    enum ta_change change;         /* of the time of the run, or else of an iteration of the loop */
    enum ta_basis basis;           /* what that rests on */
    struct ta_estimate time_ratio; /* of the time of the run, new : base, on that basis */
};

/* ---- what parts share --------------------------------------------------------------------- */

/* The integer of a row, 0 without one: for what is added up. */
static inline int64_t diff_amount(const struct ta_refs *in, size_t ref, size_t row)
{
    const int64_t value = ta_ref_integer(in, ref, row);
    return value == TA_MISSING ? 0 : value;
}

/* The name that both sides have for what has this name on one of them: for what was renamed
 * "old → new". */
struct ta_slice diff_name_of(const struct diff_aliases *aliases, int side, struct ta_slice name);
/* A name as people say it, cut to `most` bytes. */
struct ta_slice diff_brief(struct diff *diff, struct ta_slice name, size_t most);
/* What the steps of a run are, without their numbers: "ProfilerStep", "step[DECODE]"; of several
 * kinds the most frequent.  NULL without steps. */
const char *diff_step_kind(struct diff *diff, const struct ta_refs *in);

/* What recordings of a run its figures may be of: "run", "iteration", "graph capture"; NULL without
 * memory.  `n`, which may be NULL, gets their number. */
const char *diff_recording_kind(struct diff *diff, const struct ta_refs *in, int64_t *n);
/* Says which run recorded more of the host. */
void diff_find_recorded(struct diff *diff);
/* Finds what the runs did different amounts of. */
void diff_find_unit(struct diff *diff);
/* A time of the shown run of a side for each of them. */
double diff_per_unit(const struct diff *diff, int side, int64_t ns);
/* Steps or frames of a run, of the rank with most; TA_MISSING when nothing says them. */
int64_t diff_units(const struct ta_refs *in, enum diff_unit unit);
/* The durations of steps, or blocks, that both shown runs have, and the id of their figure; NULL of
 * both without.  False without memory. */
bool diff_step_series(struct diff *diff, const struct ta_durations *series[TA_DIFF_SIDES],
                      const char **id);
/* Two values that are compared, with one prefix. */
struct diff_two {
    char before[TA_UNIT_PAIR_MAX], after[TA_UNIT_PAIR_MAX];
};
void diff_two(struct diff_two *two, double before, double after, enum ta_unit unit);
/* "takes 9.01 ms instead of 40.6 ms". */
const char *diff_instead(struct diff *diff, const char *verb, double before, double after,
                         enum ta_unit unit);
/* Two sentences of runs whose length is not known, without their full stops; false without any. */
struct diff_said {
    const char *first, *second; /* second: NULL for none */
};
bool diff_say_untimed(struct diff *diff, struct diff_said *said);
bool diff_say_memory(struct diff *diff, struct diff_said *said); /* of the peak */
/* What explains the change of `whole` ns, as a sentence without its full stop; NULL: nothing. */
const char *diff_say_reasons(struct diff *diff, double whole);
/* What changed in a window of `whole` ns that stays as long; NULL: nothing that counts. */
const char *diff_say_shift(struct diff *diff, double whole);
/* Title, ranks, date and accounts of the runs of both sides; false without memory. */
bool diff_describe(const struct ta_diff_side sides[TA_DIFF_SIDES], const char *title,
                   struct ta_report *report) TA_MUST_CHECK;
#endif
