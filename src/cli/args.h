/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line as data: one table of commands, one of options, and what was given.
 *
 * Parsing, errors, --help, manual pages and completions all come from the tables in options.c; a
 * new option is a row there and a field here. */
#ifndef TA_CLI_ARGS_H
#define TA_CLI_ARGS_H

#include "base/value.h"
#include "traceanalyze/run.h"

enum ta_command_id {
    TA_COMMAND_REPORT,
    TA_COMMAND_DIFF,
    TA_COMMAND_AGGREGATE,
    TA_COMMAND_REDUCE,
    TA_COMMAND_SCALING,
    TA_COMMAND_CHART,
    TA_COMMAND_CHECK,
    TA_COMMAND_MERGE,
    TA_COMMAND_PLUGINS,
    TA_COMMAND_RULES,
    TA_COMMAND_SCHEMA,
    TA_COMMAND_CONFIG,
    TA_COMMAND_COMPLETION,
    TA_COMMAND_HELP,
    TA_COMMAND_COUNT
};

struct ta_command {
    const char *name;
    const char *operands; /* "INPUT..." */
    const char *summary;  /* half a line */
    const char *details;  /* paragraphs, for --help and the manual page */
    const char *examples; /* a command line each */
    size_t least, most;   /* operands */
};

/* By enum ta_command_id. */
extern const struct ta_command ta_commands[TA_COMMAND_COUNT];

/* The command of that name; a usage error says what was probably meant. */
enum ta_status ta_command_choose(struct ta_ctx *ctx, const char *name,
                                 const struct ta_command **command) TA_MUST_CHECK;

/* ---- options ------------------------------------------------------------------------------ */

/* Where --help lists an option. */
enum ta_arg_group { TA_GROUP_COMMAND, TA_GROUP_SELECTION, TA_GROUP_GLOBAL, TA_GROUP_COUNT };

/* An option.  Of one that is an option of a run, what it takes and means is in the table of the
 * library: ta_arg_takes() has it for both. */
struct ta_arg_option {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* its name in --help; NULL: takes none */
    uint32_t commands;    /* bit 1 << enum ta_command_id */
    enum ta_arg_group group;
    enum ta_value_type type;
    size_t offset; /* of the field in struct ta_cmdline */
    int64_t least, most;
    const char *const *choices; /* ends with NULL */
    const char *help;           /* NULL: of a run */
};

/* Ends with a NULL name.  A name may have several rows, for different commands. */
extern const struct ta_arg_option ta_arg_options[];

/* What an option takes, and means. */
struct ta_run_option ta_arg_takes(const struct ta_arg_option *option);

/* Room for the words of any option, with bars between them. */
enum { TA_ARG_WORDS_MAX = 128 };

/* How the value of an option is written: its choices, "auto|light|dark", else the name of its
 * argument; NULL when it takes none. */
const char *ta_arg_argument(const struct ta_arg_option *option, char words[TA_ARG_WORDS_MAX]);

static inline bool ta_arg_is_for(const struct ta_arg_option *option,
                                 const struct ta_command *command)
{
    return option->commands >> (command - ta_commands) & 1;
}

/* ---- what was given ----------------------------------------------------------------------- */

enum ta_when { TA_WHEN_AUTO, TA_WHEN_ALWAYS, TA_WHEN_NEVER };
enum ta_annotate { TA_ANNOTATE_AUTO, TA_ANNOTATE_GITHUB, TA_ANNOTATE_NONE };

/* An option as it stood on the command line. */
struct ta_given {
    const char *name, *value;
    size_t operands; /* that stood before it */
};

/* A value of an option that comes from a configuration, as text of a command line. */
struct ta_setting {
    const struct ta_arg_option *option;
    const char *text;
    const char *origin;          /* a file, or a variable of the environment */
    uint32_t line, column;       /* in the file, from 1; 0 for a variable */
    uint32_t id_line, id_column; /* of the id of a plugin; 0 when there is none */
    bool is_optional;            /* of a plugin that need not be there */
    bool is_rule;                /* of the rule with that id alone, TA_SET_RULE */
};

/* Texts point into argv, or into the configuration. */
struct ta_cmdline {
    const struct ta_command *command; /* NULL when none was given */
    struct ta_texts operands;
    bool help, version, quiet, strict, json, list, vs, strong, weak, partial;
    int verbose;
    int color, progress;    /* enum ta_when */
    int json_log;           /* 0 text, 1 JSON */
    int theme;              /* 0 auto, 1 light, 2 dark */
    int letter;             /* 0 A4, 1 letter */
    int paper_detail;       /* 0 short, 1 full */
    int inflater, cpu;      /* order of their words */
    int timeline;           /* enum ta_timeline_mode */
    int assets;             /* 0 inline, 1 split */
    int align;              /* order of its words */
    int by;                 /* 0 rank, 1 node, 2 group */
    int64_t outliers;       /* TA_MISSING: not given */
    int64_t ranks_per_node; /* 0: not given */
    int64_t jobs, top;      /* 0: the default */
    int64_t world_size;     /* TA_MISSING: not given */
    int64_t shard_count;    /* 0: not given */
    const char *shard;
    struct ta_texts fail_on;
    int gate; /* order of its words */
    double confidence, playback_fps; /* 0: the default */
    const char *min_effect, *noise_floor, *save_baseline;
    const char *summary_md, *junit, *bench_json, *bmf_json;
    int annotate; /* enum ta_annotate */
    bool allow_single_run;
    bool man;
    struct ta_texts runs, plan;
    struct ta_texts limits, plugin_paths, settings, disabled_rules, rule_files, maps;
    const char *input, *hardware, *price, *rank_regex, *step_marker, *out, *format, *title;
    const char *memory_limit, *tmpdir;
    const char *max_html_size;
    const char *rank, *steps, *time_range, *drop_category;
    const char *config, *baseline;
    bool no_config;
    struct ta_extent size; /* 0 × 0: the default */
    double scale;
    struct ta_given *given; /* the options of the command line in their order */
    size_t n_given;
};

/* Everything at its default. */
struct ta_cmdline ta_cmdline_defaults(void);

/* Reads a command line.  Whatever it returns, *args is valid and ta_cmdline_free() ends it; on
 * failure `command` is the one that was understood by then, if any, and `json_log` is as given, so
 * that the failure can be said in that form. */
enum ta_status ta_cmdline_parse(struct ta_ctx *ctx, int argc, char **argv,
                                struct ta_cmdline *args) TA_MUST_CHECK;
void ta_cmdline_free(struct ta_cmdline *args);

/* Stores a value in the field of its option; NULL for an option without one.  Texts are kept, not
 * copied. */
enum ta_status ta_cmdline_store(struct ta_ctx *ctx, struct ta_cmdline *args,
                                const struct ta_arg_option *option, const char *text) TA_MUST_CHECK;

/* Puts settings, from weak to strong, below what the command line gave.  Settings of options that
 * do not go with the command are passed over. */
enum ta_status ta_cmdline_configure(struct ta_ctx *ctx, struct ta_cmdline *args,
                                    const struct ta_setting *settings, size_t n) TA_MUST_CHECK;

/* Whether the option with the field at this offset stood on the command line. */
bool ta_cmdline_is_given(const struct ta_cmdline *args, size_t offset);
#define TA_ARGS_IS_GIVEN(args, field) ta_cmdline_is_given(args, offsetof(struct ta_cmdline, field))

#endif
