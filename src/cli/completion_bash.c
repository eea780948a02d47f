/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script for bash.  It needs nothing of the package bash-completion. */
#include "cli/completion.h"

static void put_option_name(struct ta_file *out, const struct ta_arg_option *option)
{
    if (option->letter)
        ta_putf(out, "-%c ", option->letter);
    ta_putf(out, "--%s ", option->name);
}

/* "report:--theme|diff:--theme", or "*:--jobs|*:-j" of an option that is the same everywhere. */
static void put_pattern(struct ta_file *out, const struct ta_arg_option *option)
{
    bool is_only = true;
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        is_only = is_only && (o == option || strcmp(o->name, option->name) != 0);
    const char *separator = "";
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        if (!ta_arg_is_for(option, c))
            continue;
        const char *name = is_only ? "*" : c->name;
        ta_putf(out, "%s%s:--%s", separator, name, option->name);
        separator = "|";
        if (option->letter)
            ta_putf(out, "|%s:-%c", name, option->letter);
        if (is_only)
            break;
    }
}

/* _traceanalyze_operand COMMAND NUMBER, from 0. */
static void put_operands(struct ta_file *out)
{
    ta_puts(out, "_traceanalyze_operand()\n{\n    words='' places='' list='' open=''\n"
                 "    case $1:$2 in\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        ta_putf(out, "    %s:0) places='%s' words='", c->name,
                ta_completion_takes_files(c, true) ? "f" : "");
        ta_completion_operands(out, c);
        ta_putf(out, "' ;;\n    %s:*) places='%s' ;;\n", c->name,
                ta_completion_takes_files(c, false) ? "f" : "");
    }
    ta_puts(out, "    esac\n}\n\n");
}

/* bash may split "--option=value" into three words, or not. */
static const char script[] =
    "_traceanalyze()\n"
    "{\n"
    "    local word words='' places='' list='' open='' command='' option='' prefix=''\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} operands=0 ended='' i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $option ]]; then\n"
    "            [[ $word == = ]] || option=''\n"
    "        elif [[ $word == -- ]]; then\n"
    "            ended=1\n"
    "        elif [[ $word == -* && ! $ended ]]; then\n"
    "            _traceanalyze_value \"$command\" \"$word\" && option=$word\n"
    "        elif [[ ! $command ]]; then\n"
    "            command=$word\n"
    "        else\n"
    "            operands=$((operands + 1))\n"
    "        fi\n"
    "    done\n"
    "    [[ $current == = ]] && current=''\n"
    "    if [[ ! $option && $current == --*=* ]]; then\n"
    "        option=${current%%=*} prefix=${current%%=*}= current=${current#*=}\n"
    "    fi\n"
    "    words='' places='' list='' open=''\n"
    "    if [[ $option ]]; then\n"
    "        _traceanalyze_value \"$command\" \"$option\"\n"
    "    elif [[ $current == -* && ! $ended ]]; then\n"
    "        _traceanalyze_options \"$command\"\n"
    "    elif [[ $command ]]; then\n"
    "        _traceanalyze_operand \"$command\" \"$operands\"\n"
    "    else\n"
    "        words=$_traceanalyze_commands\n"
    "    fi\n"
    "    if [[ $list && $current == *,* ]]; then\n"
    "        prefix+=${current%,*}, current=${current##*,}\n"
    "    fi\n"
    "    COMPREPLY=()\n"
    "    [[ $words ]] && mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$words\" -- "
    "\"$current\")\n"
    "    if [[ $places ]]; then\n"
    "        local found\n"
    "        mapfile -t found < <(compgen -P \"$prefix\" \"-$places\" -- \"$current\")\n"
    "        COMPREPLY+=(\"${found[@]}\")\n"
    "        [[ $words && ! $current ]] || compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "    [[ ! $open ]] || compopt -o nospace 2>/dev/null\n"
    "    return 0\n"
    "}\n\n"
    "complete -F _traceanalyze traceanalyze traceanalyze-mpi\n";

void ta_completion_bash(struct ta_file *out, const struct ta_registry *registry)
{
    ta_puts(out, "# Completion for bash, written by `traceanalyze completion bash`.\n\n");
    ta_puts(out, "_traceanalyze_commands='");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        ta_putf(out, "%s ", c->name);
    ta_puts(out, "'\n\n");

    /* _traceanalyze_options COMMAND: its options; those before a command for "". */
    ta_puts(out, "_traceanalyze_options()\n{\n    case $1 in\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++) {
        ta_putf(out, "    %s) words='", c->name);
        for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
            if (ta_arg_is_for(o, c))
                put_option_name(out, o);
        ta_puts(out, "' ;;\n");
    }
    ta_puts(out, "    '') words='");
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (o->group == TA_GROUP_GLOBAL)
            put_option_name(out, o);
    ta_puts(out, "' ;;\n    esac\n}\n\n");

    /* _traceanalyze_value COMMAND OPTION: whether it takes a value, and which. */
    static const char *const places[] = {
        [TA_COMPLETES_NOTHING] = "", [TA_COMPLETES_FILES] = "f", [TA_COMPLETES_FOLDERS] = "d"};
    ta_puts(out, "_traceanalyze_value()\n{\n    words='' places='' list='' open=''\n"
                 "    case $1:$2 in\n");
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (!ta_arg_takes(o).argument)
            continue;
        ta_puts(out, "    ");
        put_pattern(out, o);
        ta_putf(out, ") places='%s' list='%s' open='%s' words='", places[ta_completion_places(o)],
                ta_completion_is_list(o) ? "1" : "", ta_completion_is_open(o) ? "1" : "");
        ta_completion_values(out, registry, o);
        ta_puts(out, "' ;;\n");
    }
    ta_puts(out, "    *) return 1 ;;\n    esac\n}\n\n");
    put_operands(out);
    ta_puts(out, script);
}
