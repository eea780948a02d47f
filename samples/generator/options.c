/* SPDX-License-Identifier: GPL-3.0-or-later */
/* getopt from a table, and numbers. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTION_MAX = 40, OPTION_BASE = 256 };

/* ---- numbers ------------------------------------------------------------------------------- */

bool parse_part(const char **text, int64_t low, int64_t high, char after, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(*text, &end, 10);
    if (end == *text || *end != after || errno != 0 || number < low || number > high)
        return false;
    *value = number;
    *text = end + (after != '\0');
    return true;
}

bool parse_number(const char *text, int64_t low, int64_t high, int64_t *value)
{
    return parse_part(&text, low, high, '\0', value);
}

bool parse_int(const char *text, int low, int high, int *value)
{
    int64_t number;
    if (!parse_number(text, low, high, &number))
        return false;
    *value = (int)number;
    return true;
}

/* ---- the table ----------------------------------------------------------------------------- */

static void print_help(const struct option_desc *table, int count, const char *usage)
{
    puts(usage);
    for (int i = 0; i < count; i++) {
        const struct option_desc *option = &table[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        if (option->letter != 0)
            printf("  -%c, %-22s %s\n", option->letter, left, option->help);
        else
            printf("      %-22s %s\n", left, option->help);
    }
}

/* getopt's two descriptions of the same table. */
static void describe_options(const struct option_desc *table, int count, struct option *longs,
                             char *letters)
{
    for (int i = 0; i < count; i++) {
        const bool value = table[i].value != NULL;
        longs[i] = (struct option){
            .name = table[i].name,
            .has_arg = value ? required_argument : no_argument,
            .val = OPTION_BASE + i,
        };
        if (table[i].letter != 0) {
            *letters++ = table[i].letter;
            if (value)
                *letters++ = ':';
        }
    }
    longs[count] = (struct option){.name = NULL};
    *letters = '\0';
}

static const struct option_desc *find_option(const struct option_desc *table, int count, int found)
{
    for (int i = 0; i < count; i++) {
        if (found == OPTION_BASE + i || (found != 0 && found == table[i].letter))
            return &table[i];
    }
    return NULL;
}

enum answer options_parse(const struct option_desc *table, int count, const char *usage,
                          void *settings, int argc, char **argv)
{
    struct option longs[OPTION_MAX + 1];
    char letters[2 * OPTION_MAX + 1];
    describe_options(table, count, longs, letters);
    for (;;) {
        const int found = getopt_long(argc, argv, letters, longs, NULL);
        if (found == -1)
            break;
        const struct option_desc *option = find_option(table, count, found);
        if (option == NULL)
            return ANSWER_WRONG;
        if (option->set == NULL) {
            print_help(table, count, usage);
            return ANSWER_DONE;
        }
        if (!option->set(settings, optarg)) {
            fprintf(stderr, "traceanalyze-generate: --%s cannot be '%s'\n", option->name, optarg);
            return ANSWER_WRONG;
        }
    }
    if (optind == argc)
        return ANSWER_RUN;
    fprintf(stderr, "traceanalyze-generate: unexpected argument '%s'\n", argv[optind]);
    return ANSWER_WRONG;
}
