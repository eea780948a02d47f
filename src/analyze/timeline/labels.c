/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels: name, category and shapes of slices, and what kind of slices they are. */
#include "analyze/timeline/labels.h"
#include "model/families.h"

#include <inttypes.h>
#include <stdio.h>

bool ta_labels_init(struct ta_labels *labels, const struct ta_trace *trace)
{
    *labels = (struct ta_labels){.trace = trace};
    for (int i = 0; i < TA_TIMELINE_ARGS; i++)
        labels->args[i].args = ta_trace_args(trace, ta_arg_look((enum ta_timeline_arg)i)->key);
    labels->latest = calloc(ta_trace_string_count(trace) + 1, sizeof *labels->latest);
    return labels->latest != NULL;
}

void ta_labels_free(struct ta_labels *labels)
{
    free(labels->list.at);
    free(labels->latest);
    ta_map_free(&labels->pairs);
    ta_map_free(&labels->shaped);
    ta_map_free(&labels->at);
    free(labels->sets.at);
    ta_map_free(&labels->grown);
    ta_map_free(&labels->values[0]);
    ta_map_free(&labels->values[1]);
}

uint32_t ta_labels_find(struct ta_labels *labels, struct trace_label wanted)
{
    const uint64_t *pair =
        ta_map_at(&labels->pairs, (uint64_t)wanted.cat << 32 | wanted.name, labels->pairs.n);
    const uint64_t *shaped =
        pair ? ta_map_at(&labels->shaped, *pair << 32 | wanted.shapes, labels->shaped.n) : NULL;
    uint64_t *at =
        shaped ? ta_map_at(&labels->at, *shaped << 32 | wanted.args, labels->list.n) : NULL;
    if (!at || (*at == labels->list.n && !ta_vec_push(&labels->list, wanted))) {
        labels->failed = true;
        return 0;
    }
    labels->latest[wanted.name] = (uint32_t)*at + 1;
    return (uint32_t)*at;
}

/* ---- arguments ------------------------------------------------------------------------------- */

uint32_t ta_labels_grow(struct ta_labels *labels, uint32_t set, int arg)
{
    const struct ta_args *args = &labels->args[arg].args;
    const size_t at = labels->args[arg].at;
    const bool is_text = ta_args_is_text(args, at);
    const int64_t value = ta_args_value(args, at);
    struct ta_map *values = &labels->values[is_text];
    const uint64_t *number = ta_map_at(values, (uint64_t)value, values->n);
    uint64_t *grown = NULL;
    if (number) {
        const uint64_t what = (*number * 2 + is_text) * TA_TIMELINE_ARGS + (uint64_t)arg;
        if (what <= UINT32_MAX)
            grown = ta_map_at(&labels->grown, (uint64_t)set << 32 | what, labels->sets.n + 1);
    }
    if (!grown) {
        labels->failed = true;
        return set;
    }
    if (*grown <= labels->sets.n)
        return (uint32_t)*grown;
    struct ta_arg_set added = {.kind = {ARG_NONE}};
    if (set)
        added = labels->sets.at[set - 1];
    added.value[arg] = value;
    added.kind[arg] = is_text ? ARG_TEXT : ARG_NUMBER;
    if (!ta_vec_push(&labels->sets, added)) {
        labels->failed = true;
        return set;
    }
    return (uint32_t)*grown;
}

/* ---- settling ------------------------------------------------------------------------------ */

static enum ta_slice_kind kind_of_kernel(const struct ta_kernel_facts *facts)
{
    if (facts->class == TA_KERNEL_COMM)
        return TA_SLICE_COMM;
    const enum ta_slice_kind slice = ta_kernel_family(facts->kind)->slice;
    return slice == TA_SLICE_COMM ? TA_SLICE_KERNEL : slice;
}

static enum ta_slice_kind kind_of(enum ta_event_class class, enum ta_slice_kind of_kernel)
{
    switch (class) {
    case TA_CLASS_KERNEL:
        return of_kernel;
    case TA_CLASS_MEMCPY:
        return TA_SLICE_MEMCPY;
    case TA_CLASS_MEMSET:
        return TA_SLICE_MEMSET;
    case TA_CLASS_OP:
        return TA_SLICE_OP;
    case TA_CLASS_RUNTIME:
        return TA_SLICE_RUNTIME;
    case TA_CLASS_ANNOTATION:
        return TA_SLICE_RANGE;
    case TA_CLASS_SYNC:
        return TA_SLICE_SYNC;
    case TA_CLASS_HOST:
    case TA_CLASS_FLOW:
    case TA_CLASS_CAPTURED_OP:
    case TA_CLASS_CAPTURED_CALL:
    case TA_CLASS_CAPTURED_MODULE:
        break;
    }
    return TA_SLICE_HOST;
}

