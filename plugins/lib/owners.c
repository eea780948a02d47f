/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time by its owner, for rules. */
#include "lib/owners.h"

#include "recommend/rule.h"
#include "report/tables.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_asked(const struct ta_refs *in, const struct ta_owners_asked *asked, size_t ref,
                     size_t row)
{
    for (size_t i = 0; i < asked->n_owners; i++)
        if (ta_ref_reads(in, ref, row, asked->owners[i]))
            return true;
    return false;
}

/* Idle time that is asked for, of a device. */
struct part {
    int64_t rank, device;
    size_t ref, row;
};

static int by_device(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->ref != b->ref)
        return a->ref < b->ref ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

struct parts {
    struct part *at; /* by device */
    size_t n;
};

static void add_part(struct parts *parts, const struct ta_refs *in, size_t ref, size_t row)
{
    parts->at[parts->n++] =
        (struct part){ta_ref_rank(in, ref, row), ta_ref_device(in, ref, row), ref, row};
}

/* Thousands of ranks have tens of thousands of rows: they are looked through once. */
static struct parts parts_asked(const struct ta_refs *in, const struct ta_owners_asked *asked,
                                const struct ta_look *extra, size_t n_extra)
{
    const size_t total = asked->reads + OWNERS_TOTAL;
    size_t most = ta_ref_rows(in, total);
    for (size_t i = 0; i < n_extra; i++)
        most += ta_ref_rows(in, extra[i].cells);
    struct parts parts = {.at = calloc(most + 1, sizeof *parts.at)};
    for (size_t row = 0; parts.at && row < ta_ref_rows(in, total); row++)
        if (is_asked(in, asked, asked->reads + OWNERS_OWNER, row))
            add_part(&parts, in, total, row);
    for (size_t i = 0; parts.at && i < n_extra; i++)
        for (size_t row = 0; row < ta_ref_rows(in, extra[i].cells); row++)
            if (ta_look_takes(in, &extra[i], row))
                add_part(&parts, in, extra[i].cells, row);
    if (parts.n)
        qsort(parts.at, parts.n, sizeof *parts.at, by_device);
    return parts;
}

