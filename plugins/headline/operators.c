/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function or operator that takes most time: of devices, as far as sums say it, else of the
 * host. */
#include <traceanalyze/headline.h>

#include <math.h>

enum {
    CHECK,
    OP_NAME,
    OP_SELF,
    SUM_NAME,
    SUM_KIND,
    SUM_HOST,
    SUM_DEVICE,
    TOTAL_LIMIT,
    TOTAL_DEVICE_NAME,
    TOTAL_DEVICE,
    TOTAL_HOST,
    TOTAL_WAIT,
    TOTAL_BY_EVENTS,
    RUN,
    WAITS
};
static const struct ta_ref reads[] = {
    [CHECK] = {"health.checks", "check"},
    [OP_NAME] = {"ops.by_name", "name"},
    [OP_SELF] = {"ops.by_name", "working_ns"},
    [SUM_NAME] = {"ops.summed", "name"},
    [SUM_KIND] = {"ops.summed", "kind"},
    [SUM_HOST] = {"ops.summed", "self_cpu_ns"},
    [SUM_DEVICE] = {"ops.summed", "device_part_ns"},
    [TOTAL_LIMIT] = {"ops.totals", "limit"},
    [TOTAL_DEVICE_NAME] = {"ops.totals", "device"},
    [TOTAL_DEVICE] = {"ops.totals", "device_ns"},
    [TOTAL_HOST] = {"ops.totals", "host_ns"},
    [TOTAL_WAIT] = {"ops.totals", "wait_ns"},
    [TOTAL_BY_EVENTS] = {"ops.totals", "by_events"},
    [RUN] = {"run.window", "window_ns"},
    [WAITS] = {"waits.by_place", "share"},
};

/* Shares of the run and of the time in functions differ by so much. */
#define WAITS_MARGIN 0.02

/* What fits a sentence. */
enum { NAME_MOST = 80 };

/* The name of the largest value of a column, with all its rows: a table by rank has several. */
struct most {
    struct ta_slice name;
    double value, share; /* of the sum of the column */
};

/* Of the rows of a kind, NULL for all. */
static struct most find_most_of(const struct ta_refs *in, size_t name, size_t column,
                                const char *kind)
{
    struct most most = {.share = NAN};
    double all = 0, largest = 0;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++) {
        if (kind && !ta_ref_reads(in, SUM_KIND, i, kind))
            continue;
        const double value = fmax(0, ta_ref_number(in, column, i, NAN));
        all += value;
        if (value > largest) {
            largest = value;
            most.name = ta_ref_text(in, name, i);
        }
    }
    if (!(all > 0))
        return most;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++)
        if (ta_slice_equal(ta_ref_text(in, name, i), most.name) &&
            (!kind || ta_ref_reads(in, SUM_KIND, i, kind)))
            most.value += fmax(0, ta_ref_number(in, column, i, NAN));
    most.share = most.value / all;
    return most;
}

/* Whether the traces hold work of devices that could not be told from work of the host. */
static bool has_foreign_devices(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, CHECK); i++)
        if (ta_ref_reads(in, CHECK, i, "devices as the host's"))
            return true;
    return false;
}

static struct ta_slice device_word(struct ta_line *line, struct ta_slice device)
{
    static const char *const gpus[] = {"CUDA", "XPU", "HIP"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (ta_slice_equal(device, ta_slice_of(gpus[i])))
            return TA_LIT("GPU");
    return device.len ? ta_line_name(line, device, NAME_MOST) : TA_LIT("device");
}

/* Over all ranks, what ops.totals has. */
struct op_totals {
    double device, host, wait;
    struct ta_slice who;   /* "GPU", "NPU" … */
    struct ta_slice limit; /* empty where ranks differ or nothing shows it */
};

static struct op_totals find_totals(struct ta_line *line, const struct ta_refs *in)
{
    struct op_totals totals = {.who = TA_LIT("device")};
    for (size_t i = 0; i < ta_ref_rows(in, TOTAL_HOST); i++) {
        const struct ta_slice limit = ta_ref_text(in, TOTAL_LIMIT, i);
        if (i == 0) {
            totals.limit = limit;
            totals.who = device_word(line, ta_ref_text(in, TOTAL_DEVICE_NAME, i));
        } else if (!ta_slice_equal(limit, totals.limit)) {
            totals.limit = (struct ta_slice){.len = 0};
        }
        totals.device += fmax(0, ta_ref_number(in, TOTAL_DEVICE, i, NAN));
        totals.host += fmax(0, ta_ref_number(in, TOTAL_HOST, i, NAN));
        totals.wait += fmax(0, ta_ref_number(in, TOTAL_WAIT, i, NAN));
    }
    return totals;
}

/* Whether device times of the table hold the waits of the device for the host. */
static bool is_by_events(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, TOTAL_BY_EVENTS); i++) {
        const struct ta_cell *cell = ta_ref_cell(in, TOTAL_BY_EVENTS, i);
        if (cell->kind == TA_CELL_BOOL && cell->b)
            return true;
    }
    return false;
}

