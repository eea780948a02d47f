/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table findings.rules: one row per rule. */
#include "recommend/checked.h"

#include "plugin/builtin.h"
#include "report/tables.h"
#include "traceanalyze/output.h"
#include "traceanalyze/rule.h"

#include <string.h>

enum { RULE, TITLE, OUTCOME, FINDINGS, SUMMARY };

static const struct ta_column findings_rules_columns[] = {
    [RULE] = {"rule", "Rule", TA_ID, .role = TA_KEY, .doc = "Id of the rule, as --set takes it"},
    [TITLE] = {"title", "Looks for", TA_SENTENCE, .role = TA_NOTE, .doc = "What the rule is about"},
    [OUTCOME] = {"outcome", "Outcome", TA_WORD, .role = TA_NOTE,
                 .doc =
                     "found: it has findings; nothing: it looked, and nothing is worth saying; "
                     "no data: nothing of that kind was recorded, the section of the table that it "
                     "reads is empty; off: switched off"},
    [FINDINGS] = {"findings", "Findings", TA_COUNT,
                  .doc = "Findings of the rule, before those that are one story were joined"},
    [SUMMARY] = {"summary", "When it speaks", TA_SENTENCE, .role = TA_NOTE,
                 .doc = "What has to be the case for a finding"},
};

static const struct ta_table_def findings_rules = {
    "findings.rules",
    "What every rule found",
    TA_COLUMNS(findings_rules_columns),
    .doc =
        "Every rule that looks for findings, with its outcome: what was looked for and not found "
        "is fine, what has no data is not known.",
    .order = {&findings_rules_columns[FINDINGS], TA_DESCENDING},
    .tier = TA_TIER_DETAIL,
    .joining = TA_JOIN_NOT,
    .not_of_ranks = true};

static const struct ta_table_def *const tables[] = {&findings_rules, NULL};
static const struct ta_part made = {.name = "recommend", .tables = tables};
const struct ta_part *const ta_recommend_parts[] = {&made, NULL};

/* The table that a rule looks at first; NULL: the report as a whole. */
static const char *first_table(const struct ta_entry *rule)
{
    const struct ta_advice_ops *ops = rule->data ? NULL : rule->plugin.advice;
    return !ops ? rule->data->table : ops->n_reads ? ops->reads[0].table : NULL;
}

enum { SECTIONS_MOST = 64 };

/* The sections of a report with tables that have rows. */
struct recorded {
    const char *at[SECTIONS_MOST];
    size_t n;
};

static bool has_section(const struct recorded *recorded, const char *section)
{
    for (size_t i = 0; i < recorded->n; i++)
        if (strcmp(recorded->at[i], section) == 0)
            return true;
    return false;
}

/* The section that a table is declared for; NULL for one of the program itself. */
static const char *section_of(const struct ta_registry *registry, const char *table)
{
    const struct ta_entry *owner = NULL;
    return ta_registry_table(registry, table, &owner) && owner ? owner->plugin.analysis->section
                                                               : NULL;
}

static struct recorded find_recorded(const struct ta_registry *registry,
                                     const struct ta_report *report)
{
    struct recorded recorded = {.n = 0};
    for (const struct ta_table *table = NULL;
         (table = ta_report_table_after(report, table)) != NULL;) {
        const char *section = table->n_rows ? section_of(registry, table->id) : NULL;
        if (section && recorded.n < SECTIONS_MOST && !has_section(&recorded, section))
            recorded.at[recorded.n++] = section;
    }
    return recorded;
}

/* These hold facts about anything. */
static bool is_mixed(const char *section)
{
    return strcmp(section, "run") == 0 || strcmp(section, "reported") == 0;
}

/* Whether there is anything to look at.  A table may have rows only for what is wrong: what counts
 * is whether anything of the kind was recorded, which shows in the section of the table. */
static bool has_data(const struct ta_registry *registry, const struct ta_entry *rule,
                     const struct ta_report *report, const struct recorded *recorded)
{
    const char *first = first_table(rule);
    const struct ta_table *table = first ? ta_report_table(report, first) : NULL;
    if (!first || (table && table->n_rows))
        return true;
    const struct ta_entry *owner = NULL;
    if (!ta_registry_table(registry, first, &owner) || !owner)
        return !rule->data; /* what files were taken for is always known */
    const char *section = owner->plugin.analysis->section;
    return !is_mixed(section) && has_section(recorded, section);
}

static const char *outcome_of(bool is_off, size_t found, bool has_data)
{
    return is_off ? "off" : found ? "found" : has_data ? "nothing" : "no data";
}

void ta_checked_list(const struct ta_registry *registry, const struct ta_report *report,
                     const size_t *found, struct ta_section_builder *out)
{
    const struct recorded recorded = find_recorded(registry, report);
    ta_declare_tables(out, tables);
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_advice); i++) {
        const struct ta_entry *rule = ta_registry_at(registry, TA_KIND_advice, i);
        const char *outcome =
            outcome_of(rule->off, found[i], has_data(registry, rule, report, &recorded));
        TA_ROW(out, findings_rules, [RULE] = ta_string(rule->plugin.id),
               [TITLE] = ta_string(rule->plugin.title), [OUTCOME] = ta_string(outcome),
               [FINDINGS] = ta_int((int64_t)found[i]), [SUMMARY] = ta_string(rule->plugin.summary));
    }
    ta_close_tables(out);
}
