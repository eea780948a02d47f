/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a run: the only list of them, which the program takes its own from. */
#include "run/run.h"

#include "base/limits.h"
#include "base/suggest.h"
#include "compare/noise.h"
#include "plugin/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const inflaters[] = {"auto", "isal", "zlib", NULL};
static const char *const cpus[] = {"auto", "avx2", "sse2", "scalar", "none", NULL};
static const char *const papers[] = {"a4", "letter", NULL};
static const char *const paper_details[] = {"short", "full", NULL};
static const char *const colors[] = {"never", "always", NULL};
static const char *const details[] = {"short", "full", NULL};
/* Order of enum ta_gate_mode. */
static const char *const gates[] = {"confident", "strict", "point", NULL};
/* Order of enum ta_timeline_mode. */
static const char *const timelines[] = {"auto", "full", "lod", "none", NULL};
static const char *const assets[] = {"inline", "split", NULL};
/* Order of enum ta_theme. */
static const char *const themes[] = {"auto", "light", "dark", NULL};
/* Order of enum ta_align. */
static const char *const alignments[] = {"auto", "collectives", "clock", "none", NULL};
/* Order of enum ranks_by of the analysis `ranks`. */
static const char *const parts[] = {"rank", "node", "group", NULL};

/* An option, and the field that it is stored in; one of another C type does not compile. */
struct row {
    struct ta_run_option option;
    size_t offset;
};

#define AT(type, field)                                                                            \
    _Generic(((struct ta_run_settings *)NULL)->field, type                                         \
             : offsetof(struct ta_run_settings, field))
#define FLAG(field, name, help)                                                                    \
    {                                                                                              \
        {name, NULL, TA_VALUE_FLAG, 0, 0, NULL, help}, AT(bool, field)                             \
    }
#define TEXT(field, name, argument, help)                                                          \
    {                                                                                              \
        {name, argument, TA_VALUE_TEXT, 0, 0, NULL, help}, AT(const char *, field)                 \
    }
#define TEXTS(field, name, argument, help)                                                         \
    {                                                                                              \
        {name, argument, TA_VALUE_TEXTS, 0, 0, NULL, help}, AT(ta_given_texts, field)              \
    }
#define CHOICE(field, name, argument, words, help)                                                 \
    {                                                                                              \
        {name, argument, TA_VALUE_CHOICE, 0, 0, words, help}, AT(int, field)                       \
    }
#define WHOLE(field, name, argument, least, most, help)                                            \
    {                                                                                              \
        {name, argument, TA_VALUE_WHOLE, least, most, NULL, help}, AT(int64_t, field)              \
    }
#define NUMBER(field, name, argument, least, most, help)                                           \
    {                                                                                              \
        {name, argument, TA_VALUE_NUMBER, least, most, NULL, help}, AT(double, field)              \
    }
#define EXTENT(field, name, argument, least, most, help)                                           \
    {                                                                                              \
        {name, argument, TA_VALUE_EXTENT, least, most, NULL, help}, AT(struct ta_extent, field)    \
    }

