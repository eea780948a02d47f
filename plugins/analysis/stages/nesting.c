/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which stage runs inside which, and what share of the time each takes.
 *
 * Stages have no start times and may nest, so their totals may hold the same time twice. Shares are
 * of parts that do not nest: the shares of one source add up to at most 1.
 *
 *   1. The time is that of the enclosing stage of the same scope ("scope/total"), else of the
 *      sessions of the rank, else of an enclosing stage without a scope, else the time from the
 *      first to the last labelled memory snapshot; in the end the sum of the stages.  What is
 *      shorter than the longest stage of the scope is not the time of the run and is passed over.
 *   2. A stage encloses all others of its scope when its name says so (total, run_inference), or
 *      when the figures prove it: it takes at least as long as all others of its scope together,
 *      and with them more than the time of the run.  It has no share.
 *   3. A stage encloses one other when the application that names them so runs them so
 *      (sampling_chunk_0 and transformer_forward) and the figures do not speak against it.  It has
 *      no share either, but its family has one of what the inner stage leaves.
 *   4. A stage encloses a scope (model_runner_run of an engine that of the runners): shares of the
 *      scope are then parts of its share.
 *   5. Denoising that no stage was recorded for is in the stage that holds it: denoising.c.
 *   6. What Inferix prints and what it reports of one run are stages of one scope.  What both have
 *      with one time is one stage, as the report has it; of what both have otherwise, by the role
 *      that names tell, the longer one holds the other. */
#include "stages.h"

#include <stdlib.h>
#include <strings.h>

/* Stages of applications, FramePack's here, that run inside others. */
static const struct {
    const char *outer; /* what the name begins with; a number follows */
    const char *inner;
} nests[] = {
    {"sampling_chunk_", "transformer_forward"},
    {"vae_decode_full_chunk_", "vae_decode"},
    {"vae_decode_section_chunk_", "vae_decode"},
};

/* The stage of an engine in which the processes of another scope run. */
static const char runner[] = "model_runner_run";

/* The stages of a rank, scope and group. */
struct scope {
    struct stage *at;
    size_t n;
    int64_t sessions_ns;  /* TA_MISSING without any */
    const int64_t *marks; /* row of the rank's snapshots of memory, or NULL */
    int64_t sum;          /* of all that do not run inside others */
    int64_t recorded;     /* of those that were recorded as stages */
    size_t longest;
};

