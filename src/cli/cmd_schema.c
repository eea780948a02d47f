/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze schema`: the JSON schemas of what traceanalyze writes. */
#include "cli/cli.h"

#include "base/suggest.h"
#include "cli/schemas.h"

static enum ta_status find(struct ta_ctx *ctx, const char *name, const struct ta_schema **found)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = name};
    for (const struct ta_schema *schema = ta_schemas; schema->name; schema++) {
        if (strcmp(schema->name, name) == 0) {
            *found = schema;
            return TA_OK;
        }
        ta_suggest_offer(&close, schema->name);
    }
    return ta_fail(ctx, TA_ERR_USAGE, "Unknown schema: %s%s", name, ta_suggest_text(&close, hint));
}

enum ta_status ta_cmd_schema(struct ta_cli *cli)
{
    struct ta_stdout out;
    const struct ta_schema *schema = NULL;
    enum ta_status status = TA_OK;
    if (cli->args.operands.n)
        status = find(cli->ctx, cli->args.operands.items[0], &schema);
    if (status == TA_OK)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    if (schema)
        ta_puts(out.file, schema->text);
    for (const struct ta_schema *row = ta_schemas; !schema && row->name; row++)
        ta_putf(out.file, "%s\n", row->name);
    return ta_stdout_close(cli->ctx, &out);
}
