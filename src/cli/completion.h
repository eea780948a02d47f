/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scripts of `traceanalyze completion` have in common: which words and files can stand
 * where.  Words are ids, names and choices of ours, which no shell takes for anything else. */
#ifndef TA_CLI_COMPLETION_H
#define TA_CLI_COMPLETION_H

#include "cli/cli.h"

enum ta_completes { TA_COMPLETES_NOTHING, TA_COMPLETES_FILES, TA_COMPLETES_FOLDERS };

/* Writes the words that can be the value of an option, each with a blank after it, and returns how
 * many there are; `out` may be NULL. */
size_t ta_completion_values(struct ta_file *out, const struct ta_registry *registry,
                            const struct ta_arg_option *option);

/* Whether the value of an option names a file or folder. */
enum ta_completes ta_completion_places(const struct ta_arg_option *option);

/* Whether the value is a list of such words with commas. */
bool ta_completion_is_list(const struct ta_arg_option *option);

/* Whether words of the option end in "=", so that more follows them. */
bool ta_completion_is_open(const struct ta_arg_option *option);

/* The same of the first operand of a command. */
size_t ta_completion_operands(struct ta_file *out, const struct ta_command *command);

/* Whether the first operand, or a later one, of a command can be a file. */
bool ta_completion_takes_files(const struct ta_command *command, bool first);

/* The scripts. */
void ta_completion_bash(struct ta_file *out, const struct ta_registry *registry);
void ta_completion_zsh(struct ta_file *out, const struct ta_registry *registry);
void ta_completion_fish(struct ta_file *out, const struct ta_registry *registry);

#endif
