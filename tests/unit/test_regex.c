/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What expressions match, which are refused, and that none costs much. */
#include "base/regex.h"

#include "trace_fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- what is matched ---------------------------------------------------------------------- */

/* `group` NULL: the text is not matched; "-": the group is not part of the match. */
static const struct {
    const char *expression, *text, *group;
} matches[] = {
    {"rank[-_/[]?([0-9]+)", "run/rank_12.json", "12"},
    {"rank[-_/[]?([0-9]+)", "rank[7]/trace.json", "7"},
    {"rank[-_/[]?([0-9]+)", "ranks.json", NULL},
    {"([0-9]+)", "a1b22", "1"}, /* the leftmost */
    {"([0-9]+)$", "a1b22", "22"},
    {"^([0-9]+)", "a1b22", NULL},
    {"(1|10)0", "rank100", "10"}, /* the longest */
    {"(1|10)", "rank100", "10"},
    {"(a|ab)(c|bcd)", "abcd", "a"},
    {".*([0-9]+)", "node12", "2"}, /* what stands first takes most */
    {"node([0-9]{2})", "node123", "12"},
    {"node([0-9]{2,})x", "node123x", "123"},
    {"node([0-9]{,2})x", "node12x", "12"},
    {"node([0-9]{2,3})x", "node1x node1234x node123x", "123"},
    {"(ab){2}", "abab", "ab"},
    {"(a){0}b", "ab", "-"},
    {"(a*)*b", "aab", "aa"},
    {"x|(y)", "x", "-"},
    {"(|a)b", "ab", "a"},
    {"()a", "a", ""},
    {"a)(b)", "a)b", "b"}, /* a ) without its ( is a character */
    {"([[:digit:]]+)[^[:alnum:]]", "a12-", "12"},
    {"([]a-]+)", "x]-a", "]-a"},
    {"([^]a]+)", "]b", "b"},
    {"([[.-.][=a=]]+)", "b-a", "-a"},
    {"([\\]+)", "a\\\\", "\\\\"},
    {"r\\.(\\w+)\\W", "r.a_1-", "a_1"},
    {"\\<(a)\\>", "ba a", "a"},
    {"\\b(a)\\B", "a ab", "a"},
    {"\\`(a)\\'", "a", "a"},
    {"(\\s)\\S", "a b", " "},
    {"(\xc3.)", "\xc3\xa4", "\xc3\xa4"}, /* bytes */
    {"(.)\\{", "a{", "a"},
};

static void matches_the_leftmost_longest(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        struct ta_regex_error error;
        struct ta_regex_part group = {0, 0};
        struct ta_regex *regex = ta_regex_new(matches[i].expression, &error);
        if (!regex)
            fail_msg("%s: %s", matches[i].expression, error.text);
        for (int turn = 0; turn < 2; turn++) { /* a search leaves nothing to the next one */
            const bool found = ta_regex_search(regex, matches[i].text, &group);
            char text[64] = "-";
            if (found && group.start != SIZE_MAX)
                snprintf(text, sizeof text, "%.*s", (int)(group.end - group.start),
                         matches[i].text + group.start);
            if (found != (matches[i].group != NULL) || (found && strcmp(text, matches[i].group)))
                fail_msg("%s on %s: %s", matches[i].expression, matches[i].text,
                         found ? text : "nothing");
        }
        ta_regex_free(regex);
    }
}

/* ---- what is refused ---------------------------------------------------------------------- */

