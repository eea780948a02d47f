/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accumulator of ta_quality_add(): one slot per code, no memory except for examples. */
#ifndef TA_BASE_QUALITY_H
#define TA_BASE_QUALITY_H

#include "traceanalyze/base.h"
#include "traceanalyze/quality.h"

#include <stdarg.h>

/* One code: the finding so far, and the place of the case that its text describes. */
struct ta_quality_slot {
    uint64_t count; /* the other fields mean nothing while this is 0 */
    uint64_t first, last, file_offset;
    uint64_t text_offset;
    enum ta_quality_severity severity;
    char *text; /* malloc'd, or NULL */
};

struct ta_quality {
    struct ta_quality_slot slots[TA_Q_COUNT];
    uint64_t place; /* where the record begins that is being read, when `has_place` */
    bool has_place;
    bool failed; /* no memory for an example; the counts are right all the same */
};

/* Readers of records say where each begins, for those that add what is in it. */
static inline void ta_quality_set_place(struct ta_quality *quality, uint64_t offset)
{
    quality->place = offset;
    quality->has_place = true;
}

static inline uint64_t ta_quality_place(const struct ta_quality *quality)
{
    return quality->has_place ? quality->place : TA_NO_OFFSET;
}

void ta_quality_init(struct ta_quality *quality);
void ta_quality_free(struct ta_quality *quality);

/* Counts `times` cases at once, the first at `offset` and the last at `last_offset`. */
void ta_quality_add_many(struct ta_quality *quality, enum ta_quality_code code, uint64_t times,
                         uint64_t offset, uint64_t last_offset, const char *format, ...)
    TA_PRINTF(6, 7);

/* Puts back a finding that was saved, with its example or NULL. */
void ta_quality_restore(struct ta_quality *quality, enum ta_quality_code code,
                        const struct ta_quality_slot *saved, const char *text);

/* Adds all of `from`, which stays as it is.  The result does not depend on the order of
 * merging as long as offsets differ. */
void ta_quality_merge(struct ta_quality *into, const struct ta_quality *from);

/* The findings in order of their codes, copied into the arena; *n may be 0.  NULL when memory
 * ran out, here or for an example before; the arena has then failed. */
const struct ta_quality_finding *ta_quality_findings(const struct ta_quality *quality,
                                                     struct ta_arena *arena, size_t *n);

/* How many cases of a code were counted so far. */
uint64_t ta_quality_count(const struct ta_quality *quality, enum ta_quality_code code);

/* Whether one of them is at least this severe. */
bool ta_quality_reaches(const struct ta_quality *quality, enum ta_quality_severity severity);

/* ta_quality_add() where a rule is milder or harsher than the code's own severity (`{}` among the
 * events is info), and for cases with a place in the compressed file.  Of several severities
 * the harshest stays. */
void ta_quality_add_severity(struct ta_quality *quality, enum ta_quality_code code,
                             enum ta_quality_severity severity, uint64_t offset,
                             uint64_t file_offset, const char *format, ...) TA_PRINTF(6, 7);

#endif
