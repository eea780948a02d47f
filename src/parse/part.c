/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where parts of a stream meet. */
#include "parse/part.h"

bool ta_part_board_init(struct ta_part_board *board)
{
    if (pthread_mutex_init(&board->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&board->changed, NULL) == 0)
        return true;
    pthread_mutex_destroy(&board->lock);
    return false;
}

void ta_part_board_free(struct ta_part_board *board)
{
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
}

void ta_parts_init(struct ta_part *parts, size_t n, struct ta_part_board *board,
                   const uint64_t *cuts)
{
    for (size_t i = 0; i < n; i++) {
        struct ta_part *const next = i + 1 < n ? &parts[i + 1] : NULL;
        parts[i] = (struct ta_part){.board = board,
                                    .next = next,
                                    .ahead = next,
                                    .cut = i ? cuts[i - 1] : 0,
                                    .border = next ? cuts[i] : UINT64_MAX,
                                    .start = i ? TA_PART_UNKNOWN : 0};
    }
}

void ta_part_announce(struct ta_part *part, uint64_t start)
{
    pthread_mutex_lock(&part->board->lock);
    if (part->start == TA_PART_UNKNOWN)
        part->start = start;
    pthread_cond_broadcast(&part->board->changed);
    pthread_mutex_unlock(&part->board->lock);
}

static uint64_t await_start(struct ta_part *part)
{
    pthread_mutex_lock(&part->board->lock);
    while (part->start == TA_PART_UNKNOWN)
        pthread_cond_wait(&part->board->changed, &part->board->lock);
    const uint64_t start = part->start;
    pthread_mutex_unlock(&part->board->lock);
    return start;
}

/* The part ahead began at a wrong place.  Only the first part is sure to be right itself, so only
 * it ends the reading of another one; the mark goes before the border, which the other may be
 * setting at the same time. */
static void pass(struct ta_part *part)
{
    struct ta_part *const wrong = part->ahead;
    if (part->cut == 0) {
        atomic_store(&wrong->passed, true);
        atomic_store(&wrong->border, 0);
    }
    part->ahead = wrong->next;
    atomic_store(&part->border, part->ahead ? part->ahead->cut : UINT64_MAX);
}

bool ta_part_at_border(struct ta_part *part, uint64_t place, bool as_guessed)
{
    while (!atomic_load(&part->passed)) {
        if (part->reached)
            return true;
        if (!part->ahead || place < part->ahead->cut)
            return false;
        const uint64_t start = await_start(part->ahead);
        if (place < start && start != TA_PART_NONE) {
            atomic_store(&part->border, start);
            if (!atomic_load(&part->passed))
                return false;
        } else if (place == start && as_guessed) {
            part->reached = part->ahead;
            return true;
        } else {
            pass(part);
        }
    }
    part->unsure = true;
    return true;
}
