/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long activities of some kind run during another one: copies while kernels run,
 * communication while compute runs. */
#ifndef TA_MODEL_COVER_H
#define TA_MODEL_COVER_H

#include "traceanalyze/model.h"

/* Set what is above the line, the rest is zero; nothing to free. */
struct ta_cover {
    struct ta_activities activities; /* of a frozen trace */
    struct ta_spans spans;
    /* Whether an activity is of the other kind. */
    bool (*counts)(const void *user, const struct ta_activity *activity);
    const void *user;
    /* ---- */
    size_t next;    /* those before have been looked at, */
    int64_t device; /* of which on this device */
    int64_t until;  /* cover nothing from here on */
    bool begun;
};

/* Nanoseconds of activity `i` in which others that count run on its device.  Calls come in the
 * order of `i`.  O(n) for a trace, and for each call what begins during the activity. */
int64_t ta_cover_of(struct ta_cover *cover, size_t i);

#endif
