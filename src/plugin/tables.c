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

static const char *name_of(const struct ta_declared *declared)
{
    return declared->owner ? declared->owner->plugin.id : "the program";
}

static enum ta_status list_tables(struct ta_ctx *ctx, struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    registry->n_tables = 0;
    for (const struct ta_part *const *const *list = ta_parts; *list; list++)
        for (const struct ta_part *const *part = *list; *part && status == TA_OK; part++)
            status = add_tables(ctx, registry, &(struct party){"Part", (*part)->name}, NULL,
                                (*part)->tables);
    for (size_t i = 0; i < registry->count[TA_KIND_analysis] && status == TA_OK; i++) {
        const struct ta_entry *entry = &registry->slots[TA_KIND_analysis][i]->entry;
        status = add_tables(ctx, registry, &(struct party){"Analysis", entry->plugin.id}, entry,
                            entry->plugin.analysis->tables);
    }
    if (status == TA_OK && registry->n_tables)
        qsort(registry->tables, registry->n_tables, sizeof *registry->tables, by_id);
    for (size_t i = 1; i < registry->n_tables && status == TA_OK; i++)
        if (by_id(&registry->tables[i - 1], &registry->tables[i]) == 0)
            status = ta_fail(ctx, TA_ERR_PLUGIN, "Two plugins declare the table \"%s\": %s and %s",
                             registry->tables[i].def->id, name_of(&registry->tables[i - 1]),
                             name_of(&registry->tables[i]));
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

static enum ta_status check_plugins(struct ta_ctx *ctx, const struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < registry->count[TA_KIND_analysis] && status == TA_OK; i++) {
        const struct ta_plugin *plugin = &registry->slots[TA_KIND_analysis][i]->entry.plugin;
        status = check_reads(ctx, registry, &(struct party){"Analysis", plugin->id},
                             plugin->analysis->reads, plugin->analysis->n_reads);
    }
    for (size_t i = 0; i < registry->count[TA_KIND_advice] && status == TA_OK; i++) {
        const struct ta_plugin *plugin = &registry->slots[TA_KIND_advice][i]->entry.plugin;
        status = check_reads(ctx, registry, &(struct party){"Rule", plugin->id},
                             plugin->advice->reads, plugin->advice->n_reads);
    }
    for (size_t i = 0; i < registry->count[TA_KIND_headline] && status == TA_OK; i++) {
        const struct ta_plugin *plugin = &registry->slots[TA_KIND_headline][i]->entry.plugin;
        status = check_reads(ctx, registry, &(struct party){"Headline", plugin->id},
                             plugin->headline->reads, plugin->headline->n_reads);
    }
    for (size_t i = 0; i < registry->count[TA_KIND_output] && status == TA_OK; i++) {
        const struct ta_plugin *plugin = &registry->slots[TA_KIND_output][i]->entry.plugin;
        status = check_reads(ctx, registry, &(struct party){"Output", plugin->id},
                             plugin->output->reads, plugin->output->n_reads);
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
    return status == TA_OK ? check_plugins(ctx, registry) : status;
}

/* ---- which analyses are wanted --------------------------------------------------------- */

const struct ta_wanted ta_want_nothing = {.ids = NULL};

/* Whether a reference is to a table of an analysis. */
static bool is_of(const struct ta_registry *registry, const struct ta_ref *ref,
                  const struct ta_entry *entry)
{
    const struct ta_entry *owner;
    return ta_registry_table(registry, ref->table, &owner) && owner == entry;
}

static bool is_read(const struct ta_registry *registry, const struct ta_part *const *parts,
                    const struct ta_entry *entry)
{
    for (; parts && *parts; parts++)
        for (size_t i = 0; i < (*parts)->n_reads; i++)
            if (is_of(registry, &(*parts)->reads[i], entry))
                return true;
    return false;
}

/* Whether an analysis makes figures of a run. */
static bool has_figures(const struct ta_analysis_ops *ops)
{
    bool has = ops->has_figures;
    for (const struct ta_table_def *const *def = ops->tables; !has && def && *def; def++)
        has = (*def)->figures;
    return has;
}

bool ta_registry_wants(const struct ta_registry *registry, const struct ta_entry *entry,
                       const struct ta_wanted *wanted)
{
    if (!wanted || entry->off)
        return !entry->off;
    if (strcmp(entry->origin, TA_BUILT_IN) != 0)
        return wanted->loaded;
    for (const char *const *id = wanted->ids; id && *id; id++)
        if (strcmp(*id, entry->plugin.id) == 0)
            return true;
    return (wanted->compared && has_figures(entry->plugin.analysis)) ||
           is_read(registry, wanted->parts, entry);
}
