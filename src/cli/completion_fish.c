/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script for fish: one `complete` per option and operand. */
#include "cli/completion.h"

static void put_text(struct ta_file *out, const char *text)
{
    ta_puts(out, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            ta_putc(out, '\\');
        ta_putc(out, *text);
    }
    ta_puts(out, "'");
}

/* A word of the command line is one of the commands of the option; a global one may come first. */
static void put_condition(struct ta_file *out, const struct ta_arg_option *option)
{
    ta_puts(out, "complete -c traceanalyze");
    if (option->commands == (UINT32_C(1) << TA_COMMAND_COUNT) - 1)
        return;
    ta_puts(out, option->group == TA_GROUP_GLOBAL
                     ? " -n '__fish_use_subcommand; or __fish_seen_subcommand_from"
                     : " -n '__fish_seen_subcommand_from");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        if (ta_arg_is_for(option, c))
            ta_putf(out, " %s", c->name);
    ta_puts(out, "'");
}

static void put_option(struct ta_file *out, const struct ta_registry *registry,
                       const struct ta_arg_option *option)
{
    put_condition(out, option);
    if (option->letter)
        ta_putf(out, " -s %c", option->letter);
    ta_putf(out, " -l %s", option->name);
    if (ta_arg_takes(option).argument) {
        const enum ta_completes places = ta_completion_places(option);
        ta_puts(out, places == TA_COMPLETES_FILES ? " -r -F" : " -x");
        if (places == TA_COMPLETES_FOLDERS) {
            ta_puts(out, " -a '(__fish_complete_directories)'");
        } else if (ta_completion_values(NULL, registry, option)) {
            ta_puts(out, ta_completion_is_list(option) ? " -a '(__fish_append , " : " -a '");
            ta_completion_values(out, registry, option);
            ta_puts(out, ta_completion_is_list(option) ? ")'" : "'");
        }
    }
    ta_puts(out, " -d ");
    put_text(out, ta_arg_takes(option).help);
    ta_puts(out, "\n");
}

void ta_completion_fish(struct ta_file *out, const struct ta_registry *registry)
{
    ta_puts(out, "# Completion for fish, written by `traceanalyze completion fish`.\n\n"
                 "complete -c traceanalyze -f\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        ta_putf(out, "complete -c traceanalyze -n __fish_use_subcommand -a %s -d ", c->name);
        put_text(out, c->summary);
        ta_puts(out, "\n");
    }
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        if (ta_completion_operands(NULL, c)) {
            ta_putf(out, "complete -c traceanalyze -n '__fish_seen_subcommand_from %s' -a '",
                    c->name);
            ta_completion_operands(out, c);
            ta_puts(out, "'\n");
        }
        if (ta_completion_takes_files(c, false))
            ta_putf(out, "complete -c traceanalyze -n '__fish_seen_subcommand_from %s' -F\n",
                    c->name);
    }
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        put_option(out, registry, o);
    ta_puts(out, "complete -c traceanalyze-mpi -w traceanalyze\n");
}
