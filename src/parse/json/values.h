/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking into the objects and arrays of a record. */
#ifndef TA_PARSE_JSON_VALUES_H
#define TA_PARSE_JSON_VALUES_H

#include "traceanalyze/document.h"

/* Calls `each` for every member of an object token, in order; stops when it returns false. */
void ta_json_members(struct ta_json *json, const struct ta_token *object,
                     bool (*each)(void *user, const struct ta_token *key,
                                  const struct ta_token *value),
                     void *user);

/* The same for every element of an array token. */
void ta_json_elements(struct ta_json *json, const struct ta_token *array,
                      bool (*each)(void *user, const struct ta_token *element), void *user);

#endif
