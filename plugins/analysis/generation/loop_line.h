/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the loops of a diffusion nest, in a line. */
#ifndef TA_GENERATION_LOOP_LINE_H
#define TA_GENERATION_LOOP_LINE_H

#include <traceanalyze/analysis.h>

/* What shapes say of the images of a rank, where all of them are alike. */
struct made {
    int64_t width, height, frames, batch;
    struct ta_slice guidance;
};

/* "1 image 1024×1024 × 4 steps × 1 forward (guidance in one batch) × 38 layers", as far as levels
 * divide; `row` is one of the runs. */
void generation_loop_line(char *line, size_t room, const int64_t *row, const struct made *made);

#endif
