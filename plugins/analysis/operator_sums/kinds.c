/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch lists everything that it recorded in one table:
 *
 *   what            self CPU  CPU total  self device              device total
 *   operator        > 0       > 0        kernels it launched      its callees' kernels too
 *   runtime call    > 0       > 0        0                        0
 *   range, host     > 0       > 0        0                        kernels launched within it
 *   kernel, copy    0         0          its duration             the same
 *   range, device   0         0          its duration             the same
 *
 * So kernels are there twice, as themselves and as their operators' device time, and once more in
 * each range around them. Only kernels add up to "Self CUDA time total"; operators do where the
 * table has no kernels. A row without host time is a range of the device where
 *
 *   1. its name is one that torch gives to ranges;
 *   2. the host has a range of that name, which itself launches nothing;
 *   3. kernels would sum up to more than the total below the table with it;
 *   4. a call of it lasts much longer than one of any kernel, unless the total needs it.
 *
 * The last three do not count for names that only kernels have. */
#include "kinds.h"

#include "model/host.h"

#include <traceanalyze/base.h>
#include <traceanalyze/model.h>

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

const char *kind_word(enum kind kind)
{
    static const char *const words[KINDS] = {
        [KIND_OPERATOR] = "operator",
        [KIND_CALL] = "call",
        [KIND_WAIT] = "wait",
        [KIND_KERNEL] = "kernel",
        [KIND_ANNOTATION] = "annotation",
    };
    return words[kind];
}

bool recording_next(const struct ta_trace *trace, const struct ta_operator_sum *rows, size_t n,
                    size_t *at, struct recording *out)
{
    if (*at >= n)
        return false;
    *out = (struct recording){.trace = trace, .rows = rows + *at};
    while (*at < n && !rows[*at].is_total)
        ++*at;
    out->n = (size_t)(rows + *at - out->rows);
    if (*at < n)
        out->total = &rows[(*at)++];
    return true;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool holds(struct ta_slice name, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= name.len; i++)
        if (strncasecmp(ta_slice_at(name, i), text, n) == 0)
            return true;
    return false;
}

/* Whether the name begins with one of these and goes on in upper case: "cudaMalloc". */
static bool is_call(struct ta_slice name)
{
    static const char *const prefixes[] = {"cuda",  "cu", "hip", "hsa",  "ze",       "ur", "pi",
                                           "aclrt", "mu", "acl", "musa", "aclop",    "cn", "cnrt",
                                           "syn",   "rt", "xpu", "tops", "AscendCL@"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t n = strlen(prefixes[i]);
        if (name.len > n && ta_slice_starts(name, prefixes[i]) &&
            (isupper((unsigned char)name.ptr[n]) || prefixes[i][n - 1] == '@'))
            return memchr(name.ptr, ' ', name.len) == NULL;
    }
    return false;
}

