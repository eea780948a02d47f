/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the device and the host worked, and which of them limits the run. */
#include "totals.h"

#include <traceanalyze/dump.h>
#include <traceanalyze/table.h>

#include <stdlib.h>

enum {
    RANK,
    WORD,
    DEVICE,        /* as totals below tables have it */
    LOOSE_KERNELS, /* of tables without a total */
    LOOSE_OPERATORS,
    KERNELS, /* of all rows */
    OPERATORS,
    HOST,
    SHOWN,
    WAIT,
    CALLS,
    IDLE, /* of operators that launch nothing */
};

const struct ta_field totals_fields[TOTALS_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [WORD] = {"device", TA_FIELD_TEXT},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
    [LOOSE_KERNELS] = {"loose_kernels_ns", TA_FIELD_SUM},
    [LOOSE_OPERATORS] = {"loose_operators_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernels_ns", TA_FIELD_SUM},
    [OPERATORS] = {"operators_ns", TA_FIELD_SUM},
    [HOST] = {"host_ns", TA_FIELD_SUM},
    [SHOWN] = {"shown_ns", TA_FIELD_SUM},
    [WAIT] = {"wait_ns", TA_FIELD_SUM},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [IDLE] = {"idle_ns", TA_FIELD_SUM},
};

/* ---- map ------------------------------------------------------------------------------------ */

static int64_t *row_of(struct ta_partial *out, const struct recording *r, int64_t rank)
{
    const struct ta_slice word = r->total && r->total->name != TA_STR_ABSENT
                                     ? ta_trace_text(r->trace, r->total->name)
                                     : TA_LIT("");
    return TA_PARTIAL_ROW(out, ta_row_rank(r->trace, rank), ta_key_text(word));
}

/* Operators that launch nothing: device time of theirs is the time between two events around them,
 * in which the device waits for the host. */
static bool launches_nothing(struct ta_slice name)
{
    static const char *const names[] = {"aten::empty",   "aten::empty_strided", "aten::as_strided",
                                        "aten::view",    "aten::transpose",     "aten::t",
                                        "aten::permute", "aten::expand",        "aten::unsqueeze",
                                        "aten::squeeze", "aten::select",        "aten::slice",
                                        "aten::detach",  "aten::_unsafe_view",  "aten::alias"};
    for (size_t i = 0; i < TA_LENGTH(names); i++)
        if (ta_slice_equal(name, ta_slice_of(names[i])))
            return true;
    return false;
}

void totals_map(struct ta_partial *out, const struct recording *r, const unsigned char *kinds)
{
    const int64_t device_ns = recording_device_ns(r, kinds);
    const int64_t host_ns = r->total ? r->total->self_cpu_ns : TA_MISSING;
    for (size_t i = 0; i < r->n; i++) {
        const struct ta_operator_sum *op = &r->rows[i];
        int64_t *row = row_of(out, r, op->rank);
        if (kinds[i] != KIND_ANNOTATION && kinds[i] != KIND_TWIN) {
            const bool is_kernel = kinds[i] == KIND_KERNEL;
            ta_sum(&row[is_kernel ? KERNELS : OPERATORS], op->self_device_ns);
            if (device_ns == TA_MISSING)
                ta_sum(&row[is_kernel ? LOOSE_KERNELS : LOOSE_OPERATORS], op->self_device_ns);
        }
        if (op->self_device_ns > 0 && launches_nothing(ta_trace_text(r->trace, op->name)))
            ta_sum(&row[IDLE], op->self_device_ns);
        ta_sum(&row[SHOWN], op->self_cpu_ns);
        if (host_ns == TA_MISSING)
            ta_sum(&row[HOST], op->self_cpu_ns);
        if (kinds[i] == KIND_WAIT)
            ta_sum(&row[WAIT], op->self_cpu_ns);
        if (kinds[i] == KIND_WAIT || kinds[i] == KIND_CALL)
            ta_sum(&row[CALLS], 1);
    }
    if (r->n) {
        int64_t *row = row_of(out, r, r->rows[0].rank);
        ta_sum(&row[DEVICE], device_ns);
        ta_sum(&row[HOST], host_ns);
    }
}

/* ---- finish --------------------------------------------------------------------------------- */

static const struct totals unknown = {.device_ns = TA_MISSING,
                                      .host_ns = TA_MISSING,
                                      .wait_ns = TA_MISSING,
                                      .calls = TA_MISSING,
                                      .shown_ns = TA_MISSING};

bool totals_find(const struct ta_partial *merged, struct all_totals *out)
{
    int64_t kernels = TA_MISSING, operators = TA_MISSING, idle = TA_MISSING;
    const size_t n = ta_partial_rows(merged);
    *out = (struct all_totals){.at = calloc(n + 1, sizeof *out->at)};
    for (size_t i = 0; out->at && i < n; i++) {
        const int64_t *row = ta_partial_at(merged, i);
        if (out->n == 0 || out->at[out->n - 1].rank != row[RANK]) {
            out->at[out->n] = unknown;
            out->at[out->n++].rank = row[RANK];
            kernels = operators = idle = TA_MISSING;
        }
        struct totals *to = &out->at[out->n - 1];
        const struct ta_slice word = ta_partial_text(merged, row, WORD);
        if (to->device.len == 0)
            to->device = word;
        ta_sum(&to->device_ns, row[DEVICE]);
        ta_sum(&to->device_ns, row[LOOSE_KERNELS] > row[LOOSE_OPERATORS] ? row[LOOSE_KERNELS]
                                                                         : row[LOOSE_OPERATORS]);
        ta_sum(&to->host_ns, row[HOST]);
        ta_sum(&to->wait_ns, row[WAIT]);
        ta_sum(&to->calls, row[CALLS]);
        ta_sum(&to->shown_ns, row[SHOWN]);
        ta_sum(&kernels, row[KERNELS]);
        ta_sum(&operators, row[OPERATORS]);
        ta_sum(&idle, row[IDLE]);
        /* The rows of kernels add up where they are all or nearly all there. */
        to->by_kernels = (kernels) > 0 && ((operators) <= 0 || (kernels) >= (operators) / 10 * 9);
        to->by_events = idle > 0 && idle >= operators / 100;
    }
    return out->at != NULL;
}

