/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that is declared of tables, as JSON: what there may be in a report, and who reads it. */
#include "analyze/analyze.h"
#include "plugin/builtin.h"
#include "ranks/ranks.h"
#include "report/sections.h"
#include "report/words.h"
#include "traceanalyze/output.h"
#include "traceanalyze/run.h"

/* `,"key":"text"`, or null. */
static void put_member(struct ta_file *out, const char *key, const char *text)
{
    ta_putf(out, ",\"%s\":", key);
    if (text)
        ta_put_json(out, ta_slice_of(text), false);
    else
        ta_puts(out, "null");
}

static void put_flag(struct ta_file *out, const char *key, bool is_set)
{
    ta_putf(out, ",\"%s\":%s", key, is_set ? "true" : "false");
}

static void put_column(struct ta_file *out, const struct ta_column *column)
{
    static const char *const roles[] = {[TA_FIGURE] = "figure",
                                        [TA_KEY] = "key",
                                        [TA_RANK] = "rank",
                                        [TA_DEVICE] = "device",
                                        [TA_UNIT_OF_ROW] = "unit_of_row",
                                        [TA_BETTER_OF_ROW] = "better_of_row",
                                        [TA_IN_SERIES] = "in_series",
                                        [TA_NOTE] = "note"};
    char number[TA_UNIT_TEXT_MAX];
    ta_puts(out, "{\"key\":");
    ta_put_json(out, ta_slice_of(column->key), false);
    put_member(out, "title", column->title);
    put_member(out, "type", ta_type_name(column->type));
    put_member(out, "unit", ta_unit_name(column->unit));
    put_member(out, "polarity", ta_polarity_name(column->better));
    put_member(out, "role", roles[column->role]);
    ta_putf(out, ",\"weight\":%s", ta_number_format(number, column->weight));
    put_flag(out, "detail", column->detail);
    put_member(out, "doc", column->doc);
    ta_puts(out, "}");
}

static void put_chart(struct ta_file *out, const struct ta_chart_def *chart)
{
    ta_puts(out, "{\"id\":");
    ta_put_json(out, ta_slice_of(chart->id), false);
    put_member(out, "title", chart->title);
    put_member(out, "kind", ta_chart_kind_name(chart->kind));
    put_member(out, "caption", chart->caption);
    ta_puts(out, "}");
}

/* A table, in the section of its report; NULL where the program itself chooses that. */
static void put_table(struct ta_file *out, const struct ta_table_def *def, const char *section,
                      const char *maker)
{
    static const char *const tiers[] = {[TA_TIER_ANSWER] = "answer",
                                        [TA_TIER_DETAIL] = "detail",
                                        [TA_TIER_CHART] = "chart",
                                        [TA_TIER_POINTS] = "points",
                                        [TA_TIER_INTERNAL] = "internal"};
    static const char *const joinings[] = {
        [TA_JOIN_ROWS] = "rows", [TA_JOIN_SUMS] = "sums", [TA_JOIN_NOT] = "not"};
    ta_puts(out, "{\"id\":");
    ta_put_json(out, ta_slice_of(def->id), false);
    put_member(out, "title", def->title);
    put_member(out, "doc", def->doc);
    put_member(out, "section", section);
    put_member(out, "maker", maker);
    put_member(out, "tier", tiers[def->tier]);
    put_flag(out, "of_several", def->of_several);
    put_member(out, "joining", joinings[def->joining]);
    put_flag(out, "of_ranks", !def->not_of_ranks);
    put_flag(out, "figures", def->figures);
    put_member(out, "order", def->order.by ? def->order.by->key : NULL);
    put_member(out, "within", def->order.within ? def->order.within->key : NULL);
    put_flag(out, "descending", def->order.by && def->order.direction == TA_DESCENDING);
    if (def->brief)
        ta_putf(out, ",\"terminal\":%d", def->brief->place);
    else
        ta_puts(out, ",\"terminal\":null");
    ta_puts(out, ",\"columns\":[");
    for (size_t i = 0; i < def->n_columns; i++) {
        ta_puts(out, i ? ",\n" : "\n");
        put_column(out, &def->columns[i]);
    }
    ta_puts(out, "],\"charts\":[");
    for (size_t i = 0; i < TA_TABLE_CHARTS && def->chart[i]; i++) {
        ta_puts(out, i ? ",\n" : "\n");
        put_chart(out, def->chart[i]);
    }
    ta_puts(out, "]}");
}

static void put_list(struct ta_file *out, const char **separator,
                     const struct ta_table_def *const *defs, const char *section, const char *maker)
{
    for (; defs && *defs; defs++) {
        ta_puts(out, *separator);
        put_table(out, *defs, section, maker);
        *separator = ",\n";
    }
}