static bool is_word(struct ta_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* The name without its scope. */
static struct ta_slice short_name(const struct stage *stage)
{
    struct ta_slice name = stage->name;
    if (stage->scope.len) {
        name.ptr += stage->scope.len + 1;
        name.len -= stage->scope.len + 1;
    }
    return name;
}

bool is_named_parent(const struct stage *stage)
{
    return is_word(short_name(stage), "total") || is_word(short_name(stage), "run_inference");
}

/* The longest stage that encloses others by its name; NULL without one. */
static struct stage *named_parent(const struct scope *scope)
{
    struct stage *found = NULL;
    for (size_t i = 0; i < scope->n && scope->n > 1; i++)
        if (is_named_parent(&scope->at[i]) && (!found || total_of(&scope->at[i]) > total_of(found)))
            found = &scope->at[i];
    return found;
}

/* ---- one in the other ---------------------------------------------------------------------- */

static bool is_numbered(struct ta_slice name, const char *before)
{
    const size_t n = strlen(before);
    if (name.len <= n || !ta_slice_starts(name, before))
        return false;
    for (size_t i = n; i < name.len; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
    return true;
}

/* Whether the stage runs inside stages named so; they are many where `inner` is one. */
static bool is_around(const struct stage *stage, struct ta_slice inner)
{
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
        if (is_word(inner, nests[i].inner) && is_numbered(stage->name, nests[i].outer))
            return true;
    return false;
}

/* Marks what is around the stage, when it fits in there. */
static void nest(struct scope *scope, struct stage *inner)
{
    int64_t around = 0;
    struct stage *last = NULL; /* the first one is often of another kind */
    for (size_t i = 0; i < scope->n; i++)
        if (is_around(&scope->at[i], inner->name) && total_of(&scope->at[i]) > 0) {
            around = ta_add_sat(around, total_of(&scope->at[i]));
            last = &scope->at[i];
        }
    if (!last || (double)total_of(inner) > ROUNDING * (double)around)
        return;
    inner->inside = last->family;
    for (size_t i = 0; i < scope->n; i++) {
        struct stage *outer = &scope->at[i];
        if (!is_around(outer, inner->name))
            continue;
        outer->encloses = true;
        const double part = (double)ta_max_i64(0, total_of(outer)) / (double)around;
        outer->inner_ns = ta_min_i64(ta_whole(part * (double)total_of(inner)), total_of(outer));
    }
}

/* ---- the same twice ------------------------------------------------------------------------ */

/* Half of the last digit that a console prints, and that a report has. */
enum { PRINTED_NS = 6000 };
/* Shorter times may agree by chance. */
enum { LEAST_TOLD_NS = 1000000 };

bool is_as_printed(int64_t printed_ns, int64_t ns, int64_t parts)
{
    const int64_t apart = printed_ns > ns ? printed_ns - ns : ns - printed_ns;
    return ns >= LEAST_TOLD_NS && apart <= PRINTED_NS * ta_max_i64(1, ta_min_i64(parts, 1000));
}

/* Whether a stage of a report and one of a console are one, or the second is a part of the first:
 * they have the same role, or what the console prints is the time that the report has, which
 * counts as the report is exact. */
static bool holds(const struct stage *outer, const struct stage *inner)
{
    const enum stage_role role = stage_role(outer->name), other = stage_role(inner->name);
    const bool may_be_one = !is_named_parent(outer) && !is_named_parent(inner) &&
                            (role == other || role == STAGE_UNKNOWN || other == STAGE_UNKNOWN);
    const struct stage *printed = is_printed(inner) ? inner : outer;
    const struct stage *exact = printed == inner ? outer : inner;
    if (may_be_one && is_as_printed(total_of(printed), total_of(exact), printed->row[CALLS]))
        return printed == inner;
    return role == other && role <= STAGE_TEXT && total_of(inner) <= total_of(outer);
}

/* ---- shares -------------------------------------------------------------------------------- */

struct base {
    int64_t ns;
    const char *what;
};

/* The time of the run, TA_MISSING when it is unknown. */
static struct base time_of_run(const struct scope *scope)
{
    const int64_t least = total_of(&scope->at[scope->longest]);
    const struct stage *parent = named_parent(scope);
    const int64_t inside = parent ? total_of(parent) : TA_MISSING;
    const int64_t *marks = scope->marks;
    const bool marked = marks && marks[FIRST_MARK] != TA_MISSING;
    const bool scoped = scope->at[0].scope.len > 0;
    const struct base candidates[] = {
        {scoped ? inside : TA_MISSING, "scope"},
        {scoped ? TA_MISSING : scope->sessions_ns, "session"},
        {inside, "parent"},
        {marked && !scoped ? marks[LAST_MARK] - marks[FIRST_MARK] : TA_MISSING, "snapshots"},
    };
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i].ns != TA_MISSING && candidates[i].ns > 0 && candidates[i].ns >= least)
            return candidates[i];
    return (struct base){TA_MISSING, "sum"};
}

/* Marks the stages that enclose all others. */
static void find_parents(struct scope *scope, const struct base *base)
{
    struct stage *named = named_parent(scope), *parent = named;
    for (size_t i = 0; i < scope->n; i++) {
        struct stage *stage = &scope->at[i];
        const bool proven = base->ns != TA_MISSING && scope->n > 1 && !stage->made &&
                            (double)scope->recorded > ROUNDING_OF_SUM * (double)base->ns &&
                            total_of(stage) >= scope->recorded - total_of(stage) &&
                            !stage->inside.len && stage->inner_ns == 0;
        if (proven && !parent)
            parent = stage;
        stage->encloses |= is_named_parent(stage) || proven;
    }
    for (size_t i = 0; parent && i < scope->n; i++)
        if (&scope->at[i] != parent && !scope->at[i].inside.len)
            scope->at[i].inside = parent->name;
}

