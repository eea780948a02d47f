/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script for zsh: specifications of _arguments, one per option. */
#include "cli/completion.h"

/* A text within quotes of a specification. */
static void put_text(struct ta_file *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            ta_puts(out, "'\\'");
        else if (strchr("[]:\\", *text))
            ta_putc(out, '\\');
        ta_putc(out, *text);
    }
}

static void put_action(struct ta_file *out, const struct ta_registry *registry,
                       const struct ta_arg_option *option)
{
    const enum ta_completes places = ta_completion_places(option);
    const size_t words = ta_completion_values(NULL, registry, option);
    ta_puts(out, ":");
    put_text(out, ta_arg_takes(option).argument);
    ta_puts(out, ":");
    if (ta_completion_is_list(option)) {
        ta_putf(out, "_values -s , %s ", ta_arg_takes(option).argument);
        ta_completion_values(out, registry, option);
    } else if (words && places != TA_COMPLETES_NOTHING) {
        ta_puts(out, "{ _files; compadd -- ");
        ta_completion_values(out, registry, option);
        ta_puts(out, "}");
    } else if (words && ta_completion_is_open(option)) {
        ta_puts(out, "{ compadd -S \"\" -- ");
        ta_completion_values(out, registry, option);
        ta_puts(out, "}");
    } else if (words) {
        ta_puts(out, "(");
        ta_completion_values(out, registry, option);
        ta_puts(out, ")");
    } else if (places != TA_COMPLETES_NOTHING) {
        ta_puts(out, places == TA_COMPLETES_FOLDERS ? "_files -/" : "_files");
    }
}

/* '(-o --output)'{-o,--output=}'[folder or file]:PATH:_files' */
static void put_option(struct ta_file *out, const struct ta_registry *registry,
                       const struct ta_arg_option *option)
{
    const bool repeats = option->type == TA_VALUE_TEXTS || option->type == TA_VALUE_COUNT;
    const char *equals = ta_arg_takes(option).argument ? "=" : "";
    ta_puts(out, "            ");
    if (option->letter && repeats)
        ta_putf(out, "'*'{-%c,--%s%s}'", option->letter, option->name, equals);
    else if (option->letter)
        ta_putf(out, "'(-%c --%s)'{-%c,--%s%s}'", option->letter, option->name, option->letter,
                option->name, equals);
    else
        ta_putf(out, "'%s--%s%s", repeats ? "*" : "", option->name, equals);
    ta_puts(out, "[");
    put_text(out, ta_arg_takes(option).help);
    ta_puts(out, "]");
    if (ta_arg_takes(option).argument)
        put_action(out, registry, option);
    ta_puts(out, "' \\\n");
}

static void put_command(struct ta_file *out, const struct ta_registry *registry,
                        const struct ta_command *command)
{
    ta_putf(out, "        %s)\n            _arguments -S \\\n", command->name);
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (ta_arg_is_for(o, command))
            put_option(out, registry, o);
    const size_t words = ta_completion_operands(NULL, command);
    const bool first = ta_completion_takes_files(command, true);
    if (words) {
        ta_puts(out, "            '1:operand:");
        ta_puts(out, first ? "{ _files; compadd -- " : "(");
        ta_completion_operands(out, command);
        ta_puts(out, first ? "}' \\\n" : ")' \\\n");
    }
    ta_putf(out, "            '*:operand:%s'\n",
            ta_completion_takes_files(command, false) ? "_files" : "");

    ta_puts(out, "            ;;\n");
}

void ta_completion_zsh(struct ta_file *out, const struct ta_registry *registry)
{
    ta_puts(out, "#compdef traceanalyze traceanalyze-mpi\n"
                 "# Completion for zsh, written by `traceanalyze completion zsh`.\n\n"
                 "_traceanalyze() {\n"
                 "    local context curcontext=$curcontext state state_descr line\n"
                 "    typeset -A opt_args\n"
                 "    local -a commands=(\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        ta_putf(out, "        '%s:", c->name);
        put_text(out, c->summary);
        ta_puts(out, "'\n");
    }
    ta_puts(out, "    )\n    _arguments -C -S \\\n");
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (o->group == TA_GROUP_GLOBAL)
            put_option(out, registry, o);
    ta_puts(out, "            '1:command:->command' '*::operand:->operands'\n"
                 "    case $state in\n"
                 "    command)\n"
                 "        _describe -t commands command commands\n"
                 "        ;;\n"
                 "    operands)\n"
                 "        case $words[1] in\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        put_command(out, registry, c);
    ta_puts(out,
            "        esac\n        ;;\n    esac\n}\n\n"
            "# As a function of $fpath it completes at once; a script that is read defines it.\n"
            "if [[ $funcstack[1] == _traceanalyze ]]; then\n"
            "    _traceanalyze \"$@\"\n"
            "else\n"
            "    compdef _traceanalyze traceanalyze traceanalyze-mpi\n"
            "fi\n");
}
