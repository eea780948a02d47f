/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of FramePack's tables. */
#include "lib/rows.h"
#include "base/convert.h"
#include "base/vec.h"
#include "reading.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- rows that wait for the end ------------------------------------------------------------- */

static void no_memory(struct reading *r)
{
    r->log->status = ta_fail(r->log->ctx, TA_ERR_NOMEM, "Cannot hold the rows of a printed table");
}

/* The sums of a process grow: a table printed later replaces the rows of one before.  Within a
 * table equal names are different operations, whose ends were cut. */
static void add_stage(struct reading *r, const struct ta_timed_stage *stage)
{
    struct stages *s = &r->stages;
    size_t max = s->max; /* of both arrays, which grow in step */
    if (!ta_vec_grow((void **)&s->at, &max, s->n, sizeof *s->at) ||
        !ta_vec_grow((void **)&s->printed, &s->max, s->n, sizeof *s->printed)) {
        no_memory(r);
        return;
    }
    const uint64_t of_rank = stage->rank == TA_MISSING ? 0 : (uint64_t)stage->rank + 1;
    const uint64_t key = stage->name ^ of_rank << 32;
    uint64_t *place = ta_map_at(&s->of, key, s->n);
    if (!place) {
        no_memory(r);
        return;
    }
    if (*place == s->n || s->printed[*place] == s->tables)
        *place = s->n++;
    s->at[*place] = *stage;
    s->printed[*place] = s->tables;
}

static void add_mark(struct reading *r, const struct ta_memory_mark *mark)
{
    struct marks *m = &r->marks;
    if (!ta_vec_push(m, *mark))
        no_memory(r);
}

