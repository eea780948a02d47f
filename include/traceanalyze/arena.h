/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed as a whole: many small objects with one lifetime. */
#ifndef TRACEANALYZE_ARENA_H
#define TRACEANALYZE_ARENA_H

#include "base.h"

TA_BEGIN_DECLS

struct ta_arena_block;

/* Zero-initialize to start; ta_arena_free() to end.  Addresses never move. */
struct ta_arena {
    struct ta_arena_block *blocks;
    bool failed; /* an allocation has failed; stays set */
};

/* `size` zeroed bytes aligned for any type, or NULL. */
TA_API void *ta_arena_alloc(struct ta_arena *arena, size_t size);
/* A copy with a terminating NUL, or NULL. */
TA_API char *ta_arena_copy(struct ta_arena *arena, struct ta_slice text);
/* printf into the arena, or NULL. */
TA_API char *ta_arena_printf(struct ta_arena *arena, const char *format, ...) TA_PRINTF(2, 3);
TA_API void ta_arena_free(struct ta_arena *arena);

TA_END_DECLS

#endif