/* Ranges that torch and its libraries name. */
static bool is_known_range(struct ta_slice name)
{
    static const char *const begins[] = {"ProfilerStep",
                                         "## ",
                                         "Torch-Compiled Re",
                                         "CompiledFxGraph",
                                         "Optimizer.",
                                         "enumerate(DataLoader)",
                                         "DistributedDataParallel.",
                                         "FullyShardedDataParallel",
                                         "FSDP::",
                                         "nccl:",
                                         "gloo:",
                                         "ucc:",
                                         "mpi:",
                                         "xccl:",
                                         "hccl:",
                                         "TorchDynamo Cache Lookup",
                                         "Pregraph bytecode",
                                         "AOTDispatcher Runtime Wrapper",
                                         "PyTorch Profiler"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (ta_slice_starts(name, begins[i]))
            return true;
    return false;
}

/* Names that a program does not give to a range: signatures, and what libraries and compilers call
 * their kernels.  Not by ta_kernel_describe(), which takes "attention" for a kernel too. */
static bool is_kernel_name(struct ta_slice name)
{
    static const char *const begins[] = {"void ",  "triton_",  "nvjet",  "Cijk_",      "ampere_",
                                         "volta_", "turing_",  "hopper", "blackwell_", "maxwell_",
                                         "aclnn",  "nccl_dev", "_"};
    static const char *const parts[] = {"<",       "kernel",   "gemm",   "memcpy",   "memset",
                                        "cutlass", "cudnn",    "xmma",   "_fwd",     "_bwd",
                                        "fmha",    "tilesize", "splitk", "winograd", "convolve"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (ta_slice_starts(name, begins[i]))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (holds(name, parts[i]))
            return true;
    /* "sm80_…", "sm90_…" */
    for (size_t i = 0; i + 4 < name.len; i++)
        if (memcmp(ta_slice_at(name, i), "sm", 2) == 0 && isdigit((unsigned char)name.ptr[i + 2]) &&
            isdigit((unsigned char)name.ptr[i + 3]))
            return true;
    return false;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool on_host(const struct ta_operator_sum *row)
{
    return row->cpu_ns > 0 || row->self_cpu_ns > 0;
}

static int64_t device_ns(const struct ta_operator_sum *row)
{
    return row->self_device_ns > 0 ? row->self_device_ns : 0;
}

/* What launches kernels itself is no range, whatever its name: a collective. */
static enum kind kind_on_host(struct ta_slice name, bool launches)
{
    if (is_known_range(name) && !launches)
        return KIND_ANNOTATION;
    if (!is_call(name))
        return KIND_OPERATOR;
    const enum ta_host_work work = ta_host_classify(TA_CLASS_RUNTIME, TA_LIT(""), name);
    return work == TA_HOST_SYNC ? KIND_WAIT : KIND_CALL;
}

/* What is known of a row without the others. */
struct judgment {
    unsigned char *kinds;
    bool *open; /* rows that may be kernels or ranges */
};

/* A sum of printed times, and its largest rounding error: each has three decimals of its unit. */
struct sum {
    int64_t ns, slack_ns;
};

static int64_t slack_of(int64_t ns)
{
    static const int64_t digits[] = {1000000, 1000, 1};
    size_t i = 0;
    while (ns % digits[i] != 0)
        i++;
    return digits[i] / 2;
}

static void add_time(struct sum *sum, int64_t ns)
{
    sum->ns = ta_add_sat(sum->ns, ns);
    sum->slack_ns = ta_add_sat(sum->slack_ns, slack_of(ns));
}

static struct sum sum_of(const struct recording *r, const unsigned char *kinds, enum kind kind)
{
    struct sum sum = {.ns = 0};
    for (size_t i = 0; i < r->n; i++)
        if (kinds[i] == kind)
            add_time(&sum, device_ns(&r->rows[i]));
    return sum;
}

/* A thousandth more, for tables that were written by hand. */
static int64_t slack_between(struct sum sum, int64_t total)
{
    return ta_add_sat(sum.slack_ns, slack_of(total) + total / 1000);
}

static bool exceeds(struct sum sum, int64_t total)
{
    return sum.ns > ta_add_sat(total, slack_between(sum, total));
}

static bool is_below(struct sum sum, int64_t total)
{
    return ta_add_sat(sum.ns, slack_between(sum, total)) < total;
}

static int64_t total_device_ns(const struct recording *r)
{
    return r->total ? r->total->self_device_ns : TA_MISSING;
}

struct place {
    int64_t ns;
    size_t row;
};

static int by_time(const void *one, const void *other)
{
    const struct place *a = one, *b = other;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Largest first, a row with which kernels exceed the total is a range. */
static bool judge_by_total(const struct recording *r, const struct judgment *j)
{
    const int64_t total = total_device_ns(r);
    struct sum sum = sum_of(r, j->kinds, KIND_KERNEL), sure = sum;
    struct place *open = calloc(r->n + 1, sizeof *open);
    size_t n = 0;
    for (size_t i = 0; open && i < r->n; i++)
        if (j->open[i])
            open[n++] = (struct place){device_ns(&r->rows[i]), i};
    for (size_t i = 0; i < n; i++)
        sure.ns -= open[i].ns;
    if (n > 1)
        qsort(open, n, sizeof *open, by_time);
    /* A total that leaves known kernels out says nothing. */
    for (size_t i = 0; i < n && total != TA_MISSING && !exceeds(sure, total); i++)
        if (exceeds(sum, total)) {
            j->kinds[open[i].row] = KIND_ANNOTATION;
            j->open[open[i].row] = false;
            sum.ns -= open[i].ns;
        }
    const bool done = open != NULL;
    free(open);
    return done;
}

/* Of this many times the longest kernel, a row is a range. */
enum { LONGER = 10 };

static int64_t mean_ns(const struct ta_operator_sum *row)
{
    return row->calls > 0 ? device_ns(row) / row->calls : 0;
}

static void mark(const struct recording *r, const unsigned char *kinds, bool host,
                 struct ta_map *names)
{
    for (size_t i = 0; i < r->n; i++)
        if (kinds[i] == KIND_ANNOTATION && on_host(&r->rows[i]) == host)
            ta_map_at(names, r->rows[i].name, 1);
}

/* A range of the device is one of the host too, and counts once. */
static bool judge_twins(const struct recording *r, unsigned char *kinds)
{
    struct ta_map on_device = {0}, hosts = {0};
    mark(r, kinds, false, &on_device);
    for (size_t i = 0; i < r->n; i++)
        if (kinds[i] == KIND_OPERATOR && device_ns(&r->rows[i]) == 0 &&
            ta_map_find(&on_device, r->rows[i].name))
            kinds[i] = KIND_ANNOTATION;
    mark(r, kinds, true, &hosts);
    for (size_t i = 0; i < r->n; i++)
        if (kinds[i] == KIND_ANNOTATION && !on_host(&r->rows[i]) &&
            ta_map_find(&hosts, r->rows[i].name))
            kinds[i] = KIND_TWIN;
    const bool done = !on_device.failed && !hosts.failed;
    ta_map_free(&on_device);
    ta_map_free(&hosts);
    return done;
}

bool recording_kinds(const struct recording *r, unsigned char *kinds)
{
    struct ta_map ranges = {0};
    const struct judgment j = {kinds, calloc(r->n + 1, sizeof(bool))};
    bool done = j.open;
    if (done) {
        /* Names under which the host launches kernels only within others, not itself. */
        for (size_t i = 0; i < r->n; i++)
            if (on_host(&r->rows[i]) && device_ns(&r->rows[i]) == 0 && r->rows[i].device_ns > 0)
                ta_map_at(&ranges, r->rows[i].name, 1);
        done = !ranges.failed;
    }
    if (done) {
        for (size_t i = 0; i < r->n; i++) {
            const struct ta_slice name = ta_trace_text(r->trace, r->rows[i].name);
            j.open[i] = false;
            if (on_host(&r->rows[i]) || device_ns(&r->rows[i]) == 0) {
                j.kinds[i] = (unsigned char)kind_on_host(name, device_ns(&r->rows[i]) > 0);
                continue;
            }
            const bool sure = is_kernel_name(name);
            const bool range =
                is_known_range(name) || (!sure && ta_map_find(&ranges, r->rows[i].name) != NULL);
            j.kinds[i] = range ? KIND_ANNOTATION : KIND_KERNEL;
            j.open[i] = !range && !sure;
        }
        done = judge_by_total(r, &j);
        const int64_t total = total_device_ns(r);
        int64_t longest = 0;
        if (total == TA_MISSING || is_below(sum_of(r, j.kinds, KIND_KERNEL), total)) {
            for (size_t i = 0; i < r->n; i++)
                if (j.kinds[i] == KIND_KERNEL && !j.open[i] && mean_ns(&r->rows[i]) > longest)
                    longest = mean_ns(&r->rows[i]);
            for (size_t i = 0; longest > 0 && i < r->n; i++)
                if (j.open[i] && mean_ns(&r->rows[i]) / LONGER > longest)
                    j.kinds[i] = KIND_ANNOTATION;
        }
        done = done && judge_twins(r, kinds);
    }
    ta_map_free(&ranges);
    free(j.open);
    return done;
}

/* ---- the device ----------------------------------------------------------------------------- */

/* The total below the table, but for two cases: of devices that torch leaves out it is too small,
 * and before torch 2.5 ranges of the device count as kernels. */
int64_t recording_device_ns(const struct recording *r, const unsigned char *kinds)
{
    const int64_t total = total_device_ns(r);
    const struct sum kernels = sum_of(r, kinds, KIND_KERNEL);
    const struct sum ranges = sum_of(r, kinds, KIND_ANNOTATION);
    const struct sum twins = sum_of(r, kinds, KIND_TWIN);
    if (total == TA_MISSING || exceeds(kernels, total))
        return TA_MISSING;
    struct sum both = kernels;
    add_time(&both, ranges.ns);
    add_time(&both, twins.ns);
    const bool counted = both.ns > kernels.ns && !exceeds(both, total) && !is_below(both, total);
    return counted ? kernels.ns : total;
}
