/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plugins: which descriptors are accepted, how options are set, where objects may come from. */
#include "plugin/registry_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/context.h"
#include "compare/diff.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/output.h"

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_registry *registry;

static enum ta_status write_nothing(struct ta_ctx *run, const struct ta_report *report,
                                    const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)run, (void)report, (void)options, (void)sink;
    return TA_OK;
}

static const struct ta_output_ops ops = {.extension = "toy", .write = write_nothing};

static const struct ta_option options[] = {
    {"share", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO, "A share"},
    {"wait", TA_OPTION_NUMBER, 1000, 0, 1e12, TA_OPTION_NS, "A time"},
    {"size", TA_OPTION_NUMBER, 1024, 0, 1e12, TA_OPTION_BYTES, "A size"},
    {"count", TA_OPTION_INTEGER, 3, 1, 9, TA_OPTION_PLAIN, "A number of things"},
    {"on", TA_OPTION_BOOLEAN, 0, 0, 1, TA_OPTION_PLAIN, "A switch"},
    TA_OPTIONS_END,
};
enum { SHARE, WAIT, SIZE, COUNT, ON };

/* A good descriptor, to be spoilt. */
static struct ta_plugin toy(void)
{
    return (struct ta_plugin){.magic = TA_PLUGIN_MAGIC,
                              .kind = TA_KIND_output,
                              .headers = TA_HEADERS_HASH,
                              .id = "toy",
                              .options = options,
                              .output = &ops};
}

static int setup(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    registry = ta_registry_new(&ctx);
    return registry ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    ta_registry_free(registry);
    return 0;
}

static void says(const char *text)
{
    if (!strstr(ta_ctx_causes(&ctx), text))
        fail_msg("'%s' not in: %s", text, ta_ctx_causes(&ctx));
}

static void refused(const struct ta_plugin *plugin, const char *text)
{
    assert_int_equal(ta_registry_add(&ctx, registry, plugin, "here"), TA_ERR_PLUGIN);
    says("here");
    says(text);
    assert_null(ta_registry_find(registry, TA_KIND_output, "toy"));
}

static void built_ins_are_in_order(void **state)
{
    (void)state;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_entry *entry = ta_registry_at(registry, (enum ta_plugin_kind)kind, i);
            assert_int_equal(entry->plugin.kind, kind);
            assert_string_equal(entry->origin, "built in");
            assert_true(*entry->plugin.title && *entry->plugin.summary);
            assert_ptr_equal(
                ta_registry_find(registry, (enum ta_plugin_kind)kind, entry->plugin.id), entry);
            if (i)
                assert_true(
                    strcmp(ta_registry_at(registry, (enum ta_plugin_kind)kind, i - 1)->plugin.id,
                           entry->plugin.id) < 0);
        }
}

static void accepts_a_descriptor(void **state)
{
    (void)state;
    struct ta_plugin plugin = toy();
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    const struct ta_entry *entry = ta_registry_find(registry, TA_KIND_output, "toy");
    assert_non_null(entry);
    assert_string_equal(entry->origin, "here");
    assert_string_equal(entry->plugin.title, "toy");
    assert_string_equal(entry->plugin.version, "");
    assert_string_equal(entry->plugin.output->extension, "toy");
    assert_true(entry->option_values[WAIT] == 1000);
    assert_null(ta_registry_find(registry, TA_KIND_analysis, "toy"));
}

static void refuses_other_headers(void **state)
{
    (void)state;
    struct ta_plugin plugin = toy();
    plugin.headers ^= 1;
    refused(&plugin, "was built with other headers");
}

static void refuses_bad_descriptors(void **state)
{
    (void)state;
    struct ta_plugin plugin = toy();
    plugin.magic = 1;
    refused(&plugin, "Not a plugin");
    plugin = toy();
    plugin.kind = TA_KIND_COUNT;
    refused(&plugin, "kind");
    plugin = toy();
    plugin.ops = NULL;
    refused(&plugin, "without callbacks");
    plugin = toy();
    plugin.id = "../toy";
    refused(&plugin, "id");
    plugin = toy();
    plugin.id = NULL;
    refused(&plugin, "id");
}

