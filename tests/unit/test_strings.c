/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interned strings, against a list of the texts in the order of first sight. */
#include "model/strings.h"

#include "trace_fixture.h"

enum { TEXTS = 3000, LONGEST = 80 };

/* Texts of all lengths that begin and end alike, so that many share a place among the last ones;
 * empty ones and copies among them. */
static size_t make_text(struct rng *rng, char *text)
{
    static const char *const ends[] = {"[[1, 4680, ", "], [], []]", "aten::", "(int)", ""};
    const char *start = ends[rng_below(rng, 5)], *end = ends[rng_below(rng, 5)];
    const size_t middle = rng_below(rng, rng_below(rng, 2) ? 4 : LONGEST - 24);
    size_t n = strlen(start);
    memcpy(text, start, n);
    for (size_t i = 0; i < middle; i++)
        text[n++] = (char)('0' + rng_below(rng, 3));
    memcpy(text + n, end, strlen(end));
    return n + strlen(end);
}

static ta_str find(const struct ta_strings *strings, struct ta_slice text)
{
    for (ta_str id = 1; id < strings->texts.n; id++)
        if (ta_slice_equal(ta_strings_text(strings, id), text))
            return id;
    return TA_STR_ABSENT;
}

/* Of the texts that were there before, some come again and again, a few in turns. */
static void equal_texts_have_one_id(void **state)
{
    (void)state;
    static char texts[TEXTS][LONGEST + 24];
    static size_t lengths[TEXTS];
    struct ta_strings strings;
    struct rng rng = {7};
    assert_true(ta_strings_init(&strings, UINT32_MAX));
    for (size_t i = 0; i < TEXTS; i++) {
        lengths[i] = make_text(&rng, texts[i]);
        for (size_t again = 0; again < 8; again++) {
            const size_t at = again == 0 ? i : rng_below(&rng, again < 4 ? i + 1 : i / 64 + 1);
            const struct ta_slice text = {texts[at], lengths[at]};
            const ta_str known = find(&strings, text);
            ta_str id = TA_STR_ABSENT;
            assert_int_equal(ta_strings_intern(&strings, text, &id), TA_INTERN_OK);
            assert_int_equal(id, known ? known : strings.texts.n - 1);
            assert_true(ta_slice_equal(ta_strings_text(&strings, id), text));
        }
    }
    assert_true(strings.texts.n > TEXTS / 2); /* it has grown beyond what is remembered */
    ta_strings_free(&strings);
}

static void beyond_the_limit_only_known_texts(void **state)
{
    (void)state;
    struct ta_strings strings;
    ta_str id = TA_STR_ABSENT;
    assert_true(ta_strings_init(&strings, 2));
    assert_int_equal(ta_strings_intern(&strings, TA_LIT("a"), &id), TA_INTERN_OK);
    assert_int_equal(ta_strings_intern(&strings, TA_LIT("b"), &id), TA_INTERN_OK);
    assert_int_equal(ta_strings_intern(&strings, TA_LIT("c"), &id), TA_INTERN_FULL);
    assert_int_equal(ta_strings_intern(&strings, TA_LIT("a"), &id), TA_INTERN_OK);
    assert_int_equal(id, 1);
    ta_strings_free(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_one_id),
        cmocka_unit_test(beyond_the_limit_only_known_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
