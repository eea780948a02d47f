/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found in the inputs as people read it: of thousands of ranks that all lack the same,
 * one line says so. */
#include "traceanalyze/report.h"

enum { SEVERITIES = TA_QUALITY_ERROR + 1 };

/* One code at one severity over all files. */
struct group {
    struct ta_quality_finding finding;
    const char *paths[TA_NOTICES_APART]; /* of the first files */
    size_t n_files;
    bool is_listed;
};

typedef struct group groups_of_code[SEVERITIES];

static size_t group_all(const struct ta_accounts *accounts, groups_of_code *groups)
{
    size_t n = accounts->n_findings;
    for (size_t f = 0; f < accounts->n_files; f++) {
        const struct ta_file_account *file = &accounts->files[f];
        n += file->n_findings;
        for (size_t i = 0; i < file->n_findings; i++) {
            struct group *group = &groups[file->findings[i].code][file->findings[i].severity];
            if (group->n_files < TA_NOTICES_APART)
                group->paths[group->n_files] = file->path;
            if (group->n_files++ == 0) {
                group->finding = file->findings[i];
                continue;
            }
            group->finding.count += file->findings[i].count;
            group->finding.byte_offset = group->finding.last_offset = TA_NO_OFFSET;
            group->finding.file_offset = TA_NO_OFFSET;
        }
    }
    return n;
}

/* Adds what a file has of a severity; a group is placed where its first file is. */
static size_t add_file(struct ta_notice *notices, size_t n, const struct ta_file_account *file,
                       int severity, groups_of_code *groups, struct ta_arena *arena)
{
    for (size_t i = 0; i < file->n_findings; i++) {
        const struct ta_quality_finding *finding = &file->findings[i];
        struct group *group = &groups[finding->code][finding->severity];
        if ((int)finding->severity != severity || group->is_listed)
            continue;
        if (group->n_files > TA_NOTICES_APART) {
            char more[TA_UNIT_TEXT_MAX];
            ta_unit_format(more, (double)(group->n_files - TA_NOTICES_APART), TA_UNIT_COUNT);
            notices[n++] =
                (struct ta_notice){group->finding,
                                   ta_arena_printf(arena, "%s, %s, %s and %s more", group->paths[0],
                                                   group->paths[1], group->paths[2], more),
                                   group->n_files};
            group->is_listed = true;
        } else {
            notices[n++] = (struct ta_notice){*finding, file->path, 1};
        }
    }
    return n;
}

struct ta_notices ta_accounts_notices(const struct ta_accounts *accounts, struct ta_arena *arena)
{
    groups_of_code *groups = ta_arena_alloc(arena, TA_Q_COUNT * sizeof *groups);
    const size_t most = groups ? group_all(accounts, groups) : 0;
    struct ta_notice *notices = ta_arena_alloc(arena, (most + 1) * sizeof *notices);
    size_t n = 0;
    if (!groups || !notices)
        return (struct ta_notices){.n = 0};
    for (int severity = TA_QUALITY_ERROR; severity >= TA_QUALITY_INFO; severity--) {
        for (size_t i = 0; i < accounts->n_findings; i++)
            if ((int)accounts->findings[i].severity == severity)
                notices[n++] = (struct ta_notice){.finding = accounts->findings[i]};
        for (size_t f = 0; f < accounts->n_files; f++)
            n = add_file(notices, n, &accounts->files[f], severity, groups, arena);
    }
    return (struct ta_notices){notices, arena->failed ? 0 : n};
}
