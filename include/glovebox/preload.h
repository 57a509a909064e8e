/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_PRELOAD_H
#define GLOVEBOX_PRELOAD_H

/**
 * @file preload.h
 * JavaScript of the host (libraries, helpers) that runs once and that every call finds.
 *
 * A preload is a script. It runs in the template, before the realm is locked down.
 * Every call finds what it puts on globalThis, or declares at its top level, as the
 * preload left it. Earlier calls cannot change that, and it costs a call no time. A
 * library in the universal form (UMD) attaches itself; a module must be bundled to a
 * script first.
 *
 * Preloads are trusted: their code decides what calls find in place of a built-in. But
 * they run in the sandbox too, and reach nothing that calls could not.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One script; see gbx_options.preloads. If it fails, gbx_engine_new() returns
 *  GBX_E_DATA, with line and column. */
struct gbx_preload {
    const char *name;   /**< its name in errors and stacks, "lodash.js"; at most 128
                             bytes without control characters; copied */
    const char *source; /**< UTF-8; need not end in NUL; copied */
    size_t source_len;  /**< bytes, at most 16 MiB */
};

/**
 * Give a running engine one more preload, or replace the one of the same name. Blocks
 * until a new template has run all preloads, in the order in which they were added, and
 * loaded all datasets; the old one serves until then. Every later call has it; calls in
 * flight keep what they had. On failure the engine is unchanged.
 *
 * @retval GBX_E_USAGE       the name or the size is not allowed, or there are 64.
 * @retval GBX_E_DATA        the script threw, does not compile, is not UTF-8 or did not
 *                           end within three seconds of processor time; see line and
 *                           column, which may be 0.
 * @retval GBX_E_UNSUPPORTED the engine's runner does not support preloads.
 * @retval GBX_E_CLOSED      no template serves, or the engine is being freed.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_preload(gbx_engine *engine, const char *name,
                                                   const char *source,
                                                   size_t source_len,
                                                   gbx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
