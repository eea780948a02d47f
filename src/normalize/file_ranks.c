/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "normalize/file_ranks.h"

#include "traceanalyze/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* Processes that may be a rank. */
struct group {
    int64_t rank;              /* TA_MISSING: no name says it */
    int64_t device;            /* the first one, or TA_MISSING */
    int64_t order;             /* without names: the number of the process */
    bool drives;               /* a device */
    struct ta_stretch stretch; /* of its rows */
    size_t place;              /* of the stretch among all */
    uint32_t part;
};

struct finding {
    struct ta_builder *builder;
    struct ta_file_process *processes;
    size_t n;
    uint32_t *process_of_track;
    TA_VEC(struct group) groups;
    bool by_place;    /* the rows of each group stand together */
    uint32_t *of_row; /* owners of activities, then their parts; or NULL */
};

static struct ta_slice text_of(const struct finding *f, ta_str name)
{
    return ta_trace_text(f->builder->trace, name);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void count_records(struct finding *f, size_t i)
{
    const struct kinds_of_process *kinds = &f->builder->kinds.list.at[i];
    struct ta_file_process *process = &f->processes[i];
    const size_t metadata = (size_t)(strchr(TA_PHASES, 'M') - TA_PHASES);
    for (size_t cat = 0; cat < kinds->n && cat < f->builder->trace->categories.n; cat++) {
        int64_t n = 0;
        for (size_t phase = 0; phase < sizeof TA_PHASES - 1; phase++)
            n += phase == metadata ? 0 : kinds->counts[cat][phase];
        const enum ta_event_class class = f->builder->trace->categories.at[cat].class;
        process->n_records += n;
        process->n_calls += class == TA_CLASS_RUNTIME ? n : 0;
        process->n_activities += ta_class_is_device(class) ? n : 0;
    }
}

static bool list_processes(struct finding *f)
{
    struct ta_builder *builder = f->builder;
    const struct ta_trace *trace = builder->trace;
    f->n = builder->kinds.list.n;
    f->processes = calloc(f->n + 1, sizeof *f->processes);
    f->process_of_track = calloc(trace->tracks.n + 1, sizeof *f->process_of_track);
    if (!f->processes || !f->process_of_track)
        return false;
    for (size_t i = 0; i < f->n; i++) {
        struct ta_file_process *process = &f->processes[i];
        process->pid = builder->kinds.list.at[i].pid;
        const uint64_t *name = ta_map_find(&builder->process_names, process->pid);
        const uint64_t *label = ta_map_find(&builder->process_labels, process->pid);
        process->name = name ? (ta_str)*name : TA_STR_ABSENT;
        process->device = TA_MISSING;
        process->group = process->part = process->owner = NONE;
        count_records(f, i);
        process->is_labeled = ta_rank_label(text_of(f, process->pid), &process->label) ||
                              ta_rank_label(text_of(f, process->name), &process->label) ||
                              (label && ta_rank_label(text_of(f, (ta_str)*label), &process->label));
    }
    for (size_t t = 0; t < trace->tracks.n; t++) {
        const uint64_t *place = ta_map_find(&builder->kinds.place_of, trace->tracks.at[t].pid);
        f->process_of_track[t] = place ? (uint32_t)*place - 1 : 0;
    }
    return true;
}

/* The device of each process with activities, as the first of them says. */
static void note_devices(struct finding *f)
{
    const struct ta_trace *trace = f->builder->trace;
    const struct arg_column *column = ta_trace_arg_column(f->builder->trace, "device");
    for (size_t i = 0; column && i < column->n; i++) {
        const ta_row row = column->row[i];
        struct ta_file_process *process =
            &f->processes[f->process_of_track[trace->spans.track[row]]];
        if (process->device == TA_MISSING && !arg_column_is_text(column, i) &&
            ta_class_is_device(trace->categories.at[trace->spans.cat[row]].class))
            process->device = arg_column_value(column, i);
    }
}

/* A launching process has no activities of devices itself, as devices of some vendors do. */
static bool launches(const struct ta_file_process *process)
{
    return process->n_calls > 0 && process->n_activities == 0;
}

/* ---- merges of our own ----------------------------------------------------------------------- */

/* How much of a name says that it is of the part, which it does at its beginning, "rank 3" or,
 * where several traces are of one rank, "rank 3 (capture.json)"; 0 when it does not. */
static size_t owner_length(const struct ta_rank_rows *part, struct ta_slice name)
{
    char number[32];
    if (!part->file)
        return 0;
    size_t n = (size_t)snprintf(number, sizeof number, "rank %" PRId64, part->rank);
    if (!ta_slice_starts(name, number))
        return 0;
    struct ta_slice rest = ta_slice_from(name, n);
    const size_t file = strlen(part->file);
    if (ta_slice_starts(rest, " (") && ta_slice_starts(ta_slice_from(rest, 2), part->file) &&
        ta_slice_starts(ta_slice_from(rest, 2 + file), ")")) {
        n += file + 3;
        rest = ta_slice_from(name, n);
    }
    return rest.len == 0 || rest.ptr[0] == ':' || ta_slice_starts(rest, " [pid ") ? n : 0;
}

/* The part of a process, by the name that merging gave it: "rank 3: python [pid 4037]". */
static uint32_t part_by_owner(const struct finding *f, struct ta_slice name)
{
    for (size_t i = 0; i < f->builder->parts.n; i++)
        if (owner_length(&f->builder->parts.at[i], name))
            return (uint32_t)i;
    return NONE;
}

/* What the process of a merge was called: "python" and "4037". */
static bool restore_place(struct finding *f, const struct ta_file_process *process, ta_str *pid,
                          ta_str *name)
{
    struct ta_slice rest = text_of(f, process->name);
    if (process->part == NONE)
        return true;
    const size_t n = owner_length(&f->builder->parts.at[process->part], rest);
    char copy[4096 + 64]; /* the text may move when others are interned */
    if (n == 0 || rest.len > sizeof copy)
        return true;
    rest = ta_slice_from(rest, n);
    memcpy(copy, rest.ptr, rest.len);
    rest.ptr = copy;
    size_t from = rest.len;
    static const char bracket[] = " [pid ";
    *pid = TA_STR_ABSENT;
    if (rest.len && rest.ptr[rest.len - 1] == ']') {
        for (size_t i = 0; i + sizeof bracket <= rest.len; i++)
            if (ta_slice_starts(ta_slice_from(rest, i), bracket))
                from = i;
        if (from < rest.len)
            *pid = ta_builder_string(f->builder,
                                     ta_slice_part(rest, from + sizeof bracket - 1, rest.len - 1));
    }
    *name = TA_STR_ABSENT;
    if (ta_slice_starts(rest, ": "))
        *name = ta_builder_string(f->builder, ta_slice_part(rest, 2, from));
    return !f->builder->track_of.failed;
}

/* ---- merges of others ------------------------------------------------------------------------ */

/* "4037" of "[TP00] 4037": devices are told by such numbers, too. */
static bool drop_label(struct finding *f, const struct ta_file_process *process, ta_str *pid)
{
    struct ta_slice text = text_of(f, *pid);
    struct ta_rank_label label;
    char copy[64];
    if (!process->is_labeled || text.len == 0 || text.ptr[0] != '[' ||
        !ta_rank_label(text, &label) || text.len > sizeof copy)
        return true;
    text = ta_slice_from(text, label.end);
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == ']'))
        text = ta_slice_from(text, 1);
    if (text.len == 0)
        return true;
    memcpy(copy, text.ptr, text.len);
    *pid = ta_builder_string(f->builder, (struct ta_slice){copy, text.len});
    return !f->builder->track_of.failed;
}