static void refuses_a_lack_of_callbacks(void **state)
{
    (void)state;
    static const struct ta_output_ops no_write = {.extension = "toy"};
    struct ta_plugin plugin = toy();
    plugin.output = &no_write;
    refused(&plugin, "lacks a callback");
}

static void refuses_bad_options(void **state)
{
    (void)state;
    const struct ta_option bad[] = {
        {"share", TA_OPTION_NUMBER, 2, 0, 1, TA_OPTION_RATIO, "Preset out of range"},
        TA_OPTIONS_END};
    struct ta_plugin plugin = toy();
    plugin.options = bad;
    refused(&plugin, "share");
}

static void duplicates_name_both_origins(void **state)
{
    (void)state;
    struct ta_plugin plugin = toy();
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "there"), TA_ERR_PLUGIN);
    says("toy");
    says("here");
    says("there");
}

static double set(const char *assignment, size_t row)
{
    assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, assignment, "test"), TA_OK);
    return ta_registry_find(registry, TA_KIND_output, "toy")->option_values[row];
}

static void sets_options(void **state)
{
    (void)state;
    struct ta_plugin plugin = toy();
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    assert_true(set("toy.share=0.25", SHARE) == 0.25);
    assert_true(set("toy.share=15%", SHARE) == 0.15);
    assert_true(set("toy.wait=50", WAIT) == 50);
    assert_true(set("toy.wait=50us", WAIT) == 50e3);
    assert_true(set("toy.wait=1.5ms", WAIT) == 1.5e6);
    assert_true(set("toy.wait=2s", WAIT) == 2e9);
    assert_true(set("toy.size=2KiB", SIZE) == 2048);
    assert_true(set("toy.count=9", COUNT) == 9);
    assert_true(set("toy.on=yes", ON) == 1);
    assert_true(set("toy.on=false", ON) == 0);
}

static void refuses_bad_settings(void **state)
{
    (void)state;
    static const struct {
        const char *assignment, *says;
    } bad[] = {
        {"toy", "ID.NAME=VALUE"},        {"toy.share", "ID.NAME=VALUE"},
        {"=1", "ID.NAME=VALUE"},         {"toy.share=1.5", "from 0 to 1"},
        {"toy.share=x", "from 0 to 1"},  {"toy.share=nan", "from 0 to 1"},
        {"toy.share=", "from 0 to 1"},   {"toy.share=0.5ms", "from 0 to 1"},
        {"toy.count=2.5", "whole"},      {"toy.count=10", "whole"},
        {"toy.on=2", "true or false"},   {"toy.shaer=1", "did you mean 'share'?"},
        {"tyo.share=1", "did you mean"}, {"toy.wait=1h", "number"},
    };
    struct ta_plugin plugin = toy();
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, bad[i].assignment, "test"),
                         TA_ERR_USAGE);
        says(bad[i].says);
    }
    assert_true(ta_registry_find(registry, TA_KIND_output, "toy")->option_values[SHARE] == 0.5);
}

/* ---- shared objects ------------------------------------------------------------------------ */

/* Whether this build lies where plugins may come from; in /tmp it does not. */
static bool is_trusted(const char *path)
{
    int fd;
    if (ta_trusted_open(&ctx, path, &fd) != TA_OK)
        return false;
    close(fd);
    return true;
}

static void loads_a_shared_object(void **state)
{
    (void)state;
    if (!is_trusted(FIXTURE_PLUGIN))
        skip();
    assert_int_equal(ta_registry_load(&ctx, registry, FIXTURE_PLUGIN), TA_OK);
    const struct ta_entry *entry = ta_registry_find(registry, TA_KIND_output, "fixture");
    assert_non_null(entry);
    assert_string_equal(entry->origin, FIXTURE_PLUGIN);
    assert_int_equal(ta_registry_load(&ctx, registry, FIXTURE_PLUGIN), TA_ERR_PLUGIN);
}

