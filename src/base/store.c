/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of columns, and the temporary file for what does not fit.
 *
 * What counts against the limit is what the kernel says is in use and not backed by a file:
 * columns, texts, partial results, windows, all there is. Columns are most of it and the only part
 * that can do without, so a column that would grow beyond the limit moves to the file as a whole.
 * Blocks below LARGE stay in memory; whatever they sum up to is seen when the next large one
 * grows. */
#include "base/store.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 256 * 1024 };

void ta_space_open(struct ta_space *space, uint64_t limit, const char *folder)
{
    if (!folder || !*folder)
        folder = secure_getenv("TMPDIR");
    space->limit = limit;
    space->folder = folder && *folder ? folder : "/var/tmp";
    space->failed = false;
}

/* ---- in memory --------------------------------------------------------------------------------*/

/* Bytes that a block in memory counts for. */
static size_t counted(void *at)
{
    const size_t bytes = at ? malloc_usable_size(at) : 0;
    return bytes < LARGE ? 0 : bytes;
}

/* Blocks from HUGE_FROM on are worth huge pages: those cost a page fault per 2 MiB instead of 512,
 * and the last one is in use by half on average.  Whether there are any is all the same. */
static void ask_for_huge_pages(void *at, size_t bytes)
{
    enum { HUGE_FROM = 2 * 1024 * 1024 };
    if (bytes < HUGE_FROM)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)at / page * page;
    madvise((void *)start, (uintptr_t)at + malloc_usable_size(at) - start, MADV_HUGEPAGE);
}

static void *resize_plain(struct ta_store *store, void *at, size_t bytes)
{
    const size_t before = store && store->space ? counted(at) : 0;
    void *resized = realloc(at, bytes ? bytes : 1);
    if (resized)
        ask_for_huge_pages(resized, bytes);
    if (resized && store && store->space)
        atomic_fetch_add_explicit(&store->space->held, counted(resized) - before,
                                  memory_order_relaxed);
    return resized;
}

/* What columns may take: half of the limit is kept for what cannot go elsewhere, since what
 * analyses gather over a trace has come to four fifths of its columns. */
static uint64_t most_of(const struct ta_space *space)
{
    return space->limit / 2;
}

static bool is_little(const struct ta_space *space, uint64_t held, uint64_t more)
{
    return held + more <= most_of(space) / 8;
}

bool ta_store_has_plenty(const struct ta_store *store, size_t bytes)
{
    const struct ta_space *space = store ? store->space : NULL;
    return !space || !space->limit ||
           is_little(space, atomic_load_explicit(&space->held, memory_order_relaxed), bytes);
}

/* Whether memory may grow by `more` bytes, with the lock held.  Columns grow by half, so up to a
 * third of what they hold is not in use yet, but will be before they grow again. */
static bool fits(const struct ta_space *space, uint64_t more)
{
    const uint64_t held = atomic_load_explicit(&space->held, memory_order_relaxed);
    if (is_little(space, held, more))
        return true;
    const uint64_t seen = ta_memory_used(), most = most_of(space);
    const uint64_t used = seen ? seen + held / 3 : held;
    return used <= most && more <= most - used;
}

/* ---- in the file ----------------------------------------------------------------------------- */

/* A file without a name: nothing is left over, however the run ends. */
static int open_nameless(const char *folder)
{
    const int file = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/traceanalyze-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0)
        unlink(path);
    return named;
}

/* Maps `bytes` at the end of the file.  They are allocated on the disk before, so that a full one
 * is an error here and not a signal at the first write.  Returns 0 or an errno. */
static int map_more(struct ta_store *store, size_t bytes, struct ta_store_block *block)
{
    if (!store->has_file) {
        const int file = open_nameless(store->space->folder);
        if (file < 0)
            return errno;
        store->file = file;
        store->has_file = true;
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > INT64_MAX - store->end - page)
        return EFBIG;
    bytes = (bytes + page - 1) / page * page;
    int error;
    do {
        error = posix_fallocate(store->file, (off_t)store->end, (off_t)bytes);
    } while (error == EINTR);
    if (error)
        return error;
    void *at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, store->file, (off_t)store->end);
    if (at == MAP_FAILED)
        return errno;
    *block = (struct ta_store_block){at, bytes, store->end};
    store->end += bytes;
    return 0;
}

