/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON in the layout of Python's json.dump(..., indent=2), and the integer arithmetic of figures.
 */
#ifndef GENERATOR_DUMP_JSON_H
#define GENERATOR_DUMP_JSON_H

#include "sink.h"

enum { JSON_DEPTH = 16 };

struct json {
    struct sink sink;
    char closing[JSON_DEPTH]; /* the brackets that are still due */
    int depth;
    bool filled; /* the innermost object or array has a member */
};

/* False after a message on standard error. */
bool json_open(struct json *json, const char *folder, const char *name);

/* False after a message when the file is not complete. */
bool json_close(struct json *json, const char *folder, const char *name);

/* bracket is '{' or '['; key is NULL for members of an array, here and below. */
void json_begin(struct json *json, const char *key, char bracket);
void json_end(struct json *json);

void json_text(struct json *json, const char *key, const char *value);
void json_integer(struct json *json, const char *key, int64_t value);
void json_word(struct json *json, const char *key, const char *word);

/* value / 10^places as a float: at least one decimal, no zeros at the end. */
void json_number(struct json *json, const char *key, int64_t value, int places);

/* The same number in a text file. */
void put_number(struct sink *sink, int64_t value, int places);

/* numerator * factor / denominator, rounded half away from zero; 0 without a denominator. */
int64_t ratio(int64_t numerator, int64_t factor, int64_t denominator);

struct spread {
    int64_t count, sum, min, max, last;
};

void spread_add(struct spread *spread, int64_t value);

/* Mean with so many more decimals than the values have. */
int64_t spread_mean(const struct spread *spread, int decimals);

#endif