static const struct {
    const char *expression, *why;
} refused[] = {
    {"rank", "no group"},
    {"(", "not closed (byte 1)"},
    {"a(b", "not closed (byte 2)"},
    {"([a", "not closed"},
    {"([", "not closed"},
    {"([[:digits:]])", "no such class"},
    {"([[.ab.]])", "collating"},
    {"([b-a])", "a range"},
    {"*(a)", "a repeat of nothing (byte 1)"},
    {"(+)", "a repeat of nothing"},
    {"(a)|{2}", "a repeat of nothing"},
    {"(^*a)", "a place"},
    {"(a{2)", "a repeat in braces"},
    {"(a{})", "without a number"},
    {"(a{2,1})", "less than its least"},
    {"(a{256})", "more than 255"},
    {"(a{99999999999999999999})", "more than 255"},
    {"(a)\\1", "back-reference"},
    {"(\\d+)", "write [0-9]"},
    {"(a)\\", "a backslash at the end"},
    {"(d{1,200}){1,200}", "use + or *"},
    {"((((((a{9}){9}){9}){9}){9}){9}){9}", "use + or *"},
    {"(a)++++++++++++++++++++++++++++++++++++++++++++++++++{255}{255}", "use + or *"},
};

static void assert_refused(const char *expression, const char *why)
{
    struct ta_regex_error error;
    struct ta_regex *regex = ta_regex_new(expression, &error);
    if (regex || !strstr(error.text, why))
        fail_msg("%.80s: %s", expression, regex ? "not refused" : error.text);
}

static void refuses_what_is_wrong_or_large(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_refused(refused[i].expression, refused[i].why);
    char text[TA_REGEX_LONGEST + 2];
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_refused(text, "longer than 1024 bytes");
    text[TA_REGEX_LONGEST] = '\0';
    assert_refused(text, "within one another");
    memset(text, 'a', TA_REGEX_LONGEST);
    assert_refused(text, "more than 512 parts");
}

/* ---- cost --------------------------------------------------------------------------------- */

/* Each takes the C library gigabytes, or longer than anybody waits. */
static void costly_ones_end(void **state)
{
    static const char *const costly[] = {
        "((a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*))*x",
        "([ab]*?{1,3}{2,}{0,2})x",
        "((a|b)*a(a|b){100}x)",
        "(.{1,250})x",
        "((((((((((a*)*)*)*)*)*)*)*)*)*)x",
    };
    (void)state;
    struct rng rng = {3};
    char text[4096];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "ab"[rng_next(&rng) & 1];
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
        struct ta_regex_error error;
        struct ta_regex_part group;
        struct ta_regex *regex = ta_regex_new(costly[i], &error);
        assert_non_null(regex);
        assert_false(ta_regex_search(regex, text, &group));
        ta_regex_free(regex);
    }
}

/* Texts of tokens: what one is not refused for, it matches within the text. */
static void any_text_is_read(void **state)
{
    enum { ROUNDS = 20000, TOKENS_MOST = 24 };
    static const char *const tokens[] = {
        "a",     "b",      "(", ")", "|",         "*",           "+",   "?",   "^",
        "$",     "[",      "]", "-", "{",         "}",           ",",   "\\",  "{2}",
        "{1,3}", "[^a-b]", ".", "1", "[:alpha:]", "[[:digit:]]", "\\b", "\xff"};
    (void)state;
    struct rng rng = {5};
    for (int i = 0; i < ROUNDS; i++) {
        char expression[TOKENS_MOST * 12] = "(", text[16];
        for (uint64_t n = rng_next(&rng) % TOKENS_MOST; n > 0; n--)
            strcat(expression, tokens[rng_next(&rng) % (sizeof tokens / sizeof *tokens)]);
        strcat(expression, i % 2 ? ")" : "");
        for (size_t k = 0; k < sizeof text; k++)
            text[k] = "ab1-\xff"[rng_next(&rng) % 5];
        text[rng_next(&rng) % sizeof text] = '\0';
        text[sizeof text - 1] = '\0';
        struct ta_regex_error error;
        struct ta_regex_part group;
        struct ta_regex *regex = ta_regex_new(expression, &error);
        if (!regex)
            assert_true(error.text[0] != '\0');
        else if (ta_regex_search(regex, text, &group) && group.start != SIZE_MAX)
            assert_true(group.start <= group.end && group.end <= strlen(text));
        ta_regex_free(regex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_leftmost_longest),
        cmocka_unit_test(refuses_what_is_wrong_or_large),
        cmocka_unit_test(costly_ones_end),
        cmocka_unit_test(any_text_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