void close_marks(struct marks *m)
{
    const size_t n_before = m->first - m->before, n = m->n - m->first;
    bool again = n_before > 0 && n >= n_before;
    for (size_t i = 0; again && i < n_before; i++) {
        const struct ta_memory_mark *a = &m->at[m->before + i];
        const struct ta_memory_mark *b = &m->at[m->first + i];
        again = a->label == b->label && a->allocated_bytes == b->allocated_bytes &&
                a->reserved_bytes == b->reserved_bytes &&
                a->max_allocated_bytes == b->max_allocated_bytes;
    }
    if (again) {
        memmove(m->at + m->before, m->at + m->first, n * sizeof *m->at);
        m->n -= n_before;
    } else {
        m->before = m->first;
    }
    m->first = m->n;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* name, count, total, mean, min, max; the mean is count and total. */
bool take_timing(struct reading *r, struct ta_slice line)
{
    const struct cells cells = split_from_right(line, 1, 6);
    if (cells.n != 6)
        return false;
    const int64_t calls = ta_text_integer(cells.at[1]), mean = time_of(cells.at[3]);
    struct ta_timed_stage stage = ta_unknown_stage();
    stage.rank = r->rank;
    stage.name = ta_log_string(r->log, cells.at[0]);
    stage.source = ta_log_string(r->log, TA_LIT("timed operations"));
    stage.calls = calls;
    stage.total_ns = time_of(cells.at[2]);
    stage.min_ns = time_of(cells.at[4]);
    stage.max_ns = time_of(cells.at[5]);
    if (calls == TA_MISSING || calls < 0 || stage.total_ns == TA_MISSING || mean == TA_MISSING ||
        stage.min_ns == TA_MISSING || stage.max_ns == TA_MISSING)
        return false;
    const struct ta_slice name = cells.at[0];
    if (stage.min_ns < 0 || stage.total_ns < 0)
        ta_quality_add(r->log->quality, TA_Q_CLOCK_SET_BACK, r->offset,
                       "\"%.*s\" took a negative time: the clock was set back while it ran",
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
    add_stage(r, &stage);
    return true;
}

/* "1024.5M" or "1024.5MB" to bytes. */
static int64_t mib_of(struct ta_slice cell)
{
    static const char *const units[] = {"M", "MB", "MiB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if (cell.len > n && ta_slice_ends(cell, units[i])) {
            const int64_t bytes = ta_text_mib((struct ta_slice){cell.ptr, cell.len - n});
            if (bytes >= 0)
                return bytes;
        }
    }
    return TA_MISSING;
}

bool take_memory(struct reading *r, struct ta_slice line)
{
    const struct cells cells = split_from_right(line, 1, 4);
    if (cells.n != 4)
        return false;
    struct ta_memory_mark mark = ta_unknown_memory_mark();
    mark.rank = r->rank;
    mark.label = ta_log_string(r->log, cells.at[0]);
    mark.allocated_bytes = mib_of(cells.at[1]);
    mark.reserved_bytes = mib_of(cells.at[2]);
    mark.max_allocated_bytes = mib_of(cells.at[3]);
    if (mark.allocated_bytes == TA_MISSING || mark.reserved_bytes == TA_MISSING ||
        mark.max_allocated_bytes == TA_MISSING)
        return false;
    add_mark(r, &mark);
    return true;
}

/* A figure that FramePack or torch worked out from numbers more exact than the printed ones. */
void add_figure(struct reading *r, ta_str name, const char *group, double value, enum ta_unit unit)
{
    struct ta_log_reading *log = r->log;
    if (log->status == TA_OK)
        log->status = ta_rows_figure(log->ctx, log->builder, r->rank, name, group, value, unit);
}

/* "0.024s (41.21 it/s)": the rate. */
static void take_rate(struct reading *r, struct ta_slice value)
{
    const char *open = memchr(value.ptr, '(', value.len);
    const char *end = open ? memmem(open, value.len - (size_t)(open - value.ptr), "it/s", 4) : NULL;
    if (!end)
        return;
    const double rate =
        ta_text_double(ta_text_trim((struct ta_slice){open + 1, (size_t)(end - open - 1)}));
    if (rate >= 0)
        add_figure(r, ta_log_string(r->log, TA_LIT("iterations_per_s")), "iterations", rate,
                   TA_UNIT_PER_S);
}

/* A figure of a known line that cannot be read is missing. */
static bool note_figure(struct reading *r, int64_t figure)
{
    if (figure == TA_MISSING)
        ta_quality_add(r->log->quality, TA_Q_BAD_NUMBER, r->offset,
                       "A figure of the iterations is not a number, at byte offset %" PRIu64,
                       r->offset);
    return true;
}

bool take_iteration_line(struct reading *r, struct ta_slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon)
        return false;
    const struct ta_slice value =
        ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    const struct {
        const char *title;
        int64_t *ns;
    } times[] = {{"Total time", &r->iterations.total_ns},
                 {"Min time", &r->iterations.min_ns},
                 {"Max time", &r->iterations.max_ns},
                 {"Median time", &r->iterations.median_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (ta_slice_starts(line, times[i].title)) {
            *times[i].ns = time_of(value);
            return note_figure(r, *times[i].ns);
        }
    if (ta_slice_starts(line, "Mean time")) {
        take_rate(r, value);
        return true;
    }
    if (!ta_slice_starts(line, "Total iterations"))
        return false;
    r->iterations.count = ta_text_integer(value);
    return note_figure(r, r->iterations.count);
}

/* "| 0.37 | 11 | teacache | step: 4 |"; what is after the third bar are details, bars and all. */
bool take_hit(struct reading *r, struct ta_slice line)
{
    struct ta_slice cells[4];
    line = ta_slice_from(line, 1);
    for (size_t i = 0; i < 3; i++) {
        const char *bar = memchr(line.ptr, '|', line.len);
        if (!bar)
            return false;
        cells[i] = ta_text_trim((struct ta_slice){line.ptr, (size_t)(bar - line.ptr)});
        line = (struct ta_slice){bar + 1, line.len - (size_t)(bar + 1 - line.ptr)};
    }
    line = ta_text_trim(line);
    if (line.len && line.ptr[line.len - 1] == '|')
        line.len--;
    cells[3] = ta_text_trim(line);
    const bool has_details = cells[3].len && !ta_slice_equal(cells[3], TA_LIT("-"));
    const struct ta_cache_hit hit = {
        .rank = r->rank,
        .cache = ta_log_string(r->log, cells[2]),
        .details = has_details ? ta_log_string(r->log, cells[3]) : TA_STR_ABSENT,
        .video_ns = ta_text_decimal(cells[0], 9),
        .frame = ta_text_integer(cells[1]),
    };
    if (hit.video_ns == TA_MISSING || cells[2].len == 0)
        return false;
    if (r->log->status == TA_OK)
        r->log->status = ta_builder_add_cache_hit(r->log->ctx, r->log->builder, &hit);
    return true;
}
