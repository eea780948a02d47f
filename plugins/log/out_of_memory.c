/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of torch's allocator on CUDA and HIP devices, in the wording of torch 2.1 and later and in
 * the one before:
 *
 *     CUDA out of memory. Tried to allocate 30.29 GiB. GPU 0 has a total capacity of 10.74 GiB of
 *     which 3.69 GiB is free. Including non-PyTorch memory, this process has 6.68 GiB memory in
 *     use. Of the allocated memory 6.10 GiB is allocated by PyTorch, and 396.58 MiB is reserved by
 *     PyTorch but unallocated.
 *
 *     CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity; 20.10 GiB
 *     already allocated; 1.13 GiB free; 21.05 GiB reserved in total by PyTorch)
 *
 * ComfyUI's own wording has a line for each amount, and a decoding that runs out of memory and is
 * done again in tiles has none:
 *
 *     Allocation on device 0 would exceed allowed memory. (out of memory)
 *     Currently allocated : 11.11 GiB
 *     Requested : 128.00 MiB
 *     Device limit : 12.00 GiB
 *     Free (according to CUDA): 0 bytes
 *
 *     Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.
 *
 * Some terminals wrap them over lines. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <stdio.h>

enum { MOST = 4000, WRAPPED = 8 }; /* bytes of an error; lines it is wrapped over */

struct state {
    char text[MOST]; /* of the error as far as it was seen */
    size_t n;
    unsigned lines; /* 0: no error is open */
    int64_t rank, time_ns;
    char place[160]; /* "vae.py:291 decode", the innermost frame of the user's own code */
    struct ta_failed_allocation held; /* the last error, which is added once its frames are known */
    bool is_held;
};

#define FAILED "out of memory. Tried to "
#define RETRIED "Ran out of memory when "
#define LISTED "would exceed allowed memory. (out of memory)"

/* ---- what an error says ---------------------------------------------------------------------- */

static int64_t bytes_after(struct ta_slice text, const char *words)
{
    struct ta_slice rest = ta_log_after(text, words);
    return rest.ptr ? ta_log_bytes(&rest) : TA_MISSING;
}

/* The amount right before some words. */
static int64_t bytes_before(struct ta_slice text, const char *words)
{
    const char *at = memmem(text.ptr, text.len, words, strlen(words));
    if (!at)
        return TA_MISSING;
    size_t from = (size_t)(at - text.ptr), blanks = 0;
    for (; from > 0 && blanks < 2; from--)
        if (text.ptr[from - 1] == ' ' && ++blanks == 2)
            break;
    struct ta_slice amount = ta_slice_part(text, from, (size_t)(at - text.ptr));
    return ta_log_bytes(&amount);
}

static int64_t device_in(struct ta_slice text, const char *words)
{
    struct ta_slice rest = ta_log_after(text, words);
    return rest.ptr ? ta_log_integer(&rest) : TA_MISSING;
}

/* On hosts that share memory with the device the runtime says 2^64 bytes. */
static int64_t at_most(int64_t bytes, int64_t total_bytes)
{
    return total_bytes != TA_MISSING && bytes > total_bytes ? TA_MISSING : bytes;
}

/* In a container torch does not know its own process and lists all: "Process 2871 has 12.10 GiB
 * memory in use."  This one's holds a little more than torch has reserved. */
static int64_t own_process(struct ta_slice text, const struct ta_failed_allocation *row)
{
    int64_t own = TA_MISSING;
    const int64_t reserved = row->allocated_bytes == TA_MISSING || row->unused_bytes == TA_MISSING
                                 ? 0
                                 : row->allocated_bytes + row->unused_bytes;
    for (struct ta_slice rest = ta_log_after(text, "Process "); rest.ptr;
         rest = ta_log_after(rest, "Process ")) {
        const int64_t bytes = bytes_after(rest, " has ");
        if (bytes >= reserved && (own == TA_MISSING || bytes < own))
            own = bytes;
    }
    return own;
}