static void share_out(struct scope *scope)
{
    for (size_t i = 0; i < scope->n; i++)
        for (size_t k = 0; k < sizeof nests / sizeof *nests; k++)
            if (is_word(scope->at[i].name, nests[k].inner) && !scope->at[i].inside.len)
                nest(scope, &scope->at[i]);
    for (size_t i = 0; i < scope->n; i++)
        for (size_t k = 0; k < scope->n; k++) {
            struct stage *outer = &scope->at[i], *inner = &scope->at[k];
            if (ta_slice_equal(outer->source, inner->source) || outer->made || inner->made ||
                outer->inside.len || inner->inside.len || !holds(outer, inner))
                continue;
            inner->inside = outer->family;
            inner->encloses = true; /* no share next to the outer one */
        }
    nest_denoising(scope->at, scope->n, scope->sessions_ns);
    for (size_t i = 0; i < scope->n; i++) {
        const int64_t total = ta_max_i64(0, total_of(&scope->at[i]));
        if (!scope->at[i].inside.len)
            scope->sum = ta_add_sat(scope->sum, total);
        if (!scope->at[i].inside.len && !scope->at[i].made)
            scope->recorded = ta_add_sat(scope->recorded, total);
        if (total_of(&scope->at[i]) > total_of(&scope->at[scope->longest]))
            scope->longest = i;
    }
    struct base base = time_of_run(scope);
    find_parents(scope, &base);
    if (base.ns == TA_MISSING) {
        base.ns = scope->sum;
        for (size_t i = 0; i < scope->n; i++)
            if (scope->at[i].encloses && scope->at[i].inner_ns == 0)
                base.ns -= ta_max_i64(0, total_of(&scope->at[i]));
    }
    for (size_t i = 0; i < scope->n; i++) {
        struct stage *stage = &scope->at[i];
        const bool has = base.ns > 0 && stage->row[TOTAL] >= 0;
        const bool is_leaf = has && !stage->encloses;
        const bool leaves = has && stage->encloses && stage->inner_ns > 0;
        stage->share = is_leaf ? (double)total_of(stage) / (double)base.ns : NAN;
        stage->share_of = is_leaf ? base.what : NULL;
        stage->own_share =
            leaves ? (double)(total_of(stage) - stage->inner_ns) / (double)base.ns : stage->share;
        stage->own_share_of = is_leaf || leaves ? base.what : NULL;
    }
}

/* ---- scopes -------------------------------------------------------------------------------- */

/* Stages of one rank, scope and group, then in the order of the run. */
static int by_scope(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    if (a->row[RANK] != b->row[RANK])
        return a->row[RANK] < b->row[RANK] ? -1 : 1;
    int order = ta_slice_compare(a->scope, b->scope);
    if (!order)
        order = ta_slice_compare(a->group, b->group);
    if (!order)
        order = (a->row[FIRST] > b->row[FIRST]) - (a->row[FIRST] < b->row[FIRST]);
    return order ? order : ta_slice_compare(a->name, b->name);
}

/* The labelled snapshots of memory of a rank. */
static const int64_t *marks_of(const struct ta_partial *walls, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(walls); i++) {
        const int64_t *row = ta_partial_at(walls, i);
        if (row[WALL_RANK] == rank && row[WALL_SOURCE] == TA_MISSING)
            return row;
    }
    return NULL;
}

void share_stages(struct stages *stages)
{
    qsort(stages->at, stages->n, sizeof *stages->at, by_scope);
    for (size_t first = 0, end; first < stages->n; first = end) {
        const struct stage *at = stages->at;
        size_t until = first + 1;
        while (until < stages->n && at[until].row[RANK] == at[first].row[RANK] &&
               ta_slice_equal(at[until].scope, at[first].scope) &&
               ta_slice_equal(at[until].group, at[first].group))
            until++;
        end = until;
        const int64_t rank = stages->at[first].row[RANK];
        struct scope scope = {.at = stages->at + first,
                              .n = end - first,
                              .sessions_ns = sessions_of(stages, rank, stages->at[first].group),
                              .marks = marks_of(stages->walls, rank)};
        share_out(&scope);
    }
    /* The shares of other scopes become parts of the share of the stage around them. */
    /* The stage of an engine that holds the stages of other scopes. */
    struct stage *found = NULL;
    bool has_inner = false;
    for (size_t i = 0; i < stages->n; i++)
        if (stages->at[i].scope.len && is_word(short_name(&stages->at[i]), runner) && !found)
            found = &stages->at[i];
    for (size_t i = 0; found && i < stages->n; i++)
        has_inner |= stages->at[i].scope.len &&
                     !ta_slice_equal(stages->at[i].scope, found->scope) &&
                     !isnan(stages->at[i].share);
    struct stage *around = has_inner && !isnan(found->share) ? found : NULL;
    if (!around)
        return;
    for (size_t i = 0; i < stages->n; i++) {
        struct stage *stage = &stages->at[i];
        if (!stage->scope.len || ta_slice_equal(stage->scope, around->scope))
            continue;
        stage->share *= around->share;
        stage->own_share *= around->share;
        stage->share_of = stage->share_of ? "outer scope" : NULL;
        stage->own_share_of = stage->own_share_of ? "outer scope" : NULL;
        if (!stage->inside.len)
            stage->inside = around->name;
    }
    around->encloses = true;
    around->share = around->own_share = NAN;
    around->share_of = around->own_share_of = NULL;
}
