/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The YAML reader and the way from a tree to settings: what is accepted, what is refused, where. */
#include "cli/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/context.h"
#include "plugin/registry.h"

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_config config;
static const struct ta_yaml *root;

static int set_up(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    config = (struct ta_config){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ta_config_free(&config);
    return 0;
}

static enum ta_status parse(const char *text)
{
    return ta_yaml_parse(&ctx, &config.arena, "c.yaml", ta_slice_of(text), &root);
}

static enum ta_status read_as(const char *text, bool is_here)
{
    struct ta_config_file file = {
        .ctx = &ctx, .config = &config, .name = "c.yaml", .is_here = is_here};
    config.settings.n = 0;
    const enum ta_status status = parse(text);
    return status == TA_OK ? ta_config_read_tree(&file, root) : status;
}

/* Refused with a message that begins with the place and holds the text. */
static void refused(enum ta_status status, const char *place, const char *text)
{
    const char *causes = ta_ctx_causes(&ctx);
    assert_int_equal(status, TA_ERR_USAGE);
    if (strncmp(causes, place, strlen(place)) != 0 || !strstr(causes, text))
        fail_msg("not at %s with '%s': %s", place, text, causes);
}

#define REFUSES(yaml, place, text) refused(read_as(yaml, false), "c.yaml:" place ": ", text)

/* The setting of this text; fails when it is not the `index`th. */
static const struct ta_setting *setting(size_t index, const char *option, const char *text)
{
    assert_true(index < config.settings.n);
    assert_string_equal(config.settings.at[index].option->name, option);
    assert_string_equal(config.settings.at[index].text, text);
    return &config.settings.at[index];
}

/* ---- YAML ---------------------------------------------------------------------------------- */

static void resolves_by_the_core_schema(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ta_yaml_kind kind;
    } cases[] = {
        {"", TA_YAML_NULL},           {"~", TA_YAML_NULL},       {"Null", TA_YAML_NULL},
        {"nULL", TA_YAML_TEXT},       {"true", TA_YAML_BOOLEAN}, {"FALSE", TA_YAML_BOOLEAN},
        {"yes", TA_YAML_TEXT},        {"on", TA_YAML_TEXT},      {"No", TA_YAML_TEXT},
        {"0", TA_YAML_INTEGER},       {"-12", TA_YAML_INTEGER},  {"+5", TA_YAML_INTEGER},
        {"007", TA_YAML_INTEGER},     {"0o17", TA_YAML_INTEGER}, {"0xaF", TA_YAML_INTEGER},
        {"0o8", TA_YAML_TEXT},        {"0x", TA_YAML_TEXT},      {"-0x1", TA_YAML_TEXT},
        {"1_000", TA_YAML_TEXT},      {"1:30", TA_YAML_TEXT},    {"1.", TA_YAML_FLOAT},
        {".5", TA_YAML_FLOAT},        {"1e9", TA_YAML_FLOAT},    {"-1.5E-3", TA_YAML_FLOAT},
        {".", TA_YAML_TEXT},          {"1e", TA_YAML_TEXT},      {"e5", TA_YAML_TEXT},
        {"-.inf", TA_YAML_FLOAT},     {".NaN", TA_YAML_FLOAT},   {"nan", TA_YAML_TEXT},
        {"8GiB", TA_YAML_TEXT},       {"-", TA_YAML_TEXT},       {"1.2.3", TA_YAML_TEXT},
        {"2026-11-21", TA_YAML_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (ta_yaml_resolve(cases[i].text) != cases[i].kind)
            fail_msg("'%s' is %s", cases[i].text,
                     ta_yaml_kind_name(ta_yaml_resolve(cases[i].text)));
}

static void keeps_places_and_texts(void **state)
{
    (void)state;
    assert_int_equal(parse("\xef\xbb\xbf# c\na:\n  b: [1, 'x y']\n  c: \"\\u00e9\"\n"), TA_OK);
    assert_int_equal(root->kind, TA_YAML_MAP);
    const struct ta_yaml *a = root->contents, *b = a->contents, *c = b->next;
    assert_string_equal(a->key->text, "a");
    assert_int_equal(a->key->line, 2);
    assert_int_equal(b->kind, TA_YAML_LIST);
    assert_int_equal(b->line, 3);
    assert_int_equal(b->column, 6);
    assert_int_equal(b->contents->kind, TA_YAML_INTEGER);
    assert_int_equal(b->contents->next->kind, TA_YAML_TEXT);
    assert_int_equal(b->contents->next->column, 10);
    assert_null(b->contents->next->next);
    assert_string_equal(c->text, "\xc3\xa9");
    assert_null(c->next);
    assert_null(a->next);
}

static void an_empty_file_is_null(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "# nothing\n", "---\n", "---\n...\n", "~"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(parse(texts[i]), TA_OK);
        assert_int_equal(root->kind, TA_YAML_NULL);
    }
}

static void refuses_what_expands_or_constructs(void **state)
{
    (void)state;
    REFUSES("a: &x [1]\n", "1:4", "Anchors");
    REFUSES("a: 1\nb: *a\n", "2:4", "Aliases");
    REFUSES("a: !!str 1\n", "1:4", "Tags");
    REFUSES("a: ! 1\n", "1:4", "Tags");
    REFUSES("a: !!python/object:os.system []\n", "1:4", "Tags");
    REFUSES("%TAG ! tag:x,2000:\n---\na: 1\n", "1:1", "Tags");
    REFUSES("x:\n  <<: {a: 1}\n", "2:3", "Merge keys");
    REFUSES("a: 1\n--- \nb: 1\n", "2:1", "A second document");
    REFUSES("? [a]\n: 1\n", "1:3", "A key must be a word");
    REFUSES("a: 1\nb: 2\na: 3\n", "3:1", "The key a stands twice, first in line 1");
    REFUSES("a: \"x\\0y\"\n", "1:4", "NUL");
    REFUSES("a:\n\tb: 1\n", "2:1", "No YAML");
    REFUSES("a: [1\n", "2:1", "No YAML");
    REFUSES("a: 1\nb: \xff\n", "2:4", "No YAML");
    REFUSES("a: 1\nb: \x01\n", "2:4", "No YAML");
}

static void holds_the_limits(void **state)
{
    (void)state;
    char deep[160] = "";
    for (int i = 0; i < 32; i++)
        strcat(deep, "[");
    strcat(deep, "1");
    for (int i = 0; i < 32; i++)
        strcat(deep, "]");
    assert_int_equal(parse(deep), TA_OK);
    assert_int_equal(ta_limits_set(&ctx, "config-depth=31"), TA_OK);
    refused(parse(deep), "c.yaml:1:32: ", "config-depth");
    char *many = calloc(1001, 8);
    assert_non_null(many);
    for (int i = 0; i < 1001; i++)
        sprintf(many + strlen(many), "k%d:\n", i);
    refused(parse(many), "c.yaml:1001:1: ", "Too many keys");
    free(many);
}

/* ---- settings ------------------------------------------------------------------------------ */

static void every_option_has_one_key(void **state)
{
    (void)state;
    char key[TA_CONFIG_KEY_MAX], other[TA_CONFIG_KEY_MAX];
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (!ta_config_key(o, key))
            continue;
        assert_null(strchr(key, '-'));
        for (const struct ta_arg_option *p = ta_arg_options; p < o; p++)
            if (ta_config_key(p, other) && strcmp(key, other) == 0)
                fail_msg("--%s and --%s have the key %s", p->name, o->name, key);
    }
    assert_string_equal(ta_config_key(ta_config_option_at(offsetof(struct ta_cmdline, out)), key),
                        "output.dir");
    assert_string_equal(ta_config_variable("output.dir", (char[TA_CONFIG_VARIABLE_MAX]){0}),
                        "TRACEANALYZE_OUTPUT_DIR");
}

