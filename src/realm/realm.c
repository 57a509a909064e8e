/* SPDX-License-Identifier: MIT */
/*
 * realm - making a realm in the template: the internal scripts, then the lockdown.
 *
 * The order matters. The internal scripts capture the pristine built-ins. The lockdown
 * follows, with capabilities and the host's preloads between its two steps; eval is
 * disabled after it.
 */
#include "realm/internal.h"

#include "realm/realm.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <glovebox/glovebox.h>
#include <jsc/jsc.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool take_helpers(gbx_realm *realm, JSObjectRef helpers)
{
#define XX(field, member) (realm->field = gbx_keep(realm, helpers, member)) != NULL &&
    return GBX_REALM_HELPERS(XX) true;
#undef XX
}

/* The built-ins that GBX_GLOBALS_MINIMAL keeps. The console, timers and capabilities
 * are added later. */
static const char minimal_names[] =
    "['JSON', 'Math', 'Date', 'Array', 'Map', 'Set', 'Promise', 'Object', 'String',"
    " 'Number', 'Boolean', 'RegExp', 'Error', 'TypeError', 'RangeError', 'SyntaxError',"
    " 'URIError', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURIComponent',"
    " 'decodeURIComponent', 'encodeURI', 'decodeURI', 'undefined', 'NaN', 'Infinity']";

/* Evaluate host.js, which calls functions of the host. NULL, or a reason. */
static const char *build_host(gbx_realm *realm, JSObjectRef natives, JSValueRef control)
{
    JSObjectRef lazy = gbx_get_object(realm->ctx, natives, "lazy");
    JSValueRef args[] = {gbx_host_natives(realm), control, realm->explain,
                         gbx_get_object(realm->ctx, lazy, "giveWay")};
    JSObjectRef host = gbx_call_script(realm, gbx_script_host, GBX_COUNTOF(args), args);

    if (host == NULL)
        return "the engine did not take the script of host functions";
    JSValueProtect(realm->ctx, host);
    realm->host_script = host;
    realm->answer = gbx_keep(realm, host, "answer");
    realm->answered = gbx_keep(realm, host, "answered");
    realm->expose = gbx_keep(realm, host, "expose");
    realm->withhold = gbx_keep(realm, host, "withhold");
    realm->ask = gbx_keep(realm, host, "ask");
    realm->forget = gbx_keep(realm, host, "forget");
    return NULL;
}

/* Expose the named functions, a line each. NULL, or a reason. */
static const char *expose_all(gbx_realm *realm, gbx_span names)
{
    static char reason[GBX_NAME_MAX + 64];
    gbx_span one;

    while (gbx_span_line(&names, &one))
        if (!gbx_realm_expose(realm, one)) {
            snprintf(reason, sizeof reason, "the name of the function '%.*s' is taken",
                     (int)(one.len < GBX_NAME_MAX ? one.len : GBX_NAME_MAX),
                     (const char *)one.data);
            return reason;
        }
    return NULL;
}

/* The parts that do not depend on a setup, up to the first step of the lockdown. */
static const char *build(gbx_realm *realm)
{
    JSValueRef args[2];
    const char *reason;
    JSObjectRef natives, helpers, console;
    JSValueRef control;

    natives = gbx_natives_new(realm);
    JSValueProtect(realm->ctx, natives);
    realm->natives = natives;
    control = gbx_share(realm->ctx, kJSTypedArrayTypeUint32Array, 1, &realm->control);
    args[0] = natives;
    args[1] = control;
    helpers = gbx_call_script(realm, gbx_script_result, 2, args);
    if (helpers == NULL || !take_helpers(realm, helpers))
        return "the engine did not take the script of results";
    realm->inspect = gbx_call_script(realm, gbx_script_inspect, 1, args);
    if (realm->inspect == NULL)
        return "the engine did not take the script of inspection";
    JSValueProtect(realm->ctx, realm->inspect);
    args[1] = realm->inspect;
    console = gbx_call_script(realm, gbx_script_console, 2, args);
    if (console == NULL)
        return "the engine did not take the script of the console";
    JSValueProtect(realm->ctx, console);
    reason = gbx_timers_make(realm);
    if (reason == NULL)
        reason = gbx_helpers_make(realm, natives);
    if (reason == NULL)
        reason = build_host(realm, natives, control);
    if (reason != NULL)
        return reason;

    args[0] = gbx_share(realm->ctx, kJSTypedArrayTypeUint32Array, 4, &realm->seed);
    realm->seed[0] = 1; /* all zero is the one state that gives no numbers */
    if (gbx_call_script(realm, gbx_script_intl, 0, NULL) == NULL)
        return "the engine did not take the script of locales";
    realm->limit = gbx_call_script(realm, gbx_script_lockdown, 1, args);
    if (realm->limit == NULL)
        return "the engine did not take the lockdown";
    JSValueProtect(realm->ctx, realm->limit);
    JSObjectSetProperty(realm->ctx, realm->global, realm->n_console, console,
                        kJSPropertyAttributeDontEnum, NULL);
    (void)JSObjectCallAsFunction(realm->ctx, realm->install_timers, NULL, 0, NULL,
                                 NULL);
    JSGlobalContextSetUnhandledRejectionCallback(
        realm->ctx, gbx_native(realm->ctx, "rejected", gbx_console_on_rejection), NULL);
    return NULL;
}