static const struct row rows[] = {
    TEXT(format, "format", "LIST",
         "outputs that will be written, separated by commas: some need more of the traces"),
    TEXT(charts, "charts", "LIST", "charts that will be drawn, separated by commas, or all"),
    TEXT(title, "title", "TEXT", "title of the report (default: name of the input)"),
    CHOICE(theme, "theme", "THEME", themes, "colors of the HTML report (default: auto)"),
    CHOICE(color, "color", "WHEN", colors, "colors in text for terminals (default: never)"),
    WHOLE(columns, "columns", "N", 20, 10000, "width of text for terminals (default: 80)"),
    CHOICE(assets, "assets", "WHERE", assets,
           "style and script in the HTML page or in files next to it (default: inline)"),
    CHOICE(timeline, "timeline", "MODE", timelines,
           "spans in the timeline: what fits, all, visible ones, none "
           "(default: auto)"),
    TEXT(max_html_size, "max-html-size", "SIZE",
         "size limit of the HTML page; its timeline gets half (default: 8MiB)"),
    CHOICE(text_detail, "text-detail", "HOW", details,
           "text for terminals on one screen, or with all tables and evidence (default: short)"),
    CHOICE(letter, "paper", "SIZE", papers, "paper of the PDF report (default: a4)"),
    CHOICE(paper_detail, "paper-detail", "LEVEL", paper_details,
           "PDF report of a few pages, or with every table (default: short)"),
    WHOLE(top, "top", "N", 1, 1000000,
          "rows shown of a long table (default: 15); data files hold all"),
    CHOICE(by, "by", "WHAT", parts,
           "compare ranks, also nodes, or also process groups (default: rank)"),
    WHOLE(outliers, "outliers", "N", 0, 1000000,
          "ranks listed that differ most from the others (default: 16)"),
    FLAG(partial, "partial", "accept that ranks are missing: no warning, no failure of --strict"),
    TEXTS(fail_on, "fail-on", "EXPR",
          "end with exit code 1 if true: regression>5%, total@op:attn*>10%"),
    CHOICE(gate, "gate", "MODE", gates,
           "how certain a change must be to fail a gate (default: confident)"),
    NUMBER(confidence, "confidence", "LEVEL", 0, 1,
           "confidence level of intervals and verdicts (default: 0.95)"),
    TEXT(min_effect, "min-effect", "TIME",
         "smallest change of a time that counts as a change (default: 50us)"),
    TEXT(noise_floor, "noise-floor", "auto|FILE",
         "spread between runs to assume if too few are given (default: auto)"),
    FLAG(allow_single_run, "allow-single-run", "give verdicts even with one run per side"),
    FLAG(strong, "strong", "all runs do the same work (default: as recorded, by frames or FLOPs)"),
    FLAG(weak, "weak", "each rank does the same work, whatever the world size"),
    EXTENT(size, "size", "WxH", 100, 5000,
           "size in points of 1/72 inch (default: 720 by what the chart needs)"),
    NUMBER(scale, "scale", "N", 1, 10, "pixels of a PNG per point (default: 2)"),
    TEXT(drop_category, "drop-category", "LIST",
         "leave out events of these categories, upper or lower case"),
    TEXT(rank_regex, "rank-regex", "RE",
         "extended regular expression on paths; its first group is the rank"),
    TEXT(step_marker, "step-marker", "REGEX",
         "ranges whose names match this extended regular expression are the steps"),
    WHOLE(world_size, "world-size", "N", 1, INT64_C(1) << 31,
          "expected number of ranks; missing ones are named"),
    WHOLE(ranks_per_node, "ranks-per-node", "N", 1, 1000000,
          "ranks per node (default: from device numbers, else 8)"),
    NUMBER(playback_fps, "playback-fps", "N", 1, 1000,
           "frames per second at which generated videos are played (default: 16)"),
    TEXTS(plan, "plan", "KEY=N[,N...]",
          "predict a diffusion run with other steps, block, frames, guidance, cached"),
    TEXT(input, "input", "ID",
         "read all files with this input plugin instead of deciding by content"),
    TEXTS(runs, "run", "NAME", "run, or recording of a run, to report if the input has several"),
    TEXT(rank, "rank", "LIST", "these ranks only, such as 0,2,8-15"),
    TEXT(steps, "steps", "A-B", "what runs in these steps, by number, on hosts and devices"),
    TEXT(time_range, "time-range", "A,B",
         "from A to B since the run started, such as 1.5s,2s; either may be empty"),
    CHOICE(align, "align", "HOW", alignments,
           "how clocks are aligned (default: auto, by collectives, else by dates)"),
    TEXTS(maps, "map", "TRACE",
          "trace of the graph capture, which names the operators of replayed graphs"),
    TEXT(hardware, "hardware", "NAME|FILE",
         "device whose peak rates are used, or a file of devices (default: auto)"),
    TEXT(price, "price", "MONEY", "price of a GPU hour, such as 2.50USD: adds costs to the report"),
    WHOLE(jobs, "jobs", "N", 1, 1024, "threads (default: one per core)"),
    TEXT(memory_limit, "memory-limit", "SIZE",
         "memory limit, such as 8GiB; what exceeds it goes to --tmpdir"),
    TEXT(tmpdir, "tmpdir", "DIR",
         "folder for what exceeds --memory-limit (default: $TMPDIR, else /var/tmp)"),
    CHOICE(inflater, "inflater", "NAME", inflaters,
           "library that inflates .gz files (default: auto, the fastest available)"),
    CHOICE(cpu, "cpu", "NAME", cpus,
           "instruction set of the scanner, for tests and benchmarks (default: auto)"),
    TEXTS(limits, "limit", "NAME=VALUE", "change a limit on input, see below"),
    TEXTS(plugin_settings, "set", "ID.NAME=VALUE",
          "set an option of a plugin; `traceanalyze plugins` lists them"),
    TEXTS(disabled_rules, "disable-rule", "ID",
          "leave a rule out; `traceanalyze rules` lists them"),
    TEXTS(plugin_paths, "plugin-path", "PATH", "load a plugin, or all of a folder"),
};

