/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels: name, category and shapes of slices, and what kind of slices they are. */
#include "analyze/timeline/labels.h"

bool ta_labels_init(struct ta_labels *labels, const struct ta_trace *trace)
{
    *labels = (struct ta_labels){.trace = trace};
    labels->latest = calloc(ta_trace_string_count(trace) + 1, sizeof *labels->latest);
    return labels->latest != NULL;
}

void ta_labels_free(struct ta_labels *labels)
{
    free(labels->list.at);
    free(labels->latest);
    ta_map_free(&labels->pairs);
    ta_map_free(&labels->at);
}

uint32_t ta_labels_find(struct ta_labels *labels, struct trace_label wanted)
{
    const uint64_t *pair =
        ta_map_at(&labels->pairs, (uint64_t)wanted.cat << 32 | wanted.name, labels->pairs.n);
    uint64_t *at =
        pair ? ta_map_at(&labels->at, *pair << 32 | wanted.shapes, labels->list.n) : NULL;
    if (!at || (*at == labels->list.n && !ta_vec_push(&labels->list, wanted))) {
        labels->failed = true;
        return 0;
    }
    labels->latest[wanted.name] = (uint32_t)*at + 1;
    return (uint32_t)*at;
}

/* ---- settling ------------------------------------------------------------------------------ */

static enum ta_slice_kind kind_of(enum ta_event_class class, bool is_comm)
{
    switch (class) {
    case TA_CLASS_KERNEL:
        return is_comm ? TA_SLICE_COMM : TA_SLICE_COMPUTE;
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

/* Marks names of kernels that communicate; by name, malloc'd. */
static bool *list_comm(const struct ta_trace *trace)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    bool *is_comm = calloc(ta_trace_string_count(trace) + 1, sizeof *is_comm);
    for (size_t i = 0; is_comm && i < kernels.n; i++)
        is_comm[kernels.at[i].name] = kernels.at[i].facts.class == TA_KERNEL_COMM;
    return is_comm;
}

/* Interns a text, cut to TA_TIMELINE_NAME_MAX bytes between two characters. */
static bool intern(struct ta_strings *texts, struct ta_slice text, ta_str *id)
{
    char cut[TA_TIMELINE_NAME_MAX];
    static const char ellipsis[] = "…";
    if (text.len > sizeof cut) {
        size_t n = sizeof cut - (sizeof ellipsis - 1);
        while (n && ((unsigned char)text.ptr[n] & 0xc0) == 0x80)
            n--;
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

static bool settle_all(struct ta_labels *labels, struct ta_strings *texts, const bool *is_comm,
                       struct ta_timeline_part *part)
{
    const struct ta_categories categories = ta_trace_categories(labels->trace);
    for (size_t i = 0; i < labels->list.n; i++) {
        const struct trace_label *from = &labels->list.at[i];
        const struct ta_category *category = &categories.at[from->cat];
        struct ta_part_label *to = &part->labels[i];
        to->kind = kind_of(category->class, is_comm[from->name]);
        if (!intern_str(labels, texts, from->name, &to->name) ||
            !intern_str(labels, texts, from->shapes, &to->shapes) ||
            !intern_str(labels, texts, category->name, &to->category))
            return false;
    }
    return true;
}

bool ta_labels_settle(struct ta_labels *labels, struct ta_timeline_pool *pool,
                      struct ta_timeline_part *part)
{
    bool *is_comm = list_comm(labels->trace);
    part->n_labels = labels->list.n;
    part->labels = calloc(part->n_labels + 1, sizeof *part->labels);
    bool done = is_comm && part->labels && !labels->failed;
    if (done) {
        pthread_mutex_lock(&pool->lock);
        done = settle_all(labels, &pool->texts, is_comm, part);
        pthread_mutex_unlock(&pool->lock);
    }
    free(is_comm);
    return done;
}