/* The parts that the setup asks for, up to the second step. */
static const char *complete(gbx_realm *realm, const gbx_realm_setup *setup)
{
    JSValueRef keep = realm->globals == GBX_GLOBALS_MINIMAL
                          ? gbx_evaluate_script(realm, minimal_names)
                          : JSValueMakeNull(realm->ctx);
    JSValueRef finish =
        JSObjectCallAsFunction(realm->ctx, realm->limit, NULL, 1, &keep, NULL);
    const char *reason;

    if (finish == NULL)
        return "the engine did not take the middle of the lockdown";
    JSValueProtect(realm->ctx, finish);
    if (realm->globals == GBX_GLOBALS_MINIMAL) { /* it has neither */
        gbx_timers_remove(realm, "Interval");
        gbx_timers_remove(realm, "sleep");
    }
    if (realm->globals == GBX_GLOBALS_STANDARD &&
        (realm->capabilities & GBX_CAP_HELPERS) != 0)
        (void)JSObjectCallAsFunction(realm->ctx, realm->globalise, NULL, 0, NULL, NULL);
    reason =
        gbx_grants_make(realm, realm->capabilities, realm->natives, realm->host_script);
    if (reason != NULL)
        return reason;
    reason = setup->preload_count > 0 ? gbx_preloads_run(realm, setup) : NULL;
    if (reason != NULL)
        return reason;
    if (JSObjectCallAsFunction(realm->ctx, gbx_object(finish), NULL, 0, NULL, NULL) ==
        NULL)
        return "the engine did not take the end of the lockdown";
    JSValueUnprotect(realm->ctx, finish);
    reason = expose_all(realm, setup->functions);
    if (reason != NULL)
        return reason;
    JSGlobalContextSetEvalEnabled(realm->ctx, false, realm->eval_off);
    return NULL;
}

/* Checks that the environment from the host's spawn took effect. */
static const char *check_options(gbx_realm *realm)
{
    /* One script for all checks: a script costs as much as what it tests. The locale
     * is not checked: even the smallest part of Intl takes 0.6 ms to make. */
    static const char first_false[] =
        "[typeof WebAssembly === 'undefined', typeof SharedArrayBuffer === 'undefined',"
        " new Date(2026, 6, 1).getTimezoneOffset() === 0,"
        " (() => { 'use strict'; function f() { throw new Error }"
        " function g() { return f() } try { g() } catch (e) { return e.stack } })()"
        ".includes('g@')].indexOf(false)";
    static const char *const reasons[] = {
        "WebAssembly is on: JSC_useWasm=0 is missing", "SharedArrayBuffer is on",
        "the time zone is not UTC", "tail calls are on: JSC_useTailCalls=0 is missing"};
    JSValueRef value = gbx_evaluate_script(realm, first_false);
    double at = value != NULL ? JSValueToNumber(realm->ctx, value, NULL) : NAN;
    size_t index = at >= 0 ? (size_t)at : SIZE_MAX;

    if (at == -1)
        return NULL;
    return index < GBX_COUNTOF(reasons)
               ? reasons[index]
               : "the engine did not take the script that checks its options";
}