/* Of the device of a window. */
static struct ta_owned owned_of(const struct ta_refs *in, const struct ta_owners_asked *asked,
                                const struct parts *parts, const struct ta_place *window)
{
    const size_t total = asked->reads + OWNERS_TOTAL, windows = asked->reads + OWNERS_WINDOW;
    const struct part first = {ta_ref_rank(in, windows, window->row),
                               ta_ref_device(in, windows, window->row), 0, 0};
    struct ta_owned owned = {.window = *window};
    size_t from = 0;
    for (size_t to = parts->n; from < to;) {
        const size_t middle = from + (to - from) / 2;
        if (by_device(&parts->at[middle], &first) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < parts->n && parts->at[from].rank == first.rank &&
           parts->at[from].device == first.device;
         from++) {
        const struct part *part = &parts->at[from];
        const struct ta_place place = ta_place_at(in, part->ref, part->row);
        if (!owned.place.table || place.value > owned.place.value)
            owned.place = place;
        owned.ns += place.value;
        if (part->ref == total)
            owned.later += ta_ref_number(in, asked->reads + OWNERS_LATER, part->row, 0);
    }
    return owned;
}

/* Windows of ranks that were recorded together are as long, but for the ends. */
#define ALIKE 0.99

struct ta_owned ta_owned_worst(const struct ta_refs *in, struct ta_advice *advice,
                               const struct ta_owners_asked *asked, const struct ta_look *extra,
                               size_t n_extra)
{
    const struct ta_look windows = {.cells = asked->reads + OWNERS_WINDOW};
    struct ta_owned worst = {.share = 0};
    struct ta_place run;
    if (ta_ref_scalar(in, asked->reads + OWNERS_TRUST, 1) < TA_TRUST_LEAST ||
        !ta_look_worst(in, &windows, &run) || run.value <= 0)
        return worst;
    const struct parts parts = parts_asked(in, asked, extra, n_extra);
    if (!parts.at)
        ta_advice_fail(advice);
    for (size_t row = 0; row < ta_ref_rows(in, windows.cells); row++) {
        const struct ta_place window = ta_place_at(in, windows.cells, row);
        if (!window.table || window.value <= 0)
            continue;
        struct ta_owned owned = owned_of(in, asked, &parts, &window);
        owned.run = window.value >= ALIKE * run.value ? window : run;
        owned.share = owned.ns / owned.run.value;
        if (owned.place.table && owned.share > worst.share)
            worst = owned;
    }
    free(parts.at);
    return worst;
}

bool ta_owned_is_site(const struct ta_refs *in, const struct ta_owners_asked *asked,
                      const struct ta_place *window, size_t row)
{
    const size_t owner = asked->reads + OWNERS_SITE_OWNER, windows = asked->reads + OWNERS_WINDOW;
    return ta_ref_rank(in, owner, row) == ta_ref_rank(in, windows, window->row) &&
           ta_ref_device(in, owner, row) == ta_ref_device(in, windows, window->row) &&
           is_asked(in, asked, owner, row);
}

/* The places of a device, without what was not asked for. */
struct sites {
    const struct ta_refs *in;
    size_t total, function, site, waits; /* references */
    size_t *rows;                        /* largest first */
    size_t n;
};

static struct sites sites_asked(const struct ta_refs *in, const struct ta_owners_asked *asked,
                                const struct ta_place *window)
{
    struct sites sites = {.in = in,
                          .total = asked->reads + OWNERS_SITE_TOTAL,
                          .function = asked->reads + OWNERS_SITE_FUNCTION,
                          .site = asked->reads + OWNERS_SITE,
                          .waits = asked->reads + OWNERS_SITE_WAITS};
    const size_t n = ta_ref_rows(in, sites.total);
    sites.rows = calloc(n + 1, sizeof *sites.rows);
    for (size_t row = 0; sites.rows && row < n; row++)
        if (ta_owned_is_site(in, asked, window, row))
            sites.rows[sites.n++] = row;
    return sites;
}

/* The name of a range without the number at its end, "denoise_step_"; a function stays whole. */
static struct ta_slice family_of(struct ta_slice name)
{
    if (name.len && ta_slice_end(name)[-1] == ')')
        return name;
    struct ta_slice family = name;
    while (family.len && isdigit((unsigned char)family.ptr[family.len - 1]))
        family.len--;
    return family.len ? family : name;
}

/* A function, or a place in one. */
struct looked_at {
    double ns;
    bool several; /* names of one family */
};

/* Sums from the number `from` on: of what is of one family with its function and, where `in_site`,
 * at its place. */
static struct looked_at sum_like(const struct sites *sites, size_t from, bool in_site)
{
    const struct ta_slice name = ta_ref_text(sites->in, sites->function, sites->rows[from]);
    const struct ta_slice place = ta_ref_text(sites->in, sites->site, sites->rows[from]);
    struct looked_at sum = {.ns = 0};
    for (size_t i = from; i < sites->n; i++) {
        const struct ta_slice its = ta_ref_text(sites->in, sites->function, sites->rows[i]);
        if (!ta_slice_equal(family_of(its), family_of(name)) ||
            (in_site &&
             !ta_slice_equal(ta_ref_text(sites->in, sites->site, sites->rows[i]), place)))
            continue;
        sum.ns += ta_ref_number(sites->in, sites->total, sites->rows[i], 0);
        sum.several |= !ta_slice_equal(its, name);
    }
    return sum;
}

struct ta_owned_where ta_owned_where(const struct ta_refs *in, struct ta_advice *advice,
                                     const struct ta_owners_asked *asked,
                                     const struct ta_place *window)
{
    struct ta_owned_where where = {.function = "", .site = ""};
    const struct sites sites = sites_asked(in, asked, window);
    if (!sites.rows)
        ta_advice_fail(advice);
    double all = 0;
    for (size_t i = 0; i < sites.n; i++)
        all += ta_ref_number(in, sites.total, sites.rows[i], 0);
    struct looked_at most = {.ns = 0};
    size_t best = SIZE_MAX;
    double left = all;
    /* Rows come in the order of their time: the first of a function is its place, and what is left
     * after it bounds the functions that come later. */
    for (size_t i = 0; i < sites.n && left > most.ns; i++) {
        const bool is_named = ta_ref_text(in, sites.function, sites.rows[i]).len > 0;
        const struct looked_at sum = is_named ? sum_like(&sites, i, false) : (struct looked_at){0};
        left -= ta_ref_number(in, sites.total, sites.rows[i], 0);
        if (sum.ns <= most.ns)
            continue;
        most = sum;
        best = i;
    }
    if (best != SIZE_MAX && all > 0) {
        const struct looked_at place = sum_like(&sites, best, true);
        const struct ta_slice name = family_of(ta_ref_text(in, sites.function, sites.rows[best]));
        const struct ta_slice site = ta_ref_text(in, sites.site, sites.rows[best]);
        const struct ta_place at = ta_place_at(in, sites.total, sites.rows[best]);
        const char *function = most.several
                                   ? ta_advice_printf(advice, "%.*s*", (int)name.len, name.ptr)
                                   : ta_place_text(advice, in, &at, sites.function);
        where = (struct ta_owned_where){
            .function = function,
            .site = ta_slice_equal(family_of(site), name)
                        ? function
                        : ta_place_text(advice, in, &at, sites.site),
            .share = most.ns / all,
            .site_share = place.ns / all,
        };
        for (size_t i = 0; i < sites.n; i++)
            if (ta_slice_equal(ta_ref_text(in, sites.site, sites.rows[i]), site)) {
                where.site_all += ta_ref_number(in, sites.total, sites.rows[i], 0) / all;
                where.site_waits += ta_ref_integer(in, sites.waits, sites.rows[i]);
            }
    }
    free(sites.rows);
    return where;
}

const char *ta_owned_sentence(struct ta_advice *advice, const struct ta_owned_where *where,
                              double all)
{
    if (!*where->function || where->share < 0.1)
        return NULL;
    const char *share = ta_advice_number(advice, where->share, TA_UNIT_RATIO);
    const char *ns = ta_advice_number(advice, where->share * all, TA_UNIT_NS);
    const char *whole = ta_advice_number(advice, all, TA_UNIT_NS);
    const bool is_alone =
        !*where->site || strcmp(where->function, where->site) == 0 || where->site_share < 0.1;
    if (is_alone)
        return ta_advice_printf(advice, "%s causes %s of the %s of idle time (%s).",
                                where->function, ns, whole, share);
    if (where->site_share > 0.95 * where->share)
        return ta_advice_printf(advice, "%s in %s causes %s of the %s of idle time (%s).",
                                where->site, where->function, ns, whole, share);
    return ta_advice_printf(advice, "%s causes %s of the %s of idle time (%s), %s alone %s.",
                            where->function, ns, whole, share, where->site,
                            ta_advice_number(advice, where->site_share, TA_UNIT_RATIO));
}

const char *ta_owned_of(struct ta_advice *advice, const struct ta_place *place)
{
    const struct ta_table *table = place->table;
    const size_t rank = ta_table_rank(table), device = ta_table_device(table);
    bool ranks = false, devices = false;
    for (size_t row = 0; row < table->n_rows; row++) {
        ranks |= rank != SIZE_MAX && !ta_cell_equal(ta_table_cell(table, row, rank),
                                                    ta_table_cell(table, place->row, rank));
        devices |= device != SIZE_MAX && !ta_cell_equal(ta_table_cell(table, row, device),
                                                        ta_table_cell(table, place->row, device));
    }
    if (ranks)
        return ta_advice_printf(advice, " of rank %lld",
                                (long long)ta_table_cell(table, place->row, rank)->i);
    return devices ? ta_advice_printf(advice, " %lld",
                                      (long long)ta_table_cell(table, place->row, device)->i)
                   : "";
}

const char *ta_owned_part(struct ta_advice *advice, const struct ta_owned *owned)
{
    return ta_advice_printf(advice, "for %s of the run (%s)",
                            ta_advice_number(advice, owned->share, TA_UNIT_RATIO),
                            ta_advice_number(advice, owned->ns, TA_UNIT_NS));
}

const char *ta_owned_cost(struct ta_advice *advice, const struct ta_owned *owned)
{
    return ta_advice_printf(advice, ", which leaves the GPU%s idle %s",
                            ta_owned_of(advice, &owned->place), ta_owned_part(advice, owned));
}
