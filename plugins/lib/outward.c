/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/outward.h"

void ta_outward_free(struct ta_outward *walk)
{
    ta_map_free(&walk->known);
}

void ta_outward_remember(struct ta_outward *walk, ta_row from, ta_row found)
{
    for (ta_row row = from; row != found && row != TA_NO_ROW; row = walk->parent[row]) {
        if (row % TA_OUTWARD_EVERY)
            continue;
        if (ta_map_find(&walk->known, row)) /* and so it is of those farther out */
            return;
        ta_map_at(&walk->known, row, found);
    }
}