static bool is_planned(const struct ta_plan *plan, const struct ta_entry *entry)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->analyses[i] == entry)
            return true;
    return false;
}

/* In the order of a report; declarations of analyses that are turned off follow. */
static void put_tables(struct ta_file *out, const struct ta_registry *registry,
                       const struct ta_plan *plan)
{
    const char *separator = "\n";
    for (size_t i = 0; i < plan->n; i++) {
        const struct ta_plugin *plugin = &plan->analyses[i]->plugin;
        put_list(out, &separator, plugin->analysis->tables, plugin->analysis->section, plugin->id);
    }
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_analysis); i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_analysis, i);
        if (!is_planned(plan, entry))
            put_list(out, &separator, entry->plugin.analysis->tables,
                     entry->plugin.analysis->section, entry->plugin.id);
    }
    for (const struct ta_part *const *const *list = ta_parts; *list; list++)
        for (const struct ta_part *const *part = *list; *part; part++)
            put_list(out, &separator, (*part)->tables, NULL, NULL);
}

static void put_scalars(struct ta_file *out, const struct ta_registry *registry)
{
    for (size_t i = 0; i < ta_registry_scalar_count(registry); i++) {
        const struct ta_scalar_def *def = ta_registry_scalar_at(registry, i);
        const struct ta_entry *owner;
        ta_registry_scalar(registry, def->id, &owner);
        ta_puts(out, i ? ",\n{\"id\":" : "\n{\"id\":");
        ta_put_json(out, ta_slice_of(def->id), false);
        put_member(out, "title", def->title);
        put_member(out, "maker", owner ? owner->plugin.id : NULL);
        put_member(out, "unit", ta_unit_name(def->unit));
        put_member(out, "polarity", ta_polarity_name(def->better));
        put_member(out, "gate", def->gate);
        put_flag(out, "figures", !def->not_compared);
        put_member(out, "doc", def->doc);
        ta_puts(out, "}");
    }
}

static void put_reads(struct ta_file *out, const char **separator, const char *kind, const char *id,
                      const struct ta_ref *reads, size_t n)
{
    if (n == 0)
        return;
    ta_puts(out, *separator);
    ta_puts(out, "{\"kind\":");
    ta_put_json(out, ta_slice_of(kind), false);
    put_member(out, "id", id);
    ta_puts(out, ",\"reads\":[");
    for (size_t i = 0; i < n; i++) {
        ta_puts(out, i ? ",{" : "{");
        if (reads[i].scalar) {
            ta_puts(out, "\"scalar\":");
            ta_put_json(out, ta_slice_of(reads[i].scalar), false);
        } else {
            ta_puts(out, "\"table\":");
            ta_put_json(out, ta_slice_of(reads[i].table), false);
            put_member(out, "column", reads[i].column);
        }
        ta_puts(out, "}");
    }
    ta_puts(out, "]}");
    *separator = ",\n";
}

static void put_readers(struct ta_file *out, const struct ta_registry *registry)
{
    const char *separator = "\n";
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_plugin *plugin =
                &ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin;
            size_t n;
            const struct ta_ref *reads = ta_plugin_reads(plugin, &n);
            put_reads(out, &separator, ta_plugin_kind_name((enum ta_plugin_kind)kind), plugin->id,
                      reads, n);
        }
    for (const struct ta_part *const *const *list = ta_parts; *list; list++)
        for (const struct ta_part *const *part = *list; *part; part++)
            put_reads(out, &separator, "program", (*part)->name, (*part)->reads, (*part)->n_reads);
}

enum ta_status ta_put_declarations(struct ta_ctx *ctx, struct ta_file *out,
                                   const struct ta_registry *registry)
{
    struct ta_plan plan;
    enum ta_status status = ta_plan_make(ctx, registry, true, &ta_stages, &plan);
    if (status == TA_OK) {
        ta_puts(out, "\"sections\":[");
        for (size_t i = 0; ta_section_id(i); i++) {
            ta_puts(out, i ? ",\n{\"id\":" : "\n{\"id\":");
            ta_put_json(out, ta_slice_of(ta_section_id(i)), false);
            put_member(out, "title", ta_section_title(i));
            ta_puts(out, "}");
        }
        ta_puts(out, "],\n\"tables\":[");
        put_tables(out, registry, &plan);
        ta_puts(out, "],\n\"scalars\":[");
        put_scalars(out, registry);
        ta_puts(out, "],\n\"readers\":[");
        put_readers(out, registry);
        ta_puts(out, "]");
    }
    ta_plan_free(&plan);
    return status;
}
