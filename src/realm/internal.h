/* SPDX-License-Identifier: MIT */
/*
 * internal - what the files of realm/ share. No other folder includes it.
 *
 * Values in struct gbx_realm are protected for the life of the process. Values on the C
 * stack need no protection: the engine's collector scans it.
 */
#ifndef GBX_REALM_INTERNAL_H
#define GBX_REALM_INTERNAL_H

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "realm/realm.h"

#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- engine -------------------------------------------------------------- */

/*
 * The engine's headers, and functions that it exports without declaring them. Those
 * that this program can do without are weak.
 */

#define GBX_WEAK __attribute__((weak))

/* While disabled, eval, Function and the like throw EvalError with message. */
extern void JSGlobalContextSetEvalEnabled(JSGlobalContextRef ctx, bool enabled,
                                          JSStringRef message);
/* Called as function(promise, reason) when jobs are done and the rejection is
 * unhandled. */
extern void JSGlobalContextSetUnhandledRejectionCallback(JSGlobalContextRef ctx,
                                                         JSObjectRef function,
                                                         JSValueRef *exception);
extern void JSSynchronousGarbageCollectForDebugging(JSContextRef ctx);
/* The target of a Proxy; NULL if value is not one, or was revoked. */
extern JSObjectRef JSObjectGetProxyTarget(JSObjectRef value);

/* Controls whether an exception that leaves the C API gets a trace of the native stack,
 * for an inspector: 0.3 ms of unwinding. Optional. */
extern GBX_WEAK void JSGlobalContextSetIncludesNativeCallStackWhenReportingExceptions(
    JSGlobalContextRef ctx, bool includes);

/* Report memory that the collector does not see. Optional. */
extern GBX_WEAK void JSReportExtraMemoryCost(JSContextRef ctx, size_t bytes);

/* Converts a value that is known to be an object: the API has two types for it. */
static inline JSObjectRef gbx_object(JSValueRef value)
{
    return (JSObjectRef)(uintptr_t)value;
}

/*
 * Make strings of one byte a character directly. The C API's own constructor decodes
 * all text to UTF-16 first, which for 10 MB costs 20 ms and 20 MB. These are the C++
 * functions behind it, by their symbols. Both return an object in the caller's memory,
 * which C expresses as a structure too large for registers; only its first pointer is
 * written. If a version of the engine lacks them, text is decoded the long way.
 */
typedef struct gbx_engine_ref {
    void *pointer;
    void *unused[3];
} gbx_engine_ref;
extern GBX_WEAK gbx_engine_ref
gbx_engine_string_impl(const uint8_t *latin1, size_t len) __asm__(
    "_ZN3WTF10StringImpl6createESt4spanIKhLm18446744073709551615EE");
/* Uses the text in place. */
extern GBX_WEAK gbx_engine_ref
gbx_engine_string_lent(const uint8_t *latin1, size_t len) __asm__(
    "_ZN3WTF10StringImpl28createWithoutCopyingNonEmptyESt4spanIKhLm18446744073709551615EE");
/* Moves out of *impl. */
extern GBX_WEAK gbx_engine_ref
gbx_engine_string(void **impl) __asm__("_ZN14OpaqueJSString9tryCreateEON3WTF6StringE");

/* Offset in an API string of the pointer to the engine's own string. */
#define GBX_ENGINE_TEXT 8

static inline void *const *gbx_engine_text(JSStringRef text)
{
    return (void *const *)(const void *)((const char *)text + GBX_ENGINE_TEXT);
}

/* The engine's URL: it begins with text and flags, and is smaller than this. */
typedef struct gbx_engine_url {
    void *text; /* an engine's string */
    uint32_t flags;
    uint32_t others[29];
} gbx_engine_url;

#define GBX_ENGINE_URL_VALID 1u

/* Parses a URL; base may be zeroed. Writes *ret, which the caller owns. */
extern GBX_WEAK void gbx_engine_parse_url(
    gbx_engine_url *ret, const gbx_engine_url *base, void *const *text,
    const void
        *encoding) __asm__("_ZN3WTF3URLC1ERKS0_RKNS_6StringEPKNS_15URLTextEncodingE");

