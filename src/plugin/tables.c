/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What plugins declare of tables, checked when the program starts: a slip in the name of a table or
 * of a column is found then, and not by whoever misses a figure in a report. */
#include "plugin/registry_impl.h"

#include <stdlib.h>

#include "plugin/builtin.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/headline.h"
#include "traceanalyze/output.h"

/* A maker or a reader of tables, as messages call it. */
struct party {
    const char *kind, *name;
};

/* The owner of a declaration; NULL is the program. */
static const char *name_of(const struct ta_entry *owner)
{
    return owner ? owner->plugin.id : "the program";
}

/* ---- one table ------------------------------------------------------------------------- */

static enum ta_status refuse(struct ta_ctx *ctx, const struct party *party,
                             const struct ta_table_def *def, const char *what, const char *name)
{
    return ta_fail(ctx, TA_ERR_PLUGIN, "%s \"%s\", table \"%s\": %s%s%s%s", party->kind,
                   party->name, def->id, what, name ? " \"" : "", name ? name : "",
                   name ? "\"" : "");
}

static bool has_column(const struct ta_table_def *def, const char *key)
{
    for (size_t i = 0; i < def->n_columns; i++)
        if (strcmp(def->columns[i].key, key) == 0)
            return true;
    return false;
}

static enum ta_status check_columns(struct ta_ctx *ctx, const struct party *party,
                                    const struct ta_table_def *def)
{
    for (size_t i = 0; i < def->n_columns; i++) {
        const struct ta_column *column = &def->columns[i];
        if (!column->key || !column->title || !column->doc)
            return refuse(ctx, party, def, "a column has no key, title or description",
                          column->key);
        for (size_t other = 0; other < i; other++)
            if (strcmp(def->columns[other].key, column->key) == 0)
                return refuse(ctx, party, def, "two columns have the key", column->key);
    }
    return def->n_columns ? TA_OK : refuse(ctx, party, def, "it has no columns", NULL);
}

/* Whether a declaration names a column of this table, or none. */
static bool is_own(const struct ta_table_def *def, const struct ta_column *column)
{
    return !column || (column >= def->columns && column < def->columns + def->n_columns);
}

static enum ta_status check_chart(struct ta_ctx *ctx, const struct party *party,
                                  const struct ta_table_def *def, const struct ta_chart_def *chart)
{
    bool own = is_own(def, chart->x) && is_own(def, chart->group) && is_own(def, chart->size) &&
               is_own(def, chart->roof.level) && is_own(def, chart->roof.slope) &&
               is_own(def, chart->roof.name);
    for (size_t i = 0; i < TA_CHART_LABELS; i++)
        own = own && is_own(def, chart->label[i]);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX; i++)
        own = own && is_own(def, chart->y[i].column);
    if (!own)
        return refuse(ctx, party, def, "a chart draws a column of another table:", chart->id);
    return chart->y[0].column ? TA_OK
                              : refuse(ctx, party, def, "a chart draws nothing:", chart->id);
}

/* Whether what is said of its figures is of its columns, and complete. */
static bool has_own_figures(const struct ta_table_def *def)
{
    const struct ta_figures *figures = def->figures;
    bool own =
        is_own(def, figures->metric) && is_own(def, figures->basis) && is_own(def, figures->value);
    for (size_t i = 0; i < TA_SAMPLED_COLUMNS; i++)
        own = own && is_own(def, figures->duration[i]);
    const bool has_rates = figures->metric && figures->basis && figures->value;
    return own && (figures->sampled ? figures->duration[0] != NULL : has_rates);
}

static bool are_own(const struct ta_table_def *def, const struct ta_column *const *columns)
{
    bool own = true;
    for (size_t i = 0; i < TA_BRIEF_COLUMNS && columns[i]; i++)
        own = own && is_own(def, columns[i]);
    return own;
}

/* Whether the terminal is shown its columns. */
static bool has_own_brief(const struct ta_table_def *def)
{
    const struct ta_brief *brief = def->brief;
    return is_own(def, brief->largest) && are_own(def, brief->first) &&
           are_own(def, brief->together) && are_own(def, brief->never) &&
           is_own(def, brief->remark) && is_own(def, brief->hidden.column) &&
           is_own(def, brief->nonzero) && is_own(def, brief->renamed.name) &&
           is_own(def, brief->renamed.method);
}

static bool has_own_digest(const struct ta_table_def *def)
{
    const struct ta_digest *digest = def->digest;
    return def->brief && are_own(def, digest->columns) && is_own(def, digest->change) &&
           is_own(def, digest->low) && is_own(def, digest->high);
}

