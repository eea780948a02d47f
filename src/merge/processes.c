/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, names and order of processes. */
#include "merge/processes.h"

#include "merge/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers that are given begin after the largest that Linux has (2^22). */
enum { GIVEN_FROM = 10000000 };

/* Bytes of a name. */
enum { NAME_MAX_BYTES = 4096 };

void merge_processes_free(struct merge_processes *processes)
{
    for (size_t i = 0; i < processes->list.n; i++)
        free(processes->list.at[i].name);
    free(processes->list.at);
    ta_map_free(&processes->taken);
    if (processes->has_texts)
        ta_strings_free(&processes->texts);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Its own number where that is free. */
static int64_t choose_number(struct merge_processes *processes, struct ta_slice text)
{
    int64_t number;
    /* Of nine digits every viewer takes it for a number. */
    if (!merge_is_number(text, 9, &number) || ta_map_find(&processes->taken, (uint64_t)number)) {
        number = ta_max_i64(processes->next, GIVEN_FROM);
        while (ta_map_find(&processes->taken, (uint64_t)number))
            number++;
        processes->next = number + 1;
    }
    ta_map_at(&processes->taken, (uint64_t)number, 1);
    processes->failed |= processes->taken.failed;
    return number;
}

struct merge_process *merge_processes_at(struct merge_processes *processes, struct ta_slice text)
{
    if (!processes->has_texts)
        processes->has_texts = ta_strings_init(&processes->texts, processes->limit);
    ta_str id = TA_STR_ABSENT;
    const enum ta_intern result =
        processes->has_texts ? ta_strings_intern(&processes->texts, text, &id) : TA_INTERN_NOMEM;
    if (result == TA_INTERN_FULL) {
        processes->is_full = true;
        return processes->list.at;
    }
    if (result == TA_INTERN_NOMEM ||
        (id > processes->list.n &&
         !ta_vec_push(&processes->list,
                      (struct merge_process){choose_number(processes, text), NULL, TA_MISSING}))) {
        processes->failed = true;
        return NULL;
    }
    return &processes->list.at[id - 1];
}

/* ---- names --------------------------------------------------------------------------------- */

void merge_process_rename(struct merge_processes *processes, struct merge_process *process,
                          struct ta_slice name)
{
    free(process->name);
    process->name = strndup(name.ptr, name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES);
    processes->failed |= !process->name;
}

/* By the order of the trace, then as they appeared. */
static int by_sort_index(const void *left, const void *right, void *user)
{
    const struct merge_process *list = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const int64_t x = list[a].sort_index, y = list[b].sort_index;
    if ((x == TA_MISSING) != (y == TA_MISSING))
        return x == TA_MISSING ? 1 : -1;
    if (x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

/* "rank 3: python [pid 4037]" */
static void put_name(struct ta_file *out, const char *owner, const struct merge_process *process,
                     struct ta_slice written)
{
    char *text = NULL;
    const char *name = process->name ? process->name : "";
    const int length =
        written.len ? asprintf(&text, "%s%s%s [pid %.*s]", owner, *name ? ": " : "", name,
                               (int)(written.len < NAME_MAX_BYTES ? written.len : NAME_MAX_BYTES),
                               written.ptr)
                    : asprintf(&text, "%s%s%s", owner, *name ? ": " : "", name);
    ta_put_json(out, length < 0 ? ta_slice_of(owner) : ta_slice_of(text), false);
    if (length >= 0)
        free(text);
}

size_t merge_processes_end(struct merge_processes *processes, const char *owner,
                           struct ta_file *out, const char **separator)
{
    const size_t n = processes->list.n;
    size_t *order = reallocarray(NULL, n + 1, sizeof *order);
    const bool order_made = order != NULL;
    processes->failed |= !order_made;
    for (size_t i = 0; order && i < n; i++)
        order[i] = i;
    if (order)
        qsort_r(order, n, sizeof *order, by_sort_index, processes->list.at);
    for (size_t i = 0; order && i < n; i++) {
        ta_puts(out, *separator);
        *separator = ",\n";
        const struct merge_process *process = &processes->list.at[order[i]];
        ta_putf(out,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRId64
                ",\"tid\":0,\"args\":{\"name\":",
                process->number);
        put_name(out, owner, process, ta_strings_text(&processes->texts, (ta_str)(order[i] + 1)));
        ta_putf(out,
                "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%" PRId64
                ",\"tid\":0,\"args\":{\"sort_index\":%" PRId64 "}}",
                process->number, processes->n_named++);
    }
    free(order);
    for (size_t i = 0; i < n; i++)
        free(processes->list.at[i].name);
    processes->list.n = 0;
    if (processes->has_texts)
        ta_strings_free(&processes->texts);
    processes->has_texts = false;
    return order_made ? 2 * n : 0;
}
