/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as a still picture: for readers without scripts, for paper and for files. */
#ifndef TA_RENDER_CHART_TIMELINE_H
#define TA_RENDER_CHART_TIMELINE_H

#include "traceanalyze/timeline.h"

/* A row per stream and thread, as many as there is room for, whose height at a time is how busy it
 * was, by kind of slice; the id is "timeline".  `width` is in points.  To be freed with
 * ta_scene_free(); NULL when memory ran out. */
struct ta_scene *ta_timeline_scene(const struct ta_timeline *timeline, double width);
/* The same for a page, see ta_page_scene(). */
struct ta_scene *ta_timeline_page_scene(const struct ta_timeline *timeline, double width);

/* Whether there is anything to draw on it: a timeline may have counters alone. */
static inline bool ta_timeline_has_scene(const struct ta_timeline *timeline)
{
    for (size_t i = 0; timeline && i < timeline->n_files; i++)
        if (timeline->files[i].n_slices)
            return true;
    return false;
}

#define TA_TIMELINE_SCENE_ID "timeline"
#define TA_TIMELINE_SCENE_TITLE "Streams and threads over time"

#endif