enum { ROWS = sizeof rows / sizeof *rows };

const struct ta_run_option *ta_run_option_at(size_t index)
{
    return index < ROWS ? &rows[index].option : NULL;
}

/* The row of an option, ROWS without one. */
static size_t find(const char *name)
{
    size_t row = 0;
    while (row < ROWS && strcmp(rows[row].option.name, name) != 0)
        row++;
    return row;
}

/* ---- values ------------------------------------------------------------------------------- */

bool ta_run_settings_init(struct ta_run *run)
{
    run->set = (struct ta_run_settings){.outliers = TA_MISSING,
                                        .world_size = TA_MISSING,
                                        .top = 15,
                                        .columns = 80,
                                        .confidence = 0.95,
                                        .scale = 2,
                                        .min_effect = "50us"};
    run->origins = calloc(ROWS, sizeof *run->origins);
    return run->origins;
}

void ta_run_settings_free(struct ta_run *run)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].option.type == TA_VALUE_TEXTS)
            free(((ta_given_texts *)((char *)&run->set + rows[i].offset))->at);
    free(run->origins);
}

const char *ta_run_origin(const struct ta_run *run, const char *name)
{
    return run->origins[find(name)];
}

enum ta_status ta_run_blame(struct ta_run *run, const char *origin, enum ta_status status)
{
    return status != TA_OK && origin ? ta_cause(&run->ctx, status, "%s", origin) : status;
}

static enum ta_status no_memory(struct ta_run *run)
{
    return ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: options");
}

static enum ta_status unknown(struct ta_run *run, const char *name)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = name};
    for (size_t i = 0; i < ROWS; i++)
        ta_suggest_offer(&close, rows[i].option.name);
    return ta_fail(&run->ctx, TA_ERR_USAGE, "Unknown option: %s%s", name,
                   ta_suggest_text(&close, hint));
}

/* Whether an option is one of a plugin, and takes effect there. */
static bool is_of_plugins(size_t offset)
{
    static const size_t offsets[] = {offsetof(struct ta_run_settings, plugin_settings),
                                     offsetof(struct ta_run_settings, disabled_rules),
                                     offsetof(struct ta_run_settings, by),
                                     offsetof(struct ta_run_settings, outliers),
                                     offsetof(struct ta_run_settings, playback_fps),
                                     offsetof(struct ta_run_settings, ranks_per_node)};
    for (size_t i = 0; i < TA_LENGTH(offsets); i++)
        if (offsets[i] == offset)
            return true;
    return false;
}

