/* SPDX-License-Identifier: MIT */
/*
 * layout - the binary interface of 64-bit builds, as it was published. A line that no
 * longer holds breaks programs that were built before: append fields, never move them.
 */
#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <glovebox/record.h>
#include <glovebox/relay.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, at) \
    _Static_assert(offsetof(type, field) == (at), #type "." #field)
#define VALUE(name, number) _Static_assert((name) == (number), #name)

#if __SIZEOF_POINTER__ == 8

SIZE(gbx_error, 528);
FIELD(gbx_error, status, 0);
FIELD(gbx_error, os_errno, 4);
FIELD(gbx_error, line, 8);
FIELD(gbx_error, column, 12);
FIELD(gbx_error, message, 16);

SIZE(gbx_limits, 128);
FIELD(gbx_limits, struct_size, 0);
FIELD(gbx_limits, timeout_ms, 8);
FIELD(gbx_limits, cpu_ms, 12);
FIELD(gbx_limits, memory_bytes, 16);
FIELD(gbx_limits, output_bytes, 24);
FIELD(gbx_limits, code_bytes, 32);
FIELD(gbx_limits, log_bytes, 36);
FIELD(gbx_limits, host_calls, 40);
FIELD(gbx_limits, host_calls_at_once, 44);
FIELD(gbx_limits, host_out_bytes, 48);
FIELD(gbx_limits, host_in_bytes, 56);
FIELD(gbx_limits, reserved, 64);

SIZE(gbx_event, 40);
FIELD(gbx_event, name, 0);
FIELD(gbx_event, call, 8);
FIELD(gbx_event, detail, 16);
FIELD(gbx_event, time_ms, 24);
FIELD(gbx_event, call_id, 32);

SIZE(gbx_log, 32);
FIELD(gbx_log, level, 0);
FIELD(gbx_log, time_ms, 8);
FIELD(gbx_log, text, 16);
FIELD(gbx_log, text_len, 24);

SIZE(gbx_options, 304);
FIELD(gbx_options, struct_size, 0);
FIELD(gbx_options, limits, 8);
FIELD(gbx_options, pool_size, 136);
FIELD(gbx_options, max_workers, 140);
FIELD(gbx_options, queue_length, 144);
FIELD(gbx_options, require, 148);
FIELD(gbx_options, jit, 152);
FIELD(gbx_options, globals, 156);
FIELD(gbx_options, fresh, 160);
FIELD(gbx_options, capabilities, 164);
FIELD(gbx_options, recycle_calls, 168);
FIELD(gbx_options, recycle_ms, 172);
FIELD(gbx_options, worker_path, 176);
FIELD(gbx_options, runner_name, 184);
FIELD(gbx_options, runner, 192);
FIELD(gbx_options, on_event, 200);
FIELD(gbx_options, event_user, 208);
FIELD(gbx_options, policy, 216);
FIELD(gbx_options, transport, 224);
FIELD(gbx_options, on_audit, 232);
FIELD(gbx_options, audit_user, 240);
FIELD(gbx_options, suspicious_refusals, 248);
FIELD(gbx_options, suspicious_ms, 252);
FIELD(gbx_options, preloads, 256);
FIELD(gbx_options, preload_count, 264);
FIELD(gbx_options, total_memory_bytes, 272);
FIELD(gbx_options, total_cpu_percent, 280);
FIELD(gbx_options, huge_pages, 288);
FIELD(gbx_options, worker_uid, 292);
FIELD(gbx_options, speculation, 296);
FIELD(gbx_options, zygote, 300);

SIZE(gbx_call, 144);
FIELD(gbx_call, struct_size, 0);
FIELD(gbx_call, form, 8);
FIELD(gbx_call, flags, 12);
FIELD(gbx_call, code, 16);
FIELD(gbx_call, code_len, 24);
FIELD(gbx_call, input, 32);
FIELD(gbx_call, input_len, 40);
FIELD(gbx_call, bindings, 48);
FIELD(gbx_call, bindings_len, 56);
FIELD(gbx_call, limits, 64);
FIELD(gbx_call, seed, 72);
FIELD(gbx_call, now_ms, 80);
FIELD(gbx_call, signal, 88);
FIELD(gbx_call, on_log, 96);
FIELD(gbx_call, log_user, 104);
FIELD(gbx_call, policy, 112);
FIELD(gbx_call, record, 120);
FIELD(gbx_call, replay, 128);
FIELD(gbx_call, dataset, 136);

SIZE(gbx_replay, 64);
FIELD(gbx_replay, how, 0);
FIELD(gbx_replay, host_calls, 4);
FIELD(gbx_replay, host_call, 8);
FIELD(gbx_replay, line, 12);
FIELD(gbx_replay, what, 16);
FIELD(gbx_replay, recorded, 24);
FIELD(gbx_replay, came, 32);
FIELD(gbx_replay, recorded_engine, 40);
FIELD(gbx_replay, engine, 48);
FIELD(gbx_replay, recorded_code, 56);

SIZE(gbx_host_call, 48);
FIELD(gbx_host_call, request, 0);
FIELD(gbx_host_call, call, 8);
FIELD(gbx_host_call, name, 16);
FIELD(gbx_host_call, args, 24);
FIELD(gbx_host_call, args_len, 32);
FIELD(gbx_host_call, call_id, 40);

SIZE(gbx_stats, 56);
FIELD(gbx_stats, wall_ms, 0);
FIELD(gbx_stats, cpu_ms, 8);
FIELD(gbx_stats, peak_memory_bytes, 16);
FIELD(gbx_stats, input_bytes, 24);
FIELD(gbx_stats, output_bytes, 32);
FIELD(gbx_stats, log_bytes, 40);
FIELD(gbx_stats, host_calls, 48);

SIZE(gbx_location, 16);
FIELD(gbx_location, line, 0);
FIELD(gbx_location, column, 4);
FIELD(gbx_location, frame, 8);

SIZE(gbx_violation, 48);
FIELD(gbx_violation, code, 0);
FIELD(gbx_violation, line, 4);
FIELD(gbx_violation, column, 8);
FIELD(gbx_violation, rule, 16);
FIELD(gbx_violation, message, 24);
FIELD(gbx_violation, hint, 32);
FIELD(gbx_violation, frame, 40);

SIZE(gbx_runner, 88);
FIELD(gbx_runner, struct_size, 0);
FIELD(gbx_runner, name, 8);
FIELD(gbx_runner, user, 16);
FIELD(gbx_runner, execute, 24);
FIELD(gbx_runner, dispose, 32);
FIELD(gbx_runner, prepare, 40);
FIELD(gbx_runner, lease, 48);
FIELD(gbx_runner, send, 56);
FIELD(gbx_runner, receive, 64);
FIELD(gbx_runner, cancel, 72);
FIELD(gbx_runner, release, 80);

SIZE(gbx_ending, 240);
SIZE(gbx_content, 64);
SIZE(gbx_contents, 64);
SIZE(gbx_lease, 432);

#endif

VALUE(GBX_FORM_FUNCTION, 0);
VALUE(GBX_FORM_EXECUTE, 1);
VALUE(GBX_FORM_BODY, 2);
VALUE(GBX_FORM_SCRIPT, 3);
VALUE(GBX_REQUIRE_DEFAULT, 0);
VALUE(GBX_REQUIRE_STRICT, 1);
VALUE(GBX_JIT_DEFAULT, 0);
VALUE(GBX_JIT_FULL, 1);
VALUE(GBX_JIT_BASELINE, 2);
VALUE(GBX_JIT_OFF, 3);
VALUE(GBX_JIT_LONG, 4);
VALUE(GBX_GLOBALS_STANDARD, 0);
VALUE(GBX_GLOBALS_MINIMAL, 1);
VALUE(GBX_FRESH_FORK, 0);
VALUE(GBX_FRESH_EXEC, 1);
VALUE(GBX_CAP_CONSOLE, 1);
VALUE(GBX_CAP_TIMERS, 2);
VALUE(GBX_CAP_FETCH, 4);
VALUE(GBX_CAP_FILE, 8);
VALUE(GBX_CAP_CRYPTO, 16);
VALUE(GBX_CAP_ENV, 32);
VALUE(GBX_CAP_HELPERS, 64);
VALUE(GBX_CAP_NONE, 256);
VALUE(GBX_CALL_SEEDED, 1);
VALUE(GBX_CALL_FIXED_NOW, 2);
VALUE(GBX_CALL_NO_GUARD, 4);
VALUE(GBX_CALL_LENT, 8);
VALUE(GBX_RECORD_INPUT, 1);
VALUE(GBX_REPLAYED_NOT, 0);
VALUE(GBX_REPLAYED_SAME, 1);
VALUE(GBX_REPLAYED_UP_TO, 2);
VALUE(GBX_REPLAYED_DIVERGED, 3);
VALUE(GBX_REPLAYED_UNFINISHED, 4);
VALUE(GBX_LOG_DEBUG, 0);
VALUE(GBX_LOG_LOG, 1);
VALUE(GBX_LOG_INFO, 2);
VALUE(GBX_LOG_WARN, 3);
VALUE(GBX_LOG_ERROR, 4);
VALUE(GBX_DATA_JSON, 0);
VALUE(GBX_DATA_NDJSON, 1);
VALUE(GBX_ERROR_MESSAGE_SIZE, 512);
