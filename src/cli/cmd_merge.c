/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze merge`: the traces of all ranks as one file for viewers. */
#include "cli/cli.h"

#include <inttypes.h>

static const char *const extensions[] = {
    [TA_MERGE_PACKED] = ".json.gz", [TA_MERGE_JSON] = ".json", [TA_MERGE_ARCHIVE] = ".tar"};

enum { FORMATS = sizeof extensions / sizeof *extensions };

/* Without -o. */
#define PRESET_NAME "merged.json.gz"

/* Where the product goes, and as what. */
struct target {
    enum ta_sink_kind kind;
    const char *path;
    enum ta_merge_format format;
};

/* ---- place --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0 && path[n - m - 1] != '/';
}

static enum ta_status choose_target(struct ta_cli *cli, struct target *target)
{
    const char *out = cli->args.out ? cli->args.out : PRESET_NAME;
    int format = 0;
    if (strcmp(out, "-") == 0) {
        *target = (struct target){.kind = TA_SINK_STDOUT, .format = TA_MERGE_JSON};
        return TA_OK;
    }
    while (format < FORMATS && !ends_in(out, extensions[format]))
        format++;
    *target = (struct target){TA_SINK_FILE, out, (enum ta_merge_format)format};
    return format < FORMATS
               ? ta_sink_check(cli->ctx, TA_SINK_FILE, out)
               : ta_fail(
                     cli->ctx, TA_ERR_USAGE,
                     "Unknown kind of file: -o %s, expected a name that ends in .json, .json.gz "
                     "or .tar, or - for standard output",
                     out);
}

/* ---- summary ------------------------------------------------------------------------------- */

/* By how much clocks were moved, and with what uncertainty. */
static void put_clocks(struct ta_file *out, const struct ta_merged *merged)
{
    char text[TA_UNIT_TEXT_MAX];
    if (strcmp(merged->alignment, "none") == 0) {
        ta_puts(out, merged->traces == 1 ? "times: as recorded\n"
                                         : "times: as recorded, clocks are not aligned\n");
        return;
    }
    ta_putf(out, "times: clocks aligned by %s, ",
            strcmp(merged->alignment, "clock") == 0 ? "their dates" : merged->alignment);
    if (merged->moved_ns)
        ta_putf(out, "moved by up to %s",
                ta_unit_format(text, (double)merged->moved_ns, TA_UNIT_NS));
    else
        ta_puts(out, "none had to be moved");
    if (merged->uncertainty_ns != TA_MISSING)
        ta_putf(out, " (\u00b1 %s)",
                ta_unit_format(text, (double)merged->uncertainty_ns, TA_UNIT_NS));
    ta_puts(out, "\n");
}

static void put_count(struct ta_file *out, const char *what, uint64_t count, const char *why)
{
    if (count)
        ta_putf(out, "%s: %" PRIu64 " event%s %s\n", what, count, count == 1 ? "" : "s", why);
}

static enum ta_status say_summary(struct ta_cli *cli, const struct ta_merged *merged,
                                  const struct target *target)
{
    struct ta_stdout out;
    if (cli->args.quiet || target->kind == TA_SINK_STDOUT)
        return TA_OK;
    const enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    ta_put_terminal(out.file, ta_slice_of(target->path), 0, 0);
    ta_putf(out.file, ": %" PRIu64 " event%s of %zu trace%s\n", merged->kept,
            merged->kept == 1 ? "" : "s", merged->traces, merged->traces == 1 ? "" : "s");
    put_clocks(out.file, merged);
    put_count(out.file, "left out", merged->out_of_range, "outside the range");
    put_count(out.file, "left out", merged->of_category, "of the categories");
    put_count(out.file, "lost", merged->lost, "that could not be read, see the warnings");
    return ta_stdout_close(cli->ctx, &out);
}

/* ---- the command --------------------------------------------------------------------------- */

static enum ta_status merge(struct ta_cli *cli, const struct target *target,
                            struct ta_merged *merged)
{
    struct ta_sink *sink = ta_sink_new(cli->ctx, target->kind, target->path);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    enum ta_status status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
    ta_cli_begin_reading(cli);
    if (status == TA_OK)
        status = ta_run_merge(cli->run, target->format, sink, merged);
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_console_clear(&cli->console);
    ta_sink_free(sink);
    return status;
}

enum ta_status ta_cmd_merge(struct ta_cli *cli)
{
    struct target target;
    struct ta_merged merged;
    enum ta_status status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_run_check_merge(cli->run);
    if (status == TA_OK)
        status = choose_target(cli, &target);
    if (status == TA_OK)
        status = merge(cli, &target, &merged);
    if (status == TA_OK)
        status = say_summary(cli, &merged, &target);
    if (status == TA_OK) {
        ta_cli_note_losses(cli, ta_run_report(cli->run));
        ta_cli_warn(cli, ta_run_report(cli->run));
    }
    return status;
}
