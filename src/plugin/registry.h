/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All plugins of a run, built in and loaded: what only the library does with them. */
#ifndef TA_PLUGIN_REGISTRY_H
#define TA_PLUGIN_REGISTRY_H

#include "traceanalyze/run.h"
#include "traceanalyze/table.h"

/* Loads one shared object, or every *.so of a folder by name.  A file that is not ours, of
 * another ABI, in an untrusted place, or that repeats a (kind, id) is TA_ERR_PLUGIN. */
enum ta_status ta_registry_load(struct ta_ctx *ctx, struct ta_registry *registry,
                                const char *path) TA_MUST_CHECK;

/* Loads what lies in the plugin folder of the installation, and then in the folders of
 * TRACEANALYZE_PLUGIN_PATH; the latter not in a program with raised privileges.  An installation
 * without such a folder is no error, an untrusted one is passed over with a warning. */
enum ta_status ta_registry_load_defaults(struct ta_ctx *ctx,
                                         struct ta_registry *registry) TA_MUST_CHECK;

/* Checks what plugins declare of tables, when all are loaded: tables, their columns and charts, and
 * the references of all readers, each of which names a declared column.  TA_ERR_PLUGIN otherwise.
 */
enum ta_status ta_registry_check(struct ta_ctx *ctx, struct ta_registry *registry) TA_MUST_CHECK;

/* The same of one such rule and its table, which has these columns. */
enum ta_status ta_rule_check_columns(struct ta_ctx *ctx, const struct ta_entry *rule,
                                     const struct ta_column *columns, size_t n) TA_MUST_CHECK;

/* The declaration of a table, and of which analysis it is: NULL for a table that the program itself
 * makes.  NULL when nothing declares it. */
const struct ta_table_def *ta_registry_table(const struct ta_registry *registry, const char *id,
                                             const struct ta_entry **owner);

/* Resolves what tables are read as in a report: the references are the values of enum ta_reading.
 * What nothing declares the report does not have. */
void ta_readings_open(struct ta_refs *refs, const struct ta_registry *registry,
                      const struct ta_report *report);

/* Longest window of a device of a run; without devices the duration of a session, the sum of the
 * stages that are in no other, or the window of the host; TA_MISSING when nothing says how long the
 * run took. */
int64_t ta_run_time(const struct ta_registry *registry, const struct ta_report *report);

/* The same of a scalar. */
const struct ta_scalar_def *ta_registry_scalar(const struct ta_registry *registry, const char *id,
                                               const struct ta_entry **owner);

/* All declared scalars. */
size_t ta_registry_scalar_count(const struct ta_registry *registry);
const struct ta_scalar_def *ta_registry_scalar_at(const struct ta_registry *registry, size_t index);

/* What a plugin reads; a rule without code names its table in another way. */
const struct ta_ref *ta_plugin_reads(const struct ta_plugin *plugin, size_t *n);

/* All declared tables, ordered by id. */
size_t ta_registry_table_count(const struct ta_registry *registry);
const struct ta_table_def *ta_registry_table_at(const struct ta_registry *registry, size_t index);

/* A decimal number with or without one of the suffixes of a unit; which one goes to `unit`. */
bool ta_option_number(const char *text, double *value, enum ta_option_unit *unit);

#endif