static enum ta_status store(struct ta_run *run, size_t row, const char *value, const char *origin)
{
    void *field = (char *)&run->set + rows[row].offset;
    if (rows[row].option.type != TA_VALUE_TEXTS) {
        run->origins[row] = origin;
        return ta_value_store(&run->ctx, &rows[row].option, field, value);
    }
    const struct ta_given_text given = {value, origin};
    return ta_vec_push((ta_given_texts *)field, given) ? TA_OK : no_memory(run);
}

enum ta_status ta_run_set_from(struct ta_run *run, const char *name, const char *value,
                               const char *origin)
{
    const size_t row = find(name);
    if (row == ROWS)
        return unknown(run, name);
    if (!value)
        value = "true";
    value = ta_arena_copy(&run->arena, ta_slice_of(value));
    const char *from = origin ? ta_arena_copy(&run->arena, ta_slice_of(origin)) : NULL;
    if (!value || (origin && !from))
        return no_memory(run);
    enum ta_status status = store(run, row, value, from);
    if (status == TA_OK && rows[row].offset == offsetof(struct ta_run_settings, limits))
        status = ta_limits_set(&run->ctx, value);
    if (status == TA_OK && rows[row].offset == offsetof(struct ta_run_settings, plan)) {
        status = ta_what_if_add(&run->ctx, &run->what_if, value);
        run->shared.what_if = &run->what_if;
    }
    if (status == TA_OK && rows[row].offset == offsetof(struct ta_run_settings, maps) &&
        !ta_vec_push(&run->maps, value))
        status = no_memory(run);
    run->is_judging = false;
    status = ta_run_blame(run, from, status);
    return status == TA_OK && run->registry && is_of_plugins(rows[row].offset)
               ? ta_run_apply_plugin_options(run)
               : status;
}

/* ---- options of plugins -------------------------------------------------------------------- */

/* Who set an option of a plugin when nobody else is named. */
#define HOST "host"

static enum ta_status set_plugins(struct ta_run *run)
{
    ta_given_texts *settings = &run->set.plugin_settings, *rules = &run->set.disabled_rules;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < settings->n; i++) {
        const struct ta_given_text *given = &settings->at[i];
        status = ta_registry_set(&run->ctx, run->registry, TA_SET_OPTION, given->text,
                                 given->origin ? given->origin : HOST);
        status = ta_run_blame(run, given->origin, status);
    }
    for (size_t i = 0; status == TA_OK && i < rules->n; i++) {
        const struct ta_given_text *given = &rules->at[i];
        status = ta_registry_set(&run->ctx, run->registry, TA_SET_RULE_OFF, given->text,
                                 given->origin ? given->origin : HOST);
        status = ta_run_blame(run, given->origin, status);
    }
    settings->n = rules->n = 0; /* each takes effect once, in the order of giving */
    return status;
}

/* Options of a run that stand for one of an analysis. */
static enum ta_status set_ranks(struct ta_run *run)
{
    const struct ta_run_settings *set = &run->set;
    const struct {
        const char *option, *name;
        int64_t value;
        bool is_given;
    } given[] = {{"--by", "by", set->by, set->by != 0},
                 {"--outliers", "outliers", set->outliers, set->outliers != TA_MISSING},
                 {"--ranks-per-node", "per_node", set->ranks_per_node, set->ranks_per_node != 0}};
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < TA_LENGTH(given) && status == TA_OK; i++) {
        char setting[64];
        snprintf(setting, sizeof setting, "ranks.%s=%" PRId64, given[i].name, given[i].value);
        if (given[i].is_given)
            status =
                ta_registry_set(&run->ctx, run->registry, TA_SET_OPTION, setting, given[i].option);
    }
    return status;
}

