/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources are written for people; pages carry them to browsers.  This reads them token by token as
 * far as needed to tell text, where every space counts, from the white space between tokens. */
#include "squeeze.h"

#include <stdbool.h>
#include <string.h>

struct squeezer {
    enum html_language language;
    const char *at;
    char *to;
    char last;        /* character that was written last; NUL at first */
    bool ended_value; /* by the last token, so that a slash divides */
    bool space, line; /* met since then */
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 128;
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Elsewhere a space may stand between selectors, or between values. */
static bool is_css_space(char last, char next)
{
    return !is_one_of(last, "{};,:>") && !is_one_of(next, "{};,>");
}

/* Whether a line ends a statement where none of its characters says so. */
static bool is_line_end(char last, char next)
{
    return (is_word(last) || is_one_of(last, ")]}\"'`/")) &&
           (is_word(next) || is_one_of(next, "([{\"'`/!~#@+-"));
}

/* Puts what has to stay of the white space before a token. */
static void put_space(struct squeezer *s, char next)
{
    if (s->space && s->last) {
        if (s->language == HTML_CSS) {
            if (is_css_space(s->last, next))
                *s->to++ = ' ';
        } else if (s->line && is_line_end(s->last, next)) {
            *s->to++ = '\n';
        } else if ((is_word(s->last) && is_word(next)) ||
                   (s->last == next && is_one_of(next, "+-/"))) {
            *s->to++ = ' ';
        }
    }
    s->space = s->line = false;
}

static void skip_space(struct squeezer *s)
{
    for (;;) {
        const char *end = NULL;
        if (strncmp(s->at, "/*", 2) == 0 && (end = strstr(s->at + 2, "*/")))
            end += 2;
        else if (s->language == HTML_SCRIPT && strncmp(s->at, "//", 2) == 0)
            end = s->at + strcspn(s->at, "\n");
        else
            end = s->at + strspn(s->at, " \t\r\n");
        if (end == s->at)
            return;
        s->space = true;
        s->line = s->line || memchr(s->at, '\n', (size_t)(end - s->at));
        s->at = end;
    }
}

static const char *end_of_quoted(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* A slash within brackets ends no regular expression. */
static const char *end_of_pattern(const char *at)
{
    bool in_class = false;
    for (at++; *at && *at != '\n' && (in_class || *at != '/'); at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '[' || *at == ']')
            in_class = *at == '[';
    }
    return *at == '/' ? at + 1 : at;
}

static const char *end_of_word(const char *at)
{
    while (is_word(*at))
        at++;
    return at;
}

/* Words behind which a value begins, not an operator. */
static bool is_prefix(const char *word, size_t n)
{
    static const char *const words[] = {"return", "typeof", "case", "in",     "of",
                                        "await",  "yield",  "void", "delete", "throw"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(word, words[i], n) == 0)
            return true;
    return false;
}

static const char *end_of_template(const char *at);

/* The token at hand; what is neither text nor word goes character by character. */
static const char *end_of_token(struct squeezer *s)
{
    const char *at = s->at, *end = at + 1;
    const bool in_script = s->language == HTML_SCRIPT;
    bool is_value = true;
    if (*at == '"' || *at == '\'') {
        end = end_of_quoted(at);
    } else if (in_script && *at == '`') {
        end = end_of_template(at);
    } else if (in_script && *at == '/' && !s->ended_value) {
        end = end_of_pattern(at);
    } else if (is_word(*at)) {
        end = end_of_word(at);
        is_value = !is_prefix(at, (size_t)(end - at));
    } else {
        is_value = is_one_of(*at, ")]");
    }
    s->ended_value = is_value;
    return end;
}

/* The brace that closes the one before `at`. */
static const char *end_of_code(const char *at)
{
    struct squeezer inner = {.language = HTML_SCRIPT, .at = at};
    int depth = 1;
    for (skip_space(&inner); *inner.at; skip_space(&inner)) {
        depth += (*inner.at == '{') - (*inner.at == '}');
        if (depth == 0)
            return inner.at;
        inner.at = end_of_token(&inner);
    }
    return inner.at;
}

/* Texts in back quotes hold code in braces, which may hold such texts. */
static const char *end_of_template(const char *at)
{
    for (at++; *at && *at != '`'; at++)
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '$' && at[1] == '{' && !*(at = end_of_code(at + 2)))
            return at;
    return *at ? at + 1 : at;
}

size_t html_squeeze(char *text, enum html_language language)
{
    struct squeezer s = {.language = language, .at = text, .to = text};
    for (skip_space(&s); *s.at; skip_space(&s)) {
        const char *end = end_of_token(&s);
        const size_t n = (size_t)(end - s.at);
        put_space(&s, *s.at);
        s.last = end[-1];
        memmove(s.to, s.at, n);
        s.to += n;
        s.at = end;
    }
    *s.to = '\0';
    return (size_t)(s.to - text);
}
