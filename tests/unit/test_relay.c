/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that take turns at a stream: where parts meet, who is passed over, and that every byte
 * comes to those who need it. */
#include "read/relay.h"

#include "base/context.h"
#include "base/quality.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 100, BYTES = 1000, MOST = 3 };

/* A brace every 30 bytes, the first one at 0; every other byte says where it stands. */
static char text[BYTES];

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_quality quality;
static struct ta_reader *source;
static struct ta_relay *relay;
static struct ta_part parts[MOST];

static size_t find_brace(struct ta_json *json, const char *bytes, size_t n)
{
    (void)json;
    const char *brace = memrchr(bytes, '{', n);
    return brace ? (size_t)(brace - bytes) : 0;
}

static int open_relay(void **state)
{
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        text[i] = i % 30 == 0 ? '{' : (char)('a' + i / 30 % 26);
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    const int fd = memfd_create("relay", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, BYTES), BYTES);
    lseek(fd, 0, SEEK_SET);
    source = ta_reader_open(&ctx, NULL, fd, &quality);
    assert_non_null(source);
    relay = ta_relay_new(source, MOST, SIZE);
    assert_non_null(relay);
    memset(parts, 0, sizeof parts);
    return 0;
}

static int close_relay(void **state)
{
    (void)state;
    ta_relay_free(relay);
    ta_reader_close(source);
    ta_quality_free(&quality);
    return 0;
}

static void begin(struct ta_part *part)
{
    assert_true(ta_relay_begin(relay, part));
    part->find = find_brace;
}

/* Takes the next bytes of a part as they lie and looks at them. */
static size_t lend(struct ta_part *part)
{
    char *bytes;
    const uint64_t at = part->given;
    assert_true(ta_part_lends(part, &quality));
    const size_t n = ta_part_lend(part, text, 0, &bytes);
    assert_true(at + n <= BYTES);
    assert_memory_equal(bytes, text + at, n);
    return n;
}

/* The same by copying. */
static size_t copy(struct ta_part *part, size_t most)
{
    char bytes[BYTES];
    const uint64_t at = part->given;
    const size_t n = ta_part_read(part, &quality, bytes, most);
    assert_true(at + n <= BYTES);
    assert_memory_equal(bytes, text + at, n);
    return n;
}

/* A part ends at the last brace of its block, and the next one begins there. */
static void a_part_that_fits(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0], *b = &parts[1];
    begin(a);
    assert_int_equal(a->start, 0);
    assert_int_equal(lend(a), SIZE);
    assert_int_equal(ta_part_border(a), 90);
    begin(b);
    assert_int_equal(b->start, 90);
    assert_true(b->in_object);
    assert_int_equal(lend(b), SIZE);
    assert_int_equal(ta_part_border(b), 180);
    assert_false(ta_part_at_border(a, 60, true));
    assert_true(ta_part_at_border(a, 90, true));
    assert_true(a->reached && !a->unsure);
    /* It stays so, whatever is asked afterwards. */
    assert_true(ta_part_at_border(a, 95, false));
    assert_true(ta_relay_await(a));
    ta_relay_end(a);
    assert_true(ta_part_at_border(b, 180, true));
    assert_true(ta_relay_await(b));
    ta_relay_end(b);
}

/* Beyond a border that does not fit, the block of the next part is read on, by copying; then it is
 * the turn of whoever reads it. */
static void a_part_that_does_not(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0], *b = &parts[1], *c = &parts[2];
    begin(a);
    lend(a);
    begin(b);
    lend(b);
    begin(c);
    lend(c);
    assert_false(ta_part_at_border(a, 90, false));
    assert_int_equal(ta_part_border(a), 180);
    assert_false(ta_relay_await(b));
    assert_false(ta_part_lends(a, &quality));
    assert_int_equal(copy(a, 30), 30);
    assert_int_equal(copy(a, SIZE), 60);
    assert_int_equal(a->given, 190);
    assert_true(ta_part_at_border(a, 180, true));
    assert_true(ta_relay_await(a));
    ta_relay_end(a);
    assert_true(ta_relay_await(c));
    ta_relay_end(c);
}

/* Where nobody has begun behind the border, the part takes the turn again. */
static void nobody_behind(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0];
    begin(a);
    lend(a);
    assert_false(ta_part_at_border(a, 95, true));
    assert_int_equal(ta_part_border(a), UINT64_MAX);
    assert_int_equal(lend(a), 90); /* what was not given before */
    assert_int_equal(ta_part_border(a), 180);
}

/* Needing bytes beyond a border says that it is wrong. */
static void a_value_over_the_border(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0], *b = &parts[1];
    begin(a);
    lend(a);
    begin(b);
    lend(b);
    assert_int_equal(copy(a, SIZE), 90);
    assert_false(ta_relay_await(b));
    assert_int_equal(ta_part_border(a), 180);
    while (a->given < BYTES)
        assert_true(ta_part_lends(a, &quality) ? lend(a) : copy(a, 7));
    assert_int_equal(lend(a), 0);
    assert_int_equal(copy(a, 7), 0);
    assert_int_equal(ta_part_border(a), UINT64_MAX);
    assert_true(ta_relay_await(a));
    ta_relay_end(a);
    assert_false(ta_relay_begin(relay, b)); /* the end was reached */
}

static size_t find_nothing(struct ta_json *json, const char *bytes, size_t n)
{
    (void)json;
    (void)bytes;
    (void)n;
    return 0;
}

/* Without a cut the turn stays where it is. */
static void no_cut(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0];
    size_t n = 0;
    begin(a);
    a->find = find_nothing;
    for (size_t got; (got = lend(a)) > 0; n += got)
        assert_int_equal(ta_part_border(a), UINT64_MAX);
    assert_int_equal(n, BYTES);
    assert_true(ta_relay_await(a));
    ta_relay_end(a);
    assert_false(ta_relay_begin(relay, &parts[1]));
}

/* What is kept stands before the bytes lent, as it does in the stream. */
static void kept_bytes(void **state)
{
    (void)state;
    struct ta_part *a = &parts[0];
    char *bytes, kept[40];
    begin(a);
    a->find = find_nothing;
    lend(a);
    memcpy(kept, text + SIZE - sizeof kept, sizeof kept);
    assert_true(ta_part_lends(a, &quality));
    assert_int_equal(ta_part_lend(a, kept, sizeof kept, &bytes), SIZE);
    assert_memory_equal(bytes, text + SIZE - sizeof kept, SIZE + sizeof kept);
    for (size_t i = 0; i < TA_PADDING; i++)
        assert_int_equal(bytes[SIZE + sizeof kept + i], 0);
}

static void closed(void **state)
{
    (void)state;
    begin(&parts[0]);
    lend(&parts[0]);
    begin(&parts[1]);
    lend(&parts[1]);
    ta_relay_close(relay);
    assert_false(ta_relay_begin(relay, &parts[2]));
    assert_false(ta_relay_await(&parts[1]));
    assert_true(ta_part_at_border(&parts[0], 90, false));
    assert_true(parts[0].unsure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_part_that_fits, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(a_part_that_does_not, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(nobody_behind, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(a_value_over_the_border, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(no_cut, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(kept_bytes, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(closed, open_relay, close_relay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