static void loads_a_folder(void **state)
{
    (void)state;
    char folder[] = FIXTURE_PLUGIN;
    *strrchr(folder, '/') = '\0';
    if (!is_trusted(folder))
        skip();
    assert_int_equal(ta_registry_load(&ctx, registry, folder), TA_OK);
    assert_non_null(ta_registry_find(registry, TA_KIND_output, "fixture"));
}

/* A real plugin in a folder where everyone may write. */
static void refuses_untrusted_places(void **state)
{
    (void)state;
    char folder[] = "untrusted-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/evil.so", folder);
    assert_int_equal(symlink(FIXTURE_PLUGIN, path), 0);
    bool link_target_is_trusted = is_trusted(FIXTURE_PLUGIN);
    /* The link leads out of the folder: what counts is where the object really is. */
    assert_int_equal(is_trusted(path), link_target_is_trusted);
    assert_int_equal(unlink(path), 0);

    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("\177ELF", file);
    fclose(file);
    assert_int_equal(ta_registry_load(&ctx, registry, path), TA_ERR_PLUGIN);
    says("untrusted");
    says("evil.so");
    assert_int_equal(ta_registry_load(&ctx, registry, folder), TA_ERR_PLUGIN);
    says("untrusted");
    unlink(path);
    rmdir(folder);
}

static void refuses_what_is_no_object(void **state)
{
    (void)state;
    char path[] = "text-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "text\n", 5), 5);
    close(fd);
    assert_int_equal(ta_registry_load(&ctx, registry, path), TA_ERR_PLUGIN);
    says(path);
    unlink(path);
    assert_int_equal(ta_registry_load(&ctx, registry, path), TA_ERR_PLUGIN);
    says(path);
}

/* ---- tables ---------------------------------------------------------------------------- */

static enum ta_status finish_nothing(struct ta_ctx *run, const struct ta_partial *const *merged,
                                     const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)run, (void)merged, (void)in, (void)out;
    return TA_OK;
}

static const struct ta_column own_columns[] = {{"dur_ns", "Duration", TA_NS, .doc = "A duration"}};
static const struct ta_column other_columns[] = {{"dur_ns", "Duration", TA_NS, .doc = "Another"}};

static void check_table(const struct ta_table_def *def, enum ta_status status)
{
    const struct ta_table_def *const tables[] = {def, NULL};
    const struct ta_analysis_ops analysis = {
        .section = "toy", .finish = finish_nothing, .tables = tables};
    struct ta_plugin plugin = toy();
    plugin.kind = TA_KIND_analysis;
    plugin.analysis = &analysis;
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    assert_int_equal(ta_registry_check(&ctx, registry), status);
}

static void check_figures(const struct ta_column *duration, enum ta_status status)
{
    const struct ta_figures figures = {.sampled = TA_SAMPLED_STEPS, .duration = {duration}};
    check_table(
        &(struct ta_table_def){"toy.steps", "Steps", TA_COLUMNS(own_columns), .figures = &figures},
        status);
}

static void figures_are_of_own_columns(void **state)
{
    (void)state;
    check_figures(&own_columns[0], TA_OK);
}

static void refuses_figures_of_other_columns(void **state)
{
    (void)state;
    check_figures(&other_columns[0], TA_ERR_PLUGIN);
    says("toy.steps");
    says("its figures need columns of its own");
}

static void refuses_figures_without_columns(void **state)
{
    (void)state;
    check_figures(NULL, TA_ERR_PLUGIN);
    says("its figures need columns of its own");
}

static void refuses_charts_of_other_columns(void **state)
{
    (void)state;
    static const struct ta_chart_def chart = {
        .id = "toy-chart", .x = &own_columns[0], .y = {{&other_columns[0], "Duration", 0}}};
    check_table(
        &(struct ta_table_def){"toy.steps", "Steps", TA_COLUMNS(own_columns), .chart = {&chart}},
        TA_ERR_PLUGIN);
    says("toy.steps");
    says("a chart draws a column of another table: \"toy-chart\"");
}

