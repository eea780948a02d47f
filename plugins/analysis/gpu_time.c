/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_time.by_rank: every instant of a device's window goes to compute, exposed communication,
 * exposed copies, exposed memory sets, or idle. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/kernel.h>

enum {
    RANK,
    DEVICE,
    WINDOW,
    BUSY,
    COMPUTE,
    COMM,
    COMM_EXPOSED,
    MEMCPY,
    MEMCPY_EXPOSED,
    MEMSET,
    MEMSET_EXPOSED,
    FIELDS
};

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE] = {"device", TA_FIELD_INT},
    [WINDOW] = {"window_ns", TA_FIELD_SUM},
    [BUSY] = {"busy_ns", TA_FIELD_SUM},
    [COMPUTE] = {"compute_ns", TA_FIELD_SUM},
    [COMM] = {"comm_ns", TA_FIELD_SUM},
    [COMM_EXPOSED] = {"comm_exposed_ns", TA_FIELD_SUM},
    [MEMCPY] = {"memcpy_ns", TA_FIELD_SUM},
    [MEMCPY_EXPOSED] = {"memcpy_exposed_ns", TA_FIELD_SUM},
    [MEMSET] = {"memset_ns", TA_FIELD_SUM},
    [MEMSET_EXPOSED] = {"memset_exposed_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"devices", fields, FIELDS}, {0}};

#define TIME_COLUMN(key, title, polarity, doc)                                                     \
    {                                                                                              \
        key, title, TA_TYPE_INTEGER, TA_UNIT_NS, polarity, doc                                     \
    }

static const struct ta_column columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the trace"},
    {"device", "Device", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Device number as recorded; none when the trace does not say"},
    TIME_COLUMN("window_ns", "Window", TA_LOWER,
                "First start to last end of the device's activities"),
    TIME_COLUMN("busy_ns", "Busy", TA_NEUTRAL, "Union of all activities"),
    TIME_COLUMN("compute_ns", "Compute", TA_NEUTRAL, "Union of compute kernels"),
    TIME_COLUMN("comm_ns", "Comm", TA_LOWER,
                "Union of communication kernels, waiting for other ranks included"),
    TIME_COLUMN("comm_exposed_ns", "Comm exposed", TA_LOWER,
                "Part of communication not covered by compute"),
    TIME_COLUMN("memcpy_ns", "Copies", TA_LOWER, "Union of memory copies"),
    TIME_COLUMN("memcpy_exposed_ns", "Copies exposed", TA_LOWER,
                "Part of copies covered by neither compute nor communication"),
    TIME_COLUMN("memset_ns", "Memset", TA_LOWER, "Union of memory sets"),
    TIME_COLUMN("memset_exposed_ns", "Memset exposed", TA_LOWER,
                "Part of memory sets covered by nothing else"),
    TIME_COLUMN("idle_ns", "Idle", TA_LOWER, "Window minus busy"),
    {"busy_share", "Busy %", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_HIGHER,
     "Busy time over the window: time in use, not use of its units"},
};

static const struct ta_chart chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time by rank",
    .caption = "The window of each device, first start to last end of its activities. Each instant "
               "counts once: compute first, then communication, copies and memory sets that "
               "nothing before covers; the rest is idle.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank", "device"},
    .y = {{"compute_ns", "Compute", TA_INK_COMPUTE},
          {"comm_exposed_ns", "Exposed communication", TA_INK_COMM},
          {"memcpy_exposed_ns", "Exposed copies", TA_INK_MEMCPY},
          {"memset_exposed_ns", "Exposed memset", TA_INK_MEMSET},
          {"idle_ns", "Idle", TA_INK_IDLE}},
};

/* Unions of the activities of one device. */
struct device {
    struct ta_intervals compute, comm, memcpy, memset;
    int64_t first, last;
};

static struct ta_intervals *kind_of(struct device *d, enum ta_event_class class,
                                    enum ta_kernel_class kernel)
{
    if (class == TA_CLASS_MEMCPY)
        return &d->memcpy;
    if (class == TA_CLASS_MEMSET)
        return &d->memset;
    return kernel == TA_KERNEL_COMM ? &d->comm : &d->compute;
}

