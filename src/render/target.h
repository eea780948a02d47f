/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is at the place where a product is to go, and what that means for it. */
#ifndef TA_RENDER_TARGET_H
#define TA_RENDER_TARGET_H

#include "render/folder.h"

enum ta_target {
    TA_TARGET_FREE,     /* nothing */
    TA_TARGET_REPLACED, /* an earlier product of ours, an empty file, or a link */
    TA_TARGET_DIRECT,   /* a device or pipe, written as it is */
    TA_TARGET_REFUSED   /* a folder, or the file of someone else; after ta_fail() */
};

/* Looks without following a link.  `path` is for messages. */
enum ta_target ta_target_judge(struct ta_ctx *ctx, const struct ta_folder *folder, const char *name,
                               const char *path, const char *signature);

#endif
