/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the command line by the tables of options.c. */
#include "cli/args.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/what_if.h"

/* What getopt_long() calls the operands and the long options without a letter. */
enum { OPERAND = 1, FIRST_LONG = 256, ROWS_MAX = 128 };

/* Which row a given option means is known when the command is. */
struct parse {
    struct ta_ctx *ctx;
    struct ta_cmdline *args;
};

/* ---- values ------------------------------------------------------------------------------- */

struct ta_run_option ta_arg_takes(const struct ta_arg_option *option)
{
    const struct ta_run_option own = {option->name, option->argument, option->type, option->least,
                                      option->most, option->choices,  option->help};
    return option->help ? own : *ta_run_option(option->name);
}

enum ta_status ta_cmdline_store(struct ta_ctx *ctx, struct ta_cmdline *args,
                                const struct ta_arg_option *option, const char *text)
{
    const struct ta_run_option takes = ta_arg_takes(option);
    return ta_value_store(ctx, &takes, (char *)args + option->offset, text);
}

static enum ta_status store(struct parse *parse, const struct ta_arg_option *option,
                            const char *text)
{
    return ta_cmdline_store(parse->ctx, parse->args, option, text);
}

/* ---- options ------------------------------------------------------------------------------ */

/* The row of a name for the given command; without a command the first one. */
static const struct ta_arg_option *row_of(const char *name, const struct ta_command *command)
{
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (strcmp(o->name, name) == 0 && (!command || ta_arg_is_for(o, command)))
            return o;
    return NULL;
}

static enum ta_status foreign_option(struct parse *parse, const char *name)
{
    const struct ta_command *command = parse->args->command;
    char where[128] = "";
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        if (row_of(name, c)) {
            strncat(where, *where ? ", " : "", sizeof where - strlen(where) - 1);
            strncat(where, c->name, sizeof where - strlen(where) - 1);
        }
    return ta_fail(parse->ctx, TA_ERR_USAGE, "Option --%s does not go with '%s', only with: %s",
                   name, command->name, where);
}

/* The form of messages comes first: whatever else is wrong is said in it. */
static void take_log_format(struct parse *parse)
{
    for (size_t i = 0; i < parse->args->n_given; i++) {
        const struct ta_given *given = &parse->args->given[i];
        const struct ta_arg_option *option = row_of(given->name, NULL);
        if (option->offset == offsetof(struct ta_cmdline, json_log))
            for (int k = 0; option->choices[k]; k++)
                if (strcmp(option->choices[k], given->value) == 0)
                    parse->args->json_log = k;
    }
}

/* Two places or texts contradict each other.  Of words and numbers the last one counts, so that
 * what a script or an alias gives can be given anew after it. */
static enum ta_status check_once(struct parse *parse, const struct ta_arg_option *option,
                                 const struct ta_given *last)
{
    for (const struct ta_given *g = parse->args->given; option->type == TA_VALUE_TEXT && g < last;
         g++)
        if (row_of(g->name, parse->args->command) == option && strcmp(g->value, last->value) != 0)
            return ta_fail(parse->ctx, TA_ERR_USAGE, "Option --%s is given twice: %s, %s",
                           option->name, g->value, last->value);
    return TA_OK;
}

/* Stores what was given, now that the command is known. */
static enum ta_status apply(struct parse *parse)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < parse->args->n_given; i++) {
        const struct ta_given *given = &parse->args->given[i];
        const struct ta_arg_option *option = row_of(given->name, parse->args->command);
        status = option ? check_once(parse, option, given) : TA_OK;
        if (status != TA_OK)
            break;
        status = option ? store(parse, option, given->value) : foreign_option(parse, given->name);
    }
    return status;
}