/* Writes the row of a device and starts the next one.  `covered` grows by priority, so each class
 * is exposed where none before it is. */
static bool flush(const struct ta_trace *trace, int64_t number, struct device *d,
                  struct ta_partial *out)
{
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(number));
    struct ta_intervals covered = {0};
    ta_intervals_unite(&d->compute);
    ta_intervals_unite(&d->comm);
    ta_intervals_unite(&d->memcpy);
    ta_intervals_unite(&d->memset);
    ta_sum(&row[WINDOW], d->last - d->first);
    ta_sum(&row[COMPUTE], ta_intervals_length(&d->compute));
    ta_sum(&row[COMM], ta_intervals_length(&d->comm));
    ta_sum(&row[MEMCPY], ta_intervals_length(&d->memcpy));
    ta_sum(&row[MEMSET], ta_intervals_length(&d->memset));
    ta_sum(&row[COMM_EXPOSED], ta_intervals_outside(&d->comm, &d->compute));
    ta_intervals_join(&covered, &d->compute);
    ta_intervals_join(&covered, &d->comm);
    ta_sum(&row[MEMCPY_EXPOSED], ta_intervals_outside(&d->memcpy, &covered));
    ta_intervals_join(&covered, &d->memcpy);
    ta_sum(&row[MEMSET_EXPOSED], ta_intervals_outside(&d->memset, &covered));
    ta_intervals_join(&covered, &d->memset);
    ta_sum(&row[BUSY], ta_intervals_length(&covered));
    const bool done = !covered.failed;
    ta_intervals_free(&covered);
    ta_intervals_free(&d->compute);
    ta_intervals_free(&d->comm);
    ta_intervals_free(&d->memcpy);
    ta_intervals_free(&d->memset);
    return done;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    struct ta_map classes = {0};
    struct device d = {.first = INT64_MAX, .last = INT64_MIN};
    bool done = true;
    for (size_t i = 0; done && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        const int64_t start = s.ts[a->span], end = start + s.dur[a->span];
        uint64_t *kernel = ta_map_at(&classes, s.name[a->span], UINT64_MAX);
        if (!kernel) {
            done = flush(trace, a->device, &d, out[0]);
            break;
        }
        if (*kernel == UINT64_MAX)
            *kernel = ta_kernel_classify(ta_trace_text(trace, s.name[a->span]));
        ta_intervals_add(
            kind_of(&d, categories.at[s.cat[a->span]].class, (enum ta_kernel_class) * kernel),
            start, end);
        d.first = ta_min_i64(d.first, start);
        d.last = ta_max_i64(d.last, end);
        if (i + 1 == activities.n || activities.at[i + 1].device != a->device) {
            done = flush(trace, a->device, &d, out[0]);
            d = (struct device){.first = INT64_MAX, .last = INT64_MIN};
        }
    }
    done &= !classes.failed;
    ta_map_free(&classes);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold device intervals");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *devices = merged[0];
    struct ta_table_builder *table =
        ta_add_table(out, "gpu_time.by_rank", "GPU time by rank", columns, 13);
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i);
        TA_ROW(table, ta_int(row[RANK]), ta_int(row[DEVICE]), ta_int(row[WINDOW]),
               ta_int(row[BUSY]), ta_int(row[COMPUTE]), ta_int(row[COMM]),
               ta_int(row[COMM_EXPOSED]), ta_int(row[MEMCPY]), ta_int(row[MEMCPY_EXPOSED]),
               ta_int(row[MEMSET]), ta_int(row[MEMSET_EXPOSED]), ta_int(row[WINDOW] - row[BUSY]),
               row[WINDOW] ? ta_num((double)row[BUSY] / (double)row[WINDOW]) : ta_null());
    }
    ta_add_chart(table, &chart);
    if (ta_partial_rows(devices) == 0 && ta_report_is_of_traces(prior))
        ta_add_missing(out, "No device activity was recorded: the trace is of the host only.");
    return TA_OK;
}

static const char *const after[] = {"files", NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "gpu_time", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, gpu_time, &ops, .title = "GPU time",
          .summary = "Exclusive split of each device's window: gpu_time.by_rank", .version = "1");
