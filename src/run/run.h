/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run from inside: its options as values, and what its calls have made. */
#ifndef TA_RUN_H
#define TA_RUN_H

#include "base/context.h"
#include "base/value.h"
#include "base/vec.h"
#include "base/what_if.h"
#include "compare/gate/gates.h"
#include "ingest/inputs/options.h"
#include "ingest/survey.h"
#include "pipeline.h"
#include "traceanalyze/base.h"
#include "traceanalyze/run.h"

/* How clocks are aligned; order of the words of "align". */
enum ta_align { TA_ALIGN_AUTO, TA_ALIGN_COLLECTIVES, TA_ALIGN_CLOCK, TA_ALIGN_NONE };

enum ta_theme { TA_THEME_AUTO, TA_THEME_LIGHT, TA_THEME_DARK };

/* A value that was given, and who wrote it. */
struct ta_given_text {
    const char *text, *origin; /* origin NULL: the host */
};

typedef TA_VEC(struct ta_given_text) ta_given_texts;

/* The options; see the table in options.c. */
struct ta_run_settings {
    bool partial, allow_single_run, strong, weak;
    int inflater, cpu;            /* order of their words */
    int timeline;                 /* enum ta_timeline_mode */
    int assets;                   /* 0 inline, 1 split */
    int letter;                   /* 0 A4, 1 letter */
    int paper_detail;             /* 0 short, 1 full */
    int theme;                    /* enum ta_theme */
    int color;                    /* 0 never, 1 always */
    int text_detail;              /* 0 one screen, 1 all */
    int gate;                     /* enum ta_gate_mode */
    int align;                    /* enum ta_align */
    int by;                       /* 0 rank, 1 node, 2 group */
    int64_t outliers;             /* TA_MISSING: not given */
    int64_t ranks_per_node, jobs; /* 0: not given */
    int64_t top, columns, world_size;
    double confidence, scale, playback_fps; /* 0: the default */
    struct ta_extent size;                  /* 0 × 0: the default */
    const char *format, *charts, *title, *max_html_size, *memory_limit, *tmpdir;
    const char *input, *hardware, *price, *rank_regex, *step_marker, *min_effect, *noise_floor;
    const char *rank, *steps, *time_range, *drop_category;
    ta_given_texts limits, plugin_paths, plugin_settings, disabled_rules, fail_on, maps, runs, plan;
};

enum { TA_RUN_OUTPUTS = 32 };

struct ta_merge_choice;

struct ta_run {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_arena arena; /* of texts that were given */
    struct ta_run_settings set;
    const char **origins; /* by option: who wrote its value, NULL: the host, or nobody */
    TA_VEC(const char *) inputs, baseline, maps;
    struct ta_registry *registry;
    struct ta_team *team;
    ta_progress *progress;
    void *progress_user;

    /* What ta_run_check() makes of the options. */
    uint64_t memory_limit, max_html_size;
    bool is_judging; /* the next three are up to date */
    struct ta_judging judging;
    struct ta_gates gates;
    struct ta_noise *noise;
    struct ta_merge_choice *choice;
    struct ta_what_if what_if; /* of --plan */

    struct ta_made made;
    const struct ta_report *report; /* of those the one that is asked for (ta_run_show()) */
    struct ta_gates_outcome outcome;
    TA_VEC(const struct ta_table *) drawn; /* by number of the chart, NULL: the timeline */
    TA_VEC(const struct ta_chart *) charts;
    uint64_t events, bytes; /* read */
    struct {
        const char *id;
        struct ta_lap spent;
    } outputs[TA_RUN_OUTPUTS];
    size_t n_outputs;
};

/* ---- options.c -------------------------------------------------------------------------- */

/* Every option at its default; false without memory. */
bool ta_run_settings_init(struct ta_run *run) TA_MUST_CHECK;
void ta_run_settings_free(struct ta_run *run);

/* Who wrote the value of an option, NULL for the host. */
const char *ta_run_origin(const struct ta_run *run, const char *name);

/* Adds who wrote an unusable value to the causes; returns `status`. */
enum ta_status ta_run_blame(struct ta_run *run, const char *origin, enum ta_status status);

/* The options as reading takes them, after ta_run_check(). */
void ta_run_reading(struct ta_run *run, struct ta_run_options *options);

/* ---- others ------------------------------------------------------------------------------- */

/* Gives the registry the options that plugins have. */
enum ta_status ta_run_apply_plugin_options(struct ta_run *run) TA_MUST_CHECK;

/* Frees what was made. */
void ta_run_forget(struct ta_run *run);

/* Notes what was read of a run. */
void ta_run_note_amount(struct ta_run *run, const struct ta_report *report);

/* Adds the time since `start` to the time of an output. */
void ta_run_note_time(struct ta_run *run, const char *id, struct ta_lap start);

#endif