/* Tables for getopt_long(), one row per name. */
static void make_tables(struct option longs[ROWS_MAX], char letters[2 * ROWS_MAX + 3])
{
    size_t n = 0;
    /* '-': operands are handed out in their place; ':': missing arguments are told apart. */
    *letters++ = '-';
    *letters++ = ':';
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (row_of(o->name, NULL) != o)
            continue;
        longs[n] =
            (struct option){.name = o->name,
                            .has_arg = ta_arg_takes(o).argument ? required_argument : no_argument,
                            .val = o->letter ? o->letter : FIRST_LONG + (int)n};
        n++;
        if (o->letter)
            *letters++ = o->letter;
        if (o->letter && ta_arg_takes(o).argument)
            *letters++ = ':';
    }
    longs[n] = (struct option){0};
    *letters = '\0';
}

const char *ta_arg_argument(const struct ta_arg_option *option, char words[TA_ARG_WORDS_MAX])
{
    const struct ta_run_option takes = ta_arg_takes(option);
    *words = '\0';
    for (int i = 0; takes.choices && takes.choices[i]; i++) {
        strncat(words, *words ? "|" : "", TA_ARG_WORDS_MAX - strlen(words) - 1);
        strncat(words, takes.choices[i], TA_ARG_WORDS_MAX - strlen(words) - 1);
    }
    return *words ? words : takes.argument;
}

static const char *name_of(const struct option *longs, int code)
{
    while (longs->name && longs->val != code)
        longs++;
    return longs->name;
}

enum ta_status ta_command_choose(struct ta_ctx *ctx, const char *name,
                                 const struct ta_command **command)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = name};
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        if (strcmp(c->name, name) == 0) {
            *command = c;
            return TA_OK;
        }
        ta_suggest_offer(&close, c->name);
    }
    if (access(name, F_OK) == 0)
        return ta_fail(ctx, TA_ERR_USAGE,
                       "A command is missing: did you mean 'traceanalyze report %s'?", name);
    return ta_fail(ctx, TA_ERR_USAGE, "Unknown command: %s%s", name, ta_suggest_text(&close, hint));
}

/* Whether "block=3,6" goes on with the option before it, as in --plan steps=4,8 block=3,6, and is
 * no file. */
static bool follows_plan(const struct ta_cmdline *args, const char *text)
{
    const struct ta_given *last = args->n_given ? &args->given[args->n_given - 1] : NULL;
    return last && strcmp(last->name, "plan") == 0 && last->operands == args->operands.n &&
           ta_what_if_is(text) && access(text, F_OK) != 0;
}

static enum ta_status take_operand(struct parse *parse, const char *text)
{
    struct ta_cmdline *args = parse->args;
    if (follows_plan(args, text)) {
        const struct ta_given *last = &args->given[args->n_given - 1];
        args->given[args->n_given] = (struct ta_given){last->name, text, args->operands.n};
        args->n_given++;
        return TA_OK;
    }
    if (args->command)
        return ta_texts_add(parse->ctx, &args->operands, text);
    return ta_command_choose(parse->ctx, text, &args->command);
}

/* What getopt_long() found wrong: `code` is what it returned.  optopt is the code of an option
 * whose value is missing or too much, the letter of an unknown one, or 0 for an unknown or
 * ambiguous name. */
static enum ta_status refuse_option(struct parse *parse, const struct option *longs, int code,
                                    const char *text)
{
    const char *name = optopt ? name_of(longs, optopt) : NULL;
    if (code == ':')
        return ta_fail(parse->ctx, TA_ERR_USAGE, "Option needs a value: --%s", name);
    if (name)
        return ta_fail(parse->ctx, TA_ERR_USAGE, "Option takes no value: --%s", name);
    if (optopt)
        return ta_fail(parse->ctx, TA_ERR_USAGE, "Unknown option: -%c", optopt);
    char word[64] = "";
    size_t length = strcspn(text, "=");
    if (length > 2 && length - 2 < sizeof word)
        memcpy(word, text + 2, length - 2);
    struct ta_suggest close = {.word = word};
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        ta_suggest_offer(&close, o->name);
    return ta_fail(parse->ctx, TA_ERR_USAGE, "Unknown option: %s%s%s%s", text,
                   close.best ? "; did you mean --" : "", close.best ? close.best : "",
                   close.best ? "?" : "");
}

