/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Videos that traces show. */
#ifndef TA_ANALYSIS_PLAYBACK_TRACED_H
#define TA_ANALYSIS_PLAYBACK_TRACED_H

#include "videos.h"

/* Adds the videos that are made in blocks, of each of which shapes tell the frames; there is room
 * for as many blocks as stages. */
void traced_videos(const struct ta_refs *in, struct videos *out);

#endif
