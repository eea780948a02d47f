/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that the program does, for another program: what to read and how, one call that reads
 * and analyzes it, then tables, findings and files.
 *
 *     struct ta_run *run = ta_run_new();
 *     if (ta_run_add(run, "traces/") == TA_OK && ta_run_execute(run, TA_RUN_REPORT) == TA_OK)
 *         print(ta_run_report(run));
 *     else
 *         fprintf(stderr, "%s\n", ta_run_error(run));
 *     ta_run_free(run);
 *
 * A run belongs to one thread at a time, but for ta_run_cancel() and ta_run_abandon(); it starts
 * threads of its own and ends them before a call returns.  Several runs know nothing of each other:
 * the library keeps no state outside of them.  It installs no handlers of signals, never prints,
 * and never ends the process.
 *
 * A call that fails returns its status, and ta_run_error() says what went wrong; the run can be
 * freed then, or given another value and tried again.  What a call takes by pointer it copies,
 * unless it says otherwise; what it gives belongs to the run. */
#ifndef TRACEANALYZE_RUN_H
#define TRACEANALYZE_RUN_H

#include "base.h"
#include "output.h"
#include "plugin.h"

TA_BEGIN_DECLS

struct ta_registry;
struct ta_run;

/* A run without inputs and with every option at its default; NULL without memory. */
TA_API struct ta_run *ta_run_new(void);
/* Frees the run with its report and plugins; NULL is allowed. */
TA_API void ta_run_free(struct ta_run *run);

/* ---- options --------------------------------------------------------------------------- */

/* What the value of an option is, as text. */
enum ta_value_type {
    TA_VALUE_FLAG,   /* "true" or "false" */
    TA_VALUE_COUNT,  /* how often it is given */
    TA_VALUE_TEXT,   /* any text */
    TA_VALUE_TEXTS,  /* any text; each value is added to those before */
    TA_VALUE_CHOICE, /* one of `choices` */
    TA_VALUE_WHOLE,  /* a whole number from `least` to `most` */
    TA_VALUE_NUMBER, /* a number from `least` to `most` */
    TA_VALUE_EXTENT  /* "WxH", each from `least` to `most` */
};

/* An option of a run: a long option of the program, with the same name, values and meaning. */
struct ta_run_option {
    const char *name;
    const char *argument; /* what --help calls the value; NULL for a flag */
    enum ta_value_type type;
    int64_t least, most;
    const char *const *choices; /* ends with NULL */
    const char *help;
};

/* All one after the other; NULL after the last. */
TA_API const struct ta_run_option *ta_run_option_at(size_t index);

/* The option of that name; NULL where there is none. */
static inline const struct ta_run_option *ta_run_option(const char *name)
{
    const struct ta_run_option *option;
    for (size_t i = 0; (option = ta_run_option_at(i)) && strcmp(option->name, name) != 0;)
        i++;
    return option;
}

/* Sets an option, or adds to one of several values, see ta_run_set().  `origin` says who wrote the
 * value, such as "FILE:LINE", and begins the message when it turns out to be unusable, now or
 * later; NULL: the caller. */
TA_API enum ta_status ta_run_set_from(struct ta_run *run, const char *name, const char *value,
                                      const char *origin) TA_MUST_CHECK;

/* ta_run_set(run, "jobs", "4").  NULL is "true".  Options of plugins are set by ta_run_set(run,
 * "set", "ID.NAME=VALUE").  TA_ERR_USAGE for an unknown name and for a value that is none. */
TA_MUST_CHECK static inline enum ta_status ta_run_set(struct ta_run *run, const char *name,
                                                      const char *value)
{
    return ta_run_set_from(run, name, value, NULL);
}

/* ---- inputs ---------------------------------------------------------------------------- */

/* Adds an input: a file, a folder, a glob, or "-" for standard input. */
TA_API enum ta_status ta_run_add(struct ta_run *run, const char *input) TA_MUST_CHECK;

/* Adds a run of the baseline, to compare with. */
TA_API enum ta_status ta_run_baseline(struct ta_run *run, const char *input) TA_MUST_CHECK;

/* ---- plugins --------------------------------------------------------------------------- */

/* The plugins of this run, which the first call loads: built-in ones, and what is in
 * the folder of the installation, in TRACEANALYZE_PLUGIN_PATH and in the option "plugin-path". NULL
 * after a failure. */
TA_API struct ta_registry *ta_run_plugins(struct ta_run *run);

/* ---- the host -------------------------------------------------------------------------- */

/* Hands messages to `message`, from the most important level up to `level`; at first nothing gets
 * them. */
TA_API void ta_run_on_message(struct ta_run *run, enum ta_log_level level, ta_message *message,
                              void *user);

/* Called now and then while files are read, from any thread but never twice at a time. */
typedef void ta_progress(void *user, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                         size_t files_all);
TA_API void ta_run_on_progress(struct ta_run *run, ta_progress *progress, void *user);

