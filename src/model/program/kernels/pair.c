/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two places in a sequence that move together as long as beats agree. */
#include "model/program/kernels/search.h"

enum {
    RESYNC = 4, /* beats that may be missing or strange in a row */
    AGAIN = 3   /* and how many must agree after them */
};

static bool has_left(const struct pair *p, size_t a, size_t b)
{
    return p->back ? p->a >= p->a_limit + a && p->b >= p->b_limit + b
                   : p->a + a <= p->a_limit && p->b + b <= p->b_limit;
}

/* Whether `n` beats agree after `da` and `db`. */
static bool agrees(const struct search *s, const struct pair *p, size_t da, size_t db, size_t n)
{
    if (!has_left(p, da + n, db + n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (p->back ? search_symbol(s, p->a - da - i - 1) != search_symbol(s, p->b - db - i - 1)
                    : search_symbol(s, p->a + da + i) != search_symbol(s, p->b + db + i))
            return false;
    return true;
}

static void move(struct pair *p, size_t a, size_t b)
{
    p->a = p->back ? p->a - a : p->a + a;
    p->b = p->back ? p->b - b : p->b + b;
}

static bool step_over(const struct search *s, struct pair *p)
{
    for (size_t sum = 1; sum <= 2 * RESYNC; sum++)
        for (size_t da = sum > RESYNC ? sum - RESYNC : 0; da <= sum && da <= RESYNC; da++)
            if (agrees(s, p, da, sum - da, p->again ? p->again : AGAIN)) {
                move(p, da, sum - da);
                return true;
            }
    return false;
}

void pair_walk(const struct search *s, struct pair *p)
{
    while (agrees(s, p, 0, 0, 1) || step_over(s, p))
        move(p, 1, 1);
}
