/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alignments against the best sum that a full table finds. */
#include "compare/align.h"

#include "trace_fixture.h"

enum { LONGEST = 12, BEST_FIT = 3 };

struct table {
    int fit[LONGEST][LONGEST];
    size_t columns[LONGEST][LONGEST], n_columns[LONGEST]; /* that may fit, ascending */
};

static int fit(const void *user, size_t i, size_t k)
{
    return ((const struct table *)user)->fit[i][k];
}

static struct diff_columns choice(const void *user, size_t i)
{
    const struct table *table = user;
    return (struct diff_columns){table->columns[i], table->n_columns[i]};
}

/* What fits may be chosen, and some of what does not. */
static void choose(struct table *table, size_t m, struct rng *rng)
{
    for (size_t i = 0; i < LONGEST; i++)
        for (size_t k = 0; k < m; k++)
            if (table->fit[i][k] || rng_below(rng, 4) == 0)
                table->columns[i][table->n_columns[i]++] = k;
}

static int best_sum(const struct table *table, size_t n, size_t m)
{
    int sum[LONGEST + 1][LONGEST + 1] = {{0}};
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++) {
            const int beside = sum[i - 1][k - 1] + table->fit[i - 1][k - 1];
            const int gap = sum[i - 1][k] > sum[i][k - 1] ? sum[i - 1][k] : sum[i][k - 1];
            sum[i][k] = beside > gap ? beside : gap;
        }
    return sum[n][m];
}

/* The sum of an alignment, which goes forward on both sides and pairs only what fits. */
static int sum_of(const struct table *table, const size_t *other, size_t n, size_t m)
{
    int sum = 0;
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (other[i] == DIFF_GAP)
            continue;
        assert_true(other[i] >= next && other[i] < m);
        assert_true(table->fit[i][other[i]] > 0);
        next = other[i] + 1;
        sum += table->fit[i][other[i]];
    }
    return sum;
}

static void finds_the_largest_sum(void **state)
{
    (void)state;
    struct rng rng = {5};
    for (int round = 0; round < 5000; round++) {
        struct table table = {.n_columns = {0}};
        size_t other[LONGEST], again[LONGEST];
        const size_t n = rng_below(&rng, LONGEST + 1), m = rng_below(&rng, LONGEST + 1);
        for (size_t i = 0; i < LONGEST; i++)
            for (size_t k = 0; k < LONGEST; k++)
                table.fit[i][k] = rng_below(&rng, 3) ? 0 : (int)rng_below(&rng, BEST_FIT + 1);
        for (size_t i = 0; round % 2 && i < LONGEST; i++)
            table.fit[i][i] = BEST_FIT; /* ends that go together */
        struct diff_sequences both = {.fit = fit, .user = &table, .most = BEST_FIT, .n = n, .m = m};
        assert_true(diff_align(&both, other));
        assert_int_equal(sum_of(&table, other, n, m), best_sum(&table, n, m));
        choose(&table, m, &rng);
        both.choice = choice;
        assert_true(diff_align(&both, again));
        assert_memory_equal(other, again, n * sizeof *other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_largest_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
