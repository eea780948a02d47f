/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of numbers and texts in one text, for keys of partials: records that are needed one by one
 * when all ranks are known, such as when each rank entered each collective.
 *
 * A row per record would take ten times the memory.  A number takes a printable character per five
 * bits, so a pack is valid UTF-8 wherever its texts are.  See docs/adr/0016. */
#ifndef TA_BASE_PACK_H
#define TA_BASE_PACK_H

#include "traceanalyze/base.h"

/* Zero-initialize, free with ta_pack_free(). */
struct ta_pack {
    char *at;
    size_t n, max;
    bool failed; /* out of memory: what was put is incomplete */
};

/* Any integer, TA_MISSING too; small ones are short. */
void ta_pack_int(struct ta_pack *pack, int64_t value);
void ta_pack_text(struct ta_pack *pack, struct ta_slice text);
/* Appends what another pack holds. */
void ta_pack_join(struct ta_pack *pack, const struct ta_pack *other);
void ta_pack_free(struct ta_pack *pack);

/* Reads in the order of putting.  A pack may come from a file: beyond its end, and where it is not
 * one, numbers are 0, texts empty, and `bad` is set. */
struct ta_unpack {
    const char *at, *end;
    bool bad;
};

static inline struct ta_unpack ta_unpack_from(struct ta_slice text)
{
    return (struct ta_unpack){text.ptr, ta_slice_end(text), false};
}

/* The next number. */
int64_t ta_unpack_int(struct ta_unpack *pack);
/* A number in [0, below); anything else is bad, and 0. */
size_t ta_unpack_index(struct ta_unpack *pack, size_t below);
/* Borrowed from the pack. */
struct ta_slice ta_unpack_text(struct ta_unpack *pack);

#endif
