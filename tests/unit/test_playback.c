/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Playback against a player that shows one frame after the other, in 1000 random cases. */
#include "lib/playback.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CASES = 1000, BLOCKS_MOST = 40 };

static uint64_t state = 88172645463325252U;

static int64_t below(int64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

static size_t make_video(struct ta_ready_block *blocks)
{
    const size_t n = 1 + (size_t)below(BLOCKS_MOST);
    int64_t now = below(3000000000);
    for (size_t j = 0; j < n; j++) {
        /* Some blocks are ready together, as of a decoder that works on several. */
        now += below(5) ? below(2000000000) : 0;
        blocks[j] = (struct ta_ready_block){now, 1 + below(24)};
    }
    return n;
}

/* Shows frames one by one; a stall is a wait between two frames. */
static struct ta_playing show(const struct ta_ready_block *blocks, size_t n, double fps,
                              double start)
{
    struct ta_playing seen = {.end_ns = fmax(start, (double)blocks[0].ready_ns)};
    double since = seen.end_ns;
    int64_t shown = 0; /* since the last wait */
    for (size_t j = 0; j < n; j++)
        for (int64_t frame = 0; frame < blocks[j].frames; frame++) {
            const double due = since + (double)shown * 1e9 / fps;
            const double wait = (double)blocks[j].ready_ns - due;
            if (wait > 0.5) {
                seen.stalls++;
                seen.stalled_ns += wait;
                seen.longest_ns = fmax(seen.longest_ns, wait);
                since = (double)blocks[j].ready_ns;
                shown = 0;
            }
            shown++;
        }
    seen.end_ns = since + (double)shown * 1e9 / fps;
    return seen;
}

static void same_as_frame_by_frame(void **unused)
{
    (void)unused;
    struct ta_ready_block blocks[BLOCKS_MOST];
    double begins[BLOCKS_MOST];
    for (int i = 0; i < CASES; i++) {
        const size_t n = make_video(blocks);
        const double fps = 1 + (double)below(6000) / 100;
        const double start = (double)blocks[0].ready_ns + (double)below(2000000000);
        const struct ta_playing played = ta_play(blocks, n, fps, start, begins);
        const struct ta_playing seen = show(blocks, n, fps, start);
        assert_int_equal(played.stalls, seen.stalls);
        assert_true(fabs(played.stalled_ns - seen.stalled_ns) < 10);
        assert_true(fabs(played.longest_ns - seen.longest_ns) < 10);
        assert_true(fabs(played.end_ns - seen.end_ns) < 10);
        assert_true(begins[0] >= start - 1);
    }
}

/* No stall from the smallest start on, and one from just before it, which is no earlier than the
 * first block. */
static void smallest_start(void **unused)
{
    (void)unused;
    struct ta_ready_block blocks[BLOCKS_MOST];
    for (int i = 0; i < CASES; i++) {
        const size_t n = make_video(blocks);
        const double fps = 1 + (double)below(6000) / 100;
        const double first = (double)blocks[0].ready_ns;
        const double start = ta_stall_free_start(blocks, n, fps);
        assert_true(start >= first);
        assert_int_equal(show(blocks, n, fps, start).stalls, 0);
        if (start - first > 2000)
            assert_true(show(blocks, n, fps, start - 1000).stalls > 0);
        /* What a player waits that begins with the first frames is what it could have waited for.
         */
        assert_true(fabs(show(blocks, n, fps, first).stalled_ns - (start - first)) < 10);
    }
}

static void largest_rate(void **unused)
{
    (void)unused;
    struct ta_ready_block blocks[BLOCKS_MOST];
    for (int i = 0; i < CASES; i++) {
        const size_t n = make_video(blocks);
        const double start = (double)blocks[0].ready_ns + (double)below(3000000000);
        const double rate = ta_stall_free_rate(blocks, n, start);
        assert_true(rate > 0);
        if (isinf(rate)) {
            assert_int_equal(show(blocks, n, 1e6, start).stalls, 0);
            continue;
        }
        assert_int_equal(show(blocks, n, rate * (1 - 1e-9), start).stalls, 0);
        assert_true(show(blocks, n, rate * 1.001, start).stalls > 0);
    }
}

static void nothing_to_play(void **unused)
{
    (void)unused;
    assert_true(isnan(ta_stall_free_start(NULL, 0, 16)));
    assert_true(isnan(ta_stall_free_rate(NULL, 0, 0)));
    assert_int_equal(ta_play(NULL, 0, 16, 0, NULL).stalls, 0);
    const struct ta_ready_block late = {5, 3};
    assert_true(ta_stall_free_rate(&late, 1, 4) <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_frame_by_frame),
        cmocka_unit_test(smallest_start),
        cmocka_unit_test(largest_rate),
        cmocka_unit_test(nothing_to_play),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
