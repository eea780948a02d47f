/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All plugins of a run, built in and loaded, and the values of their options. */
#ifndef TA_PLUGIN_REGISTRY_H
#define TA_PLUGIN_REGISTRY_H

#include "traceanalyze/plugin.h"
#include "traceanalyze/status.h"

struct ta_registry;

/* Name of the option that every analysis and rule has. */
#define TA_ENABLED "enabled"

/* One registered plugin.  `plugin.ops` has the full size of this host's ops: callbacks that
 * the plugin does not know are NULL. */
struct ta_entry {
    struct ta_plugin plugin;
    const char *origin;          /* "built in" or the path of the shared object */
    const double *option_values; /* presets or what --set gave, in table order */
    bool off;                    /* an analysis or rule that is left out: ID.enabled=false */
};

/* A registry with every built-in plugin; NULL after ta_fail(). */
struct ta_registry *ta_registry_new(struct ta_ctx *ctx);
void ta_registry_free(struct ta_registry *registry);

/* Loads one shared object, or every *.so of a folder by name.  A file that is not ours, of
 * another ABI, in an untrusted place, or that repeats a (kind, id) is TA_ERR_PLUGIN. */
enum ta_status ta_registry_load(struct ta_ctx *ctx, struct ta_registry *registry,
                                const char *path) TA_MUST_CHECK;

/* Loads what lies in the install folder and in the folders of TRACEANALYZE_PLUGIN_PATH; the
 * latter not in a program with raised privileges.  A folder that is not there is no error, an
 * untrusted install folder is passed over with a warning. */
enum ta_status ta_registry_load_defaults(struct ta_ctx *ctx,
                                         struct ta_registry *registry) TA_MUST_CHECK;

/* Sets an option, "ID.NAME=VALUE".  The name "enabled" stands for all analyses and rules of an id
 * that have no option of that name: "ID.enabled=false" leaves them out of a run. */
enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                               const char *assignment) TA_MUST_CHECK;

/* Leaves a rule out of a run, not the analysis of the same id. */
enum ta_status ta_registry_disable_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                        const char *id) TA_MUST_CHECK;

/* Plugins of one kind, ordered by id. */
size_t ta_registry_count(const struct ta_registry *registry, enum ta_plugin_kind kind);
const struct ta_entry *ta_registry_at(const struct ta_registry *registry, enum ta_plugin_kind kind,
                                      size_t index);
/* NULL when there is none. */
const struct ta_entry *ta_registry_find(const struct ta_registry *registry,
                                        enum ta_plugin_kind kind, const char *id);

/* "input", "analysis", "advice", "output". */
const char *ta_plugin_kind_name(enum ta_plugin_kind kind);

#endif
