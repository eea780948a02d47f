/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed as a whole. */
#include "traceanalyze/base.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Small enough for a report of one row, large enough that a block per MB never shows. */
enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct ta_arena_block {
    struct ta_arena_block *next;
    size_t used, size;
    alignas(max_align_t) char bytes[];
};

static struct ta_arena_block *block_new(struct ta_arena *arena, size_t least)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < least)
        size = least;
    struct ta_arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return NULL;
    *block = (struct ta_arena_block){.next = arena->blocks, .size = size};
    arena->blocks = block;
    return block;
}

/* Bytes aligned for any type, whatever they are. */
static void *take(struct ta_arena *arena, size_t size)
{
    const size_t unit = alignof(max_align_t);
    struct ta_arena_block *block = arena->blocks;
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = (size + unit - 1) / unit * unit;
    if (!block || block->size - block->used < size)
        block = block_new(arena, size);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

void *ta_arena_alloc(struct ta_arena *arena, size_t size)
{
    void *memory = take(arena, size);
    return memory ? memset(memory, 0, size) : NULL;
}

char *ta_arena_copy(struct ta_arena *arena, struct ta_slice text)
{
    char *copy = take(arena, text.len + 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

char *ta_arena_vprintf(struct ta_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : ta_arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *ta_arena_printf(struct ta_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = ta_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void ta_arena_free(struct ta_arena *arena)
{
    for (struct ta_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct ta_arena){0};
}
