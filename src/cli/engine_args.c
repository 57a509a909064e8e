/* SPDX-License-Identifier: MIT */
/* engine_args - repeats ranges of glovebox.h only to name the option in errors; the
 * library checks them again. */
#include "cli/cli.h"

#include "base/cleanup.h"

static const char *const requires[] = {"default", "strict", NULL};
static const char *const jits[] = {"full", "baseline", "off", NULL};
static const char *const globals[] = {"standard", "minimal", NULL};
static const char *const speculations[] = {"default", "guarded", NULL};

static const gbx_opt limit_rows[] = {
    {"timeout", "MS", "wall clock of the call, in milliseconds (default 5000)",
     GBX_OPT_NUMBER, offsetof(gbx_limit_args, timeout_ms), 1, 600000, NULL},
    {"cpu", "MS", "processor time of the call (default: the timeout)", GBX_OPT_NUMBER,
     offsetof(gbx_limit_args, cpu_ms), 1, 600000, NULL},
    {"memory", "MB", "memory of the call, in units of 1,048,576 bytes (default 128)",
     GBX_OPT_NUMBER, offsetof(gbx_limit_args, memory_mib), 8, 4096, NULL},
    {"max-output", "BYTES",
     "size of the value as JSON (default 1048576; of mcp 10485760)", GBX_OPT_NUMBER,
     offsetof(gbx_limit_args, output_bytes), 1, 268435456, NULL},
};

static const gbx_opt engine_rows[] = {
    {"require", "LEVEL",
     "default: start if the required layers are in effect; strict: start "
     "only if all layers are",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, require), GBX_REQUIRE_DEFAULT, 0,
     requires},
    {"jit", "LEVEL",
     "full, baseline or off: how much of the just-in-time compiler runs "
     "(default full; off with --require strict)",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, jit), GBX_JIT_FULL, 0, jits},
    {"globals", "SET",
     "standard: ECMAScript without what the lockdown removes; "
     "minimal: a short list (default standard)",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, globals), GBX_GLOBALS_STANDARD, 0,
     globals},
    {"runner", "NAME",
     "where the call runs: process (default); memory: in the command's "
     "own process, without isolation, for tests only",
     GBX_OPT_TEXT, offsetof(gbx_engine_args, runner), 0, 0, NULL},
    {"total-memory", "MB",
     "memory of all processes together, in units of 1,048,576 bytes; needs a "
     "delegated control group (default: what the workers may need, at most three "
     "quarters of the memory)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, total_memory_mib), 64, 1048576, NULL},
    {"total-cpu", "PERCENT",
     "processor time of all processes together; 100 is one processor; needs a "
     "delegated control group (default: no limit)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, total_cpu_percent), 1, 1000000, NULL},
    {"worker-uid", "UID",
     "user and group of the processes of calls, if the command runs as root (default: "
     "a free one from 61184 to 65519)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, worker_uid), 1, UINT32_MAX - 1, NULL},
    {"speculation", "LEVEL",
     "default: as the kernel sets it for every program; guarded: calls run without "
     "store bypass and indirect branch speculation, and slower; needs support of the "
     "machine",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, speculation), GBX_SPECULATION_DEFAULT, 0,
     speculations},
};

/* ---- public to other modules -------------------------------------------- */

const gbx_opt_table gbx_limit_table = {"Limits", limit_rows, GBX_COUNTOF(limit_rows)};
const gbx_opt_table gbx_engine_table = {"Engine", engine_rows,
                                        GBX_COUNTOF(engine_rows)};

gbx_options gbx_engine_args_options(const gbx_engine_args *engine,
                                    const gbx_limit_args *limits)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.require = (gbx_require)engine->require;
    options.jit = (gbx_jit)engine->jit;
    options.globals = (gbx_globals)engine->globals;
    options.runner_name = engine->runner;
    options.total_memory_bytes = GBX_MIB(engine->total_memory_mib);
    options.total_cpu_percent = engine->total_cpu_percent;
    options.worker_uid = (uint32_t)engine->worker_uid;
    options.speculation = (gbx_speculation)engine->speculation;
    if (limits != NULL) {
        options.limits.timeout_ms = (uint32_t)limits->timeout_ms;
        options.limits.cpu_ms = (uint32_t)limits->cpu_ms;
        options.limits.memory_bytes = GBX_MIB(limits->memory_mib);
        options.limits.output_bytes = limits->output_bytes;
    }
    return options;
}