static void values_become_text_of_a_command_line(void **state)
{
    (void)state;
    assert_int_equal(read_as("traceanalyze:\n"
                             "  jobs: 0x10\n"
                             "  strict: True\n"
                             "  output: {formats: [html, json], title: 2024, paper: ~}\n"
                             "  charts: {size: 720x405, scale: 1.5, formats: 'png,svg'}\n"
                             "  limits: {depth: 100, string: 4MiB}\n"
                             "  plugins: {gpu_idle: {threshold: 20%, enabled: false}}\n"
                             "  plugin_path: [/a, /b]\n",
                             false),
                     TA_OK);
    size_t n = 0;
    const struct ta_setting *jobs = setting(n++, "jobs", "16");
    assert_int_equal(jobs->line, 2);
    assert_int_equal(jobs->column, 9);
    setting(n++, "strict", "true");
    setting(n++, "format", "html,json");
    setting(n++, "title", "2024");
    setting(n++, "size", "720x405");
    setting(n++, "scale", "1.5");
    setting(n++, "format", "png,svg");
    setting(n++, "limit", "depth=100");
    setting(n++, "limit", "string=4MiB");
    setting(n++, "set", "gpu_idle.threshold=20%");
    setting(n++, "set", "gpu_idle.enabled=false");
    setting(n++, "plugin-path", "/a");
    setting(n++, "plugin-path", "/b");
    assert_int_equal(config.settings.n, n);
}