/* For a host that sees to its heap: many files were read, and much was freed that nobody asks for
 * again. */
TA_API void ta_run_on_memory(struct ta_run *run, void (*files_read)(void), void (*freed)(void));

/* Asks the run to stop: the call at work returns TA_ERR_CANCELED soon.  `reason` is not 0, such as
 * the number of a signal.  Async-signal-safe, and safe from any thread; false when it was asked
 * before. */
TA_API bool ta_run_cancel(struct ta_run *run, int reason);
/* The reason, or 0. */
TA_API int ta_run_canceled(const struct ta_run *run);
/* For a handler of signals that ends the process at once: removes files that are not complete. */
TA_API void ta_run_abandon(struct ta_run *run);

/* ---- reading and analyzing -------------------------------------------------------------- */

enum ta_run_task {
    TA_RUN_REPORT, /* all inputs are one run; with a baseline, and what changed against it */
    TA_RUN_CHECK,  /* all inputs are one run: reads and accounts, analyzes nothing */
    TA_RUN_DIFF,   /* each input is a run, and so is each input of the baseline */
    TA_RUN_SCALING /* each input is a run, of different world size */
};

/* Checks the options whose values are more than words and numbers, before anything is read. */
TA_API enum ta_status ta_run_check(struct ta_run *run, enum ta_run_task task) TA_MUST_CHECK;

/* Reads the inputs, and analyzes or compares them; what a call before has made is freed.
 * TA_ERR_INPUT when nothing was usable; what was lost of usable inputs is in the accounts of the
 * report (quality.h).  TA_ERR_CANCELED after ta_run_cancel(). */
TA_API enum ta_status ta_run_execute(struct ta_run *run, enum ta_run_task task) TA_MUST_CHECK;

/* What was made: verdict, findings, tables (report.h; tables by reference: ta_refs_open() of
 * table.h).  It lives until the next execution or ta_run_free(); NULL before, and in a process of a
 * team that is not the first. */
TA_API const struct ta_report *ta_run_report(const struct ta_run *run);

/* Of inputs that turned out to be several runs there is a report for each, and one that lists them
 * in the table runs.overview.  Makes the report of one of them the current one, which
 * ta_run_report() gives and ta_run_render() and ta_run_draw() write; returns the name of the run,
 * as the option "run" takes it.  NULL after the last: then the one that lists them is current, as
 * it is at first. */
TA_API const char *ta_run_show(struct ta_run *run, size_t index);

/* The columns of the table of gates. */
enum {
    TA_GATES_TEXT,
    TA_GATES_OUTCOME, /* "passed", "failed", "inconclusive" or "absent" */
    TA_GATES_WHAT,
    TA_GATES_BASE,
    TA_GATES_NEW,
    TA_GATES_CHANGE,
    TA_GATES_CHANGE_LOW,
    TA_GATES_CHANGE_HIGH,
    TA_GATES_REASON,
    TA_GATES_UNIT
};

/* What became of the gates of "fail-on". */
struct ta_gates_outcome {
    bool failed;                  /* a limit was passed */
    bool incomplete;              /* "incomplete" was to fail, and data was lost */
    bool inconclusive;            /* "inconclusive" was to fail, and a change may be noise */
    const struct ta_table *table; /* what became of each, in the report; NULL without gates */
};
TA_API const struct ta_gates_outcome *ta_run_gates(const struct ta_run *run);

/* Whether data was lost, or ranks of the run are not there. */
TA_API bool ta_report_has_losses(const struct ta_report *report);

/* ---- writing ----------------------------------------------------------------------------- */

/* Writes the report with an output plugin, "html", "json", "text" …, to a file; to a folder, which
 * is one that is there or whose name ends in "/"; or, by "-", to standard output.  All of it
 * appears, or nothing. */
TA_API enum ta_status ta_run_write(struct ta_run *run, const char *output,
                                   const char *path) TA_MUST_CHECK;

/* The same into memory, which the caller frees with free(); a NUL follows the `n` bytes. */
TA_API enum ta_status ta_run_write_memory(struct ta_run *run, const char *output, char **bytes,
                                          size_t *n) TA_MUST_CHECK;

/* The same into a sink (output.h) that the caller commits, with what else goes there. */
TA_API enum ta_status ta_run_render(struct ta_run *run, const char *output,
                                    struct ta_sink *sink) TA_MUST_CHECK;

/* Writes how much the runs of each side of a comparison differ, for "noise-floor". */
TA_API enum ta_status ta_run_save_baseline(struct ta_run *run, struct ta_sink *sink) TA_MUST_CHECK;