static enum ta_status check_table(struct ta_ctx *ctx, const struct party *party,
                                  const struct ta_table_def *def)
{
    enum ta_status status = check_columns(ctx, party, def);
    for (size_t i = 0; status == TA_OK && i < TA_TABLE_CHARTS && def->chart[i]; i++)
        status = check_chart(ctx, party, def, def->chart[i]);
    if (status == TA_OK && !is_own(def, def->order.by))
        status = refuse(ctx, party, def, "it is ordered by a column of another table", NULL);
    if (status == TA_OK && def->figures && !has_own_figures(def))
        status = refuse(ctx, party, def, "its figures need columns of its own", NULL);
    if (status == TA_OK && def->brief && !has_own_brief(def))
        status = refuse(ctx, party, def, "its brief names a column of another table", NULL);
    if (status == TA_OK && def->digest && !has_own_digest(def))
        status = refuse(ctx, party, def, "its digest needs a brief, and columns of its own", NULL);
    return status;
}

/* ---- readings -------------------------------------------------------------------------- */

/* Notes what a column or a scalar is read as. */
static enum ta_status add_reading(struct ta_ctx *ctx, struct ta_registry *registry,
                                  const struct party *party, enum ta_reading as, struct ta_ref ref)
{
    struct ta_ref *reading = &registry->readings[as];
    const bool is_table = reading->table != NULL;
    if (as != TA_AS_NOTHING && (is_table || reading->scalar))
        return ta_fail(ctx, TA_ERR_PLUGIN, "%s \"%s\": \"%s\"%s%s is read as \"%s\"%s%s already is",
                       party->kind, party->name, ref.table ? ref.table : ref.scalar,
                       ref.table ? ", column " : "", ref.table ? ref.column : "",
                       is_table ? reading->table : reading->scalar, is_table ? ", column " : "",
                       is_table ? reading->column : "");
    if (as != TA_AS_NOTHING)
        *reading = ref;
    return TA_OK;
}

void ta_readings_open(struct ta_refs *refs, const struct ta_registry *registry,
                      const struct ta_report *report)
{
    ta_refs_open(refs, report, registry->readings, TA_READINGS);
}

/* ---- all scalars ------------------------------------------------------------------------ */

const struct ta_scalar_def *ta_registry_scalar(const struct ta_registry *registry, const char *id,
                                               const struct ta_entry **owner)
{
    for (size_t i = 0; i < registry->n_scalars; i++)
        if (strcmp(registry->scalars[i].def->id, id) == 0) {
            *owner = registry->scalars[i].owner;
            return registry->scalars[i].def;
        }
    return NULL;
}

size_t ta_registry_scalar_count(const struct ta_registry *registry)
{
    return registry->n_scalars;
}

const struct ta_scalar_def *ta_registry_scalar_at(const struct ta_registry *registry, size_t index)
{
    return registry->scalars[index].def;
}

static enum ta_status add_scalars(struct ta_ctx *ctx, struct ta_registry *registry,
                                  const struct party *party, const struct ta_entry *owner,
                                  const struct ta_scalar_def *defs, size_t n)
{
    struct ta_declared_scalar *grown =
        reallocarray(registry->scalars, registry->n_scalars + n + 1, sizeof *grown);
    if (!grown)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: scalars=%zu", registry->n_scalars + n);
    registry->scalars = grown;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n; i++) {
        const struct ta_scalar_def *def = &defs[i];
        const struct ta_entry *other;
        if (!def->id || !def->title || !def->doc)
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "%s \"%s\": a scalar has no id, title or description: %s", party->kind,
                           party->name, def->id ? def->id : "");
        if (ta_registry_scalar(registry, def->id, &other))
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "%s \"%s\": the scalar \"%s\" is declared by %s, too", party->kind,
                           party->name, def->id, name_of(other));
        status =
            add_reading(ctx, registry, party, def->read_as, (struct ta_ref){.scalar = def->id});
        grown[registry->n_scalars++] = (struct ta_declared_scalar){def, owner};
    }
    return status;
}

/* ---- all tables ------------------------------------------------------------------------ */

static enum ta_status add_table(struct ta_ctx *ctx, struct ta_registry *registry,
                                const struct ta_table_def *def, const struct ta_entry *owner)
{
    struct ta_declared *grown =
        reallocarray(registry->tables, registry->n_tables + 1, sizeof *grown);
    if (!grown)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: tables=%zu", registry->n_tables + 1);
    registry->tables = grown;
    grown[registry->n_tables++] = (struct ta_declared){def, owner};
    return TA_OK;
}

