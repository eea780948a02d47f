/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command line from a table that holds options, help and defaults. */
#ifndef GENERATOR_OPTIONS_H
#define GENERATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct option_desc {
    const char *name, *value;                      /* value is NULL for a plain switch */
    char letter;                                   /* or 0 */
    bool (*set)(void *settings, const char *text); /* NULL shows the help */
    const char *help;
};

enum answer { ANSWER_RUN, ANSWER_DONE, ANSWER_WRONG };

/* Hands each option on the command line to its setter; says what is wrong on standard error. */
enum answer options_parse(const struct option_desc *table, int count, const char *usage,
                          void *settings, int argc, char **argv);

bool parse_number(const char *text, int64_t low, int64_t high, int64_t *value);
bool parse_int(const char *text, int low, int high, int *value);

/* A number in front of `after` ('\0' for the end), past which *text is then moved. */
bool parse_part(const char **text, int64_t low, int64_t high, char after, int64_t *value);

#endif