/* ---- interpose.c: the allocator ----------------------------------------- */

/* Bytes allocated or mapped. Only differences are meaningful: mappings made by the
 * loader are not included. */
size_t gbx_memory_used(void);

/* The name that the user's code has in every stack. */
#define GBX_CODE_URL "code.js"

/* ---- cell.c: facts read from the engine's cells --------------------------- */

/* XX(enumerator, name, expression that makes one). The name is what scripts see. */
#define GBX_KIND_MAP(XX)                                                              \
    XX(ERROR, "Error", "new Error")                                                   \
    XX(MAP, "Map", "new Map")                                                         \
    XX(SET, "Set", "new Set")                                                         \
    XX(WEAKMAP, "WeakMap", "new WeakMap")                                             \
    XX(WEAKSET, "WeakSet", "new WeakSet")                                             \
    XX(PROMISE, "Promise", "Promise.resolve()")                                       \
    XX(REGEXP, "RegExp", "/a/")                                                       \
    XX(DATE, "Date", "new Date")                                                      \
    XX(PROXY, "Proxy", "new Proxy({}, {})")                                           \
    XX(ARRAYBUFFER, "ArrayBuffer", "new ArrayBuffer(1)")                              \
    XX(DATAVIEW, "DataView", "new DataView(new ArrayBuffer(1))")                      \
    XX(NUMBER, "Number", "new Number(1)")                                             \
    XX(STRING, "String", "new String('a')")                                           \
    XX(BOOLEAN, "Boolean", "new Boolean(true)")                                       \
    XX(ARGUMENTS, "Arguments", "(function () { 'use strict'; return arguments })(1)") \
    XX(GENERATOR, "Generator", "(function* () {})()")                                 \
    XX(ASYNCGENERATOR, "AsyncGenerator", "(async function* () {})()")                 \
    XX(ARRAYITERATOR, "Array Iterator", "[].values()")                                \
    XX(MAPITERATOR, "Map Iterator", "new Map().values()")                             \
    XX(SETITERATOR, "Set Iterator", "new Set().values()")                             \
    XX(STRINGITERATOR, "String Iterator", "''[Symbol.iterator]()")                    \
    XX(REGEXPITERATOR, "RegExp String Iterator", "'a'.matchAll(/a/g)")                \
    XX(ITERATORHELPER, "Iterator Helper", "[].values().map(x => x)")

typedef enum gbx_kind {
#define XX(name, text, sample) GBX_KIND_##name,
    GBX_KIND_MAP(XX)
#undef XX
        GBX_KIND_COUNT,
    GBX_KIND_OTHER = GBX_KIND_COUNT
} gbx_kind;

typedef struct gbx_cells {
    uint8_t kind_of_type[256];        /* gbx_kind by the cell's type byte */
    JSValueRef names[GBX_KIND_COUNT]; /* as strings, for scripts */
    bool knows_promises;              /* state and value can be read */
    bool knows_oom;                   /* oom_byte and oom_bit are right */
    uint8_t oom_byte;
    uint8_t oom_bit;
} gbx_cells;

/* Offset of the flags in a promise's cell, an integer as the engine boxes it. */
#define GBX_PROMISE_FLAGS 16

/* Learn the layout from samples; false if the engine is unexpected. */
bool gbx_cells_learn(JSGlobalContextRef ctx, gbx_cells *ret);
gbx_kind gbx_cell_kind(const gbx_cells *cells, JSContextRef ctx, JSValueRef value);
/* 0 pending, 1 fulfilled, 2 rejected; -1 unknown. */
int gbx_cell_promise(const gbx_cells *cells, JSObjectRef promise,
                     JSValueRef *ret_value);
/* Is value an out-of-memory error that the engine made? */
bool gbx_cell_is_oom(const gbx_cells *cells, JSContextRef ctx, JSValueRef value);

/* ---- garbage.c ---------------------------------------------------------------- */

/* Collect garbage, and check whether the engine calls our functions in garbage.c. */
void gbx_garbage_collect(gbx_realm *realm);

