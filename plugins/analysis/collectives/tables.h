/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the analysis, each made from the run; false without memory. */
#ifndef COLLECTIVES_TABLES_H
#define COLLECTIVES_TABLES_H

#include "judge.h"

/* What is read of other analyses: times of devices. */
enum { GPU_RANK, GPU_DEVICE, GPU_WINDOW, GPU_EXPOSED, GPU_COMPUTE };

extern const struct ta_table_def coll_by_kind, coll_by_rank, coll_blame, coll_by_step, coll_by_size,
    coll_links, coll_small, coll_layout, coll_ladder, coll_exposed, coll_clocks;

bool coll_add_kinds(const struct coll_run *run, struct ta_section_builder *out);
bool coll_add_ranks(const struct coll_ranks *ranks, struct ta_section_builder *out);
bool coll_add_blame(const struct coll_run *run, const struct coll_ranks *ranks,
                    struct ta_section_builder *out);
/* A group as people know it; `text` takes what has to be put together. */
enum { COLL_LABEL = 256 };
struct ta_cell coll_group_cell(const struct coll_run *run, uint32_t group, char text[COLL_LABEL]);

void coll_add_clocks(const struct coll_run *run, struct ta_section_builder *out);

bool coll_add_parts(const struct coll_run *run, const struct coll_ranks *ranks,
                    struct ta_section_builder *out);
bool coll_add_sizes(const struct coll_run *run, struct ta_section_builder *out);
bool coll_add_layout(const struct coll_run *run, struct ta_section_builder *out);
bool coll_add_small(const struct coll_run *run, struct ta_section_builder *out);
void coll_add_exposed(const struct coll_run *run, const struct ta_refs *in,
                      struct ta_section_builder *out);
bool coll_add_ladder(const struct coll_run *run, const struct ta_refs *in,
                     struct ta_section_builder *out);

#endif