static int by_label(const void *left, const void *right)
{
    const struct ta_file_process *const *a = left, *const *b = right;
    return ta_rank_label_compare(&(*a)->label, &(*b)->label);
}

/* Whether the places in the tensor-parallel group alone tell all labels apart; they are in order.
 */
static bool are_tensor_ranks(struct ta_file_process *const *list, size_t n)
{
    enum { TENSOR = 3, MOST = 4096 };
    for (size_t i = 0; i < n && n <= MOST; i++)
        for (size_t k = i + 1; k < n; k++)
            if (ta_rank_label_compare(&list[i]->label, &list[k]->label) != 0 &&
                list[i]->label.places[TENSOR] == list[k]->label.places[TENSOR])
                return false;
    return n > 0 && n <= MOST && list[0]->label.places[TENSOR] != TA_MISSING;
}

/* Groups by the ranks that names tell, in their order.  Places of several kinds are numbered in the
 * order of their labels, unless one kind is different for all. */
static bool group_by_label(struct finding *f)
{
    enum { TENSOR = 3 };
    struct ta_file_process **list = reallocarray(NULL, f->n + 1, sizeof(void *));
    size_t n = 0;
    bool done = list != NULL;
    for (size_t i = 0; done && i < f->n; i++)
        if (f->processes[i].is_labeled)
            list[n++] = &f->processes[i];
    if (done && n)
        qsort(list, n, sizeof(void *), by_label);
    const bool by_tensor = done && are_tensor_ranks(list, n);
    for (size_t i = 0; done && i < n; i++) {
        const struct ta_rank_label *label = &list[i]->label;
        if (i == 0 || ta_rank_label_compare(&list[i - 1]->label, label) != 0)
            done = ta_vec_push(&f->groups,
                               (struct group){.rank = label->rank != TA_MISSING ? label->rank
                                                      : by_tensor ? label->places[TENSOR]
                                                                  : (int64_t)f->groups.n,
                                              .device = TA_MISSING});
        list[i]->group = (uint32_t)f->groups.n - 1;
    }
    free(list);
    return done;
}

