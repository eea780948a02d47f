/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/kinds.h"

#include <stdlib.h>

/* Beyond so many categories of processes, new ones count as the first process. */
enum { ROWS_MOST = 64 * 1024 };

void kinds_free(struct kinds *kinds)
{
    for (size_t i = 0; i < kinds->list.n; i++)
        free(kinds->list.at[i].counts);
    free(kinds->list.at);
    ta_map_free(&kinds->place_of);
}

void kinds_clear(struct kinds *kinds)
{
    for (size_t i = 0; i < kinds->list.n; i++)
        if (kinds->list.at[i].n)
            memset(kinds->list.at[i].counts, 0,
                   kinds->list.at[i].n * sizeof *kinds->list.at[i].counts);
}

/* Makes room for a category.  False without memory, or when there is too much already. */
static bool grow(struct kinds *kinds, struct kinds_of_process *process, ta_cat cat, bool may_refuse)
{
    enum { LEAST = 16 };
    const size_t twice = process->n ? 2 * process->n : LEAST;
    const size_t n = twice > cat ? twice : (size_t)cat + 1;
    if (may_refuse && kinds->rows + n - process->n > ROWS_MOST)
        return false;
    void *grown = reallocarray(process->counts, n, sizeof *process->counts);
    if (!grown)
        return false;
    process->counts = grown;
    memset(process->counts + process->n, 0, (n - process->n) * sizeof *process->counts);
    kinds->rows += n - process->n;
    process->n = n;
    return true;
}

int64_t *kinds_find(struct kinds *kinds, ta_str pid, ta_cat cat)
{
    uint64_t *place = ta_map_at(&kinds->place_of, pid, 0);
    if (!place)
        return NULL;
    if (*place == 0) {
        const bool has_room = kinds->list.n == 0 || kinds->rows < ROWS_MOST;
        if (has_room && !ta_vec_push(&kinds->list, (struct kinds_of_process){.pid = pid}))
            return NULL;
        *place = has_room ? kinds->list.n : 1;
    }
    struct kinds_of_process *process = &kinds->list.at[*place - 1];
    if (cat >= process->n && !grow(kinds, process, cat, *place > 1)) {
        process = kinds->list.at;
        if (cat >= process->n && !grow(kinds, process, cat, false))
            return NULL;
        return process->counts[cat];
    }
    kinds->recent[pid % KINDS_RECENT].pid = pid;
    kinds->recent[pid % KINDS_RECENT].place = (uint32_t)*place;
    return process->counts[cat];
}

int64_t kinds_sum(const struct kinds *kinds, ta_cat cat, size_t phase)
{
    int64_t sum = 0;
    for (size_t i = 0; i < kinds->list.n; i++)
        if (cat < kinds->list.at[i].n)
            sum += kinds->list.at[i].counts[cat][phase];
    return sum;
}
