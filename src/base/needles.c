/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/needles.h"

#include <limits.h>
#include <stdlib.h>

enum { BYTES = UCHAR_MAX + 1 };

/* In a transition: texts end where it leads to. */
#define ENDS (UINT32_C(1) << 31)

struct ta_needles {
    unsigned char class_of[BYTES]; /* bytes that are in no text share class 0 */
    size_t n_classes, n_states;
    uint32_t *next;  /* by state and class: the start of the next state's row, with ENDS */
    uint64_t *found; /* by state: texts that end here */
};

/* Bytes that occur in texts get a class each. */
static void set_classes(struct ta_needles *needles, const struct ta_needle *list, size_t n)
{
    needles->n_classes = 1;
    for (size_t i = 0; i < n; i++)
        for (const char *c = list[i].text; *c; c++)
            if (!needles->class_of[(unsigned char)*c])
                needles->class_of[(unsigned char)*c] = (unsigned char)needles->n_classes++;
}

/* The tree of the texts.  A transition to the root, 0, is none. */
static void add_text(struct ta_needles *needles, const struct ta_needle *needle)
{
    size_t state = 0;
    for (const char *c = needle->text; *c; c++) {
        uint32_t *next =
            &needles->next[state * needles->n_classes + needles->class_of[(unsigned char)*c]];
        if (!*next)
            *next = (uint32_t)needles->n_states++;
        state = *next;
    }
    needles->found[state] |= UINT64_C(1) << needle->bit;
}

/* Gives each state a transition for every class: where the tree has none, the one of the longest
 * shorter end of what was read.  States are visited by their depth. */
static void complete(struct ta_needles *needles, uint32_t *queue, uint32_t *shorter)
{
    size_t first = 0, last = 0;
    queue[last++] = 0;
    while (first < last) {
        const uint32_t state = queue[first++];
        uint32_t *row = &needles->next[state * needles->n_classes];
        const uint32_t *others = &needles->next[shorter[state] * needles->n_classes];
        needles->found[state] |= needles->found[shorter[state]];
        for (size_t class = 0; class < needles->n_classes; class ++) {
            if (row[class]) {
                shorter[row[class]] = state ? others[class] : 0;
                queue[last++] = row[class];
            } else if (state) {
                row[class] = others[class];
            }
        }
    }
}

struct ta_needles *ta_needles_new(const struct ta_needle *list, size_t n)
{
    struct ta_needles *needles = calloc(1, sizeof *needles);
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += strlen(list[i].text);
    if (!needles)
        return NULL;
    set_classes(needles, list, n);
    needles->n_states = 1;
    needles->next = calloc(most * needles->n_classes, sizeof *needles->next);
    needles->found = calloc(most, sizeof *needles->found);
    uint32_t *queue = calloc(2 * most, sizeof *queue);
    if (!needles->next || !needles->found || !queue) {
        free(queue);
        ta_needles_free(needles);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        add_text(needles, &list[i]);
    complete(needles, queue, queue + most);
    for (size_t i = 0; i < needles->n_states * needles->n_classes; i++)
        needles->next[i] = needles->next[i] * (uint32_t)needles->n_classes |
                           (needles->found[needles->next[i]] ? ENDS : 0);
    free(queue);
    return needles;
}

void ta_needles_free(struct ta_needles *needles)
{
    if (!needles)
        return;
    free(needles->next);
    free(needles->found);
    free(needles);
}

uint64_t ta_needles_in(const struct ta_needles *needles, struct ta_slice line)
{
    uint64_t found = 0;
    uint32_t row = 0;
    for (size_t i = 0; i < line.len; i++) {
        row = needles->next[row + needles->class_of[(unsigned char)line.ptr[i]]];
        if (row & ENDS) {
            row &= ~ENDS;
            found |= needles->found[row / needles->n_classes];
        }
    }
    return found;
}