/* ---- garbage.c: promises that the engine keeps to report ---------------- */

/* Learn where the engine keeps them; anything that cannot be learned stays unknown. */
void gbx_rejections_learn(gbx_realm *realm);

/* ---- exception_text.c ---------------------------------------------------- */

/* From the engine's positions to the caller's. */
typedef struct gbx_origin {
    const char *url;     /* the name of the script in stacks */
    uint32_t first_line; /* where the code begins in the caller's text */
    uint32_t first_column;
    uint32_t last_line;        /* where it ends; 0: not known yet */
    uint32_t prefix;           /* columns of our prefix on its first line */
    const gbx_insert *inserts; /* our insertions, in the order of the text */
    size_t insert_count;
} gbx_origin;

/* ---- dateparse.c ------------------------------------------------------------ */

/* Find the engine's own date parser, before its first use. */
void gbx_dates_learn(void);

/* ---- the realm ------------------------------------------------------------- */

#define GBX_REJECTIONS_MAX 16u
#define GBX_GRANTS_MAX     8u

/* Property names and other fixed strings. XX(field, text) */
#define GBX_REALM_NAMES(XX)                  \
    XX(url, GBX_CODE_URL)                    \
    XX(eval_off, "code from strings is off") \
    XX(input_name, "input")                  \
    XX(n_then, "then")                       \
    XX(n_name, "name")                       \
    XX(n_message, "message")                 \
    XX(n_cause, "cause")                     \
    XX(n_errors, "errors")                   \
    XX(n_constructor, "constructor")         \
    XX(n_stack, "stack")                     \
    XX(n_line, "line")                       \
    XX(n_column, "column")                   \
    XX(n_source_url, "sourceURL")            \
    XX(n_status, "status")                   \
    XX(n_value, "value")                     \
    XX(n_execute, "execute")                 \
    XX(n_run, "run")                         \
    XX(n_params, "params")                   \
    XX(n_env, "env")                         \
    XX(n_console, "console")

/* The members of result.js's value. XX(field, member) */
#define GBX_REALM_HELPERS(XX)                                                   \
    XX(call, "call")                                                            \
    XX(watch, "watch")                                                          \
    XX(explain, "explain")                                                      \
    XX(explain_top, "explainTop")                                               \
    XX(explain_lost, "explainLost")                                             \
    XX(missing_field, "missingField")                                           \
    XX(least_units, "leastUnits")                                               \
    XX(is_identifier, "isIdentifier")                                           \
    XX(parse, "parse")                                                          \
    XX(async_function, "asyncFunction")                                         \
    XX(pending, "pending")                                                      \
    XX(errors, "errors")                                                        \
    XX(top_this, "topThis") /* `this` outside any function: empty and frozen */ \
    XX(inspect_options, "inspectOptions")                                       \
    XX(line_options, "lineOptions")                                             \
    XX(causes_options, "causesOptions")

struct gbx_realm {
    JSGlobalContextRef ctx;
    JSObjectRef global;
    unsigned globals;      /* gbx_globals */
    uint32_t capabilities; /* the ones requested */
    bool can_fix_clock;
    gbx_cells cells;
    uint32_t *seed;    /* four words of Math.random, shared with lockdown.js */
    double *timer_due; /* when the next timer is due, shared with timers.js */
    uint32_t *control; /* [0]: 1: the result is being serialised, 2: arguments */

#define XX(field, text) JSStringRef field;
    GBX_REALM_NAMES(XX)
#undef XX
#define XX(field, member) JSObjectRef field;
    GBX_REALM_HELPERS(XX)
#undef XX
    JSObjectRef inspect;
    JSObjectRef fire_timer, install_timers, remove_timers;       /* of timers.js */
    JSObjectRef answer, answered, expose, withhold, forget, ask; /* of host.js */
    JSObjectRef grant, withdraw, warm_helpers, globalise;        /* lazy_globals.js */
    JSObjectRef natives, host_script, limit; /* kept for gbx_realm_complete() */
    JSObjectRef preload_warm;  /* function left by a preload, to run before calls; or
                                 NULL */
    JSObjectRef preload_input; /* the same for integers beyond 2^53 - 1: preload.js */
    JSObjectRef preload_result;
    bool has_servers;                    /* preloads have made code mode's servers */
    JSObjectRef granted[GBX_GRANTS_MAX]; /* by grant.c's table; NULL: not granted */

