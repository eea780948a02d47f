/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of plugins: what there is, where it came from, which options it has, and which values they
 * have and why. */
#ifndef TRACEANALYZE_REGISTRY_H
#define TRACEANALYZE_REGISTRY_H

#include "plugin.h"
#include "status.h"

TA_BEGIN_DECLS

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

/* A registry of the built-in plugins alone; NULL after ta_fail().  That of a run, with all others,
 * is ta_run_plugins(). */
TA_API struct ta_registry *ta_registry_new(struct ta_ctx *ctx);
TA_API void ta_registry_free(struct ta_registry *registry);

/* Plugins of one kind, ordered by id. */
TA_API size_t ta_registry_count(const struct ta_registry *registry, enum ta_plugin_kind kind);
TA_API const struct ta_entry *ta_registry_at(const struct ta_registry *registry,
                                             enum ta_plugin_kind kind, size_t index);
/* NULL when there is none. */
TA_API const struct ta_entry *ta_registry_find(const struct ta_registry *registry,
                                               enum ta_plugin_kind kind, const char *id);

/* "input", "analysis", "advice", "headline", "output". */
TA_API const char *ta_plugin_kind_name(enum ta_plugin_kind kind);

/* Sets an option, "ID.NAME=VALUE".  The name "enabled" stands for all analyses and rules of an id
 * that have no option of that name: "ID.enabled=false" leaves them out of a run.  Rules also have
 * the names of ta_rule_word_names[].  `origin` says who wants it and is copied. */
TA_API enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                                      const char *assignment, const char *origin) TA_MUST_CHECK;

/* The same of the rule with this id alone, and not of the analysis that has it too. */
TA_API enum ta_status ta_registry_set_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                           const char *assignment,
                                           const char *origin) TA_MUST_CHECK;

/* Leaves a rule out of a run, not the analysis of the same id. */
TA_API enum ta_status ta_registry_disable_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                               const char *id, const char *origin) TA_MUST_CHECK;

/* Adds a rule without code; `data` must outlive the registry.  An id that a plugin has already, or
 * a threshold that is no number, is TA_ERR_USAGE. */
TA_API enum ta_status ta_registry_add_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                           const struct ta_rule_data *data) TA_MUST_CHECK;

/* Whether the declared tables have the columns that rules without code name, in their texts too.
 * Rules that are off are left alone. */
TA_API enum ta_status ta_registry_check_rules(struct ta_ctx *ctx,
                                              const struct ta_registry *registry) TA_MUST_CHECK;

TA_END_DECLS

#endif
