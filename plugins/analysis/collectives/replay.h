/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run would take if something were different. */
#ifndef COLLECTIVES_REPLAY_H
#define COLLECTIVES_REPLAY_H

#include "collectives.h"

struct coll_change {
    bool no_transfer;        /* transfers take no time */
    bool no_host;            /* the host is never late */
    const bool *like_others; /* members that take as long as their peers; NULL for none */
};

struct coll_replay;

/* NULL without memory; the run is borrowed. */
struct coll_replay *coll_replay_open(const struct coll_run *run);
/* When the last record ends, in ns of the common clock; -INFINITY without records. */
double coll_replay_end(struct coll_replay *replay, const struct coll_change *change);
void coll_replay_close(struct coll_replay *replay);

#endif