    JSObjectRef datasets; /* NULL: none loaded */
    JSValueRef only_dataset;
    size_t dataset_count;

    /* of the running call */
    const gbx_msg_call *in;
    const gbx_realm_host *host;
    gbx_origin origin;
    gbx_prepared_code prepared; /* of the call's code; empty: compile it unchanged */
    double virtual_ms;          /* elapsed, with a fixed clock */
    uint64_t log_left;
    bool log_ended;
    uint8_t host_limited;    /* bits: limits already reported to the host */
    uint32_t rejected_count; /* of rejected */
    JSObjectRef promise;     /* the code's result, if it is a promise */
    JSValueRef data;         /* NULL: the code is called only with the input */
    JSValueRef env;          /* NULL: the call has none */
    JSValueRef rejected[GBX_REJECTIONS_MAX][2];
    uint64_t host_out_left; /* bytes of arguments that may still be sent */
    uint64_t host_open;     /* requests without an answer */
    uint64_t host_answers;
    JSValueRef host_exception; /* uncaught, of code that ran on an answer */

    char name[GBX_NAME_MAX + 4];
    char message[GBX_MESSAGE_MAX + 4];
    char stack[GBX_STACK_MAX + 4];
    char raw[GBX_STACK_MAX * 2];
    char small[GBX_KIB(16)]; /* results that fit need no allocation */
    char *large;
};

/* ---- convert.c -------------------------------------------------------------- */

/* Counted UTF-8 as a string; NULL if it is not valid UTF-8. Release it. */
JSStringRef gbx_string_new(const void *data, size_t len);
/* The same where text[len] is 0. The text must stay until the string is released: ASCII
 * is not copied. */
JSStringRef gbx_string_lent(const char *text, size_t len);
/* As much of text as fits in size - 1 bytes, without splitting a character, and a
 * NUL; an unpaired surrogate becomes U+FFFD. Returns bytes without the NUL. */
size_t gbx_string_copy(JSStringRef text, char *to, size_t size);
JSValueRef gbx_value_of_text(JSContextRef ctx, const char *text, size_t len);
/* Like gbx_string_copy() for a value that is a string; 0 for any other. */
size_t gbx_value_copy(JSContextRef ctx, JSValueRef value, char *to, size_t size);
void gbx_string_release(JSStringRef *text);
/* The characters of a string with one byte each, for as long as the string is held;
 * NULL if it has two bytes each, or that is unknown. */
const uint8_t *gbx_string_narrow(JSStringRef text);

/* Encodings, with the numbers that the internal scripts use. */
typedef enum gbx_bytes_as {
    GBX_BYTES_UTF8,
    GBX_BYTES_UTF16LE,
    GBX_BYTES_LATIN1,
    GBX_BYTES_ASCII,
    GBX_BYTES_HEX = 6, /* for hashes; elsewhere, scripts use the engine's methods */
} gbx_bytes_as;

/* Encode a string: returns the engine's own bytes, or bytes written to room. In UTF-8,
 * an unpaired surrogate becomes U+FFFD. */
#define GBX_STRING_ROOM(units) (3 * (units) + 8)
gbx_span gbx_string_bytes(JSStringRef text, gbx_bytes_as as, uint8_t *room);
/* Bytes as a string. */
JSValueRef gbx_value_decoded(JSContextRef ctx, gbx_bytes_as as, gbx_span bytes);

/* Functions, members and scripts of the engine. */

/* The one realm of the process: the engine passes no pointer of ours to callbacks. */
gbx_realm *gbx_realm_self(void);

JSObjectRef gbx_native(JSContextRef ctx, const char *name,
                       JSObjectCallAsFunctionCallback fn);