/* Collects options and operands in their order. */
static enum ta_status scan(struct parse *parse, int argc, char **argv)
{
    struct option longs[ROWS_MAX];
    char letters[2 * ROWS_MAX + 3];
    make_tables(longs, letters);
    /* 0 makes glibc start anew, so that a process can parse more than one command line. */
    optind = 0;
    opterr = 0;
    enum ta_status status = TA_OK;
    for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        /* After an error only to see how it is to be said. */
        if (status != TA_OK && (code == OPERAND || code == ':' || code == '?'))
            continue;
        switch (code) {
        case OPERAND:
            status = take_operand(parse, optarg);
            break;
        case ':':
        case '?':
            status = refuse_option(parse, longs, code, argv[optind - 1]);
            break;
        default:
            parse->args->given[parse->args->n_given++] =
                (struct ta_given){name_of(longs, code), optarg, parse->args->operands.n};
        }
    }
    while (status == TA_OK && optind < argc)
        status = take_operand(parse, argv[optind++]);
    return status;
}

static enum ta_status check_operands(struct parse *parse)
{
    const struct ta_cmdline *args = parse->args;
    if (args->help || args->version || !args->command)
        return TA_OK;
    if (args->operands.n < args->command->least)
        return ta_fail(parse->ctx, TA_ERR_USAGE, "Nothing to do: '%s' needs %s",
                       args->command->name, args->command->operands);
    if (args->operands.n > args->command->most)
        return ta_fail(parse->ctx, TA_ERR_USAGE, "Too many arguments for '%s': %s",
                       args->command->name, args->operands.items[args->command->most]);
    return TA_OK;
}

struct ta_cmdline ta_cmdline_defaults(void)
{
    return (struct ta_cmdline){.world_size = TA_MISSING,
                               .outliers = TA_MISSING,
                               .scale = 2,
                               .top = 15,
                               .confidence = 0.95,
                               .min_effect = "50us"};
}

enum ta_status ta_cmdline_parse(struct ta_ctx *ctx, int argc, char **argv, struct ta_cmdline *args)
{
    *args = ta_cmdline_defaults();
    struct parse parse = {.ctx = ctx, .args = args};
    /* Letters may be bundled: no more options than bytes. */
    size_t bytes = 0;
    for (int i = 1; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    args->given = calloc(bytes + 1, sizeof *args->given);
    if (!args->given)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: command line");
    enum ta_status status = scan(&parse, argc, argv);
    take_log_format(&parse);
    if (status == TA_OK)
        status = apply(&parse);
    if (status == TA_OK)
        status = check_operands(&parse);
    return status;
}

/* ---- together with a configuration --------------------------------------------------------- */

/* The lists of options that may be repeated; two commands may share one. */
static void free_options(struct ta_cmdline *args)
{
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (o->type != TA_VALUE_TEXTS)
            continue;
        struct ta_texts *texts = (struct ta_texts *)((char *)args + o->offset);
        free(texts->items);
        *texts = (struct ta_texts){0};
    }
}

enum ta_status ta_cmdline_configure(struct ta_ctx *ctx, struct ta_cmdline *args,
                                    const struct ta_setting *settings, size_t n)
{
    struct ta_cmdline made = ta_cmdline_defaults();
    struct parse parse = {.ctx = ctx, .args = &made};
    enum ta_status status = TA_OK;
    free_options(args);
    made.command = args->command;
    made.operands = args->operands;
    made.given = args->given;
    made.n_given = args->n_given;
    for (size_t i = 0; status == TA_OK && i < n; i++)
        if (ta_arg_is_for(settings[i].option, args->command))
            status = store(&parse, settings[i].option, settings[i].text);
    if (status == TA_OK)
        status = apply(&parse);
    *args = made;
    return status;
}

bool ta_cmdline_is_given(const struct ta_cmdline *args, size_t offset)
{
    for (size_t i = 0; i < args->n_given; i++) {
        const struct ta_arg_option *option = row_of(args->given[i].name, args->command);
        if (option && option->offset == offset)
            return true;
    }
    return false;
}

void ta_cmdline_free(struct ta_cmdline *args)
{
    free_options(args);
    free(args->operands.items);
    free(args->given);
}
