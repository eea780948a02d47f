/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roofline.by_op, roofline.by_kernel, roofline.by_rank, roofline.unknown: what operators compute
 * and move, against what their device can do (Williams, Waterman and Patterson, "Roofline", CACM
 * 52(4), 2009).
 *
 * A kernel belongs to the innermost operator around its launch that has a formula; each call of
 * that operator counts its work once, whatever the number of its kernels. */
#include "base/vec.h"
#include "lib/counted.h"
#include "lib/outward.h"
#include "roofline.h"

#include <traceanalyze/model.h>

#include <stdlib.h>
#include <string.h>

static const struct ta_field op_fields[OP_FIELDS] = {
    [OP_NAME] = {"name", TA_FIELD_TEXT},
    [OP_CLASS] = {"class", TA_FIELD_INT},
    [OP_SHAPE] = {"shape", TA_FIELD_TEXT},
    [OP_TYPE] = {"type", TA_FIELD_TEXT},
    [OP_FLOP] = {"flop", TA_FIELD_INT},
    [OP_BYTES] = {"bytes", TA_FIELD_INT},
    [OP_DEVICE] = {"device", TA_FIELD_TEXT},
    [OP_DEVICE_UNITS] = {"multiprocessors", TA_FIELD_INT},
    [OP_DEVICE_BYTES] = {"memory_bytes", TA_FIELD_INT},
    [OP_CALLS] = {"calls", TA_FIELD_SUM},
    [OP_KERNELS] = {"kernels", TA_FIELD_SUM},
    [OP_BUSY] = {"busy_ns", TA_FIELD_SUM},
    [OP_EVIDENCE + EVIDENCE_NONE] = {"untold_ns", TA_FIELD_SUM},
    [OP_EVIDENCE + EVIDENCE_MATRIX] = {"matrix_ns", TA_FIELD_SUM},
    [OP_EVIDENCE + EVIDENCE_TF32] = {"tf32_ns", TA_FIELD_SUM},
    [OP_EVIDENCE + EVIDENCE_VECTOR] = {"vector_ns", TA_FIELD_SUM},
};

