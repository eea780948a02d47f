/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this folder share: the registry from inside, and the trust in paths. */
#ifndef TA_PLUGIN_REGISTRY_IMPL_H
#define TA_PLUGIN_REGISTRY_IMPL_H

#include "plugin/registry.h"

#include "traceanalyze/base.h"

/* A loaded shared object.  Its descriptor stays open: the loader knows objects by name, and
 * /proc/self/fd/N must not come to mean another file. */
struct ta_library {
    void *handle;
    int fd;
    struct ta_library *next;
};

/* The largest threshold of a rule without code: whole numbers up to it are exact. */
#define TA_RULE_LARGEST 9007199254740992.0

/* An entry and its option values, which everyone else sees as constants. */
struct ta_slot {
    struct ta_entry entry;
    double *values;
    const char **origins; /* of the values */
};

struct ta_registry {
    struct ta_arena arena;                 /* slots, option values, origins */
    struct ta_slot **slots[TA_KIND_COUNT]; /* by id */
    size_t count[TA_KIND_COUNT];
    struct ta_declared {
        const struct ta_table_def *def;
        const struct ta_entry *owner;
    } * tables; /* by id, of ta_registry_check() */
    struct ta_declared_scalar {
        const struct ta_scalar_def *def;
        const struct ta_entry *owner;
    } * scalars; /* in the order of analyses */
    size_t n_tables, n_scalars;
    struct ta_ref readings[TA_READINGS]; /* who is read as what; NULL: nobody */
    struct ta_library *libraries;
};

/* Checks a descriptor and adds a copy of it; `origin` is copied. */
enum ta_status ta_registry_add(struct ta_ctx *ctx, struct ta_registry *registry,
                               const struct ta_plugin *plugin, const char *origin) TA_MUST_CHECK;

/* The same for a rule without code, which has no callbacks. */
enum ta_status ta_registry_add_data(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_plugin *plugin,
                                    const struct ta_rule_data *data) TA_MUST_CHECK;

/* Says in a rule's words what the rule shall say; TA_ERR_USAGE for a word that makes no sense. */
enum ta_status ta_rule_say(struct ta_ctx *ctx, struct ta_registry *registry, struct ta_slot *slot,
                           enum ta_rule_word word, const char *text,
                           const char *origin) TA_MUST_CHECK;

/* Unloads all of a list, which may be NULL. */
void ta_libraries_close(struct ta_library *libraries);

/* The plugin folder of this installation, NULL when it has none, to free(): the one next to the
 * program, or next to the shared library that this code is in, wherever that is now. Where that
 * cannot be told, and in a program with raised privileges, it is the one that the build was
 * configured for. */
enum ta_status ta_plugin_folder(struct ta_ctx *ctx, char **folder) TA_MUST_CHECK;

/* Opens a file or folder when nobody but root and this user can have put it there: each
 * component of its real path belongs to one of them and is writable for no one else. */
enum ta_status ta_trusted_open(struct ta_ctx *ctx, const char *path, int *fd) TA_MUST_CHECK;

#endif
