/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output plugin "folded": the call tree as folded stacks, which flame graph programs read, one line
 * per node: its callers and itself, outermost first, with semicolons between, and its own time in
 * nanoseconds.
 *
 * The outermost frame says what the time is of, and that the file is ours. */
#include <traceanalyze/base.h>
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>
#include <stdlib.h>

#define HOST_SIGNATURE "host (traceanalyze)"
#define DEVICE_SIGNATURE "device (traceanalyze)"

enum { NAME, DEPTH, HOST, DEVICE };
static const struct ta_ref reads[] = {[NAME] = {"ops.call_tree", "name"},
                                      [DEPTH] = {"ops.call_tree", "depth"},
                                      [HOST] = {"ops.call_tree", "host_self_ns"},
                                      [DEVICE] = {"ops.call_tree", "device_self_ns"}};

struct tree {
    struct ta_refs in;
    size_t *path; /* rows of the callers of the present row, by depth */
};

/* Semicolons are between frames, so none may be in one. */
static void put_frame(struct ta_file *out, struct ta_slice name)
{
    while (name.len) {
        const char *semicolon = memchr(name.ptr, ';', name.len);
        const size_t n = semicolon ? (size_t)(semicolon - name.ptr) : name.len;
        ta_put_terminal(out, (struct ta_slice){name.ptr, n}, 0, 0);
        if (semicolon)
            ta_putc(out, ',');
        name = ta_slice_from(name, n + (semicolon != NULL));
    }
}

/* Rows come callers first, so the path of a row is the previous row's path, cut and made longer. */
static void put_stacks(struct ta_file *out, const struct tree *tree, const char *root,
                       size_t column)
{
    bool any = false;
    const struct ta_refs *in = &tree->in;
    for (size_t row = 0; row < ta_ref_rows(in, NAME); row++) {
        const int64_t depth = ta_ref_integer(in, DEPTH, row);
        const struct ta_cell *self = ta_ref_cell(in, column, row);
        if (depth < 0 || (uint64_t)depth > row)
            continue; /* no tree of ours */
        tree->path[depth] = row;
        if (self->kind != TA_CELL_INT || self->i <= 0)
            continue;
        ta_puts(out, root);
        for (int64_t i = 0; i <= depth; i++) {
            ta_putc(out, ';');
            put_frame(out, ta_ref_text(in, NAME, tree->path[i]));
        }
        ta_putf(out, " %" PRId64 "\n", self->i);
        any = true;
    }
    if (!any)
        ta_putf(out, "%s 0\n", root);
}

static enum ta_status put_file(struct ta_ctx *ctx, struct ta_sink *sink, const struct tree *tree,
                               bool host)
{
    const char *root = host ? HOST_SIGNATURE : DEVICE_SIGNATURE;
    struct ta_file *out = ta_sink_open(ctx, sink, host ? "host.folded" : "device.folded", root);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write folded stacks");
    put_stacks(out, tree, root, host ? HOST : DEVICE);
    /* One file has both trees. */
    if (host && ta_sink_is_single(sink))
        put_stacks(out, tree, DEVICE_SIGNATURE, DEVICE);
    return ta_file_close(ctx, out);
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options;
    struct tree tree;
    ta_refs_open(&tree.in, report, reads, TA_LENGTH(reads));
    tree.path = calloc(ta_ref_rows(&tree.in, NAME) + 1, sizeof *tree.path);
    if (!tree.path)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot fold stacks");
    enum ta_status status = put_file(ctx, sink, &tree, true);
    if (status == TA_OK && !ta_sink_is_single(sink))
        status = put_file(ctx, sink, &tree, false);
    free(tree.path);
    return status;
}

static const struct ta_output_ops ops = {
    .extension = "folded",
    .write = write,
    TA_READS(reads),
};

TA_PLUGIN(output, folded, &ops, .title = "Folded stacks", .version = "1",
          .summary = "host.folded and device.folded: the call tree for flame graph programs");