/* From this share on the host mostly waits. */
#define MOSTLY 0.5

static void say_limit(struct ta_line *line, const struct ta_refs *in,
                      const struct op_totals *totals)
{
    char device[TA_UNIT_TEXT_MAX], host[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
    char share[TA_UNIT_TEXT_MAX];
    ta_unit_format(device, totals->device, TA_UNIT_NS);
    ta_unit_format(host, totals->host - totals->wait, TA_UNIT_NS);
    ta_unit_format(all, totals->host, TA_UNIT_NS);
    if (ta_slice_equal(totals->limit, TA_LIT("host"))) {
        ta_say(line, "The host limits the run: its own work takes %s, the %.*s's kernels %s.", host,
               (int)totals->who.len, totals->who.ptr, device);
    } else if (ta_slice_equal(totals->limit, TA_LIT("device")) &&
               totals->wait >= MOSTLY * totals->host) {
        const struct most call = find_most_of(in, SUM_NAME, SUM_HOST, "wait");
        ta_unit_format(share, totals->wait / totals->host, TA_UNIT_RATIO);
        ta_say(line, "The %.*s limits the run: the host waits for it %s of its %s, most in %.*s.",
               (int)totals->who.len, totals->who.ptr, share, all, (int)call.name.len,
               call.name.ptr);
    } else if (ta_slice_equal(totals->limit, TA_LIT("device"))) {
        ta_say(line, "The %.*s limits the run: its kernels take %s, the host's own work %s.",
               (int)totals->who.len, totals->who.ptr, device, host);
    } else {
        ta_say(line, "Kernels take %s on the %.*s, the host's own work %s.", device,
               (int)totals->who.len, totals->who.ptr, host);
    }
}

/* Threads side by side work more than the run takes: then both are named. */
static void say_host(struct ta_line *line, const struct ta_refs *in, const struct most *most)
{
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
    const struct ta_slice name = ta_line_name(line, most->name, NAME_MOST);
    const size_t longest = ta_ref_largest(in, RUN);
    const double run = longest == SIZE_MAX ? NAN : ta_ref_number(in, RUN, longest, NAN);
    const double threads = most->value / most->share;
    ta_unit_format(share, most->share, TA_UNIT_RATIO);
    ta_unit_format(time, most->value, TA_UNIT_NS);
    ta_unit_format(all, threads, TA_UNIT_NS);
    if (threads > 1.1 * run) {
        ta_say_on(line, "; %.*s takes %s of the time of all host threads (%s of %s,", (int)name.len,
                  name.ptr, share, time, all);
        ta_say_on(line, " in a run of %s)", ta_unit_format(all, run, TA_UNIT_NS));
    } else {
        ta_say_on(line, "; %.*s itself takes %s of the host's time (%s)", (int)name.len, name.ptr,
                  share, time);
    }
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const struct most on_device = find_most_of(in, SUM_NAME, SUM_DEVICE, NULL);
    const bool by_events = is_by_events(in);
    if (!isnan(on_device.share) && !by_events) {
        const struct op_totals totals = find_totals(line, in);
        if (totals.host > 0)
            say_limit(line, in, &totals);
        if (worst && strcmp(worst->rule, "operator_work") == 0)
            return; /* it names what the time is spent on */
        char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
        const struct ta_slice name = ta_line_name(line, on_device.name, NAME_MOST);
        ta_unit_format(share, on_device.value / totals.device, TA_UNIT_RATIO);
        ta_unit_format(time, on_device.value, TA_UNIT_NS);
        ta_unit_format(all, totals.device, TA_UNIT_NS);
        ta_say(line, "%.*s takes %s of the %.*s's %s (%s).", (int)name.len, name.ptr, share,
               (int)totals.who.len, totals.who.ptr, all, time);
        return;
    }
    const bool has_ops = ta_ref_rows(in, OP_SELF);
    const struct most on_host = has_ops ? find_most_of(in, OP_NAME, OP_SELF, NULL)
                                        : find_most_of(in, SUM_NAME, SUM_HOST, NULL);
    if (!has_ops && !ta_ref_rows(in, SUM_HOST))
        return;
    ta_say(line, "%s",
           by_events ? "Device times of the table are those between events around operators, "
                       "which hold the device's waits for the host: host figures only"
           : has_foreign_devices(in)
               ? "Work of devices is in a form that is not known, and counts as the host's"
               : "No device activity was recorded: host figures only");
    /* The finding about waits for a device is not repeated, nor is a wait called the host's work.
     */
    double waits = 0;
    for (size_t i = 0; i < ta_ref_rows(in, WAITS) && worst; i++)
        waits += strcmp(worst->id, "host-waits") ? 0 : ta_ref_number(in, WAITS, i, 0);
    const bool is_said = worst && strcmp(worst->rule, "host_collectives") == 0;
    if (!is_said && on_host.share > waits + WAITS_MARGIN)
        say_host(line, in, &on_host);
    ta_say_on(line, ".");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, operators, &ops, .title = "Operators",
          .summary = "The operator that takes most time", .version = "1");
