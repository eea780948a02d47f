/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How malloc() of this process deals with large blocks.
 *
 * A page that is new to the process costs a fault and its zeroing, which is more than most stages
 * do with what they put there.  So memory that a stage frees serves the next one, and what is new
 * comes in huge pages: 1500 faults instead of 68 000 for a report on 1 GB, and an eighth of its CPU
 * time, for a fifth more memory (docs/PERFORMANCE.md).  The library changes nothing of the process;
 * it asks for huge pages for its own blocks (src/base/store.c). */
#ifndef TA_CLI_HEAP_H
#define TA_CLI_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Of the whole process, before its `n_threads` start: freed memory stays for the next one who asks,
 * or it goes back at once and no longer counts against a limit.  It also goes back where `ulimit
 * -v` leaves little address space.  Does nothing but with glibc. */
void ta_heap_keep(bool keep, size_t n_threads);

/* Once many files are read: what is large from here on, the tables of all ranks, is large once, so
 * it has pages of its own that go back when it is freed, and grows without being copied.  Nothing
 * but with glibc, nor where ta_heap_keep() did not keep anything. */
void ta_heap_read_all(void);

/* Gives back the pages of what was freed, where that is much and nobody will ask for it again. */
void ta_heap_trim(void);

#endif