void totals_free(struct all_totals *totals)
{
    free(totals->at);
}

const struct totals *totals_of(const struct all_totals *totals, int64_t rank)
{
    for (size_t low = 0, high = totals->n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (totals->at[middle].rank == rank)
            return &totals->at[middle];
        if (totals->at[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return &unknown;
}

/* ---- what limits ---------------------------------------------------------------------------- */

/* The device, where the host waits for it most of its time, or has less to do than the device.  The
 * host, where it clearly has more to do: waits have to be known then, so the calls of the runtime
 * and most of the host's time have to be listed.  Neither where the two are close, or where the
 * device's times hold its waits for the host. */
static struct ta_cell limit_of(const struct totals *t)
{
    const double device = (double)t->device_ns, host = (double)t->host_ns;
    const double wait = t->wait_ns > 0 ? (double)t->wait_ns : 0, own = host - wait;
    if (t->device_ns <= 0 || t->host_ns <= 0 || t->by_events)
        return ta_null();
    if (wait >= 0.5 * host || device >= own)
        return ta_text(TA_LIT("device"));
    const bool complete = t->calls > 0 && (double)t->shown_ns >= 0.8 * host;
    return complete && device < 0.8 * own ? ta_text(TA_LIT("host")) : ta_null();
}

enum {
    TOTALS_RANK,
    TOTALS_DEVICE,
    TOTALS_DEVICE_NS,
    TOTALS_HOST_NS,
    TOTALS_WAIT_NS,
    TOTALS_WAIT_SHARE,
    TOTALS_LIMIT,
    TOTALS_BY_EVENTS
};
static const struct ta_column operator_totals_columns[] = {
    [TOTALS_RANK] = TA_DUMP_RANK_COLUMN,
    [TOTALS_DEVICE] = {"device", "Device", TA_TEXT,
                       .doc = "Device type as the profiler names it: CUDA, XPU, NPU …"},
    [TOTALS_DEVICE_NS] =
        {"device_ns", "Device time", TA_NS, .better = TA_LOWER,
         .doc = "Time of all kernels, printed or not; without a total below the table, the sum of "
                "the listed kernels, or of the listed operators if that is larger"},
    [TOTALS_HOST_NS] =
        {"host_ns", "Host time", TA_NS, .better = TA_LOWER,
         .doc = "Self time of everything on the host, printed or not, over all its threads"},
    [TOTALS_WAIT_NS] =
        {"wait_ns", "Host waits", TA_NS, .better = TA_LOWER,
         .doc = "Part of the host time in calls that wait for the device, as far as listed"},
    [TOTALS_WAIT_SHARE] = {"wait_share", "Wait share", TA_RATIO, .better = TA_LOWER,
                           .doc = "Host waits divided by host time"},
    [TOTALS_LIMIT] = {"limit", "Limit", TA_WORD,
                      .doc = "What limits the run: `device` or `host`; empty if the two are close "
                             "or the table does not say"},
    [TOTALS_BY_EVENTS] = {"by_events", "Timed by events", TA_FLAG,
                          .doc = "Whether device times were measured by events around operators, "
                                 "so that even operators without kernels have some: such times "
                                 "include the device's waits for the host"},
};

const struct ta_table_def operator_totals = {
    "ops.totals", "Totals of the profiler's tables", TA_COLUMNS(operator_totals_columns),
    .doc = "One row per rank with such tables.\n\nDevice time is the total below the table, less "
           "the ranges that torch before 2.5 adds to it; without a total, or with one that leaves "
           "kernels out, it is the sum of the rows of kernels, or of operators if that is larger. "
           "`limit` is `device` if the host waits at least half of its time, or has less work of "
           "its own than the device. It is `host` if its own work takes more than 1.25 times as "
           "long as the device's work, and the table lists runtime calls and at least 80 % of the "
           "host time. It is empty if the two are close, the table does not say, or device times "
           "were measured by events around operators (`by_events`)."};

void totals_add(const struct all_totals *totals, struct ta_section_builder *out)
{
    for (size_t i = 0; i < totals->n; i++) {
        const struct totals *t = &totals->at[i];
        const bool waits = t->wait_ns > 0 && t->host_ns > 0;
        TA_ROW(out, operator_totals, [TOTALS_RANK] = ta_int(t->rank),
               [TOTALS_DEVICE] = ta_text_or_null(t->device),
               [TOTALS_DEVICE_NS] = t->device_ns > 0 ? ta_int(t->device_ns) : ta_null(),
               [TOTALS_HOST_NS] = t->host_ns > 0 ? ta_int(t->host_ns) : ta_null(),
               [TOTALS_WAIT_NS] = t->wait_ns > 0 ? ta_int(t->wait_ns) : ta_null(),
               [TOTALS_WAIT_SHARE] =
                   waits ? ta_num((double)t->wait_ns / (double)t->host_ns) : ta_null(),
               [TOTALS_LIMIT] = limit_of(t), [TOTALS_BY_EVENTS] = ta_bool(t->by_events));
    }
}
