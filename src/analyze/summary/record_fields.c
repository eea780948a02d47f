/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of other profilers in a summary: which fields the rows of include/traceanalyze/dump.h
 * have.  A test checks that none is missing here. */
#include "analyze/summary/records.h"

/* clang-format off */
#define FIELD(type, row, field, below)                                                             \
    {#field, TA_RECORD_##type, offsetof(struct row, field), below}
/* clang-format on */
#define INTEGER(row, field) FIELD(INTEGER, row, field, 0)
#define REAL(row, field) FIELD(REAL, row, field, 0)
#define TEXT(row, field) FIELD(TEXT, row, field, 0)
#define FLAG(row, field) FIELD(BOOL, row, field, 0)
#define WORD_OF(row, field, below) FIELD(WORD, row, field, below)

static const struct ta_record_field stage_fields[] = {
    INTEGER(ta_timed_stage, rank),      TEXT(ta_timed_stage, name),
    INTEGER(ta_timed_stage, calls),     INTEGER(ta_timed_stage, total_ns),
    INTEGER(ta_timed_stage, min_ns),    INTEGER(ta_timed_stage, max_ns),
    INTEGER(ta_timed_stage, last_ns),   INTEGER(ta_timed_stage, median_ns),
    INTEGER(ta_timed_stage, device_ns), INTEGER(ta_timed_stage, step),
    FLAG(ta_timed_stage, is_call),      TEXT(ta_timed_stage, exception),
    TEXT(ta_timed_stage, source),       {0},
};

static const struct ta_record_field iterations_fields[] = {
    INTEGER(ta_iterations, rank),      TEXT(ta_iterations, name),
    INTEGER(ta_iterations, count),     INTEGER(ta_iterations, total_ns),
    INTEGER(ta_iterations, min_ns),    INTEGER(ta_iterations, max_ns),
    INTEGER(ta_iterations, median_ns), {0},
};

static const struct ta_record_field diffusion_step_fields[] = {
    INTEGER(ta_diffusion_step, rank),   INTEGER(ta_diffusion_step, step),
    REAL(ta_diffusion_step, timestep),  INTEGER(ta_diffusion_step, block_size),
    INTEGER(ta_diffusion_step, dur_ns), REAL(ta_diffusion_step, guidance_scale),
    INTEGER(ta_diffusion_step, end_ns), {0},
};

static const struct ta_record_field diffusion_block_fields[] = {
    INTEGER(ta_diffusion_block, rank),
    INTEGER(ta_diffusion_block, block),
    INTEGER(ta_diffusion_block, frames),
    INTEGER(ta_diffusion_block, dur_ns),
    INTEGER(ta_diffusion_block, memory_bytes),
    INTEGER(ta_diffusion_block, end_ns),
    {0},
};

static const struct ta_record_field model_fields[] = {
    INTEGER(ta_model_info, rank),
    TEXT(ta_model_info, name),
    TEXT(ta_model_info, type),
    INTEGER(ta_model_info, parameters),
    {0},
};

static const struct ta_record_field layer_fields[] = {
    INTEGER(ta_layer, rank),       TEXT(ta_layer, name),
    INTEGER(ta_layer, calls),      INTEGER(ta_layer, total_ns),
    INTEGER(ta_layer, min_ns),     INTEGER(ta_layer, max_ns),
    INTEGER(ta_layer, parameters), {0},
};

static const struct ta_record_field memory_mark_fields[] = {
    INTEGER(ta_memory_mark, rank),
    TEXT(ta_memory_mark, label),
    INTEGER(ta_memory_mark, device),
    INTEGER(ta_memory_mark, time_ns),
    INTEGER(ta_memory_mark, allocated_bytes),
    INTEGER(ta_memory_mark, reserved_bytes),
    INTEGER(ta_memory_mark, max_allocated_bytes),
    INTEGER(ta_memory_mark, max_reserved_bytes),
    INTEGER(ta_memory_mark, total_bytes),
    INTEGER(ta_memory_mark, ooms),
    INTEGER(ta_memory_mark, retries),
    {0},
};

static const struct ta_record_field sample_fields[] = {
    INTEGER(ta_sample, rank),
    INTEGER(ta_sample, device),
    WORD_OF(ta_sample, signal, TA_SIGNAL_COUNT),
    INTEGER(ta_sample, time_ns),
    REAL(ta_sample, value),
    FLAG(ta_sample, relative),
    INTEGER(ta_sample, origin_ns),
    {0},
};

static const struct ta_record_field cache_fields[] = {
    INTEGER(ta_cache_count, rank),      TEXT(ta_cache_count, cache),
    INTEGER(ta_cache_count, hits),      INTEGER(ta_cache_count, misses),
    INTEGER(ta_cache_count, evictions), {0},
};

static const struct ta_record_field cache_hit_fields[] = {
    INTEGER(ta_cache_hit, rank),     TEXT(ta_cache_hit, cache),    TEXT(ta_cache_hit, details),
    INTEGER(ta_cache_hit, video_ns), INTEGER(ta_cache_hit, frame), {0},
};

static const struct ta_record_field cache_step_fields[] = {
    INTEGER(ta_cache_step, rank),   TEXT(ta_cache_step, cache),      INTEGER(ta_cache_step, step),
    FLAG(ta_cache_step, is_cached), REAL(ta_cache_step, difference), {0},
};

static const struct ta_record_field section_tokens_fields[] = {
    INTEGER(ta_section_tokens, rank),
    TEXT(ta_section_tokens, section),
    INTEGER(ta_section_tokens, tokens),
    INTEGER(ta_section_tokens, dur_ns),
    {0},
};

static const struct ta_record_field request_fields[] = {
    INTEGER(ta_request, rank),           TEXT(ta_request, id),
    INTEGER(ta_request, steps),          INTEGER(ta_request, decode_steps),
    INTEGER(ta_request, tokens),         INTEGER(ta_request, decode_tokens),
    INTEGER(ta_request, first_token_ns), INTEGER(ta_request, dur_ns),
    INTEGER(ta_request, decode_ns),      {0},
};

static const struct ta_record_field figure_fields[] = {
    INTEGER(ta_figure, rank),
    TEXT(ta_figure, name),
    TEXT(ta_figure, group),
    REAL(ta_figure, value),
    WORD_OF(ta_figure, unit, TA_UNIT_COUNT_OF_UNITS),
    {0},
};

static const struct ta_record_field allocation_fields[] = {
    INTEGER(ta_allocation_pattern, rank),
    TEXT(ta_allocation_pattern, allocator),
    INTEGER(ta_allocation_pattern, allocations),
    INTEGER(ta_allocation_pattern, deallocations),
    INTEGER(ta_allocation_pattern, bytes),
    INTEGER(ta_allocation_pattern, min_bytes),
    INTEGER(ta_allocation_pattern, max_bytes),
    REAL(ta_allocation_pattern, small_ratio),
    {0},
};

static const struct ta_record_field operator_sum_fields[] = {
    INTEGER(ta_operator_sum, rank),
    TEXT(ta_operator_sum, name),
    TEXT(ta_operator_sum, shapes),
    INTEGER(ta_operator_sum, calls),
    INTEGER(ta_operator_sum, self_cpu_ns),
    INTEGER(ta_operator_sum, cpu_ns),
    INTEGER(ta_operator_sum, self_device_ns),
    INTEGER(ta_operator_sum, device_ns),
    INTEGER(ta_operator_sum, self_cpu_bytes),
    INTEGER(ta_operator_sum, self_device_bytes),
    INTEGER(ta_operator_sum, flops),
    FLAG(ta_operator_sum, is_total),
    {0},
};

static const struct ta_record_field stack_fields[] = {
    INTEGER(ta_stack_weight, rank),
    TEXT(ta_stack_weight, stack),
    INTEGER(ta_stack_weight, weight_ns),
    INTEGER(ta_stack_weight, samples),
    {0},
};

static const struct ta_record_field advice_fields[] = {
    INTEGER(ta_given_advice, rank),    TEXT(ta_given_advice, category),
    TEXT(ta_given_advice, priority),   TEXT(ta_given_advice, issue),
    TEXT(ta_given_advice, suggestion), {0},
};

static const struct ta_record_field session_fields[] = {
    INTEGER(ta_session, rank),
    TEXT(ta_session, id),
    INTEGER(ta_session, start_ns),
    INTEGER(ta_session, end_ns),
    INTEGER(ta_session, dur_ns),
    FLAG(ta_session, is_cut),
    FLAG(ta_session, is_request),
    {0},
};

static const struct ta_record_field tag_fields[] = {
    INTEGER(ta_tag, rank),
    TEXT(ta_tag, key),
    TEXT(ta_tag, value),
    {0},
};

static const struct ta_record_field happening_fields[] = {
    INTEGER(ta_happening, rank),
    TEXT(ta_happening, name),
    TEXT(ta_happening, data),
    INTEGER(ta_happening, time_ns),
    {0},
};

static const struct ta_record_field failed_allocation_fields[] = {
    INTEGER(ta_failed_allocation, rank),
    INTEGER(ta_failed_allocation, device),
    INTEGER(ta_failed_allocation, time_ns),
    INTEGER(ta_failed_allocation, wanted_bytes),
    INTEGER(ta_failed_allocation, total_bytes),
    INTEGER(ta_failed_allocation, free_bytes),
    INTEGER(ta_failed_allocation, process_bytes),
    INTEGER(ta_failed_allocation, allocated_bytes),
    INTEGER(ta_failed_allocation, unused_bytes),
    TEXT(ta_failed_allocation, place),
    {0},
};

static const struct ta_record_field bar_state_fields[] = {
    INTEGER(ta_bar_state, rank),         TEXT(ta_bar_state, name),
    INTEGER(ta_bar_state, bar),          INTEGER(ta_bar_state, done),
    INTEGER(ta_bar_state, total),        INTEGER(ta_bar_state, elapsed_ns),
    INTEGER(ta_bar_state, iteration_ns), INTEGER(ta_bar_state, time_ns),
    INTEGER(ta_bar_state, load),         {0},
};

static const struct ta_record_field model_load_fields[] = {
    INTEGER(ta_model_load, rank),
    TEXT(ta_model_load, model),
    TEXT(ta_model_load, device),
    TEXT(ta_model_load, extent),
    INTEGER(ta_model_load, usable_bytes),
    INTEGER(ta_model_load, loaded_bytes),
    INTEGER(ta_model_load, offloaded_bytes),
    {0},
};

static const struct ta_record_field pause_fields[] = {
    INTEGER(ta_log_pause, rank),     INTEGER(ta_log_pause, start_ns), INTEGER(ta_log_pause, dur_ns),
    INTEGER(ta_log_pause, timed_ns), INTEGER(ta_log_pause, log_ns),   TEXT(ta_log_pause, work),
    TEXT(ta_log_pause, before),      TEXT(ta_log_pause, after),       {0},
};

const struct ta_record_table ta_record_tables[TA_DUMP_COUNT] = {
#define TABLE(kind, type) [TA_DUMP_##kind] = {#kind, sizeof(type), kind##_fields},
    TA_DUMP_TABLES(TABLE) TABLE(sample, struct ta_sample)
#undef TABLE
};
