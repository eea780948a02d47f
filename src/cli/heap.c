/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/heap.h"

#include "base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 * 1024 * 1024 };

/* The heap grows by so much at a time, and the first growth comes in huge pages, which few runs
 * outgrow. */
enum { GROWTH = 512 * HUGE_PAGE };

/* What counts as large where memory goes back at once. */
enum { LARGE_BLOCK = 128 * 1024 };

/* Threads of one arena: what one of them frees serves another, but they wait for each other while a
 * large block is copied. */
enum { THREADS_EACH = 8 };

/* Where the address space has a limit below so many growths, freed memory goes back, and threads
 * share the one heap: an arena of its own reserves 64 MiB. */
enum { GROWTHS_LEAST = 16 };

static bool is_kept;

void ta_heap_keep(bool keep, size_t n_threads)
{
#ifdef M_ARENA_MAX
    const bool is_scarce = ta_memory_space() / GROWTHS_LEAST < GROWTH;
    keep &= !is_scarce;
    mallopt(M_MMAP_THRESHOLD, keep ? INT_MAX : LARGE_BLOCK);
    is_kept = keep;
    if (is_scarce)
        mallopt(M_ARENA_MAX, 1);
    if (!keep)
        return;
    mallopt(M_TOP_PAD, GROWTH);
    mallopt(M_ARENA_MAX, (int)((n_threads + THREADS_EACH - 1) / THREADS_EACH));
    void *first = malloc(HUGE_PAGE);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)sbrk(0);
    const uintptr_t start = (uintptr_t)first / page * page;
    if (first && start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
    free(first);
#else
    (void)keep, (void)n_threads;
#endif
}

void ta_heap_trim(void)
{
#ifdef M_ARENA_MAX
    malloc_trim(0);
#endif
}

void ta_heap_read_all(void)
{
#ifdef M_ARENA_MAX
    enum { LARGE_TABLE = 8 * HUGE_PAGE };
    if (!is_kept)
        return;
    mallopt(M_MMAP_THRESHOLD, LARGE_TABLE);
    mallopt(M_TOP_PAD, LARGE_TABLE); /* large tables would go to what is left of a growth */
    ta_heap_trim();
#endif
}