/* The parameters of a native: few need all of them. */
#define GBX_ARGUMENTS                                                                  \
    JSContextRef ctx __attribute__((unused)),                                          \
        JSObjectRef function __attribute__((unused)),                                  \
        JSObjectRef self __attribute__((unused)), size_t argc __attribute__((unused)), \
        const JSValueRef argv[] __attribute__((unused)),                               \
        JSValueRef *exception __attribute__((unused))

typedef struct gbx_native_row {
    const char *name;
    JSObjectCallAsFunctionCallback fn;
} gbx_native_row;

/* Make them properties of an object. */
void gbx_natives_add(JSContextRef ctx, JSObjectRef to, const gbx_native_row *rows,
                     size_t count, JSPropertyAttributes attributes);

/* The bytes of a Uint8Array; empty for anything else. */
gbx_span gbx_bytes_of(JSContextRef ctx, JSValueRef value);
/* A Uint8Array of bytes from malloc(), which it owns. */
JSValueRef gbx_value_of_bytes(JSContextRef ctx, void *bytes, size_t len,
                              JSValueRef *exception);
void gbx_set(JSContextRef ctx, JSObjectRef object, const char *name, JSValueRef value,
             JSPropertyAttributes attributes);
JSObjectRef gbx_get_object(JSContextRef ctx, JSObjectRef object, const char *name);
/* The same, protected. */
JSObjectRef gbx_keep(gbx_realm *realm, JSObjectRef object, const char *name);
/* A protected array whose memory, stored at ret_memory, scripts share. */
JSObjectRef gbx_share(JSContextRef ctx, JSTypedArrayType type, size_t count,
                      void *ret_memory);
JSValueRef gbx_throw(JSContextRef ctx, const char *type, const char *message,
                     JSValueRef *exception);
/* Evaluate an internal script to its function; NULL if it throws. */
JSValueRef gbx_evaluate_script(gbx_realm *realm, const char *source);
/* The same, then call that function. */
JSObjectRef gbx_call_script(gbx_realm *realm, const char *source, size_t argc,
                            const JSValueRef argv[]);

/* ---- natives.c -------------------------------------------------------------- */

/* The functions that the internal scripts may call. */
JSObjectRef gbx_natives_new(gbx_realm *realm);

/* ---- console.c -------------------------------------------------------------- */

void gbx_console_emit(gbx_realm *realm, uint8_t level, JSStringRef text);
/* Report promises that were rejected and never handled. */
void gbx_console_rejections(gbx_realm *realm);
JSValueRef gbx_console_on_rejection(GBX_ARGUMENTS);

/* ---- timers.c --------------------------------------------------------------- */

/* Evaluate timers.js. NULL, or why that failed. */
const char *gbx_timers_make(gbx_realm *realm);
/* Remove those whose names contain part. */
void gbx_timers_remove(gbx_realm *realm, const char *part);
double gbx_timers_now(gbx_realm *realm);
/* Wait for the next timer and run it. False without timers. *exception receives an
 * exception of its callback. */
bool gbx_timers_step(gbx_realm *realm, JSValueRef *exception);

/* Milliseconds to the next timer: 0 now, -1 without timers. */
double gbx_timers_left(gbx_realm *realm);

/* ---- host.c ------------------------------------------------------------------ */

JSObjectRef gbx_host_natives(gbx_realm *realm);
void gbx_host_begin(gbx_realm *realm);
/* Reset the counters of calls after runs in the template. */
void gbx_host_forget(gbx_realm *realm);
/* Wait for an answer or the next timer, then do what is due. */
void gbx_host_wait(gbx_realm *realm, JSValueRef *exception);

/* ---- grant.c ----------------------------------------------------------------- */

/* Evaluate the scripts of these capabilities, between the steps of the lockdown, and
 * make their results global. NULL, or why one is not available. */
const char *gbx_grants_make(gbx_realm *realm, uint32_t capabilities,
                            JSObjectRef natives, JSObjectRef host);
/* Remove those that the running call may not use, helpers among them; prepare the
 * others. */
void gbx_grants_begin(gbx_realm *realm);

/* ---- helper_natives.c --------------------------------------------------------- */

/* Prepare global names beyond the language, which are made on first use. NULL, or why
 * they are not available. */
