/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configuration: files and variables of the environment become settings of the options in
 * options.c.  Which keys exist follows from that table and from the plugins' tables of options. */
#ifndef TA_CLI_CONFIG_H
#define TA_CLI_CONFIG_H

#include "base/vec.h"
#include "cli/args.h"
#include "base/yaml/yaml.h"

struct ta_registry;
struct ta_rule_data;

/* The file of the working folder.  Whoever made that folder may not be trusted, so this file cannot
 * name places. */
#define TA_CONFIG_HERE "traceanalyze.yaml"

/* The block of a configuration, and of a file of --rules, that is about rules. */
#define TA_CONFIG_RULES "rules"

/* Everything that was read, from weak to strong. */
struct ta_config {
    struct ta_arena arena;
    TA_VEC(struct ta_setting) settings;
    TA_VEC(const struct ta_rule_data *) rules; /* new ones */
    TA_VEC(const char *) files;                /* those read */
    TA_VEC(const char *) notes;                /* what -v says about them */
};

void ta_config_free(struct ta_config *config);

/* Reads all layers: the system's file, the user's, ./traceanalyze.yaml, then `file` or else the
 * file in TRACEANALYZE_CONFIG, then the variables. Values are checked by the table of options;
 * TA_ERR_USAGE for what is wrong, with its place. */
enum ta_status ta_config_load(struct ta_ctx *ctx, const char *file,
                              struct ta_config *config) TA_MUST_CHECK;

/* Reads this file alone, and must find it. */
enum ta_status ta_config_load_file(struct ta_ctx *ctx, const char *file,
                                   struct ta_config *config) TA_MUST_CHECK;

/* Adds what the variables of the environment say about options of plugins, and sets them. */
enum ta_status ta_config_plugin_variables(struct ta_ctx *ctx, struct ta_config *config,
                                          struct ta_registry *registry) TA_MUST_CHECK;

/* The setting that a text of the options came from, NULL when it came from the command line. */
const struct ta_setting *ta_config_origin(const struct ta_config *config, const char *text);

/* "FILE:LINE:COLUMN", or the name of a variable. */
#define TA_CONFIG_PLACE_MAX 4200
const char *ta_config_place(const struct ta_setting *setting, char place[TA_CONFIG_PLACE_MAX]);

/* Adds the settings and new rules of a file that has `rules:` alone. */
enum ta_status ta_config_load_rules(struct ta_ctx *ctx, const char *file,
                                    struct ta_config *config) TA_MUST_CHECK;

/* Sets an option of a plugin by a setting of a file.  One that need not be there may be missing. */
enum ta_status ta_config_set_plugin(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_setting *setting) TA_MUST_CHECK;

/* Adds the place of a text that turned out to be unusable to the causes; returns `status`. */
enum ta_status ta_config_cause(struct ta_ctx *ctx, const struct ta_config *config, const char *text,
                               enum ta_status status);

/* ---- keys (config_keys.c) ----------------------------------------------------------------- */

#define TA_CONFIG_KEY_MAX 64

/* The key of an option, such as "output.theme"; NULL for options of a single call. */
const char *ta_config_key(const struct ta_arg_option *option, char key[TA_CONFIG_KEY_MAX]);

/* How the values of an option stand in a file, by what its argument looks like in --help. */
enum ta_config_shape {
    TA_CONFIG_SCALAR,
    TA_CONFIG_LIST,    /* LIST, or an option that may be repeated */
    TA_CONFIG_MAP,     /* NAME=VALUE */
    TA_CONFIG_PLUGINS, /* ID.NAME=VALUE: a map of maps */
};
enum ta_config_shape ta_config_shape(const struct ta_arg_option *option);

/* Whether an option names a place of the file system. */
bool ta_config_is_place(const struct ta_arg_option *option);

/* "TRACEANALYZE_OUTPUT_THEME" of "output.theme". */
#define TA_CONFIG_VARIABLE_MAX 192
const char *ta_config_variable(const char *key, char variable[TA_CONFIG_VARIABLE_MAX]);

/* ---- one file (config_tree.c, config_profiling.c, config_rules.c) -------------------------- */

struct ta_config_file {
    struct ta_ctx *ctx;
    struct ta_config *config;
    const char *name;
    bool is_here; /* it is ./traceanalyze.yaml */
};

/* Adds the settings of a file. */
enum ta_status ta_config_read_tree(struct ta_config_file *file,
                                   const struct ta_yaml *root) TA_MUST_CHECK;

/* Adds the settings of the block `profiling:`, which a profiler's own configuration has. */
enum ta_status ta_config_read_profiling(struct ta_config_file *file,
                                        const struct ta_yaml *block) TA_MUST_CHECK;

/* Adds the settings of the block `rules:`, and the rules that it defines. */
enum ta_status ta_config_read_rules(struct ta_config_file *file,
                                    const struct ta_yaml *block) TA_MUST_CHECK;

/* A scalar as the command line takes it; NULL when it is "out of memory". */
const char *ta_config_scalar_text(struct ta_config_file *file, const struct ta_yaml *value);

/* TA_ERR_USAGE with the place of a value or key. */
enum ta_status ta_config_refuse(const struct ta_config_file *file, const struct ta_yaml *at,
                                const char *format, ...) TA_PRINTF(3, 4);

/* The same where a value is no map, which may be empty: "KEY is a list, expected WHAT". */
enum ta_status ta_config_expect_map(const struct ta_config_file *file, const struct ta_yaml *value,
                                    const char *what) TA_MUST_CHECK;

/* Adds a setting after checking it.  `text` must live as long as the configuration; NULL is "out
 * of memory". */
enum ta_status ta_config_add(struct ta_config_file *file, const struct ta_arg_option *option,
                             const struct ta_yaml *at, const char *text) TA_MUST_CHECK;

/* The option with this field. */
const struct ta_arg_option *ta_config_option_at(size_t offset);

/* Keeps a line for -v; without memory it is not said. */
void ta_config_note(struct ta_config *config, const char *format, ...) TA_PRINTF(2, 3);

#endif