static const char *start(gbx_realm *realm)
{
    JSValueRef is_fixed;
    const char *reason;

    if (jsc_get_major_version() != JSC_MAJOR_VERSION ||
        jsc_get_minor_version() != JSC_MINOR_VERSION)
        return "the engine is of another version than this program was built for";
    gbx_dates_learn();
    realm->ctx = JSGlobalContextCreate(NULL);
    if (realm->ctx == NULL)
        return "the engine did not start";
    realm->global = JSContextGetGlobalObject(realm->ctx);
    JSGlobalContextSetInspectable(realm->ctx, false);
    if (JSGlobalContextSetIncludesNativeCallStackWhenReportingExceptions != NULL)
        JSGlobalContextSetIncludesNativeCallStackWhenReportingExceptions(realm->ctx,
                                                                         false);
#define XX(field, text) realm->field = JSStringCreateWithUTF8CString(text);
    GBX_REALM_NAMES(XX)
#undef XX
    realm->origin.url = GBX_CODE_URL;
    reason = check_options(realm);
    if (reason != NULL)
        return reason;
    if (!gbx_cells_learn(realm->ctx, &realm->cells))
        return "the engine's cells are not laid out as expected";
    gbx_rejections_learn(realm);
    gbx_wallclock_fix(1234567890123.0);
    is_fixed = gbx_evaluate_script(realm, "Date.now() === 1234567890123");
    gbx_wallclock_release();
    realm->can_fix_clock = is_fixed != NULL && JSValueToBoolean(realm->ctx, is_fixed);
    return build(realm);
}

gbx_realm *gbx_realm_begin(const char **ret_reason)
{
    gbx_realm *realm = gbx_realm_self();

    assert(realm->ctx == NULL); /* one a process */
    *ret_reason = start(realm);
    return *ret_reason == NULL ? realm : NULL;
}

bool gbx_realm_complete(gbx_realm *realm, const gbx_realm_setup *setup,
                        const char **ret_reason)
{
    realm->globals = setup->globals;
    realm->capabilities = setup->capabilities;
    *ret_reason = complete(realm, setup);
    return *ret_reason == NULL;
}

gbx_realm *gbx_realm_new(const gbx_realm_setup *setup, const char **ret_reason)
{
    gbx_realm *realm = gbx_realm_begin(ret_reason);

    return realm != NULL && gbx_realm_complete(realm, setup, ret_reason) ? realm : NULL;
}

static int find_engine(struct dl_phdr_info *info, size_t size, void *ret_path)
{
    *(const char **)ret_path = info->dlpi_name;
    return strstr(info->dlpi_name, "/libjavascriptcoregtk-") != NULL;
}

/* The day on which the library was built. A Debian package keeps it as the file's time;
 * other packages may not, so a bundle has it in a file beside the library. */
static void put_day(const char *library, char ret[static 11])
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    char path[PATH_MAX];
    struct tm tm;
    struct stat st;

    (void)snprintf(path, sizeof path, "%.*s/engine-date",
                   (int)(strrchr(library, '/') - library), library);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if ((fd < 0 || read(fd, ret, 10) != 10) && stat(library, &st) == 0 &&
        gmtime_r(&st.st_mtime, &tm) != NULL)
        (void)strftime(ret, 11, "%F", &tm);
}

const char *gbx_realm_engine(void)
{
    static char text[64];
    char day[11] = "unknown";
    const char *library = NULL;

    if (text[0] != 0)
        return text;
    if (dl_iterate_phdr(find_engine, &library) != 0)
        put_day(library, day);
    (void)snprintf(text, sizeof text, "JavaScriptCore %u.%u.%u of %s",
                   jsc_get_major_version(), jsc_get_minor_version(),
                   jsc_get_micro_version(), day);
    return text;
}

bool gbx_realm_knows_oom(const gbx_realm *realm)
{
    return realm->cells.knows_oom;
}

/* Values need no separate release: the VM's end frees them. */

void gbx_realm_free(gbx_realm *realm)
{
    if (realm == NULL)
        return;
#define XX(field, text) gbx_string_release(&realm->field);
    GBX_REALM_NAMES(XX)
#undef XX
    free(realm->large);
    if (realm->ctx != NULL)
        JSGlobalContextRelease(realm->ctx);
    memset(realm, 0, sizeof *realm);
}