/* What kernels of a name do; by name, malloc'd. */
static enum ta_slice_kind *list_kernels(const struct ta_trace *trace)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    const size_t n = ta_trace_string_count(trace) + 1;
    enum ta_slice_kind *kinds = malloc(n * sizeof *kinds);
    for (size_t i = 0; kinds && i < n; i++)
        kinds[i] = TA_SLICE_KERNEL;
    for (size_t i = 0; kinds && i < kernels.n; i++)
        kinds[kernels.at[i].name] = kind_of_kernel(&kernels.at[i].facts);
    return kinds;
}

/* Interns a text, cut to TA_TIMELINE_NAME_MAX bytes between two characters. */
static bool intern(struct ta_strings *texts, struct ta_slice text, ta_str *id)
{
    char cut[TA_TIMELINE_NAME_MAX];
    static const char ellipsis[] = "…";
    if (text.len > sizeof cut) {
        const size_t n = ta_slice_head(text, sizeof cut - (sizeof ellipsis - 1)).len;
        memcpy(cut, text.ptr, n);
        memcpy(cut + n, ellipsis, sizeof ellipsis - 1);
        text = (struct ta_slice){cut, n + sizeof ellipsis - 1};
    }
    return ta_strings_intern(texts, text, id) == TA_INTERN_OK;
}

bool ta_labels_intern(struct ta_timeline_pool *pool, struct ta_slice text, ta_str *id)
{
    pthread_mutex_lock(&pool->lock);
    const bool done = intern(&pool->texts, text, id);
    pthread_mutex_unlock(&pool->lock);
    return done;
}

bool ta_labels_add(struct ta_timeline_part *part, struct ta_part_label label)
{
    struct ta_part_label *grown =
        reallocarray(part->labels, part->n_labels + 1, sizeof *part->labels);
    if (!grown)
        return false;
    part->labels = grown;
    part->labels[part->n_labels++] = label;
    return true;
}

static bool intern_str(struct ta_labels *labels, struct ta_strings *texts, ta_str name, ta_str *id)
{
    *id = TA_STR_ABSENT;
    return name == TA_STR_ABSENT || intern(texts, ta_trace_text(labels->trace, name), id);
}

static bool intern_args(struct ta_labels *labels, struct ta_strings *texts, uint32_t number,
                        struct ta_part_label *to)
{
    for (int i = 0; i < TA_TIMELINE_ARGS; i++) {
        const struct ta_arg_set *set = number ? &labels->sets.at[number - 1] : NULL;
        to->args[i] = TA_STR_ABSENT;
        if (!set || set->kind[i] == ARG_NONE)
            continue;
        char digits[24];
        const int n = snprintf(digits, sizeof digits, "%" PRId64, set->value[i]);
        const struct ta_slice text = set->kind[i] == ARG_TEXT
                                         ? ta_trace_text(labels->trace, (ta_str)set->value[i])
                                         : (struct ta_slice){digits, (size_t)n};
        if (!intern(texts, text, &to->args[i]))
            return false;
    }
    return true;
}

static bool settle_all(struct ta_labels *labels, struct ta_strings *texts,
                       const enum ta_slice_kind *kernels, struct ta_timeline_part *part)
{
    const struct ta_categories categories = ta_trace_categories(labels->trace);
    for (size_t i = 0; i < labels->list.n; i++) {
        const struct trace_label *from = &labels->list.at[i];
        const struct ta_category *category = &categories.at[from->cat];
        struct ta_part_label *to = &part->labels[i];
        to->kind = kind_of(category->class, kernels[from->name]);
        if (!intern_str(labels, texts, from->name, &to->name) ||
            !intern_str(labels, texts, from->shapes, &to->shapes) ||
            !intern_str(labels, texts, category->name, &to->category) ||
            !intern_args(labels, texts, from->args, to))
            return false;
    }
    return true;
}

bool ta_labels_settle(struct ta_labels *labels, struct ta_timeline_pool *pool,
                      struct ta_timeline_part *part)
{
    enum ta_slice_kind *kernels = list_kernels(labels->trace);
    part->n_labels = labels->list.n;
    part->labels = calloc(part->n_labels + 1, sizeof *part->labels);
    bool done = kernels && part->labels && !labels->failed;
    if (done) {
        pthread_mutex_lock(&pool->lock);
        done = settle_all(labels, &pool->texts, kernels, part);
        pthread_mutex_unlock(&pool->lock);
    }
    free(kernels);
    return done;
}
