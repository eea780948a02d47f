/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between the processes of an MPI job.  Errors of MPI itself end the job, as is its
 * preset. */
#include "cli/mpi/processes.h"

#include "cli/exit_code.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>

/* Counts of MPI are int: larger messages go in pieces. */
enum { TAG = 1, PIECE = 1 << 30 };

/* The first process that cannot go on says why, and all end as it does. */
static int agree(struct ta_team *team, int code, uint64_t seen)
{
    struct {
        int is_ready, index;
    } mine = {code == 0, (int)team->index}, first;
    MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    if (!first.is_ready) {
        team->speaker = (size_t)first.index;
        MPI_Bcast(&code, 1, MPI_INT, first.index, MPI_COMM_WORLD);
        return code;
    }
    uint64_t least, most;
    MPI_Allreduce(&seen, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&seen, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    team->speaker = 0;
    return least == most ? 0 : TA_EXIT_INPUT;
}

static int piece_at(uint64_t at, uint64_t n)
{
    return n - at < PIECE ? (int)(n - at) : PIECE;
}

static enum ta_status send_bytes(struct ta_ctx *ctx, struct ta_team *team, size_t to,
                                 struct ta_slice bytes)
{
    (void)ctx;
    (void)team;
    const uint64_t n = bytes.len;
    MPI_Send(&n, 1, MPI_UINT64_T, (int)to, TAG, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < n; at += PIECE)
        MPI_Send(ta_slice_at(bytes, at), piece_at(at, n), MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD);
    return TA_OK;
}

static enum ta_status receive_bytes(struct ta_ctx *ctx, struct ta_team *team, size_t from,
                                    char **bytes, size_t *length)
{
    (void)team;
    uint64_t n;
    MPI_Recv(&n, 1, MPI_UINT64_T, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *bytes = n < SIZE_MAX ? malloc((size_t)n + 1) : NULL;
    if (!*bytes)
        return ta_fail(ctx, TA_ERR_NOMEM,
                       "Cannot hold what another process has read: bytes=%" PRIu64, n);
    *length = (size_t)n;
    for (uint64_t at = 0; at < n; at += PIECE)
        MPI_Recv(*bytes + at, piece_at(at, n), MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return TA_OK;
}

void ta_processes_join(struct ta_team *team)
{
    int index, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &index);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *team = (struct ta_team){.index = (size_t)index,
                             .count = (size_t)count,
                             .agree = agree,
                             .send = send_bytes,
                             .receive = receive_bytes};
}