static void unknown_keys_name_what_was_meant(void **state)
{
    (void)state;
    REFUSES("thredas: 4\n", "1:1", "thredas");
    REFUSES("traceanalyse: {}\n", "1:1", "did you mean 'traceanalyze'?");
    REFUSES("jobs: 4\n", "1:1", "belongs below traceanalyze:");
    REFUSES("output: {}\n", "1:1", "belongs below traceanalyze:");
    REFUSES("traceanalyze:\n  jbos: 4\n", "2:3", "did you mean 'jobs'?");
    REFUSES("traceanalyze:\n  output:\n    tilte: x\n", "3:5", "did you mean 'output.title'?");
    REFUSES("traceanalyze:\n  paper: a4\n", "2:3", "did you mean 'output.paper'?");
    REFUSES("traceanalyze: {help: true}\n", "1:16", "Unknown key: help");
    REFUSES("traceanalyze: {output.theme: dark}\n", "1:16", "Unknown key");
    REFUSES("profiling: {profile_difusion_steps: true}\n", "1:13",
            "did you mean 'profile_diffusion_steps'?");
}

static void values_of_the_wrong_kind_are_refused(void **state)
{
    (void)state;
    REFUSES("[1]\n", "1:1", "expected a map");
    REFUSES("traceanalyze: 3\n", "1:15", "expected a map");
    REFUSES("traceanalyze: {output: html}\n", "1:24", "expected a map");
    REFUSES("traceanalyze: {jobs: four}\n", "1:22", "expected a whole number");
    REFUSES("traceanalyze: {jobs: '4'}\n", "1:22", "expected a whole number");
    REFUSES("traceanalyze: {jobs: 0}\n", "1:22", "from 1 to 1024");
    REFUSES("traceanalyze: {strict: yes}\n", "1:24", "expected true or false");
    REFUSES("traceanalyze: {verbose: 10}\n", "1:25", "from 0 to 9");
    REFUSES("traceanalyze: {output: {theme: drak}}\n", "1:32", "did you mean 'dark'?");
    REFUSES("traceanalyze: {output: {title: true}}\n", "1:32", "quotes");
    REFUSES("traceanalyze: {output: {title: [a]}}\n", "1:32", "a list");
    REFUSES("traceanalyze: {output: {formats: []}}\n", "1:34", "empty");
    assert_int_equal(read_as("traceanalyze: {diff: {fail_on: []}}\n", false), TA_OK);
    REFUSES("traceanalyze: {output: {formats: ['html,json']}}\n", "1:35", "words");
    REFUSES("traceanalyze: {input: {rank_regex: '('}}\n", "1:36", "group");
    REFUSES("traceanalyze: {input: {rank_regex: 'rank'}}\n", "1:36", "group");
    REFUSES("traceanalyze: {input: {rank_regex: '(a{1,250}){1,250}'}}\n", "1:36", "use + or *");
    REFUSES("traceanalyze: {limits: 3}\n", "1:24", "expected a map");
    REFUSES("traceanalyze: {plugins: {gpu_idle: 3}}\n", "1:36", "expected a map");
    REFUSES("traceanalyze: {plugins: {gpu_idle: {threshold: [1]}}}\n", "1:48", "a list");
    REFUSES("traceanalyze: {plugins: {gpu_idle: {enabled: no}}}\n", "1:46", "true or false");
}

static void the_working_folder_names_no_places(void **state)
{
    (void)state;
    refused(read_as("traceanalyze: {output: {dir: x}}", true), "c.yaml:1:30: ", "output.dir");
    refused(read_as("traceanalyze: {plugin_path: x}", true), "c.yaml:1:29: ", "plugin_path");
    refused(read_as("profiling: {output_dir: x}", true), "c.yaml:1:25: ", "output.dir");
    assert_int_equal(read_as("traceanalyze: {output: {dir: , title: x}}", true), TA_OK);
    assert_int_equal(read_as("traceanalyze: {output: {dir: x}}", false), TA_OK);
}