/* The wording of ComfyUI. */
static struct ta_failed_allocation listed_failure(struct ta_slice text)
{
    struct ta_failed_allocation row = ta_unknown_failed_allocation();
    row.wanted_bytes = bytes_after(text, "Requested : ");
    row.device = device_in(text, "on device ");
    row.total_bytes = bytes_after(text, "Device limit : ");
    row.allocated_bytes = bytes_after(text, "Currently allocated : ");
    row.free_bytes = at_most(bytes_after(text, "(according to CUDA): "), row.total_bytes);
    return row;
}

static struct ta_failed_allocation failure_of(struct ta_slice text)
{
    if (ta_log_after(text, LISTED).ptr)
        return listed_failure(text);
    struct ta_failed_allocation row = ta_unknown_failed_allocation();
    row.wanted_bytes = bytes_after(text, "Tried to allocate ");
    row.device = device_in(text, "GPU ");
    row.total_bytes = bytes_after(text, "total capacity of ");
    if (row.total_bytes == TA_MISSING) /* as torch 2.1 and 2.2 spell it */
        row.total_bytes = bytes_after(text, "total capacty of ");
    if (row.total_bytes != TA_MISSING) {
        row.free_bytes = at_most(bytes_before(text, " is free"), row.total_bytes);
        row.process_bytes = at_most(bytes_after(text, "this process has "), row.total_bytes);
        row.allocated_bytes = bytes_before(text, " is allocated by PyTorch");
        row.unused_bytes = bytes_before(text, " is reserved by PyTorch but unallocated");
        if (row.process_bytes == TA_MISSING)
            row.process_bytes = own_process(text, &row);
        return row;
    }
    row.total_bytes = bytes_before(text, " total capacity");
    row.free_bytes = bytes_before(text, " free");
    row.allocated_bytes = bytes_before(text, " already allocated");
    const int64_t reserved = bytes_before(text, " reserved in total");
    if (reserved != TA_MISSING && row.allocated_bytes != TA_MISSING)
        row.unused_bytes = ta_max_i64(reserved - row.allocated_bytes, 0);
    else /* before torch 1.4 */
        row.unused_bytes = bytes_before(text, " cached)");
    return row;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Programs print an error as it is caught, and once more below its traceback. */
static bool is_same(const struct ta_failed_allocation *a, const struct ta_failed_allocation *b)
{
    return a->rank == b->rank && a->device == b->device && a->wanted_bytes == b->wanted_bytes &&
           a->free_bytes == b->free_bytes && a->allocated_bytes == b->allocated_bytes &&
           a->unused_bytes == b->unused_bytes &&
           (a->place == TA_STR_ABSENT) != (b->place == TA_STR_ABSENT);
}

static void close_error(struct ta_log_reading *log, struct state *st)
{
    if (st->lines == 0)
        return;
    struct ta_failed_allocation row = failure_of((struct ta_slice){st->text, st->n});
    row.rank = st->rank;
    row.time_ns = st->time_ns;
    row.place = st->place[0] ? ta_log_string(log, ta_slice_of(st->place)) : TA_STR_ABSENT;
    st->lines = 0;
    st->place[0] = '\0';
    if (row.wanted_bytes == TA_MISSING)
        return;
    if (st->is_held && !is_same(&st->held, &row))
        ta_log_add_failed_allocation(log, &st->held);
    if (!st->is_held || !is_same(&st->held, &row) || row.place != TA_STR_ABSENT)
        st->held = row;
    st->is_held = true;
}

static void append(struct state *st, struct ta_slice text)
{
    const size_t room = MOST - st->n - 1;
    const size_t n = text.len < room ? text.len : room;
    if (st->n)
        st->text[st->n++] = ' ';
    memcpy(st->text + st->n, text.ptr, n);
    st->n += n;
}

/* An error is complete with what is unallocated, or with what is reserved. */
static bool is_complete(const struct state *st)
{
    const struct ta_slice text = {st->text, st->n};
    return ta_log_after(text, "but unallocated").ptr || ta_log_after(text, " in total by Py").ptr ||
           ta_log_after(text, " cached)").ptr || ta_log_after(text, "(according to CUDA): ").ptr;
}

/* A frame of a traceback, `File "/home/user/vae.py", line 291, in decode`; frames of
 * installed packages are not the user's. */
static void note_frame(struct state *st, struct ta_slice text)
{
    const struct ta_slice path = ta_slice_from(text, strlen("File \""));
    const char *quote = memchr(path.ptr, '"', path.len);
    if (!quote || ta_log_after(text, "site-packages/").ptr ||
        ta_log_after(text, "dist-packages/").ptr)
        return;
    struct ta_slice file = ta_slice_part(path, 0, (size_t)(quote - path.ptr));
    const char *slash = file.len ? memrchr(file.ptr, '/', file.len) : NULL;
    if (slash)
        file = ta_slice_from(file, (size_t)(slash - file.ptr) + 1);
    struct ta_slice rest = ta_log_after(text, "\", line ");
    const int64_t line = rest.ptr ? ta_log_integer(&rest) : TA_MISSING;
    const struct ta_slice function = ta_log_after(rest, ", in ");
    if (line != TA_MISSING)
        snprintf(st->place, sizeof st->place, "%.*s:%lld%s%.*s",
                 (int)ta_min_i64((int64_t)file.len, 80), file.ptr, (long long)line,
                 function.len ? " " : "", (int)ta_min_i64((int64_t)function.len, 60),
                 function.len ? function.ptr : "");
}

/* "regular VAE decoding, done again in tiles": what ran out of memory, and that it went on. */
static void add_retry(struct ta_log_reading *log, const struct ta_log_line *line,
                      struct ta_slice work)
{
    struct ta_failed_allocation row = ta_unknown_failed_allocation();
    const char *comma = work.len ? memchr(work.ptr, ',', work.len) : NULL;
    char place[100];
    snprintf(place, sizeof place, "%.*s, done again in tiles",
             (int)(comma ? comma - work.ptr < 60 ? comma - work.ptr : 60 : 0), work.ptr);
    row.rank = line->rank;
    row.time_ns = line->time_ns;
    row.place = ta_log_string(log, ta_slice_of(place));
    if (comma)
        ta_log_add_failed_allocation(log, &row);
}

/* The words from which on an error is kept; NULL when none begins in the line. */
static const char *error_in(struct ta_slice text)
{
    const char *error = text.len ? memmem(text.ptr, text.len, FAILED, strlen(FAILED)) : NULL;
    return error || !ta_log_after(text, LISTED).ptr ? error : text.ptr;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const struct ta_slice retried = ta_log_after(line->text, RETRIED);
    const char *error = error_in(line->text);
    if (retried.ptr) {
        add_retry(log, line, retried);
        return TA_LOG_TAKEN;
    }
    if (error) {
        close_error(log, st);
        st->n = 0;
        st->rank = line->rank;
        st->time_ns = line->time_ns;
        append(st, ta_slice_part(line->text, (size_t)(error - line->text.ptr), line->text.len));
    } else if (st->lines) {
        append(st, line->text);
    } else {
        if (!ta_slice_starts(line->text, "File \""))
            return TA_LOG_NOT_MINE;
        note_frame(st, line->text);
        return TA_LOG_TAKEN;
    }
    if (!is_complete(st) && ++st->lines < WRAPPED && line->text.len)
        return TA_LOG_MORE;
    st->lines = 1;
    close_error(log, st);
    return TA_LOG_TAKEN;
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    close_error(log, st);
    if (st->is_held)
        ta_log_add_failed_allocation(log, &st->held);
}

static const char *const marks[] = {FAILED, LISTED, RETRIED, "File \"", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(
    log, out_of_memory, &ops, .title = "Out of memory",
    .summary =
        "Out-of-memory errors of torch's allocator: memory requested, free, allocated and unused",
    .version = "1");
