/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The core schema of YAML 1.2 (chapter 10.3.2): what a scalar without quotes means.  `yes`, `no`
 * and `on` are texts. */
#include "base/yaml/yaml.h"

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static const char *skip(const char *text, const char *set)
{
    return text + strspn(text, set);
}

#define DIGITS "0123456789"

/* [-+]? [0-9]+, 0o [0-7]+, 0x [0-9a-fA-F]+ */
static bool is_integer(const char *text)
{
    const char *digits = DIGITS;
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
        digits = text[1] == 'o' ? "01234567" : DIGITS "abcdefABCDEF";
        text += 2;
    } else if (*text == '-' || *text == '+') {
        text++;
    }
    return *text && !*skip(text, digits);
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_float(const char *text)
{
    static const char *const names[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
                                        ".INF",  "-.inf", "-.Inf", "-.INF", "+.inf",
                                        "+.Inf", "+.INF", NULL};
    if (is_one_of(text, names))
        return true;
    if (*text == '-' || *text == '+')
        text++;
    const char *point = skip(text, DIGITS);
    const bool has_digits = point > text;
    if (*point == '.') {
        const char *rest = skip(point + 1, DIGITS);
        if (!has_digits && rest == point + 1)
            return false;
        point = rest;
    } else if (!has_digits) {
        return false;
    }
    if (!*point)
        return true;
    if (*point != 'e' && *point != 'E')
        return false;
    point++;
    if (*point == '-' || *point == '+')
        point++;
    return *point && !*skip(point, DIGITS);
}

enum ta_yaml_kind ta_yaml_resolve(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const booleans[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};
    if (is_one_of(text, nulls))
        return TA_YAML_NULL;
    if (is_one_of(text, booleans))
        return TA_YAML_BOOLEAN;
    if (is_integer(text))
        return TA_YAML_INTEGER;
    return is_float(text) ? TA_YAML_FLOAT : TA_YAML_TEXT;
}

const char *ta_yaml_kind_name(enum ta_yaml_kind kind)
{
    static const char *const names[] = {
        [TA_YAML_NULL] = "nothing",
        [TA_YAML_BOOLEAN] = "true or false",
        [TA_YAML_INTEGER] = "a whole number",
        [TA_YAML_FLOAT] = "a number",
        [TA_YAML_TEXT] = "a text",
        [TA_YAML_LIST] = "a list",
        [TA_YAML_MAP] = "a map",
    };
    return names[kind];
}
