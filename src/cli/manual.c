/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manual pages, put together from the tables of the program and the texts in src/cli/manual. */
#include "cli/manual.h"

#include <ctype.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cli/roff.h"

#define PROGRAM "traceanalyze"

/* ---- parts of a text ------------------------------------------------------------------------ */

/* A part of the text of a page: the lines below a heading, or before the first one. */
struct part {
    struct ta_slice title, body;
};

/* The part that begins at `text`; *next becomes what is after it. */
static struct part take_part(const char *text, const char **next)
{
    struct part part = {.title = {text, 0}};
    if (strncmp(text, "# ", 2) == 0) {
        part.title = (struct ta_slice){text + 2, strcspn(text + 2, "\n")};
        text += 2 + part.title.len;
        text += *text == '\n';
    }
    const char *end = strncmp(text, "# ", 2) == 0 ? text : strstr(text, "\n# ");
    *next = !end ? text + strlen(text) : end + (*end == '\n');
    part.body = (struct ta_slice){text, (size_t)(*next - text)};
    return part;
}

static bool is_option_part(const struct part *part)
{
    return part->title.len > 2 && memcmp(part->title.ptr, "--", 2) == 0;
}

/* The body of the part with this title; empty when there is none. */
static struct ta_slice find_part(const struct ta_page *page, const char *title)
{
    for (const char *at = page->text; *at;) {
        const struct part part = take_part(at, &at);
        if (ta_slice_equal(part.title, ta_slice_of(title)))
            return part.body;
    }
    return (struct ta_slice){"", 0};
}

/* ---- what the tables say ------------------------------------------------------------------- */

static void put_option(struct ta_file *out, const struct ta_page *page,
                       const struct ta_arg_option *option)
{
    ta_puts(out, ".TP\n");
    if (option->letter) {
        const char letter[] = {'-', option->letter, '\0'};
        ta_roff_literal(out, ta_slice_of(letter));
        ta_puts(out, ", ");
    }
    char name[80], words[TA_ARG_WORDS_MAX];
    snprintf(name, sizeof name, "--%s", option->name);
    ta_roff_literal(out, ta_slice_of(name));
    const char *argument = ta_arg_argument(option, words);
    if (argument) {
        ta_puts(out, "=");
        ta_roff_syntax(out, argument);
    }
    ta_puts(out, "\n");
    ta_roff_sentence(out, ta_arg_takes(option).help);
    char title[80];
    snprintf(title, sizeof title, "--%s", option->name);
    const struct ta_slice more = find_part(page, title);
    if (more.len) {
        ta_puts(out, ".RS\n");
        ta_roff_blocks(out, more);
        ta_puts(out, ".RE\n");
    }
}

static bool is_of_several(const struct ta_arg_option *option)
{
    return (option->commands & (option->commands - 1)) != 0;
}

static void put_command_options(struct ta_file *out, const struct ta_page *page,
                                const struct ta_command *command)
{
    static const char *const titles[TA_GROUP_COUNT] = {
        [TA_GROUP_SELECTION] = "What is read", [TA_GROUP_GLOBAL] = "Global options"};
    for (int group = 0; group < TA_GROUP_COUNT; group++) {
        bool first = true;
        for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
            if ((int)o->group != group || !ta_arg_is_for(o, command))
                continue;
            if (first && titles[group])
                ta_putf(out, ".SS %s\n", titles[group]);
            if (first && group == TA_GROUP_GLOBAL)
                ta_roff_blocks(out, TA_LIT("They may stand before the command, too. "
                                           "traceanalyze(1) says more about them.\n"));
            first = false;
            put_option(out, page, o);
        }
    }
}

static void put_plugins(struct ta_file *out, const struct ta_registry *registry)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_plugin *plugin =
                &ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin;
            for (const struct ta_option *o = plugin->options; o && o->name; o++) {
                char name[128], value[TA_UNIT_TEXT_MAX + 4];
                snprintf(name, sizeof name, "%s.%s", plugin->id, o->name);
                ta_puts(out, ".TP\n");
                ta_roff_literal(out, ta_slice_of(name));
                ta_puts(out, " (");
                ta_roff_prose(out, ta_slice_of(ta_cli_option_text(o, o->preset, value)));
                ta_puts(out, ")\n");
                ta_roff_sentence(out, o->help);
            }
        }
}

static void put_settings(struct ta_file *out)
{
    char key[TA_CONFIG_KEY_MAX];
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (!ta_config_key(o, key))
            continue;
        char name[80];
        snprintf(name, sizeof name, "--%s", o->name);
        ta_puts(out, ".TP\n");
        ta_roff_literal(out, ta_slice_of(key));
        ta_puts(out, " (");
        ta_roff_prose(out, ta_slice_of(name));
        ta_puts(out, ")\n");
        ta_roff_sentence(out, ta_arg_takes(o).help);
    }
}

