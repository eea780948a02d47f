/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze reduce`: traces in, one mergeable summary per rank out. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/shard.h"

static enum ta_status write_all(struct ta_cli *cli, const struct ta_place *place,
                                struct ta_cli_shard shard, struct ta_reduced *reduced)
{
    struct ta_sink *sink = ta_sink_new(cli->ctx, place->kind, place->path);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    enum ta_status status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
    ta_cli_begin_reading(cli);
    if (status == TA_OK)
        status = ta_run_reduce(cli->run, shard.index, shard.count, sink, reduced);
    ta_console_clear(&cli->console);
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

static enum ta_status say_what(struct ta_cli *cli, const struct ta_place *place,
                               const struct ta_reduced *reduced)
{
    struct ta_stdout out;
    if (cli->args.quiet || place->kind == TA_SINK_STDOUT)
        return TA_OK;
    enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    ta_putf(out.file, "%zu of %zu files used, %zu summar%s written to ", reduced->used,
            reduced->files, reduced->summaries, reduced->summaries == 1 ? "y" : "ies");
    ta_put_terminal(out.file, ta_slice_of(place->path), 0, 0);
    ta_puts(out.file, "\n");
    return ta_stdout_close(cli->ctx, &out);
}

enum ta_status ta_cmd_reduce(struct ta_cli *cli)
{
    struct ta_format format = {.name = "summary", .extension = "gz", .by_default = true};
    struct ta_place place;
    struct ta_cli_shard shard;
    struct ta_reduced reduced = {0};
    const struct ta_cmdline *args = &cli->args;
    enum ta_status status = ta_shard_choose(cli->ctx, args->shard, args->shard_count, &shard);
    if (status == TA_OK)
        status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_place_choose(cli->ctx, NULL, args->out, "traceanalyze-summaries", true, &format,
                                 1, &place);
    if (status == TA_OK)
        status = write_all(cli, &place, shard, &reduced);
    return status == TA_OK ? say_what(cli, &place, &reduced) : status;
}
