/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that compute on the host: the window of each rank as one bar. */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>

/* More ranks are not told apart. */
enum { LANES_MOST = 8 };

/* Classes of run.host_time. */
static const struct {
    const char *class;
    enum picture_class drawn;
} classes[] = {
    {"gemm", PICTURE_GEMM},           {"convolution", PICTURE_CONV},
    {"attention", PICTURE_ATTENTION}, {"operators", PICTURE_OPERATOR},
    {"collectives", PICTURE_COMM},    {"data loading", PICTURE_LOADING},
    {"compilation", PICTURE_SETUP},   {"rest", PICTURE_REST},
};

static void add_row(const struct picture *picture, size_t row, int64_t times[PICTURE_CLASSES])
{
    for (size_t i = 0; i < TA_LENGTH(classes); i++)
        if (ta_ref_reads(picture->in, HOST_CLASS, row, classes[i].class))
            times[classes[i].drawn] += ta_ref_integer(picture->in, HOST_TIME, row);
}

/* Rows of a rank are next to each other. */
bool picture_of_host(const struct picture *picture)
{
    const size_t n = ta_ref_rows(picture->in, HOST_TIME);
    const bool has_ranks = ta_report_run(picture->in->report)->n_ranks > 1;
    size_t lanes = 0;
    if (ta_ref_rows(picture->in, PART_WINDOW) > 0)
        return false;
    for (size_t i = 0, end; i < n && lanes < LANES_MOST; i = end, lanes++) {
        const int64_t rank = ta_ref_integer(picture->in, HOST_RANK, i);
        int64_t times[PICTURE_CLASSES] = {0}, window = 0;
        char lane[40] = "host";
        for (end = i; end < n && ta_ref_integer(picture->in, HOST_RANK, end) == rank; end++) {
            add_row(picture, end, times);
            window += ta_ref_integer(picture->in, HOST_TIME, end);
        }
        if (has_ranks)
            snprintf(lane, sizeof lane, "rank %" PRId64, rank);
        picture_add_classes(picture, lane, 0, times, window);
    }
    return lanes > 0;
}