/* Ends a block and gives its place on the disk back, where the file system can do that. */
static void drop(const struct ta_store *store, const struct ta_store_block *block)
{
    munmap(block->at, block->bytes);
    fallocate(store->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)block->offset,
              (off_t)block->bytes);
}

static void note_failure(struct ta_space *space, uint64_t needed, int error)
{
    if (space->failed)
        return;
    space->failed = true;
    space->used = ta_memory_used();
    space->needed = needed;
    space->error = error;
}

static struct ta_store_block *find(const struct ta_store *store, const void *at)
{
    for (size_t i = 0; at && i < store->spilled.n; i++)
        if (store->spilled.at[i].at == at)
            return &store->spilled.at[i];
    return NULL;
}

/* A block of `bytes` in the file with what is at `at`, which it replaces. */
static void *spill(struct ta_store *store, void *at, size_t bytes)
{
    struct ta_store_block made = {.at = NULL};
    if (!ta_vec_grow((void **)&store->spilled.at, &store->spilled.max, store->spilled.n,
                     sizeof *store->spilled.at))
        return NULL;
    const int error = map_more(store, bytes, &made);
    if (!made.at) {
        note_failure(store->space, bytes, error);
        return NULL;
    }
    struct ta_store_block *old = find(store, at);
    const size_t kept = old ? old->bytes : at ? malloc_usable_size(at) : 0;
    if (kept)
        memcpy(made.at, at, kept < bytes ? kept : bytes);
    if (old) {
        drop(store, old);
        *old = made;
    } else {
        atomic_fetch_sub_explicit(&store->space->held, counted(at), memory_order_relaxed);
        free(at);
        store->spilled.at[store->spilled.n++] = made;
    }
    return made.at;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* With the lock held, which guards the blocks in the file, and until a new block in memory counts
 * no other thread must look how much there is. */
static void *resize_limited(struct ta_store *store, void *at, size_t bytes)
{
    const struct ta_store_block *block = find(store, at);
    if (block)
        return bytes <= block->bytes ? at : spill(store, at, bytes);
    const size_t before = at ? malloc_usable_size(at) : 0;
    if (bytes <= before || bytes < LARGE || fits(store->space, bytes - before))
        return resize_plain(store, at, bytes);
    return spill(store, at, bytes);
}

void *ta_store_resize(struct ta_store *store, void *at, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    if (!store || !store->space || !store->space->limit)
        return resize_plain(store, at, bytes);
    pthread_mutex_lock(&store->space->lock);
    void *resized = resize_limited(store, at, bytes);
    pthread_mutex_unlock(&store->space->lock);
    return resized;
}

/* Takes a block out of those in the file; false when it is none of them. */
static bool forget(struct ta_store *store, void *at)
{
    struct ta_store_block *block = find(store, at);
    if (!block)
        return false;
    drop(store, block);
    *block = store->spilled.at[--store->spilled.n];
    return true;
}

void *ta_store_fit(struct ta_store *store, void *at, size_t bytes)
{
    bool is_spilled = false;
    if (store && store->space) {
        pthread_mutex_lock(&store->space->lock);
        is_spilled = find(store, at);
        pthread_mutex_unlock(&store->space->lock);
    }
    void *const fitted = is_spilled ? at : resize_plain(store, at, bytes);
    return fitted ? fitted : at;
}

void ta_store_free(struct ta_store *store, void *at)
{
    bool is_spilled = false;
    if (store && store->space && at) {
        pthread_mutex_lock(&store->space->lock);
        is_spilled = forget(store, at);
        pthread_mutex_unlock(&store->space->lock);
        if (!is_spilled)
            atomic_fetch_sub_explicit(&store->space->held, counted(at), memory_order_relaxed);
    }
    if (!is_spilled)
        free(at);
}

void ta_store_close(struct ta_store *store)
{
    for (size_t i = 0; i < store->spilled.n; i++)
        munmap(store->spilled.at[i].at, store->spilled.at[i].bytes);
    free(store->spilled.at);
    if (store->has_file)
        close(store->file);
    *store = (struct ta_store){.space = store->space};
}