/* ---- pages --------------------------------------------------------------------------------- */

static void put_directive(struct ta_file *out, const struct ta_page *page,
                          const struct ta_registry *registry, struct ta_slice name)
{
    if (ta_slice_equal(name, TA_LIT("options"))) {
        /* Options that several commands have besides their own. */
        for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
            if (o->group != TA_GROUP_COMMAND && is_of_several(o))
                put_option(out, page, o);
    } else if (ta_slice_equal(name, TA_LIT("commands"))) {
        for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
            char reference[80];
            snprintf(reference, sizeof reference, PROGRAM "-%s(1)", c->name);
            ta_puts(out, ".TP\n");
            ta_roff_prose(out, ta_slice_of(reference));
            ta_puts(out, "\n");
            ta_roff_sentence(out, c->summary);
        }
    } else if (ta_slice_equal(name, TA_LIT("limits"))) {
        for (int i = 0; i < TA_LIMIT_COUNT; i++) {
            char value[TA_LIMIT_TEXT_MAX];
            const enum ta_limit limit = (enum ta_limit)i;
            ta_puts(out, ".TP\n");
            ta_roff_literal(out, ta_slice_of(ta_limit_name(limit)));
            ta_putf(out, " (%s)\n", ta_limit_default_text(limit, value));
            ta_roff_sentence(out, ta_limit_meaning(limit));
        }
    } else if (ta_slice_equal(name, TA_LIT("exit-codes"))) {
        for (const struct ta_exit_text *row = ta_exit_texts; row->code; row++) {
            ta_puts(out, ".TP\n");
            ta_roff_literal(out, ta_slice_of(row->code));
            ta_puts(out, "\n");
            ta_roff_sentence(out, row->text);
        }
    } else if (ta_slice_equal(name, TA_LIT("plugins")))
        put_plugins(out, registry);
    else if (ta_slice_equal(name, TA_LIT("settings")))
        put_settings(out);
}

/* Blocks of a text, and what the tables say in the place of its lines that begin with @. */
static void put_body(struct ta_file *out, const struct ta_page *page,
                     const struct ta_registry *registry, struct ta_slice body)
{
    while (body.len) {
        const char *at = *body.ptr == '@' ? body.ptr : memmem(body.ptr, body.len, "\n@", 2);
        const size_t before = !at ? body.len : (size_t)(at - body.ptr) + (*at == '\n');
        ta_roff_blocks(out, (struct ta_slice){body.ptr, before});
        body = ta_slice_from(body, before);
        if (!body.len)
            return;
        const char *end = memchr(body.ptr, '\n', body.len);
        const size_t n = end ? (size_t)(end - body.ptr) : body.len;
        put_directive(out, page, registry, ta_slice_part(body, 1, n));
        body = ta_slice_from(body, n);
    }
}

static void put_heading(struct ta_file *out, struct ta_slice title)
{
    ta_putf(out, ".SH %.*s\n", (int)title.len, title.ptr);
}

static void put_section(struct ta_file *out, const struct ta_page *page,
                        const struct ta_registry *registry, const struct part *part)
{
    put_heading(out, part->title);
    put_body(out, page, registry, part->body);
}

/* "traceanalyze-report" of "traceanalyze-report.1". */
static struct ta_slice name_of(const struct ta_page *page)
{
    return (struct ta_slice){page->name, strlen(page->name) - 2};
}

/* The command that a page is about, or NULL. */
static const struct ta_command *command_of(const struct ta_page *page)
{
    const size_t prefix = sizeof PROGRAM;
    const struct ta_slice name = name_of(page);
    if (page->name[name.len + 1] != '1' || name.len <= prefix)
        return NULL;
    const struct ta_slice word = ta_slice_from(name, prefix);
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        if (ta_slice_equal(ta_slice_of(c->name), word))
            return c;
    return NULL;
}

/* Without a date: the version of the program replaces it, and the same sources make the same
 * page. */
static void put_head(struct ta_file *out, const struct ta_page *page, struct ta_slice summary)
{
    static const char *const titles[] = {
        ['1'] = "User commands", ['5'] = "File formats", ['7'] = "Conventions"};
    const struct ta_slice name = name_of(page);
    const char section = page->name[name.len + 1];
    ta_puts(out, ".\\\" Written by `" PROGRAM " help --man`.\n.TH \"");
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '-')
            ta_putc(out, '\\');
        ta_putc(out, (char)toupper((unsigned char)name.ptr[i]));
    }
    ta_putf(out, "\" %c \"\" \"" PROGRAM " " TA_VERSION "\" \"%s\"\n.nh\n.ad l\n.SH NAME\n",
            section, titles[(unsigned char)section]);
    for (size_t i = 0; i < name.len; i++)
        ta_puts(out, name.ptr[i] == '-' ? "\\-" : (const char[]){name.ptr[i], '\0'});
    ta_puts(out, " \\- ");
    ta_roff_prose(out, summary);
    ta_puts(out, "\n");
}