static enum ta_status add_tables(struct ta_ctx *ctx, struct ta_registry *registry,
                                 const struct party *party, const struct ta_entry *owner,
                                 const struct ta_table_def *const *defs)
{
    enum ta_status status = TA_OK;
    for (; defs && *defs && status == TA_OK; defs++) {
        status = check_table(ctx, party, *defs);
        for (size_t i = 0; status == TA_OK && i < (*defs)->n_columns; i++)
            status = add_reading(
                ctx, registry, party, (*defs)->columns[i].read_as,
                (struct ta_ref){.table = (*defs)->id, .column = (*defs)->columns[i].key});
        if (status == TA_OK)
            status = add_table(ctx, registry, *defs, owner);
    }
    return status;
}

static int by_id(const void *left, const void *right)
{
    const struct ta_declared *a = left, *b = right;
    return strcmp(a->def->id, b->def->id);
}

static enum ta_status list_tables(struct ta_ctx *ctx, struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    registry->n_tables = registry->n_scalars = 0;
    memset(registry->readings, 0, sizeof registry->readings);
    for (const struct ta_part *const *const *list = ta_parts; *list; list++)
        for (const struct ta_part *const *part = *list; *part && status == TA_OK; part++) {
            const struct party party = {"Part", (*part)->name};
            status = add_tables(ctx, registry, &party, NULL, (*part)->tables);
            if (status == TA_OK)
                status =
                    add_scalars(ctx, registry, &party, NULL, (*part)->scalars, (*part)->n_scalars);
        }
    for (size_t i = 0; i < registry->count[TA_KIND_analysis] && status == TA_OK; i++) {
        const struct ta_entry *entry = &registry->slots[TA_KIND_analysis][i]->entry;
        const struct ta_analysis_ops *ops = entry->plugin.analysis;
        const struct party party = {"Analysis", entry->plugin.id};
        status = add_tables(ctx, registry, &party, entry, ops->tables);
        if (status == TA_OK)
            status = add_scalars(ctx, registry, &party, entry, ops->scalars, ops->n_scalars);
    }
    if (status == TA_OK && registry->n_tables)
        qsort(registry->tables, registry->n_tables, sizeof *registry->tables, by_id);
    for (size_t i = 1; i < registry->n_tables && status == TA_OK; i++)
        if (by_id(&registry->tables[i - 1], &registry->tables[i]) == 0)
            status = ta_fail(ctx, TA_ERR_PLUGIN, "Two plugins declare the table \"%s\": %s and %s",
                             registry->tables[i].def->id, name_of(registry->tables[i - 1].owner),
                             name_of(registry->tables[i].owner));
    return status;
}

const struct ta_table_def *ta_registry_table(const struct ta_registry *registry, const char *id,
                                             const struct ta_entry **owner)
{
    const struct ta_table_def key = {.id = id};
    const struct ta_declared wanted = {&key, NULL};
    const struct ta_declared *found =
        registry->n_tables
            ? bsearch(&wanted, registry->tables, registry->n_tables, sizeof wanted, by_id)
            : NULL;
    if (owner)
        *owner = found ? found->owner : NULL;
    return found ? found->def : NULL;
}

size_t ta_registry_table_count(const struct ta_registry *registry)
{
    return registry->n_tables;
}

const struct ta_table_def *ta_registry_table_at(const struct ta_registry *registry, size_t index)
{
    return registry->tables[index].def;
}

/* ---- references ------------------------------------------------------------------------ */

static enum ta_status check_reads(struct ta_ctx *ctx, const struct ta_registry *registry,
                                  const struct party *party, const struct ta_ref *reads, size_t n)
{
    if (n > TA_REFS_MAX)
        return ta_fail(ctx, TA_ERR_PLUGIN, "%s \"%s\" has more than %d references", party->kind,
                       party->name, TA_REFS_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct ta_entry *owner;
        if (reads[i].scalar && !ta_registry_scalar(registry, reads[i].scalar, &owner))
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "%s \"%s\" reads the scalar \"%s\", which nothing declares", party->kind,
                           party->name, reads[i].scalar);
        if (reads[i].scalar)
            continue;
        const struct ta_table_def *def =
            reads[i].table ? ta_registry_table(registry, reads[i].table, NULL) : NULL;
        if (!reads[i].table)
            return ta_fail(ctx, TA_ERR_PLUGIN, "%s \"%s\": reference %zu names no table",
                           party->kind, party->name, i);
        if (!def)
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "%s \"%s\" reads the table \"%s\", which nothing declares", party->kind,
                           party->name, reads[i].table);
        if (reads[i].column && !has_column(def, reads[i].column))
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "%s \"%s\" reads the column \"%s\" of the table \"%s\", which has none "
                           "of that name",
                           party->kind, party->name, reads[i].column, reads[i].table);
    }
    return TA_OK;
}