/* Videos are played at one rate: in the analysis and in the rule that aims at it. */
static enum ta_status set_playback(struct ta_run *run)
{
    static const char *const options[] = {"playback.fps", "frame_rate.goal"};
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < TA_LENGTH(options) && status == TA_OK; i++) {
        char setting[64], number[TA_UNIT_TEXT_MAX];
        snprintf(setting, sizeof setting, "%s=%s", options[i],
                 ta_number_format(number, run->set.playback_fps));
        if (run->set.playback_fps > 0)
            status =
                ta_registry_set(&run->ctx, run->registry, TA_SET_OPTION, setting, "--playback-fps");
    }
    return status;
}

enum ta_status ta_run_apply_plugin_options(struct ta_run *run)
{
    enum ta_status status = set_plugins(run);
    if (status == TA_OK)
        status = set_ranks(run);
    return status == TA_OK ? set_playback(run) : status;
}

/* ---- checks before anything is read ---------------------------------------------------------- */

static enum ta_status check_plugin(struct ta_run *run, enum ta_plugin_kind kind, const char *id)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    const struct ta_registry *registry = run->registry;
    if (ta_registry_find(registry, kind, id))
        return TA_OK;
    struct ta_suggest close = {.word = id};
    for (size_t i = 0; i < ta_registry_count(registry, kind); i++)
        ta_suggest_offer(&close, ta_registry_at(registry, kind, i)->plugin.id);
    return ta_fail(&run->ctx, TA_ERR_USAGE, "No %s plugin has the id %s%s",
                   ta_plugin_kind_name(kind), id, ta_suggest_text(&close, hint));
}

/* `size` keeps its value where the option is not given. */
static enum ta_status read_size(struct ta_run *run, const char *option, const char *text,
                                uint64_t *size)
{
    if (!text || (ta_size_parse(text, size) && *size > 0))
        return TA_OK;
    return ta_run_blame(run, ta_run_origin(run, option),
                        ta_fail(&run->ctx, TA_ERR_USAGE,
                                "Unusable size: --%s=%s, expected one such as 8GiB", option, text));
}

/* Columns go to the folder late in a run, if at all: a wrong one is said at once. */
static enum ta_status check_tmpdir(struct ta_run *run)
{
    const char *folder = run->set.tmpdir;
    struct stat st;
    if (!folder)
        return TA_OK;
    int error = stat(folder, &st) != 0 ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : 0;
    if (!error && access(folder, W_OK | X_OK) != 0)
        error = errno;
    return error ? ta_fail(&run->ctx, TA_ERR_USAGE, "Unusable folder: --tmpdir=%s: %s", folder,
                           strerror(error))
                 : TA_OK;
}

/* Of "max-html-size". */
#define HTML_SIZE_PRESET (UINT64_C(8) << 20)

static enum ta_status check_reading(struct ta_run *run)
{
    const struct ta_run_settings *set = &run->set;
    run->memory_limit = 0;
    run->max_html_size = HTML_SIZE_PRESET;
    enum ta_status status = set->input ? check_plugin(run, TA_KIND_input, set->input) : TA_OK;
    status = ta_run_blame(run, ta_run_origin(run, "input"), status);
    if (status == TA_OK)
        status = read_size(run, "memory-limit", set->memory_limit, &run->memory_limit);
    if (status == TA_OK)
        status = read_size(run, "max-html-size", set->max_html_size, &run->max_html_size);
    if (status == TA_OK)
        status = ta_run_blame(run, ta_run_origin(run, "tmpdir"), check_tmpdir(run));
    run->shared.inflater = inflaters[set->inflater];
    run->shared.cpu = cpus[set->cpu];
    return status;
}

/* ---- judging -----------------------------------------------------------------------------------
 */

static enum ta_status read_gates(struct ta_run *run)
{
    const ta_given_texts *texts = &run->set.fail_on;
    struct ta_gates *read = &run->gates;
    enum ta_status status = TA_OK;
    free(read->at);
    read->n = 0;
    read->at = calloc(texts->n + 1, sizeof *read->at);
    if (!read->at)
        return ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: gates=%zu", texts->n);
    for (size_t i = 0; status == TA_OK && i < texts->n; i++, read->n++)
        status = ta_run_blame(run, texts->at[i].origin,
                              ta_gate_read(&run->ctx, texts->at[i].text, &read->at[i]));
    return status;
}

