/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries: from what a run holds to text. */
#include "analyze/summary/facts.h"
#include "analyze/summary/records.h"
#include "analyze/summary/summary.h"
#include "analyze/summary/table.h"

#include "base/context.h"

/* Partials and records come last and decide which texts there are, which come before them. */
struct parts {
    struct ta_summary_out out;
    struct ta_text head, records, analyses;
};

static bool prepare(const struct ta_summary_scope *scope, struct parts *parts)
{
    size_t *place_of = calloc(scope->n_files + 1, sizeof *place_of);
    parts->out.place_of = place_of;
    if (!place_of || !ta_strings_init(&parts->out.texts, UINT32_MAX - 1))
        return false;
    for (size_t i = 0; i < scope->n_chosen; i++)
        place_of[scope->chosen[i]] = i;
    return true;
}

static void put_head(const struct ta_summary_scope *scope, struct ta_text *text)
{
    ta_text_puts(text, "{" TA_SUMMARY_SCHEMA);
    ta_text_key(text, "version");
    ta_text_string(text, ta_slice_of(scope->version));
    ta_text_key(text, "title");
    ta_text_string(text, ta_slice_of(scope->title));
    ta_text_key(text, "hardware");
    ta_text_string_or_null(text, scope->hardware);
    ta_text_puts(text, ",\n\"job\":");
    ta_summary_put_findings(text, scope->job);
    ta_text_puts(text, ",\n\"files\":[");
    for (size_t i = 0; i < scope->n_chosen; i++) {
        ta_text_puts(text, i ? ",\n" : "\n");
        ta_summary_put_facts(text, &scope->files[scope->chosen[i]]);
    }
    ta_text_putc(text, ']');
}

static void put_records(const struct ta_summary_scope *scope, struct parts *parts)
{
    struct ta_text *text = &parts->records;
    ta_text_puts(text, ",\n\"records\":[");
    for (size_t i = 0; i < scope->n_chosen; i++) {
        const struct ta_ingested *file = &scope->files[scope->chosen[i]];
        if (!file->dump)
            continue;
        ta_text_comma(text);
        ta_summary_put_records(&parts->out, text, file->dump);
    }
    ta_text_putc(text, ']');
}

/* The options that the analysis was given: a run with other ones cannot go on from here. */
static void put_options(struct ta_text *text, const struct ta_entry *entry)
{
    const struct ta_option *options = entry->plugin.options;
    ta_text_puts(text, ",\"options\":{");
    for (size_t i = 0; options && options[i].name; i++) {
        ta_text_key(text, options[i].name);
        ta_text_real(text, entry->option_values[i]);
    }
    ta_text_putc(text, '}');
}

static bool put_analysis(const struct ta_summary_scope *scope, struct parts *parts, size_t analysis)
{
    const struct ta_entry *entry = scope->plan->analyses[analysis];
    const struct ta_plugin *plugin = &entry->plugin;
    struct ta_text *text = &parts->analyses;
    struct ta_partial *table;
    bool done = true;
    ta_text_puts(text, analysis ? ",\n" : "\n");
    ta_text_string(text, ta_slice_of(plugin->id));
    ta_text_puts(text, ":{\"version\":");
    ta_text_string(text, ta_slice_of(plugin->version));
    put_options(text, entry);
    ta_text_puts(text, ",\"tables\":{");
    for (size_t i = 0; done && (table = ta_partial_set_table(scope->partials, analysis, i)); i++) {
        ta_text_key(text, ta_partial_def_of(table)->name);
        done = ta_summary_put_table(&parts->out, text, table);
    }
    ta_text_puts(text, "}}");
    return done;
}

static bool put_analyses(const struct ta_summary_scope *scope, struct parts *parts)
{
    bool done = true;
    ta_text_puts(&parts->analyses, ",\n\"analyses\":{");
    for (size_t i = 0; done && i < scope->plan->n; i++)
        done = put_analysis(scope, parts, i);
    ta_text_puts(&parts->analyses, "}}\n");
    return done;
}

static void put_texts(const struct ta_strings *texts, struct ta_text *text)
{
    ta_text_puts(text, ",\n\"texts\":[");
    for (size_t i = 1; i < texts->texts.n; i++) {
        ta_text_puts(text, i > 1 ? ",\n" : "\n");
        ta_text_string(text, texts->texts.at[i]);
    }
    ta_text_putc(text, ']');
}

enum ta_status ta_summary_write(struct ta_ctx *ctx, const struct ta_summary_scope *scope,
                                struct ta_text *text)
{
    struct parts parts = {0};
    bool done = prepare(scope, &parts);
    if (done) {
        put_records(scope, &parts);
        done = put_analyses(scope, &parts);
        put_head(scope, &parts.head);
        put_texts(&parts.out.texts, &parts.head);
        ta_text_put(&parts.head, ta_text_slice(&parts.records));
        ta_text_put(&parts.head, ta_text_slice(&parts.analyses));
        done &= !parts.head.failed && !parts.records.failed && !parts.analyses.failed;
    }
    ta_strings_free(&parts.out.texts);
    free((void *)(uintptr_t)parts.out.place_of);
    free(parts.records.bytes.at);
    free(parts.analyses.bytes.at);
    if (done) {
        *text = parts.head;
        return TA_OK;
    }
    free(parts.head.bytes.at);
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a summary: files=%zu", scope->n_chosen);
}