static const struct ta_field lack_fields[LACK_FIELDS] = {
    [LACK_NAME] = {"name", TA_FIELD_TEXT},     [LACK_WHY] = {"why", TA_FIELD_INT},
    [LACK_CALLS] = {"calls", TA_FIELD_SUM},    [LACK_KERNELS] = {"kernels", TA_FIELD_SUM},
    [LACK_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field device_fields[DEV_FIELDS] = {
    [DEV_RANK] = {"rank", TA_FIELD_RANK},
    [DEV_DEVICE] = {"device", TA_FIELD_INT},
    [DEV_NAME] = {"name", TA_FIELD_TEXT},
    [DEV_UNITS] = {"multiprocessors", TA_FIELD_INT},
    [DEV_BYTES] = {"memory_bytes", TA_FIELD_INT},
    [DEV_CAPABILITY] = {"capability", TA_FIELD_INT},
    [DEV_KERNEL_NS] = {"kernel_ns", TA_FIELD_SUM},
    [DEV_COVERED_NS] = {"covered_ns", TA_FIELD_SUM},
    [DEV_FLOP_NS] = {"flop_ns", TA_FIELD_SUM},
    [DEV_PRODUCT_NS] = {"product_ns", TA_FIELD_SUM},
    [DEV_PRODUCT_FLOP_NS] = {"product_flop_ns", TA_FIELD_SUM},
    [DEV_BUSY_NS] = {"busy_ns", TA_FIELD_SUM},
    [DEV_START] = {"start_ns", TA_FIELD_MIN},
    [DEV_END] = {"end_ns", TA_FIELD_MAX},
};

static const struct ta_field flop_fields[FLOPS_FIELDS] = {
    [FLOPS_RANK] = {"rank", TA_FIELD_RANK},        [FLOPS_DEVICE] = {"device", TA_FIELD_INT},
    [FLOPS_CLASS] = {"class", TA_FIELD_INT},       [FLOPS_TYPE] = {"type", TA_FIELD_TEXT},
    [FLOPS_EVIDENCE] = {"evidence", TA_FIELD_INT}, [FLOPS_HIGH] = {"high", TA_FIELD_SUM},
    [FLOPS_LOW] = {"low", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PART_OPS] = {"ops", op_fields, OP_FIELDS},
    [PART_LACKS] = {"lacks", lack_fields, LACK_FIELDS},
    [PART_DEVICES] = {"devices", device_fields, DEV_FIELDS},
    [PART_FLOPS] = {"flops", flop_fields, FLOPS_FIELDS},
    [PART_KERNELS] = {"kernels", op_fields, OP_FIELDS},
    {0},
};

/* ---- which operator ------------------------------------------------------------------------- */

struct mapping {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct counting counting;
    struct owner *owners; /* of the activities */
    /* A bit per span: work counted; a product lies inside; it has a kernel; it has several. */
    uint8_t *seen, *outer, *launched, *several;
    struct entry *entries; /* calls of one kind on one device */
    size_t n_entries, max_entries;
    struct ta_map entry_of, lack_of, kernel_of;
    struct ta_outward outward;
    bool failed;
};

enum { NOT_COUNTED = UINT32_MAX };

/* The operator that a kernel belongs to, and which work that counts. */
struct owner {
    ta_row row;       /* TA_NO_ROW for kernels without an operator */
    uint32_t counted; /* index in `counting`, or NOT_COUNTED */
};

static bool test(const uint8_t *bits, ta_row row)
{
    return bits[row / 8] >> row % 8 & 1;
}

static bool set(uint8_t *bits, ta_row row)
{
    const bool was = test(bits, row);
    bits[row / 8] |= (uint8_t)(1U << row % 8);
    return !was;
}

static bool is_operator(const struct mapping *m, ta_row row)
{
    return ta_class_is_op(m->categories.at[m->spans.cat[row]].class);
}

/* Whether its operator is known from the capture of the graph. */
static bool is_captured(const struct mapping *m, ta_row op)
{
    return ta_class_is_captured(m->categories.at[m->spans.cat[op]].class);
}

static bool ends_search(void *user, ta_row row)
{
    struct mapping *m = user;
    return !is_operator(m, row) ||
           counting_formula(&m->counting, m->spans.name[row]) != &no_formula;
}

/* Marks the operators around a product: its work is part of theirs. */
static void mark_outer(struct mapping *m, ta_row op)
{
    for (ta_row row = m->spans.parent[op]; row != TA_NO_ROW && is_operator(m, row);
         row = m->spans.parent[row])
        if (!set(m->outer, row))
            return;
}

/* Why nothing is known of an activity, but for its operator's own reasons. */
static enum lack lack_of(struct mapping *m, const struct ta_activity *a, const struct owner *owner)
{
    if (a->launch != TA_NO_ROW && m->spans.work[a->launch] == TA_HOST_GRAPH &&
        !is_captured(m, a->op))
        return LACK_GRAPH;
    if (owner->counted != NOT_COUNTED)
        return LACK_NOTHING;
    return owner->row == TA_NO_ROW || !is_operator(m, owner->row) ? LACK_OPERATOR : LACK_MODEL;
}

static struct owner find_owner(struct mapping *m, ta_row op)
{
    /* The innermost operator with a formula, from the launching one outwards as long as there is
     * nothing but operators; else the launching one. */
    const ta_row row = ta_outward_find(&m->outward, op, ends_search, m);
    struct owner owner = {row == TA_NO_ROW || !is_operator(m, row) ? op : row, NOT_COUNTED};
    const struct formula *formula = counting_formula(&m->counting, m->spans.name[owner.row]);
    if (formula == &no_formula)
        return owner;
    const size_t index = counting_of(&m->counting, owner.row);
    if (index == SIZE_MAX)
        return owner;
    if (work_is_product(formula->class) && m->counting.at[index].lack == LACK_NOTHING)
        mark_outer(m, owner.row);
    if (is_operator(m, owner.row))
        owner.counted = (uint32_t)index;
    return owner;
}

/* ---- sums ----------------------------------------------------------------------------------- */

struct entry {
    size_t counted;
    int64_t *row;
    int64_t device, calls, reached, evidence_ns[EVIDENCES];
};

struct current { /* the device whose activities come */
    int64_t id;
    uint64_t number;
    struct ta_device facts;
    int64_t *row, reached;
};

static void meet_device(struct mapping *m, struct current *d, int64_t id)
{
    const struct ta_device *known = ta_trace_device(m->trace, id);
    d->number++;
    d->id = id;
    d->facts = known ? *known : (struct ta_device){.id = id, .name = {"", 0}};
    d->reached = INT64_MIN;
    d->row =
        TA_PARTIAL_ROW(m->out[PART_DEVICES], ta_key_int(ta_trace_rank(m->trace)), ta_key_int(id),
                       ta_key_text(d->facts.name), ta_key_int(d->facts.multiprocessors),
                       ta_key_int(d->facts.memory_bytes), ta_key_int(d->facts.capability));
}

/* What lies beyond what was reached: activities of a device come in the order of their start. */
static int64_t beyond(int64_t *reached, int64_t start, int64_t end)
{
    const int64_t from = ta_max_i64(start, *reached);
    if (end <= from)
        return 0;
    *reached = end;
    return end - from;
}

/* NULL without memory. */
static struct entry *entry_of(struct mapping *m, size_t counted, const struct current *device)
{
    uint64_t *known =
        ta_map_at(&m->entry_of, device->number << 32 | counted, (uint64_t)m->n_entries);
    if (known && *known < m->n_entries)
        return &m->entries[*known];
    if (!known ||
        !ta_vec_grow((void **)&m->entries, &m->max_entries, m->n_entries, sizeof *m->entries)) {
        m->failed = true;
        return NULL;
    }
    const struct work *w = &m->counting.at[counted].work;
    m->entries[m->n_entries] = (struct entry){
        .counted = counted,
        .row = TA_PARTIAL_ROW(
            m->out[PART_OPS],
            ta_key_text(ta_trace_text(m->trace, m->counting.at[counted].texts.name)),
            ta_key_int(w->class), ta_key_text(ta_slice_of(w->shape)),
            ta_key_text(ta_slice_of(w->type->name)), ta_key_int(w->flop), ta_key_int(w->bytes),
            ta_key_text(device->facts.name), ta_key_int(device->facts.multiprocessors),
            ta_key_int(device->facts.memory_bytes)),
        .device = device->id,
        .reached = INT64_MIN,
    };
    return &m->entries[m->n_entries++];
}

static enum evidence evidence_of(const struct ta_kernel_facts *facts)
{
    if (facts->precision == TA_PRECISION_TF32)
        return EVIDENCE_TF32;
    return facts->matrix == TA_MATRIX_YES  ? EVIDENCE_MATRIX
           : facts->matrix == TA_MATRIX_NO ? EVIDENCE_VECTOR
                                           : EVIDENCE_NONE;
}

/* Templates of the compiler are products, too. */
static bool is_product(const struct ta_kernel_facts *facts)
{
    return facts->kind == TA_KERNEL_GEMM || facts->kind == TA_KERNEL_CONV ||
           facts->kind == TA_KERNEL_ATTENTION ||
           (facts->kind == TA_KERNEL_TRITON && strcmp(facts->family, "template") == 0);
}

static void add_lack(struct mapping *m, ta_row owner, enum lack lack, int64_t dur)
{
    const ta_str name = owner == TA_NO_ROW ? TA_STR_ABSENT : m->spans.name[owner];
    int64_t *row = ta_partial_cached(
        m->out[PART_LACKS], &m->lack_of, (uint64_t)name << 8 | (uint64_t)lack,
        (const struct ta_key[]){ta_key_text(text_or_empty(m->trace, name)), ta_key_int(lack)});
    ta_sum(&row[LACK_CALLS], owner != TA_NO_ROW && set(m->seen, owner));
    ta_sum(&row[LACK_KERNELS], 1);
    ta_sum(&row[LACK_TOTAL], dur);
}

/* A kernel that is all that a call launched: the work of the call is its own. */
static void add_alone(struct mapping *m, const struct ta_activity *a, const struct entry *entry)
{
    const struct counted *counted = &m->counting.at[entry->counted];
    const struct work *w = &counted->work;
    const struct ta_device *known = ta_trace_device(m->trace, entry->device);
    const struct ta_device facts = known ? *known : (struct ta_device){.name = {"", 0}};
    const int64_t dur = m->spans.dur[a->span];
    int64_t *row = ta_partial_cached(
        m->out[PART_KERNELS], &m->kernel_of,
        (uint64_t)(entry - m->entries) << 32 | (uint64_t)a->kernel,
        (const struct ta_key[]){ta_key_text(ta_trace_text(m->trace, m->kernels.at[a->kernel].name)),
                                ta_key_int(w->class), ta_key_text(TA_LIT("")),
                                ta_key_text(ta_slice_of(w->type->name)), ta_key_int(w->flop),
                                ta_key_int(w->bytes), ta_key_text(facts.name),
                                ta_key_int(facts.multiprocessors), ta_key_int(facts.memory_bytes)});
    ta_sum(&row[OP_CALLS], 1);
    ta_sum(&row[OP_KERNELS], 1);
    ta_sum(&row[OP_BUSY], dur);
    ta_sum(&row[OP_EVIDENCE + evidence_of(&m->kernels.at[a->kernel].facts)], dur);
}

/* A kernel of an operator with a formula. */
static enum lack add_kernel(struct mapping *m, const struct ta_activity *a,
                            const struct owner *owner, struct current *device)
{
    const struct counted *counted = &m->counting.at[owner->counted];
    if (counted->lack != LACK_NOTHING)
        return counted->lack;
    if (work_is_product(counted->work.class) && test(m->outer, owner->row))
        return LACK_INSIDE;
    struct entry *entry = entry_of(m, owner->counted, device);
    if (!entry)
        return LACK_NOTHING;
    const int64_t start = m->spans.ts[a->span], dur = m->spans.dur[a->span];
    const int64_t busy = beyond(&entry->reached, start, start + dur);
    const bool first = set(m->seen, owner->row);
    entry->calls += first;
    entry->evidence_ns[evidence_of(&m->kernels.at[a->kernel].facts)] += dur;
    ta_sum(&entry->row[OP_CALLS], first);
    ta_sum(&entry->row[OP_KERNELS], 1);
    ta_sum(&entry->row[OP_BUSY], busy);
    ta_sum(&device->row[DEV_COVERED_NS], dur);
    if (!test(m->several, owner->row))
        add_alone(m, a, entry);
    const bool has_flop = counted->work.flop != TA_MISSING;
    ta_sum(&device->row[DEV_FLOP_NS], has_flop ? dur : 0);
    if (has_flop && is_product(&m->kernels.at[a->kernel].facts))
        ta_sum(&device->row[DEV_PRODUCT_FLOP_NS], dur);
    return LACK_NOTHING;
}

static void add_activity(struct mapping *m, size_t i, struct current *device)
{
    const struct ta_activity *a = &m->activities.at[i];
    const int64_t start = m->spans.ts[a->span], dur = m->spans.dur[a->span];
    ta_sum(&device->row[DEV_BUSY_NS], beyond(&device->reached, start, start + dur));
    ta_least(&device->row[DEV_START], start);
    ta_most(&device->row[DEV_END], start + dur);
    if (a->kernel == TA_NO_KERNEL || m->kernels.at[a->kernel].facts.class == TA_KERNEL_COMM)
        return;
    ta_sum(&device->row[DEV_KERNEL_NS], dur);
    if (is_product(&m->kernels.at[a->kernel].facts))
        ta_sum(&device->row[DEV_PRODUCT_NS], dur);
    const struct owner *owner = &m->owners[i];
    enum lack lack = lack_of(m, a, owner);
    if (lack == LACK_NOTHING)
        lack = add_kernel(m, a, owner, device);
    if (lack != LACK_NOTHING)
        add_lack(m, owner->row, lack, dur);
}

/* ---- map ------------------------------------------------------------------------------------ */

/* FLOPs by type, with what most of the time of each kind of call says of the unit. */
static void add_flops(struct mapping *m)
{
    for (size_t i = 0; i < m->n_entries; i++) {
        const struct entry *entry = &m->entries[i];
        const struct work *work = &m->counting.at[entry->counted].work;
        int evidence = 0;
        for (int e = 0; e < EVIDENCES; e++) {
            ta_sum(&entry->row[OP_EVIDENCE + e], entry->evidence_ns[e]);
            evidence = entry->evidence_ns[e] > entry->evidence_ns[evidence] ? e : evidence;
        }
        if (work->flop == TA_MISSING)
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(m->out[PART_FLOPS], ta_key_int(ta_trace_rank(m->trace)),
                           ta_key_int(entry->device), ta_key_int(work->class),
                           ta_key_text(ta_slice_of(work->type->name)), ta_key_int(evidence));
        ta_sum(&row[FLOPS_HIGH], entry->calls * (work->flop >> FLOPS_SHIFT));
        ta_sum(&row[FLOPS_LOW], entry->calls * (work->flop & ((INT64_C(1) << FLOPS_SHIFT) - 1)));
    }
}

static void free_mapping(struct mapping *m)
{
    counting_end(&m->counting);
    free(m->entries);
    free(m->owners);
    free(m->seen);
    free(m->outer);
    free(m->launched);
    free(m->several);
    ta_map_free(&m->entry_of);
    ta_map_free(&m->kernel_of);
    ta_outward_free(&m->outward);
    ta_map_free(&m->lack_of);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    struct mapping *m = calloc(1, sizeof *m);
    if (!m)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot count work");
    *m = (struct mapping){
        .trace = trace,
        .out = out,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .activities = ta_trace_activities(trace),
        .kernels = ta_trace_kernels(trace),
        .seen = calloc(ta_trace_spans(trace).n / 8 + 1, 1),
        .outer = calloc(ta_trace_spans(trace).n / 8 + 1, 1),
        .launched = calloc(ta_trace_spans(trace).n / 8 + 1, 1),
        .several = calloc(ta_trace_spans(trace).n / 8 + 1, 1),
    };
    m->owners = reallocarray(NULL, m->activities.n + 1, sizeof *m->owners);
    m->outward.parent = m->spans.parent;
    struct current device = {.id = TA_MISSING};
    counting_begin(&m->counting, trace);
    m->failed =
        m->counting.failed || !m->owners || !m->seen || !m->outer || !m->launched || !m->several;
    if (!m->failed) {
        /* All are found first: which operators have a product inside that launched something itself
         * is known only then. */
        ta_row last = TA_NO_ROW;
        struct owner owner = {TA_NO_ROW, NOT_COUNTED};
        for (size_t i = 0; i < m->activities.n; i++) {
            const struct ta_activity *a = &m->activities.at[i];
            if (a->kernel == TA_NO_KERNEL)
                continue;
            if (a->op != last)
                owner = a->op == TA_NO_ROW ? (struct owner){TA_NO_ROW, NOT_COUNTED}
                                           : find_owner(m, a->op);
            last = a->op;
            m->owners[i] = owner;
            if (owner.row != TA_NO_ROW && !set(m->launched, owner.row))
                set(m->several, owner.row);
        }
        counting_settle(&m->counting);
    }
    for (size_t i = 0; !m->failed && !m->counting.failed && i < m->activities.n; i++) {
        if (i == 0 || m->activities.at[i].device != device.id)
            meet_device(m, &device, m->activities.at[i].device);
        add_activity(m, i, &device);
    }
    if (!m->failed)
        add_flops(m);
    const bool failed =
        m->failed || counting_failed(&m->counting) || m->lack_of.failed || m->kernel_of.failed;
    free_mapping(m);
    free(m);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot count work") : TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {
    {PART_OPS, OP_CLASS, WORK_CLASSES},      {PART_LACKS, LACK_WHY, LACK_COUNT},
    {PART_FLOPS, FLOPS_CLASS, WORK_CLASSES}, {PART_FLOPS, FLOPS_EVIDENCE, EVIDENCES},
    {PART_KERNELS, OP_CLASS, WORK_CLASSES},  TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&roofline_by_op, &roofline_by_kernel,
                                                    &roofline_by_rank, &roofline_unknown, NULL};

static const struct ta_ref reads[] = {[ROOFLINE_RANK] = {"gpu_time.program", "rank"},
                                      [ROOFLINE_DEVICE] = {"gpu_time.program", "device"},
                                      [ROOFLINE_WINDOW] = {"gpu_time.program", "window_ns"}};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs = TA_NEED_HOST_WORK,
                                           .needs_args = counting_args,
                                           .section = "kernels",
                                           .place = 5,
                                           TA_SCALARS(roofline_scalars),
                                           TA_READS(reads),
                                           .partials = partials,
                                           .map = map,
                                           .finish = roofline_finish,
                                           .tables = tables};

TA_PLUGIN(analysis, roofline, &ops, .title = "Roofline",
          .summary = "FLOPs and bytes of operators against the peaks of their device: "
                     "roofline.by_op, roofline.by_kernel, roofline.by_rank, roofline.unknown",
          .version = "1");
