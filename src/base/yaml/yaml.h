/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict reader of YAML: the core schema of YAML 1.2 and nothing that expands, refers or
 * constructs, so that a hostile file costs no more than its own size. */
#ifndef TA_CONFIG_YAML_H
#define TA_CONFIG_YAML_H

#include "traceanalyze/base.h"

enum ta_yaml_kind {
    TA_YAML_NULL,
    TA_YAML_BOOLEAN,
    TA_YAML_INTEGER,
    TA_YAML_FLOAT,
    TA_YAML_TEXT,
    TA_YAML_LIST,
    TA_YAML_MAP
};

/* A value with its place; lines and columns count from 1. */
struct ta_yaml {
    enum ta_yaml_kind kind;
    uint32_t line, column;
    const char *text;               /* of a scalar as it is written, without quotes; else "" */
    const struct ta_yaml *key;      /* in a map: a scalar; unique within the map */
    const struct ta_yaml *contents; /* the first value of a list or map */
    const struct ta_yaml *next;
};

/* Reads one document; an empty one is null.  Anchors, aliases, merge keys, tags, several
 * documents, keys that are no scalars or stand twice, and nesting beyond the limit are
 * TA_ERR_USAGE, as is what is no YAML; the message has `name`, line and column.  The tree lies in
 * `arena`. */
enum ta_status ta_yaml_parse(struct ta_ctx *ctx, struct ta_arena *arena, const char *name,
                             struct ta_slice bytes, const struct ta_yaml **root) TA_MUST_CHECK;

/* What a scalar without quotes means in the core schema. */
enum ta_yaml_kind ta_yaml_resolve(const char *text);

/* "a number", "a list": for messages. */
const char *ta_yaml_kind_name(enum ta_yaml_kind kind);

/* Reads a file of at most the limit `config-size` bytes into the arena.  A file that is not there
 * gives `bytes->ptr` NULL when `optional`, where nothing but a regular file will do either. */
enum ta_status ta_config_file_read(struct ta_ctx *ctx, struct ta_arena *arena, const char *path,
                                   bool optional, struct ta_slice *bytes) TA_MUST_CHECK;

#endif