const char *gbx_helpers_make(gbx_realm *realm, JSObjectRef natives);

/* ---- preload.c --------------------------------------------------------------- */

/* Run the host's own scripts, between the two steps of the lockdown. NULL, or the
 * reason of the first failure. */
const char *gbx_preloads_run(gbx_realm *realm, const gbx_realm_setup *setup);

/* ---- crypto.c ---------------------------------------------------------------- */

/* Load what hashes need, and return it. NULL with a reason if it is not available. */
JSObjectRef gbx_crypto_natives(gbx_realm *realm, JSObjectRef common,
                               const char **ret_reason);
/* Start the call's own randomness, if the call has any. */
void gbx_crypto_begin(gbx_realm *realm, JSObjectRef made);

/* ---- forms.c ---------------------------------------------------------------- */

#define GBX_ARGS_MAX 66u /* this, params, env ... : at most 64 bindings */

typedef struct gbx_compiled {
    JSObjectRef function; /* NULL: the code has already run, with this value: */
    JSValueRef value;
    size_t argc; /* of function, `this` included */
    JSValueRef argv[GBX_ARGS_MAX];
} gbx_compiled;

/* False with *ret_error filled. */
bool gbx_compile(gbx_realm *realm, JSValueRef input, gbx_compiled *ret,
                 gbx_msg_error *ret_error);

/* ---- exception_text.c ------------------------------------------------------------- */

/* Describe an exception as text. failure is a gbx_failure. */
void gbx_describe(gbx_realm *realm, JSValueRef exception, uint8_t failure,
                  gbx_msg_error *ret);
/* The same for code that does not compile. */
void gbx_describe_syntax(gbx_realm *realm, JSValueRef exception, gbx_msg_error *ret);
/* Why text, which failed to parse, is not JSON; NULL: it was not UTF-8. */
void gbx_describe_not_json(gbx_realm *realm, JSStringRef text, gbx_msg_error *ret);
/* An error with our own text, printf-like. */
void gbx_describe_text(gbx_realm *realm, uint8_t failure, gbx_msg_error *ret,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The error of code that was not compiled: its fault. code: as the host sent it. */
void gbx_describe_fault(gbx_realm *realm, gbx_span code, gbx_msg_error *ret);
/* Explain a failure from the code: set its hint, and correct its position. */
void gbx_describe_cause(gbx_realm *realm, const gbx_given *given, gbx_msg_error *error);
/* A number stored in an own property; never calls a getter or valueOf. */
uint32_t gbx_read_count(gbx_realm *realm, JSObjectRef object, JSStringRef name);
/* The frames of the user's code, "    at f (code.js:1:2)" a line, without a final
 * newline; returns the length. Sets the position of the first one that is not of
 * classes, "\nA\nB\n" or "", or of the first; 0 if there is none. */
size_t gbx_frames(const gbx_origin *origin, const char *stack, size_t len,
                  const char *classes, char *to, size_t size, uint32_t *ret_line,
                  uint32_t *ret_column);

/* ---- interpose.c: the clock --------------------------------------------- */

/* Fix the process's wall clock at ms milliseconds since 1970. */
void gbx_wallclock_fix(double ms);
void gbx_wallclock_release(void);

/* ---- scripts, generated from the .js files ----------------------------------- */

extern const char gbx_script_lockdown[];
extern const char gbx_script_intl[];
extern const char gbx_script_preload[];
extern const char gbx_script_fetch[];
extern const char gbx_script_lazy_globals[];
extern const char gbx_script_exception[];
extern const char gbx_script_abort[];
extern const char gbx_script_text[];
extern const char gbx_script_clone[];
extern const char gbx_script_url[];
extern const char gbx_script_params[];
extern const char gbx_script_small[];
extern const char gbx_script_encodings[];
extern const char gbx_script_host[];
extern const char gbx_script_result[];
extern const char gbx_script_table[];
extern const char gbx_script_inspect[];
extern const char gbx_script_console[];
extern const char gbx_script_timers[];
extern const char gbx_script_crypto[];
extern const char gbx_script_fs[];
extern const char gbx_script_env[];

#endif
