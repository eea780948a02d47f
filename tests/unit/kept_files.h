/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with records of other profilers, as they wait until all are read. */
#ifndef TA_TEST_KEPT_FILES_H
#define TA_TEST_KEPT_FILES_H

#include "ingest/dumps/dumps.h"

#include "model/builder.h"
#include "trace_fixture.h"

enum { FILES = 4 };

struct files {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_builder builders[FILES];
    struct ta_kept kept[FILES];
    size_t n;
};

static inline void begin(struct files *f)
{
    memset(f, 0, sizeof *f);
    ta_shared_init(&f->shared);
    ta_ctx_init(&f->ctx, &f->shared);
    ta_quality_init(&f->quality);
}

static inline void end(struct files *f)
{
    for (size_t i = 0; i < f->n; i++)
        ta_builder_free(&f->builders[i]);
    ta_quality_free(&f->quality);
}

/* The next file by name; a NULL set makes no call of ta_builder_set_copy(). */
static inline struct ta_builder *add_file(struct files *f, const char *shown, int64_t rank,
                                          const char *set, enum ta_exactness exactness)
{
    struct ta_builder *builder = &f->builders[f->n];
    assert_true(ta_builder_init(builder, &f->quality, 0, NULL, 0, 1000));
    if (set)
        ta_builder_set_copy(builder, ta_slice_of(set), exactness);
    f->kept[f->n++] =
        (struct ta_kept){.trace = builder->trace, .shown = shown, .rank = rank, .rank_known = true};
    return builder;
}

#endif