/* A line per form: they stand in the table with " | " between them. */
static void put_synopsis(struct ta_file *out, const struct ta_command *command)
{
    char forms[256];
    snprintf(forms, sizeof forms, "%s", command->operands);
    ta_puts(out, ".SH SYNOPSIS\n");
    for (char *form = forms, *next = form; next; form = next) {
        char *end = strstr(form, " | ");
        next = end ? end + 3 : NULL;
        if (end)
            *end = '\0';
        if (form != forms)
            ta_puts(out, ".br\n");
        ta_roff_literal(out, TA_LIT(PROGRAM));
        ta_puts(out, " ");
        ta_roff_literal(out, ta_slice_of(command->name));
        ta_puts(out, " [\\fIOPTION\\fR...]");
        ta_puts(out, *form ? " " : "");
        ta_roff_syntax(out, form);
        ta_puts(out, "\n");
    }
}

static void put_command_page(struct ta_file *out, const struct ta_page *page,
                             const struct ta_registry *registry, const struct ta_command *command)
{
    put_head(out, page, ta_slice_of(command->summary));
    put_synopsis(out, command);
    const char *next = page->text;
    const bool has_more = *next && strncmp(next, "# ", 2) != 0;
    ta_puts(out, ".SH DESCRIPTION\n");
    if (*command->details)
        ta_roff_blocks(out, ta_slice_of(command->details));
    else
        ta_roff_sentence(out, command->summary);
    if (has_more)
        put_body(out, page, registry, take_part(next, &next).body);
    put_heading(out, TA_LIT("OPTIONS"));
    put_body(out, page, registry, find_part(page, "OPTIONS"));
    put_command_options(out, page, command);
    if (!find_part(page, "EXIT STATUS").len) {
        put_heading(out, TA_LIT("EXIT STATUS"));
        ta_roff_blocks(out, TA_LIT("That of traceanalyze(1).\n"));
    }
    while (*next) {
        const struct part part = take_part(next, &next);
        if (is_option_part(&part) || ta_slice_equal(part.title, TA_LIT("OPTIONS")))
            continue;
        if (ta_slice_equal(part.title, TA_LIT("SEE ALSO")) && *command->examples) {
            ta_puts(out, ".SH EXAMPLES\n.EX\n");
            for (const char *line = command->examples; *line;) {
                const size_t n = strcspn(line, "\n");
                ta_roff_verbatim(out, (struct ta_slice){line, n});
                line += n + (line[n] == '\n');
            }
            ta_puts(out, ".EE\n");
        }
        put_section(out, page, registry, &part);
    }
}

void ta_page_put(struct ta_file *out, const struct ta_page *page,
                 const struct ta_registry *registry)
{
    const struct ta_command *command = command_of(page);
    if (command)
        put_command_page(out, page, registry, command);
    else { /* The first line of such a page is the summary. */
        put_head(out, page, (struct ta_slice){page->text, strcspn(page->text, "\n")});
        const char *next = page->text;
        (void)take_part(next, &next);
        while (*next) {
            const struct part part = take_part(next, &next);
            if (!is_option_part(&part))
                put_section(out, page, registry, &part);
        }
    }
}

/* ---- by name ------------------------------------------------------------------------------- */

/* "traceanalyze-config.5" is also called "config.5", "traceanalyze-report.1" also "report". */
static bool is_called(const struct ta_page *page, const char *name)
{
    static const char *const prefixes[] = {"", PROGRAM "-"}, *const suffixes[] = {"", ".1"};
    char text[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%s%s%s", prefixes[i / 2], name, suffixes[i % 2]);
        if (strcmp(text, page->name) == 0)
            return true;
    }
    return false;
}

enum ta_status ta_page_choose(struct ta_ctx *ctx, const char *name, const struct ta_page **page)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    const char *wanted = name ? name : PROGRAM;
    struct ta_suggest close = {.word = wanted};
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        ta_suggest_offer(&close, c->name);
    for (const struct ta_page *p = ta_pages; p->name; p++) {
        ta_suggest_offer(&close, p->name);
        if (is_called(p, wanted)) {
            *page = p;
            return TA_OK;
        }
    }
    return ta_fail(ctx, TA_ERR_USAGE, "No such manual page: %s%s", wanted,
                   ta_suggest_text(&close, hint));
}
