/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All plugins of a run, built in and loaded, and the values of their options. */
#ifndef TA_PLUGIN_REGISTRY_H
#define TA_PLUGIN_REGISTRY_H

#include "traceanalyze/plugin.h"
#include "traceanalyze/status.h"
#include "traceanalyze/table.h"

struct ta_part;
struct ta_registry;

/* Where plugins come from that no shared object brought. */
#define TA_BUILT_IN "built in"

/* Name of the option that every analysis and rule has. */
#define TA_ENABLED "enabled"

/* What can be said of a rule in place of what it says itself, by name as an option is. */
enum ta_rule_word { TA_RULE_SEVERITY, TA_RULE_TITLE, TA_RULE_ADVICE, TA_RULE_WORDS };
extern const char *const ta_rule_word_names[TA_RULE_WORDS];

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

/* A registry with every built-in plugin; NULL after ta_fail(). */
struct ta_registry *ta_registry_new(struct ta_ctx *ctx);
void ta_registry_free(struct ta_registry *registry);

/* Loads one shared object, or every *.so of a folder by name.  A file that is not ours, of
 * another ABI, in an untrusted place, or that repeats a (kind, id) is TA_ERR_PLUGIN. */
enum ta_status ta_registry_load(struct ta_ctx *ctx, struct ta_registry *registry,
                                const char *path) TA_MUST_CHECK;

/* Loads what lies in the plugin folder of the installation, and then in the folders of
 * TRACEANALYZE_PLUGIN_PATH; the latter not in a program with raised privileges.  An installation
 * without such a folder is no error, an untrusted one is passed over with a warning. */
enum ta_status ta_registry_load_defaults(struct ta_ctx *ctx,
                                         struct ta_registry *registry) TA_MUST_CHECK;

/* Sets an option, "ID.NAME=VALUE".  The name "enabled" stands for all analyses and rules of an id
 * that have no option of that name: "ID.enabled=false" leaves them out of a run.  Rules also have
 * the names of ta_rule_word_names[].  `origin` says who wants it and is copied. */
enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                               const char *assignment, const char *origin) TA_MUST_CHECK;

/* The same of the rule with this id alone, and not of the analysis that has it too. */
enum ta_status ta_registry_set_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const char *assignment, const char *origin) TA_MUST_CHECK;

/* Which analyses a run needs; those whose results they read come with them. */
struct ta_wanted {
    const char *const *ids;             /* of built-in ones; ends with NULL, or NULL */
    const struct ta_part *const *parts; /* and whose tables these read; ends with NULL, or NULL */
    bool loaded;                        /* and all that are not built in */
    bool compared; /* for a comparison: and those with figures; of partials what it reads */
};

/* Reads and accounts, runs no analysis. */
extern const struct ta_wanted ta_want_nothing;

/* Whether an analysis is on, and one of them; NULL wants all. */
bool ta_registry_wants(const struct ta_registry *registry, const struct ta_entry *entry,
                       const struct ta_wanted *wanted);

/* Leaves a rule out of a run, not the analysis of the same id. */
enum ta_status ta_registry_disable_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                        const char *id, const char *origin) TA_MUST_CHECK;

/* Adds a rule without code; `data` must outlive the registry.  An id that a plugin has already, or
 * a threshold that is no number, is TA_ERR_USAGE. */
enum ta_status ta_registry_add_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_rule_data *data) TA_MUST_CHECK;

/* Checks what plugins declare of tables, when all are loaded: tables, their columns and charts, and
 * the references of all readers, each of which names a declared column.  TA_ERR_PLUGIN otherwise.
 */
enum ta_status ta_registry_check(struct ta_ctx *ctx, struct ta_registry *registry) TA_MUST_CHECK;

/* Whether the declared tables have the columns that rules without code name, in their texts too.
 * Rules that are off are left alone. */
enum ta_status ta_registry_check_rules(struct ta_ctx *ctx,
                                       const struct ta_registry *registry) TA_MUST_CHECK;

/* The same of one such rule and its table, which has these columns. */
enum ta_status ta_rule_check_columns(struct ta_ctx *ctx, const struct ta_entry *rule,
                                     const struct ta_column *columns, size_t n) TA_MUST_CHECK;

/* The declaration of a table, and of which analysis it is: NULL for a table that the program itself
 * makes.  NULL when nothing declares it. */
const struct ta_table_def *ta_registry_table(const struct ta_registry *registry, const char *id,
                                             const struct ta_entry **owner);

/* All declared tables, ordered by id. */
size_t ta_registry_table_count(const struct ta_registry *registry);
const struct ta_table_def *ta_registry_table_at(const struct ta_registry *registry, size_t index);

/* Plugins of one kind, ordered by id. */
size_t ta_registry_count(const struct ta_registry *registry, enum ta_plugin_kind kind);
const struct ta_entry *ta_registry_at(const struct ta_registry *registry, enum ta_plugin_kind kind,
                                      size_t index);
/* NULL when there is none. */
const struct ta_entry *ta_registry_find(const struct ta_registry *registry,
                                        enum ta_plugin_kind kind, const char *id);

/* A decimal number with or without one of the suffixes of a unit; which one goes to `unit`. */
bool ta_option_number(const char *text, double *value, enum ta_option_unit *unit);

/* "input", "analysis", "advice", "headline", "output". */
const char *ta_plugin_kind_name(enum ta_plugin_kind kind);

#endif
