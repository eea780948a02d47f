/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of options. */
#include "base/value.h"

#include "base/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum ta_status refuse(struct ta_ctx *ctx, const struct ta_run_option *option,
                             const char *value)
{
    if (option->type == TA_VALUE_EXTENT)
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable value: --%s=%s, expected WxH, each from %lld to %lld",
                       option->name, value, (long long)option->least, (long long)option->most);
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable value: --%s=%s, expected a %snumber from %lld to %lld", option->name,
                   value, option->type == TA_VALUE_WHOLE ? "whole " : "", (long long)option->least,
                   (long long)option->most);
}

/* Nothing here calls setlocale(): the decimal point is a point. */
static bool read_number(const struct ta_run_option *option, const char *text, char end_mark,
                        double *value, const char **rest)
{
    char *end;
    *value = strtod(text, &end);
    *rest = *end ? end + 1 : end;
    return end != text && *end == end_mark && *value >= (double)option->least &&
           *value <= (double)option->most;
}

static bool read_whole(const struct ta_run_option *option, const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < option->least || number > option->most)
        return false;
    *value = number;
    return true;
}

static enum ta_status read_choice(struct ta_ctx *ctx, const struct ta_run_option *option,
                                  const char *text, int *value)
{
    char words[128] = "", hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = text};
    for (int i = 0; option->choices[i]; i++) {
        const char *word = option->choices[i];
        if (!*word)
            continue;
        if (strcmp(word, text) == 0) {
            *value = i;
            return TA_OK;
        }
        ta_suggest_offer(&close, word);
        strncat(words, *words ? ", " : "", sizeof words - strlen(words) - 1);
        strncat(words, word, sizeof words - strlen(words) - 1);
    }
    return ta_fail(ctx, TA_ERR_USAGE, "Unusable value: --%s=%s, expected one of %s%s", option->name,
                   text, words, ta_suggest_text(&close, hint));
}

enum ta_status ta_texts_add(struct ta_ctx *ctx, struct ta_texts *texts, const char *text)
{
    const char **grown = reallocarray(texts->items, texts->n + 1, sizeof *grown);
    if (!grown)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: command line");
    grown[texts->n++] = text;
    texts->items = grown;
    return TA_OK;
}

enum ta_status ta_value_store(struct ta_ctx *ctx, const struct ta_run_option *option, void *field,
                              const char *text)
{
    struct ta_extent extent;
    double number;
    const char *rest;
    switch (option->type) {
    case TA_VALUE_FLAG:
        *(bool *)field = !text || strcmp(text, "false") != 0;
        return TA_OK;
    case TA_VALUE_COUNT:
        *(int *)field = text ? (int)strtol(text, NULL, 10) : *(int *)field + 1;
        return TA_OK;
    case TA_VALUE_TEXT:
        *(const char **)field = text;
        return TA_OK;
    case TA_VALUE_TEXTS:
        return ta_texts_add(ctx, field, text);
    case TA_VALUE_CHOICE:
        return read_choice(ctx, option, text, field);
    case TA_VALUE_WHOLE:
        return read_whole(option, text, field) ? TA_OK : refuse(ctx, option, text);
    case TA_VALUE_NUMBER:
        if (!read_number(option, text, '\0', &number, &rest))
            return refuse(ctx, option, text);
        *(double *)field = number;
        return TA_OK;
    case TA_VALUE_EXTENT:
        if (!read_number(option, text, 'x', &extent.width, &rest) ||
            !read_number(option, rest, '\0', &extent.height, &rest))
            return refuse(ctx, option, text);
        *(struct ta_extent *)field = extent;
        return TA_OK;
    }
    return TA_OK;
}

const char *ta_value_text(const struct ta_run_option *option, const void *field,
                          char text[TA_VALUE_TEXT_MAX])
{
    const struct ta_extent *extent = field;
    switch (option->type) {
    case TA_VALUE_FLAG:
        return *(const bool *)field ? "true" : "false";
    case TA_VALUE_COUNT:
        snprintf(text, TA_VALUE_TEXT_MAX, "%d", *(const int *)field);
        return text;
    case TA_VALUE_TEXT:
        return *(const char *const *)field;
    case TA_VALUE_CHOICE:
        return *option->choices[*(const int *)field] ? option->choices[*(const int *)field] : NULL;
    case TA_VALUE_WHOLE:
        snprintf(text, TA_VALUE_TEXT_MAX, "%" PRId64, *(const int64_t *)field);
        return *(const int64_t *)field >= option->least ? text : NULL;
    case TA_VALUE_NUMBER:
        return *(const double *)field >= (double)option->least
                   ? ta_number_format(text, *(const double *)field)
                   : NULL;
    case TA_VALUE_EXTENT:
        snprintf(text, TA_VALUE_TEXT_MAX, "%gx%g", extent->width, extent->height);
        return extent->width > 0 ? text : NULL;
    case TA_VALUE_TEXTS:
        break;
    }
    return NULL;
}