/* The charts of the report, one after the other; NULL after the last. */
TA_API const struct ta_chart *ta_run_chart(struct ta_run *run, size_t index);
/* False of a chart that has a single bar, dot or point, which reports leave out. */
TA_API bool ta_run_chart_says(struct ta_run *run, size_t index);

/* Draws one into a sink as "png", "svg" or "pdf", by the options "size", "scale" and "theme". */
TA_API enum ta_status ta_run_draw(struct ta_run *run, size_t index, const char *format,
                                  struct ta_sink *sink) TA_MUST_CHECK;

/* ---- summaries and merged traces ---------------------------------------------------------- */

/* What became of the files of a shard. */
struct ta_reduced {
    size_t files, used, summaries;
};

/* Reads part `index` of `count` of the files, 0 of 1 for all, and writes one mergeable summary per
 * rank into a sink that the caller commits. */
TA_API enum ta_status ta_run_reduce(struct ta_run *run, size_t index, size_t count,
                                    struct ta_sink *sink, struct ta_reduced *reduced) TA_MUST_CHECK;

/* What a merged trace holds. */
struct ta_merged {
    size_t traces;
    uint64_t kept, out_of_range, of_category, lost; /* events */
    const char *alignment;                          /* of clocks: "collectives", "clock", "none" */
    int64_t moved_ns, uncertainty_ns; /* at most; TA_MISSING for an unknown uncertainty */
};

enum ta_merge_format { TA_MERGE_PACKED, TA_MERGE_JSON, TA_MERGE_ARCHIVE };

/* Checks the options "rank", "steps", "time-range" and "drop-category" before anything is read. */
TA_API enum ta_status ta_run_check_merge(struct ta_run *run) TA_MUST_CHECK;

/* Puts the traces of all ranks into one file of a sink that the caller commits, by the options
 * "rank", "steps", "time-range", "drop-category" and "align".  The accounts of the inputs are in
 * ta_run_report() then. */
TA_API enum ta_status ta_run_merge(struct ta_run *run, enum ta_merge_format format,
                                   struct ta_sink *sink, struct ta_merged *merged) TA_MUST_CHECK;

/* ---- teams of processes -------------------------------------------------------------------- */

/* Several processes that read the files of one run together, and the first of which makes the
 * report.  How bytes travel between them is for the host to say. */
enum ta_team_state {
    TA_TEAM_STARTING, /* no process waits for another yet */
    TA_TEAM_WORKING,  /* if one fails now, the others wait in vain: end them */
    TA_TEAM_DONE      /* each ends for itself */
};

struct ta_team {
    size_t index, count;
    /* Every process calls it once, with 0 or the exit code that it is going to end with, and with
     * a number for what it has seen.  Returns 0 when all had 0 and have seen the same; else the
     * exit code of all, and `speaker` is the one that says why. */
    int (*agree)(struct ta_team *team, int code, uint64_t seen);
    /* Bytes to and from another process. */
    enum ta_status (*send)(struct ta_ctx *ctx, struct ta_team *team, size_t to,
                           struct ta_slice bytes);
    enum ta_status (*receive)(struct ta_ctx *ctx, struct ta_team *team, size_t from, char **bytes,
                              size_t *n); /* from malloc() */
    void *user;
    enum ta_team_state state;
    bool has_agreed;
    int code; /* what was agreed on */
    size_t speaker;
};

/* Calls agree(), and notes what follows from it. */
static inline int ta_team_agree(struct ta_team *team, int code, uint64_t seen)
{
    const int all = team->code = team->agree(team, code, seen);
    team->has_agreed = true;
    team->state = all ? TA_TEAM_DONE : TA_TEAM_WORKING;
    return all;
}

/* Whether this process says what went wrong. */
static inline bool ta_team_speaks(const struct ta_team *team)
{
    return team->state == TA_TEAM_WORKING || team->index == team->speaker;
}

/* Lets the run do its part of the work of a team, which must outlive it. */
TA_API void ta_run_join_team(struct ta_run *run, struct ta_team *team);

/* ---- errors and figures ------------------------------------------------------------------- */

/* What went wrong in the last call that failed, outermost cause first; "" before any failure. */
TA_API const char *ta_run_error(const struct ta_run *run);

/* The context of the calls of this run, for functions that take one (base.h, output.h). */
TA_API struct ta_ctx *ta_run_context(struct ta_run *run);

/* How many threads the run uses, and how much was read: events, and bytes when inflated. */
struct ta_run_effort {
    size_t threads;
    uint64_t events, bytes;
};

/* So far. */
TA_API struct ta_run_effort ta_run_effort(const struct ta_run *run);

/* Where the time went: a stage such as "read", or an output such as "html". */
struct ta_run_time {
    const char *name;
    bool is_output;
    int64_t wall_ns, cpu_ns;
};
/* One after the other, stages in their order before outputs; false after the last. */
TA_API bool ta_run_spent(const struct ta_run *run, size_t index, struct ta_run_time *time);

