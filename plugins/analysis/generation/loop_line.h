/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line on how the loops of a diffusion run nest. */
#ifndef TA_GENERATION_LOOP_LINE_H
#define TA_GENERATION_LOOP_LINE_H

#include <traceanalyze/analysis.h>

/* What tensor shapes show of a rank's images, if all of them are alike. */
struct made {
    int64_t width, height, frames, batch;
    struct ta_slice guidance;
};

/* "1 image 1024×1024 × 4 steps × 1 forward (guidance in one batch) × 38 layers", as far as the
 * levels divide evenly; `row` is one of the runs. */
void generation_loop_line(char *line, size_t room, const int64_t *row, const struct made *made);

#endif