static void refuses_orders_by_other_columns(void **state)
{
    (void)state;
    check_table(&(struct ta_table_def){"toy.steps", "Steps", TA_COLUMNS(own_columns),
                                       .order = {&other_columns[0], TA_DESCENDING}},
                TA_ERR_PLUGIN);
    says("it is ordered by a column of another table");
}

static void refuses_briefs_of_other_tables(void **state)
{
    (void)state;
    const struct ta_brief brief = {.rows = 1, .first = {&own_columns[0], &other_columns[0]}};
    check_table(
        &(struct ta_table_def){"toy.steps", "Steps", TA_COLUMNS(own_columns), .brief = &brief},
        TA_ERR_PLUGIN);
    says("its brief names a column of another table");
}

static void refuses_briefs_that_name_no_table(void **state)
{
    (void)state;
    const struct ta_brief brief = {.rows = 1, .unless = "ops.by_nane"};
    check_table(
        &(struct ta_table_def){"toy.steps", "Steps", TA_COLUMNS(own_columns), .brief = &brief},
        TA_ERR_PLUGIN);
    says("Table \"toy.steps\" reads the table \"ops.by_nane\", which nothing declares");
}

static void check_reads(const struct ta_ref *reads, const char *text)
{
    const struct ta_analysis_ops analysis = {
        .section = "toy", .finish = finish_nothing, .reads = reads, .n_reads = 1};
    struct ta_plugin plugin = toy();
    plugin.kind = TA_KIND_analysis;
    plugin.analysis = &analysis;
    assert_int_equal(ta_registry_add(&ctx, registry, &plugin, "here"), TA_OK);
    assert_int_equal(ta_registry_check(&ctx, registry), TA_ERR_PLUGIN);
    says(text);
}

static void refuses_references_to_no_table(void **state)
{
    (void)state;
    check_reads(&(struct ta_ref){.table = "ops.by_nane", .column = "name"},
                "reads the table \"ops.by_nane\", which nothing declares");
}

static void refuses_references_to_no_column(void **state)
{
    (void)state;
    check_reads(&(struct ta_ref){.table = "ops.by_name", .column = "nane"},
                "reads the column \"nane\" of the table \"ops.by_name\", which has none");
}

static void a_reading_has_one_owner(void **state)
{
    static const struct ta_column step_columns[] = {
        {"step", "Step", TA_TEXT, .read_as = TA_AS_STEP, .doc = "Label"}};
    static const struct ta_table_def steps = {"toy.steps", "Steps", TA_COLUMNS(step_columns)};
    (void)state;
    for (int reading = TA_AS_NOTHING + 1; reading < TA_READINGS; reading++)
        assert_true(registry->readings[reading].table || registry->readings[reading].scalar);
    check_table(&steps, TA_ERR_PLUGIN);
    says("toy.steps");
    says("steps.by_step");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(built_ins_are_in_order),
        TEST(accepts_a_descriptor),
        TEST(refuses_other_headers),
        TEST(refuses_bad_descriptors),
        TEST(refuses_a_lack_of_callbacks),
        TEST(refuses_bad_options),
        TEST(duplicates_name_both_origins),
        TEST(sets_options),
        TEST(refuses_bad_settings),
        TEST(figures_are_of_own_columns),
        TEST(refuses_figures_of_other_columns),
        TEST(refuses_figures_without_columns),
        TEST(refuses_charts_of_other_columns),
        TEST(refuses_orders_by_other_columns),
        TEST(refuses_briefs_of_other_tables),
        TEST(refuses_briefs_that_name_no_table),
        TEST(refuses_references_to_no_table),
        TEST(refuses_references_to_no_column),
        TEST(a_reading_has_one_owner),
        TEST(loads_a_shared_object),
        TEST(loads_a_folder),
        TEST(refuses_untrusted_places),
        TEST(refuses_what_is_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
