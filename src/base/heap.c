/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/heap.h"

#include "base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks from HUGE_FROM on are worth huge pages: those cost a page fault per 2 MiB instead of 512,
 * and the last one is in use by half on average. */
enum { HUGE_PAGE = 2 * 1024 * 1024, HUGE_FROM = 1 * HUGE_PAGE };

/* The heap grows by so much at a time, so that one advice covers many blocks. */
enum { GROWTH = 512 * HUGE_PAGE };

/* What counts as large where memory goes back at once. */
enum { LARGE_BLOCK = 128 * 1024 };

/* Threads of one arena: what one of them frees serves another, but they wait for each other while a
 * large block is copied. */
enum { THREADS_EACH = 8 };

/* Where the address space has a limit below so many growths, freed memory goes back, and threads
 * share the one heap: an arena of its own reserves 64 MiB. */
enum { GROWTHS_LEAST = 16 };

/* The part of the heap that comes in huge pages; nothing while freed memory goes back. */
static uintptr_t advised_from;
static atomic_uintptr_t advised_to;

void ta_heap_keep(bool keep, size_t n_threads)
{
#ifdef M_ARENA_MAX
    const bool is_scarce = ta_memory_space() / GROWTHS_LEAST < GROWTH;
    keep &= !is_scarce;
    mallopt(M_MMAP_THRESHOLD, keep ? INT_MAX : LARGE_BLOCK);
    advised_from = 0;
    if (is_scarce)
        mallopt(M_ARENA_MAX, 1);
    if (!keep)
        return;
    mallopt(M_TOP_PAD, GROWTH);
    mallopt(M_ARENA_MAX, (int)((n_threads + THREADS_EACH - 1) / THREADS_EACH));
    void *first = malloc(HUGE_FROM);
    advised_from = (uintptr_t)first;
    advised_to = (uintptr_t)first;
    ta_heap_advise(first, HUGE_FROM);
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
    if (!advised_from)
        return;
    mallopt(M_MMAP_THRESHOLD, LARGE_TABLE);
    mallopt(M_TOP_PAD, LARGE_TABLE); /* large tables would go to what is left of a growth */
    ta_heap_trim();
#endif
}

/* Asks for huge pages in the pages from `start` on. */
static void advise(uintptr_t start, uintptr_t end)
{
    start -= start % (uintptr_t)sysconf(_SC_PAGESIZE);
    madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void ta_heap_advise(void *at, size_t bytes)
{
    if (bytes < HUGE_FROM)
        return;
    const uintptr_t start = (uintptr_t)at, top = advised_from ? (uintptr_t)sbrk(0) : 0;
    const bool is_in_heap = advised_from <= start && start < top; /* no mapping of its own */
    const uintptr_t before = is_in_heap ? atomic_exchange(&advised_to, top) : start;
    if (!is_in_heap)
        advise(start, start + malloc_usable_size(at));
    else if (before < top)
        advise(before, top);
}