static void a_profilers_block_is_understood(void **state)
{
    (void)state;
    assert_int_equal(read_as("traceanalyze: {output: {formats: csv}}\n"
                             "profiling:\n"
                             "  enabled: true\n"
                             "  gpu_monitor_interval: 1\n"
                             "  output_dir: ./there\n"
                             "  report_format: both\n"
                             "  profile_diffusion_steps: false\n"
                             "  profile_block_computation: true\n"
                             "  profile_vae_decode: false\n"
                             "  session_tags: {model: x, run: 3}\n",
                             false),
                     TA_OK);
    size_t n = 0;
    setting(n++, "output", "./there");
    setting(n++, "format", "html,json");
    assert_true(setting(n++, "set", "diffusion.steps=false")->is_optional);
    /* Our own block comes later: it is stronger. */
    setting(n++, "format", "csv");
    assert_int_equal(config.settings.n, n);
    assert_int_equal(read_as("profiling: {profile_vae_decode: false, profile_text_encoding: False, "
                             "profile_inference_steps: false}",
                             false),
                     TA_OK);
    setting(0, "set", "stages.enabled=false");
    assert_int_equal(config.settings.n, 1);
    REFUSES("profiling: {report_format: pdf}\n", "1:28", "html, json or both");
    REFUSES("profiling: {enabled: 1}\n", "1:22", "true or false");
}

/* ---- plugins ------------------------------------------------------------------------------- */

static void analyses_and_rules_can_be_turned_off(void **state)
{
    (void)state;
    struct ta_registry *registry = ta_registry_new(&ctx);
    assert_non_null(registry);
    assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, "copies.enabled=false", "test"),
                     TA_OK);
    assert_true(ta_registry_find(registry, TA_KIND_analysis, "copies")->off);
    assert_true(ta_registry_find(registry, TA_KIND_advice, "copies")->off);
    assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, "copies.enabled=true", "test"),
                     TA_OK);
    assert_false(ta_registry_find(registry, TA_KIND_analysis, "copies")->off);
    assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, "copies.enabled=2", "test"),
                     TA_ERR_USAGE);
    assert_int_equal(ta_registry_set(&ctx, registry, TA_SET_OPTION, "text.enabled=false", "test"),
                     TA_ERR_USAGE);
    assert_int_equal(
        ta_registry_set(&ctx, registry, TA_SET_OPTION, "gpu_idle.enabeld=false", "test"),
        TA_ERR_USAGE);
    assert_non_null(strstr(ta_ctx_causes(&ctx), "did you mean 'enabled'?"));
    ta_registry_free(registry);
}

static void a_missing_plugin_is_named_where_its_id_stands(void **state)
{
    (void)state;
    struct ta_registry *registry = ta_registry_new(&ctx);
    assert_non_null(registry);
    assert_int_equal(read_as("traceanalyze:\n  plugins:\n    gpu_idl:\n      threshold: 1\n"
                             "    gpu_idle:\n      treshold: 1\n",
                             false),
                     TA_OK);
    refused(ta_config_set_plugin(&ctx, registry, &config.settings.at[0]),
            "c.yaml:3:5: ", "did you mean 'gpu_idle'?");
    refused(ta_config_set_plugin(&ctx, registry, &config.settings.at[1]),
            "c.yaml:6:7: ", "did you mean 'threshold'?");
    config.settings.at[0].is_optional = true;
    assert_int_equal(ta_config_set_plugin(&ctx, registry, &config.settings.at[0]), TA_OK);
    ta_registry_free(registry);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(resolves_by_the_core_schema),
        TEST(keeps_places_and_texts),
        TEST(an_empty_file_is_null),
        TEST(refuses_what_expands_or_constructs),
        TEST(holds_the_limits),
        TEST(every_option_has_one_key),
        TEST(values_become_text_of_a_command_line),
        TEST(unknown_keys_name_what_was_meant),
        TEST(values_of_the_wrong_kind_are_refused),
        TEST(the_working_folder_names_no_places),
        TEST(a_profilers_block_is_understood),
        TEST(analyses_and_rules_can_be_turned_off),
        TEST(a_missing_plugin_is_named_where_its_id_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