/* ==== plugins ================================================================================= */

/* Lists of plugins: what there is, where it came from, which options it has, and which values they
 * have and why. */

struct ta_registry;

/* Where plugins come from that no shared object brought. */
#define TA_BUILT_IN "built in"

/* Name of the option that every analysis and rule has. */
#define TA_ENABLED "enabled"

/* What can be said of a rule in place of what it says itself, by name as an option is. */
enum ta_rule_word { TA_RULE_SEVERITY, TA_RULE_TITLE, TA_RULE_ADVICE, TA_RULE_WORDS };
extern TA_API const char *const ta_rule_word_names[TA_RULE_WORDS];

struct ta_said {
    const char *text, *origin; /* NULL: nothing was said */
};

/* A rule that a file defines: the worst number of a column, against its option "threshold". */
struct ta_rule_data {
    const char *id, *table, *column;
    const char *threshold; /* as written, with or without a unit */
    bool is_below;         /* it fires below the threshold, the smallest number is the worst */
    struct ta_rule_where {
        const char *column, *value; /* a text, or a number as text */
    } const *where;
    size_t n_where;
    const char *place; /* of its definition, for messages */
};

/* One registered plugin.  `plugin.ops` has the full size of this host's ops: callbacks that
 * the plugin does not know are NULL. */
struct ta_entry {
    struct ta_plugin plugin;
    const char *origin;               /* TA_BUILT_IN or the path of the shared object */
    const double *option_values;      /* presets or what --set gave, in table order */
    bool off;                         /* an analysis or rule that is left out: ID.enabled=false */
    const char *off_origin;           /* who said so, or the contrary; NULL: nobody */
    const char *const *value_origins; /* who gave each value, NULL: it is the preset */
    struct ta_said words[TA_RULE_WORDS]; /* of a rule */
    const struct ta_rule_data *data;     /* of a rule without code, else NULL */
};

/* A registry of the built-in plugins alone; NULL after ta_fail(). ta_run_plugins() gives the
 * registry of a run with all other plugins. */
TA_API struct ta_registry *ta_registry_new(struct ta_ctx *ctx);
TA_API void ta_registry_free(struct ta_registry *registry);

/* Plugins of one kind, ordered by id. */
TA_API size_t ta_registry_count(const struct ta_registry *registry, enum ta_plugin_kind kind);
TA_API const struct ta_entry *ta_registry_at(const struct ta_registry *registry,
                                             enum ta_plugin_kind kind, size_t index);
/* NULL when there is none. */
static inline const struct ta_entry *ta_registry_find(const struct ta_registry *registry,
                                                      enum ta_plugin_kind kind, const char *id)
{
    for (size_t i = 0; i < ta_registry_count(registry, kind); i++)
        if (strcmp(ta_registry_at(registry, kind, i)->plugin.id, id) == 0)
            return ta_registry_at(registry, kind, i);
    return NULL;
}

/* "input", "log", "analysis", "advice", "headline", "output". */
static inline const char *ta_plugin_kind_name(enum ta_plugin_kind kind)
{
    static const char *const names[] = {"input", "log", "analysis", "advice", "headline", "output"};
    return names[kind];
}

/* What is set. */
enum ta_setting_kind {
    TA_SET_OPTION,  /* "ID.NAME=VALUE", an option of all plugins with this id */
    TA_SET_RULE,    /* the same of the rule with this id alone */
    TA_SET_RULE_OFF /* "ID": leaves a rule out of a run, not the analysis of the same id */
};

/* Sets an option.  The name "enabled" is an option of all analyses and rules that have none of that
 * name: "ID.enabled=false" leaves them out of a run.  Rules also have the names of
 * ta_rule_word_names[].  `origin` says who wants it and is copied. */
TA_API enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                                      enum ta_setting_kind kind, const char *setting,
                                      const char *origin) TA_MUST_CHECK;

/* Adds a rule without code; `data` must outlive the registry.  An id that a plugin has already, or
 * a threshold that is no number, is TA_ERR_USAGE. */
TA_API enum ta_status ta_registry_add_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                           const struct ta_rule_data *data) TA_MUST_CHECK;

/* Whether the declared tables have the columns that rules without code name, in their texts too.
 * Rules that are off are left alone. */
TA_API enum ta_status ta_registry_check_rules(struct ta_ctx *ctx,
                                              const struct ta_registry *registry) TA_MUST_CHECK;

/* Writes what plugins and the program declare of tables and scalars, and what they read, as members
 * of a JSON object (schemas/plugins-1.schema.json): "sections", "tables", "scalars", "readers". */
TA_API enum ta_status ta_put_declarations(struct ta_ctx *ctx, struct ta_file *out,
                                          const struct ta_registry *registry) TA_MUST_CHECK;

TA_END_DECLS

#endif