/* Other tables that declarations name. */
static enum ta_status check_briefs(struct ta_ctx *ctx, const struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < registry->n_tables && status == TA_OK; i++) {
        const struct ta_brief *brief = registry->tables[i].def->brief;
        const struct party party = {"Table", registry->tables[i].def->id};
        if (!brief)
            continue;
        struct ta_ref named[1 + TA_BRIEF_WORDS];
        size_t n = 0;
        if (brief->unless)
            named[n++] = (struct ta_ref){.table = brief->unless};
        for (size_t k = 0; k < TA_BRIEF_WORDS && brief->hidden.tables[k]; k++)
            named[n++] = (struct ta_ref){.table = brief->hidden.tables[k]};
        status = check_reads(ctx, registry, &party, named, n);
        if (status == TA_OK)
            status = check_reads(ctx, registry, &party, brief->reads, brief->n_reads);
    }
    return status;
}

/* The column of another table that a column repeats: there, of its type, and found by a key. */
static enum ta_status check_joint(struct ta_ctx *ctx, const struct ta_registry *registry,
                                  const struct ta_table_def *def, const struct ta_column *column)
{
    const struct party party = {"Table", def->id};
    const struct ta_ref ref = {.table = column->from.table, .column = column->from.column};
    const enum ta_status status = check_reads(ctx, registry, &party, &ref, 1);
    if (status != TA_OK)
        return status;
    const struct ta_table_def *other = ta_registry_table(registry, ref.table, NULL);
    bool is_found = false, is_alike = !ref.column;
    for (size_t i = 0; i < TA_JOINT_KEYS && def->joined_by[i]; i++)
        is_found |= has_column(other, def->joined_by[i]->key);
    for (size_t i = 0; ref.column && i < other->n_columns; i++)
        if (strcmp(other->columns[i].key, ref.column) == 0)
            is_alike = other->columns[i].type == column->type &&
                       other->columns[i].unit == column->unit && !other->columns[i].from.table;
    if (!is_found || !is_alike)
        return ta_fail(ctx, TA_ERR_PLUGIN,
                       "Table \"%s\", column \"%s\": the column of \"%s\" that it repeats has %s",
                       def->id, column->key, ref.table,
                       is_found ? "another type or unit, or repeats one itself" : "no key of its");
    return TA_OK;
}

static enum ta_status check_joints(struct ta_ctx *ctx, const struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < registry->n_tables; i++) {
        const struct ta_table_def *def = registry->tables[i].def;
        for (size_t k = 0; k < def->n_columns && status == TA_OK; k++)
            if (def->columns[k].from.table)
                status = check_joint(ctx, registry, def, &def->columns[k]);
    }
    return status;
}

const struct ta_ref *ta_plugin_reads(const struct ta_plugin *plugin, size_t *n)
{
    *n = 0;
    switch ((enum ta_plugin_kind)plugin->kind) {
    case TA_KIND_analysis:
        *n = plugin->analysis->n_reads;
        return plugin->analysis->reads;
    case TA_KIND_advice:
        *n = plugin->advice->n_reads;
        return plugin->advice->reads;
    case TA_KIND_headline:
        *n = plugin->headline->n_reads;
        return plugin->headline->reads;
    case TA_KIND_output:
        *n = plugin->output->n_reads;
        return plugin->output->reads;
    case TA_KIND_input:
    case TA_KIND_log:
    case TA_KIND_COUNT:
        break;
    }
    return NULL;
}

static enum ta_status check_plugins(struct ta_ctx *ctx, const struct ta_registry *registry)
{
    static const char *const kinds[TA_KIND_COUNT] = {
        [TA_KIND_input] = "Input", [TA_KIND_log] = "Log",           [TA_KIND_analysis] = "Analysis",
        [TA_KIND_advice] = "Rule", [TA_KIND_headline] = "Headline", [TA_KIND_output] = "Output"};
    enum ta_status status = TA_OK;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < registry->count[kind] && status == TA_OK; i++) {
            const struct ta_plugin *plugin = &registry->slots[kind][i]->entry.plugin;
            size_t n;
            const struct ta_ref *reads = ta_plugin_reads(plugin, &n);
            status = check_reads(ctx, registry, &(struct party){kinds[kind], plugin->id}, reads, n);
        }
    return status;
}

enum ta_status ta_registry_check(struct ta_ctx *ctx, struct ta_registry *registry)
{
    enum ta_status status = list_tables(ctx, registry);
    for (const struct ta_part *const *const *list = ta_parts; *list; list++)
        for (const struct ta_part *const *part = *list; *part && status == TA_OK; part++)
            status = check_reads(ctx, registry, &(struct party){"Part", (*part)->name},
                                 (*part)->reads, (*part)->n_reads);
    if (status == TA_OK)
        status = check_briefs(ctx, registry);
    if (status == TA_OK)
        status = check_joints(ctx, registry);
    return status == TA_OK ? check_plugins(ctx, registry) : status;
}
