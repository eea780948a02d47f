/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites that hold memory, as memory.sites names them: "function (path:line)". */
#ifndef TA_LIB_SITES_H
#define TA_LIB_SITES_H

#include <traceanalyze/table.h>

#include <stdbool.h>

/* Without a path where a site has none. */
struct ta_site {
    struct ta_slice function, path;
    long line;
};

struct ta_site ta_site_parse(struct ta_slice text);

/* The file and its folder. */
struct ta_slice ta_site_short_path(struct ta_slice path);

/* Whether both are lines of one function that are close to each other. */
bool ta_site_is_near(const struct ta_site *a, const struct ta_site *b);

enum ta_site_kind { TA_SITE_OTHER, TA_SITE_OPTIMIZER, TA_SITE_KV_CACHE };

/* What a site allocates, by the name of its file. */
enum ta_site_kind ta_site_kind(struct ta_slice path);

#endif