static int64_t number_of(struct ta_slice text)
{
    int64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || text.len > 18)
            return INT64_MAX;
        number = number * 10 + (text.ptr[i] - '0');
    }
    return text.len ? number : INT64_MAX;
}

/* Without names, each process that launches may be a rank. */
static bool group_by_launches(struct finding *f)
{
    bool done = true;
    for (size_t i = 0; done && i < f->n; i++) {
        struct ta_file_process *process = &f->processes[i];
        if (!launches(process))
            continue;
        process->group = (uint32_t)f->groups.n;
        done =
            ta_vec_push(&f->groups, (struct group){.rank = TA_MISSING,
                                                   .device = TA_MISSING,
                                                   .order = number_of(text_of(f, process->pid))});
    }
    return done;
}

/* ---- one rank after the other ---------------------------------------------------------------- */

struct start {
    struct ta_row_counts mark;
    uint32_t group;
};

static int by_place(const void *left, const void *right)
{
    const struct start *a = left, *b = right;
    if (a->mark.spans != b->mark.spans)
        return a->mark.spans < b->mark.spans ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* The rows of each group, if they stand together: from the first record of one of its processes to
 * the one of the next group. */
static bool list_stretches(struct finding *f)
{
    const size_t n = f->groups.n;
    const struct ta_row_counts end = ta_builder_rows(f->builder);
    struct start *starts = calloc(n + 1, sizeof *starts);
    if (!starts)
        return false;
    for (size_t i = 0; i < n; i++)
        starts[i] = (struct start){end, (uint32_t)i};
    for (size_t i = 0; i < f->n; i++) {
        const struct ta_row_counts before = f->builder->kinds.list.at[i].before;
        const uint32_t group = f->processes[i].group;
        if (group != NONE && before.spans <= starts[group].mark.spans)
            starts[group].mark = before;
    }
    qsort(starts, n, sizeof *starts, by_place);
    for (size_t i = 0; i < n; i++) {
        struct group *group = &f->groups.at[starts[i].group];
        group->stretch =
            (struct ta_stretch){i ? starts[i].mark : (struct ta_row_counts){.spans = 0},
                                i + 1 < n ? starts[i + 1].mark : end};
        group->place = i;
        group->part = NONE;
    }
    free(starts);
    return true;
}

/* Whether the rows of each group are together, and rows of devices among them. */
static bool do_stretches_fit(struct finding *f)
{
    const struct ta_trace *trace = f->builder->trace;
    size_t n_driving = 0;
    uint32_t at = 0; /* the group of the row */
    for (size_t row = 0; row < trace->spans.n; row++) {
        for (uint32_t i = 0;
             row < f->groups.at[at].stretch.from.spans || row >= f->groups.at[at].stretch.to.spans;
             i++)
            at = i;
        const struct ta_file_process *process =
            &f->processes[f->process_of_track[trace->spans.track[row]]];
        struct group *group = &f->groups.at[at];
        if (process->group != NONE && process->group != at)
            return false;
        if (!group->drives &&
            ta_class_is_device(trace->categories.at[trace->spans.cat[row]].class)) {
            group->drives = true;
            group->device = process->device;
            n_driving++;
        }
    }
    return n_driving == f->groups.n;
}

/* ---- by launches ----------------------------------------------------------------------------- */

/* Gives activities to the groups of the processes that launched them. */
static bool find_owners(struct finding *f)
{
    if (!ta_find_device_owners(f->builder, f->processes, f->n, f->process_of_track, &f->of_row))
        return false;
    for (size_t i = 0; i < f->n; i++) {
        const struct ta_file_process *process = &f->processes[i];
        const uint32_t owner = process->owner == NONE ? NONE : f->processes[process->owner].group;
        if (process->owns && process->group != NONE)
            f->groups.at[process->group].drives = true;
        if (owner != NONE && process->device != TA_MISSING &&
            (f->groups.at[owner].device == TA_MISSING ||
             process->device < f->groups.at[owner].device))
            f->groups.at[owner].device = process->device;
    }
    for (size_t i = 0; i < f->n; i++)
        if (f->processes[i].group == NONE && f->processes[i].owner != NONE)
            f->processes[i].group = f->processes[f->processes[i].owner].group;
    return true;
}

/* ---- groups to parts ------------------------------------------------------------------------- */

static int by_device(const void *left, const void *right)
{
    const struct group *const *a = left, *const *b = right;
    if ((*a)->device != (*b)->device)
        return (*a)->device < (*b)->device ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static int by_order(const void *left, const void *right)
{
    const struct group *const *a = left, *const *b = right;
    if ((*a)->place != (*b)->place)
        return (*a)->place < (*b)->place ? -1 : 1;
    if ((*a)->order != (*b)->order)
        return (*a)->order < (*b)->order ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* Ranks of groups that drive devices: the numbers of these, if they are different, else their order
 * in the file, or the order of their processes. */
static void number_groups(struct group **list, size_t n)
{
    bool distinct = true;
    qsort(list, n, sizeof *list, by_device);
    for (size_t i = 0; i < n; i++)
        distinct &= list[i]->device >= 0 && (i == 0 || list[i]->device != list[i - 1]->device);
    if (!distinct)
        qsort(list, n, sizeof *list, by_order);
    for (size_t i = 0; i < n; i++)
        list[i]->rank = distinct ? list[i]->device : (int64_t)i;
}

static bool make_parts(struct finding *f)
{
    struct group **list = reallocarray(NULL, f->groups.n + 1, sizeof(void *));
    size_t n = 0;
    bool done = list != NULL;
    for (size_t i = 0; done && i < f->groups.n; i++)
        if (f->groups.at[i].rank != TA_MISSING || f->groups.at[i].drives)
            list[n++] = &f->groups.at[i];
    if (n > 1 && list[0]->rank == TA_MISSING)
        number_groups(list, n);
    for (size_t i = 0; done && n > 1 && i < n; i++) {
        list[i]->part = (uint32_t)i;
        done = ta_builder_add_part(f->builder, list[i]->rank);
    }
    free(list);
    return done;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Whether a look at single events is worth it: devices work, and names tell several ranks or
 * several processes launch what devices do.  Processes of hosts alone are one rank, as a program
 * and what it starts are. */
static bool may_hold_several(const struct finding *f, bool *by_label)
{
    size_t n_launching = 0, n_devices = 0;
    const struct ta_file_process *first = NULL;
    *by_label = false;
    for (size_t i = 0; i < f->n; i++) {
        const struct ta_file_process *process = &f->processes[i];
        n_launching += launches(process);
        n_devices += process->n_activities > 0;
        if (!process->is_labeled || !process->n_records)
            continue;
        *by_label |= first && ta_rank_label_compare(&first->label, &process->label) != 0;
        if (!first)
            first = process;
    }
    return n_devices > 0 && (*by_label || n_launching > 1);
}

/* Ranks in what other tools merged. */
static bool find_groups(struct finding *f)
{
    bool by_label;
    if (!may_hold_several(f, &by_label))
        return true;
    note_devices(f);
    if (!(by_label ? group_by_label(f) : group_by_launches(f)) || !list_stretches(f))
        return false;
    f->by_place = do_stretches_fit(f);
    return (f->by_place || find_owners(f)) && make_parts(f);
}

static bool find_parts(struct finding *f)
{
    /* The list of traces may be lost, as damage may have it. */
    if (f->builder->parts.n && f->builder->parts.at[0].rank == TA_MISSING)
        ta_parts_free(f->builder);
    if (!f->builder->parts.n)
        return find_groups(f);
    for (size_t i = 0; i < f->n; i++)
        f->processes[i].part = part_by_owner(f, text_of(f, f->processes[i].name));
    return true;
}

/* The part of a process; what is of none goes with the first one. */
static uint32_t part_of(const struct finding *f, const struct ta_file_process *process)
{
    if (process->part != NONE)
        return process->part;
    const bool is_grouped = process->group != NONE && f->groups.at[process->group].part != NONE;
    if (is_grouped)
        return f->groups.at[process->group].part;
    return f->by_place ? TA_PART_BY_PLACE : 0;
}

/* From processes to rows and tracks. */
static bool divide(struct finding *f, struct ta_file_ranks *ranks)
{
    const struct ta_trace *trace = f->builder->trace;
    const size_t n_tracks = trace->tracks.n;
    ranks->stretches = calloc(f->builder->parts.n, sizeof *ranks->stretches);
    ranks->of_track = calloc(n_tracks + 1, sizeof *ranks->of_track);
    ranks->of_process = calloc(f->n + 1, sizeof *ranks->of_process);
    ranks->pids = calloc(n_tracks + 1, sizeof *ranks->pids);
    ranks->names = calloc(n_tracks + 1, sizeof *ranks->names);
    if (!ranks->stretches || !ranks->of_track || !ranks->of_process || !ranks->pids ||
        !ranks->names)
        return false;
    for (size_t i = 0; i < f->groups.n; i++)
        if (f->groups.at[i].part != NONE)
            ranks->stretches[f->groups.at[i].part] = f->groups.at[i].stretch;
    for (size_t i = 0; i < f->n; i++) {
        const uint32_t part = part_of(f, &f->processes[i]);
        ranks->of_process[i] = part == TA_PART_BY_PLACE ? 0 : part;
    }
    for (size_t t = 0; t < n_tracks; t++) {
        const struct ta_file_process *process = &f->processes[f->process_of_track[t]];
        ranks->of_track[t] = part_of(f, process);
        ranks->pids[t] = trace->tracks.at[t].pid;
        ranks->names[t] = process->name;
        if (!restore_place(f, process, &ranks->pids[t], &ranks->names[t]) ||
            !drop_label(f, process, &ranks->pids[t]))
            return false;
    }
    for (size_t row = 0; f->of_row && row < trace->spans.n; row++)
        f->of_row[row] = f->of_row[row] == NONE ? ranks->of_track[trace->spans.track[row]]
                                                : part_of(f, &f->processes[f->of_row[row]]);
    ranks->of_row = f->of_row;
    f->of_row = NULL;
    return true;
}

bool ta_find_file_ranks(struct ta_builder *builder, struct ta_file_ranks *ranks)
{
    struct finding f = {.builder = builder};
    *ranks = (struct ta_file_ranks){.of_track = NULL};
    bool done = list_processes(&f) && find_parts(&f);
    if (done && builder->parts.n)
        done = divide(&f, ranks);
    ranks->division = (struct ta_division){.of_track = ranks->of_track,
                                           .stretches = ranks->stretches,
                                           .of_row = ranks->of_row,
                                           .of_process = ranks->of_process,
                                           .pids = ranks->pids,
                                           .names = ranks->names};
    free(f.processes);
    free(f.process_of_track);
    free(f.groups.at);
    free(f.of_row);
    return done;
}

void ta_file_ranks_free(struct ta_file_ranks *ranks)
{
    free(ranks->stretches);
    free(ranks->of_track);
    free(ranks->of_row);
    free(ranks->of_process);
    free(ranks->pids);
    free(ranks->names);
}