static enum ta_status read_effect(struct ta_run *run, double *ns)
{
    enum ta_option_unit unit;
    const char *text = run->set.min_effect;
    if (ta_option_number(text, ns, &unit) && *ns >= 0 &&
        (unit == TA_OPTION_NS || (unit == TA_OPTION_PLAIN && *ns == 0)))
        return TA_OK;
    return ta_run_blame(run, ta_run_origin(run, "min-effect"),
                        ta_fail(&run->ctx, TA_ERR_USAGE,
                                "Unusable value: --min-effect=%s, expected a time such as 50us",
                                text));
}

static enum ta_status check_confidence(struct ta_run *run)
{
    const double level = run->set.confidence;
    if (level >= 0.5 && level <= 0.9999)
        return TA_OK;
    return ta_fail(&run->ctx, TA_ERR_USAGE,
                   "Unusable value: --confidence=%g, expected a level from 0.5 to 0.9999", level);
}

/* Once for the same options: a noise floor may come from a pipe. */
static enum ta_status check_judging(struct ta_run *run)
{
    const char *floor = run->set.noise_floor;
    if (run->is_judging)
        return TA_OK;
    ta_noise_free(run->noise);
    run->noise = NULL;
    run->judging = (struct ta_judging){.confidence = run->set.confidence,
                                       .allow_single_run = run->set.allow_single_run};
    run->gates.mode = (enum ta_gate_mode)run->set.gate;
    run->gates.judging = &run->judging;
    enum ta_status status = check_confidence(run);
    if (status == TA_OK)
        status = read_gates(run);
    if (status == TA_OK)
        status = read_effect(run, &run->judging.min_effect_ns);
    if (status == TA_OK && floor && strcmp(floor, "auto") != 0)
        status = ta_noise_read(&run->ctx, floor, &run->noise);
    run->judging.noise = run->noise;
    run->is_judging = status == TA_OK;
    return status;
}

enum ta_status ta_run_check(struct ta_run *run, enum ta_run_task task)
{
    const size_t most = task == TA_RUN_DIFF ? 2 : 1; /* the baseline's, and that to compare */
    if (!ta_run_plugins(run))
        return run->ctx.status;
    if (run->set.runs.n > most)
        return ta_fail(&run->ctx, TA_ERR_USAGE, "One too many: --run=%s",
                       run->set.runs.at[most].text);
    if (task == TA_RUN_SCALING && run->set.strong && run->set.weak)
        return ta_fail(&run->ctx, TA_ERR_USAGE, "--strong and --weak exclude each other");
    enum ta_status status = ta_registry_check_rules(&run->ctx, run->registry);
    if (status == TA_OK && task != TA_RUN_CHECK)
        status = check_judging(run);
    return status == TA_OK ? check_reading(run) : status;
}

/* ---- reading
 * ------------------------------------------------------------------------------------- */

void ta_run_reading(struct ta_run *run, struct ta_run_options *options)
{
    const struct ta_run_settings *set = &run->set;
    *options = (struct ta_run_options){
        .inputs = run->inputs.at,
        .n_inputs = run->inputs.n,
        .jobs = (unsigned)set->jobs,
        .memory_limit = run->memory_limit,
        .tmpdir = set->tmpdir,
        .rank_regex = set->rank_regex,
        .step_marker = set->step_marker,
        .world_size = set->world_size,
        .partial = set->partial,
        .input = set->input,
        .run = set->runs.n == 1 ? set->runs.at[0].text : NULL,
        .maps = run->maps.at,
        .n_maps = run->maps.n,
        .hardware = set->hardware,
        .price = set->price,
        .title = set->title,
        .progress = run->progress,
        .progress_user = run->progress_user,
        .version = TA_VERSION,
        .team = run->team,
    };
}
