/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory behind the records of profilers other than traces. */
#ifndef TA_MODEL_DUMP_H
#define TA_MODEL_DUMP_H

#include "base/vec.h"
#include "traceanalyze/dump.h"

struct ta_dump {
    TA_VEC(char) rows[TA_DUMP_COUNT]; /* n and max count rows of the table's size */
    struct ta_allocator *allocator;
    const char *set; /* of which this file is a copy; NULL: of none */
    enum ta_exactness exactness;
};

void ta_dump_free(struct ta_dump *dump);

/* Whether there is any row or an allocator. */
bool ta_dump_holds_any(const struct ta_dump *dump);

/* Forgets the rows of a table: another file has them more exactly. */
void ta_dump_drop(struct ta_dump *dump, enum ta_dump_table table);

#endif
