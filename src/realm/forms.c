/* SPDX-License-Identifier: MIT */
/*
 * forms - compiles the text of a call to a function that can be called.
 *
 * The text is put between our prefix and suffix. It must not be able to close what the
 * prefix opened and continue outside it (`a) ; evil(); (b`). Otherwise code that does
 * not compile as a whole might still run in part:
 *
 *   function  `(` code `)` is evaluated only if `[` code `]` parses as well. Up to the
 *             first closing bracket that code did not open, both parse alike; that
 *             bracket would have to be `)` for one and `]` for the other. If the host's
 *             own parser has found one function, this check is not needed.
 *   body      the AsyncFunction constructor must accept the code: it accepts only the
 *   script    whole body of exactly one function. Its result is thrown away (its
 *             positions are not the caller's). eval is on only for this moment, in
 *             which no code of the guest runs. If the host's own parser has found such
 *             a body, with an await or a return of its own, the check is not needed.
 *   execute   has no suffix.
 *
 * Every prefix is on the code's own first line and begins with "use strict"; the origin
 * subtracts it from columns.
 */
#include "base/utf8.h"

#include "realm/internal.h"

#include <assert.h>
#include <glovebox/glovebox.h>
#include <stdlib.h>
#include <string.h>

#define STRICT "\"use strict\";"

/* Code and bindings come in frames far smaller than this. */
#define SOURCE_MAX GBX_MIB(16)

typedef struct source {
    gbx_realm *realm;
    gbx_span code;
    gbx_msg_error *error;
    JSValueRef exception;
    bool is_prepared; /* code is that of realm->prepared */
} source;

/* prefix, code, suffix as one string. The code is known to be UTF-8. */
static JSStringRef compose(const char *prefix, gbx_span code, const char *suffix)
{
    gbx_buf text = {.ceiling = SOURCE_MAX};
    JSStringRef made;

    gbx_buf_puts(&text, prefix);
    gbx_buf_append(&text, code.data, code.len);
    gbx_buf_puts(&text, suffix);
    if (text.failed)
        abort();
    made = gbx_string_new(text.data, text.len);
    gbx_buf_cleanup(&text);
    assert(made != NULL);
    return made;
}

/* True if the code is only compiled, not run. */
static bool is_check(const source *s)
{
    return (s->realm->in->flags & GBX_CALL_WIRE_COMPILE) != 0;
}

static bool parses(source *s, JSStringRef text);

static JSValueRef evaluate(source *s, JSStringRef text)
{
    gbx_realm *realm = s->realm;

    if (is_check(s)) {
        (void)parses(s, text);
        return JSValueMakeUndefined(realm->ctx);
    }
    s->exception = NULL;
    return JSEvaluateScript(realm->ctx, text, realm->top_this, realm->url,
                            (int)realm->origin.first_line, &s->exception);
}

static bool parses(source *s, JSStringRef text)
{
    gbx_realm *realm = s->realm;

    s->exception = NULL;
    return JSCheckScriptSyntax(realm->ctx, text, realm->url,
                               (int)realm->origin.first_line, &s->exception);
}

static bool fail_syntax(source *s)
{
    gbx_describe_syntax(s->realm, s->exception, s->error);
    return false;
}

static bool fail_thrown(source *s)
{
    gbx_describe(s->realm, s->exception, GBX_FAILURE_THROWN, s->error);
    return false;
}

static bool fail_unpaired(source *s)
{
    gbx_describe_text(s->realm, GBX_FAILURE_SYNTAX, s->error,
                      "the code closes a bracket that it did not open");
    return false;
}

/* Has a parser, the host's or ours, found exactly what the form needs? */
static bool is_known(const source *s)
{
    if (s->is_prepared)
        return s->realm->prepared.is_async;
    return (s->realm->in->flags & GBX_CALL_WIRE_PARSED) != 0;
}

static bool contains(gbx_span code, const char *word)
{
    return code.len > 0 && memmem(code.data, code.len, word, strlen(word)) != NULL;
}

/* ---- function --------------------------------------------------------------- */

static const char *kind_of(JSContextRef ctx, JSValueRef value)
{
    switch (JSValueGetType(ctx, value)) {
    case kJSTypeUndefined: return "undefined";
    case kJSTypeNull: return "null";
    case kJSTypeBoolean: return "a boolean";
    case kJSTypeNumber: return "a number";
    case kJSTypeString: return "a string";
    case kJSTypeSymbol: return "a symbol";
    case kJSTypeObject: return JSValueIsArray(ctx, value) ? "an array" : "an object";
    case kJSTypeBigInt: break;
    }
    return "a bigint";
}

static bool take_function(source *s, JSValueRef value, gbx_compiled *ret)
{
    JSContextRef ctx = s->realm->ctx;

    ret->value = value;
    if (is_check(s))
        return true;
    if (!JSValueIsObject(ctx, value) || !JSObjectIsFunction(ctx, gbx_object(value))) {
        gbx_describe_text(
            s->realm, GBX_FAILURE_BAD_FORM, s->error,
            "the code must be one function, such as (data) => data.length;"
            " it is %s",
            kind_of(ctx, value));
        return false;
    }
    ret->function = gbx_object(value);
    return true;
}

static bool compile_function(source *s, gbx_compiled *ret)
{
    static const char open[] = STRICT "(";
    JSStringRef list = is_known(s) ? NULL : compose(STRICT "[", s->code, "\n]");
    JSStringRef text = compose(open, s->code, "\n)");
    JSValueRef value = NULL;
    bool ok = false;

    s->realm->origin.prefix = sizeof open - 1;
    if (list == NULL || parses(s, list)) {
        value = evaluate(s, text);
        if (s->exception == NULL) {
            ok = take_function(s, value, ret);
        } else {
            JSValueRef thrown = s->exception;

            /* Empty code or a spread parses in a list but is not an expression. */
            if (parses(s, text)) {
                s->exception = thrown;
                fail_thrown(s);
            } else {
                fail_syntax(s);
            }
        }
    } else if (parses(s, text)) {
        fail_unpaired(s);
    } else {
        fail_syntax(s);
    }
    gbx_string_release(&list);
    JSStringRelease(text);
    return ok;
}

/* ---- execute ------------------------------------------------------------------ */

/* A function declaration is a property of the global object; a const is not. */
static JSValueRef find_defined(gbx_realm *realm, JSStringRef name)
{
    JSValueRef value = JSEvaluateScript(realm->ctx, name, NULL, NULL, 1, NULL);

    if (value == NULL || !JSValueIsObject(realm->ctx, value) ||
        !JSObjectIsFunction(realm->ctx, gbx_object(value)))
        return NULL;
    return value;
}

static bool compile_execute(source *s, gbx_compiled *ret)
{
    JSStringRef text = compose(STRICT, s->code, "");
    bool ok = false;

    s->realm->origin.prefix = sizeof STRICT - 1;
    if (!parses(s, text)) {
        fail_syntax(s);
    } else {
        evaluate(s, text);
        ok = s->exception == NULL || fail_thrown(s);
    }
    JSStringRelease(text);
    ret->value = JSValueMakeUndefined(s->realm->ctx);
    if (!ok || is_check(s))
        return ok;
    ret->function = gbx_object(find_defined(s->realm, s->realm->n_execute));
    if (ret->function == NULL)
        ret->function = gbx_object(find_defined(s->realm, s->realm->n_run));
    if (ret->function != NULL)
        return true;
    gbx_describe_text(s->realm, GBX_FAILURE_BAD_FORM, s->error,
                      "the code must define a function named execute or run");
    return false;
}

/* ---- body and script: one async function ---------------------------------------- */

/* Is body, on its own, the body of an async function with these parameters? */
static bool is_async_body(source *s, const char *params, gbx_span body)
{
    gbx_realm *realm = s->realm;
    JSStringRef text = compose(STRICT, body, "");
    JSValueRef args[] = {gbx_value_of_text(realm->ctx, params, strlen(params)),
                         JSValueMakeString(realm->ctx, text)};

    JSStringRelease(text);
    s->exception = NULL;
    JSGlobalContextSetEvalEnabled(realm->ctx, true, realm->eval_off);
    JSObjectCallAsFunction(realm->ctx, realm->async_function, NULL, 2, args,
                           &s->exception);
    JSGlobalContextSetEvalEnabled(realm->ctx, false, realm->eval_off);
    return s->exception == NULL;
}

static bool compile_async(source *s, const char *params, gbx_span body,
                          gbx_compiled *ret)
{
    gbx_buf open = {.ceiling = SOURCE_MAX};
    JSStringRef text;
    JSValueRef value = NULL;
    bool ok;

    gbx_buf_puts(&open, STRICT "(async function(");
    gbx_buf_puts(&open, params);
    gbx_buf_append(&open, "){", sizeof "){");
    if (open.failed)
        abort();
    s->realm->origin.prefix =
        (uint32_t)gbx_utf16_units((const char *)open.data, open.len - 1);
    text = compose((const char *)open.data, body, "\n})");
    gbx_buf_cleanup(&open);
    ok = is_known(s) || is_async_body(s, params, body);
    if (ok)
        value = evaluate(s, text);
    else if (parses(s, text))
        fail_unpaired(s);
    else
        fail_syntax(s);
    JSStringRelease(text);
    if (ok && s->exception != NULL)
        return fail_syntax(s);
    return ok && take_function(s, value, ret);
}

static bool bad_binding(source *s, const char *name, const char *why)
{
    gbx_describe_text(s->realm, GBX_FAILURE_BAD_FORM, s->error,
                      "the binding '%s' cannot be a variable: %s", name, why);
    return false;
}

/* True if name can be a parameter of strict async code. */
static bool is_name(source *s, JSStringRef name, const char *text)
{
    JSContextRef ctx = s->realm->ctx;
    JSValueRef value = JSValueMakeString(ctx, name);
    JSValueRef yes =
        JSObjectCallAsFunction(ctx, s->realm->is_identifier, NULL, 1, &value, NULL);
    gbx_span as_parameter = gbx_span_of(text);
    JSStringRef function;
    bool ok;

    if (yes == NULL || !JSValueToBoolean(ctx, yes))
        return false;
    function = compose(STRICT "(async function(", as_parameter, "){})");
    ok = parses(s, function);
    JSStringRelease(function);
    return ok;
}

/* Add one binding: to the parameters' text and to the arguments. */
static bool bind(source *s, JSObjectRef bindings, JSStringRef name, gbx_buf *params,
                 gbx_compiled *ret)
{
    JSValueRef value = JSObjectGetProperty(s->realm->ctx, bindings, name, NULL);
    char text[256];

    gbx_string_copy(name, text, sizeof text);
    if (JSStringIsEqual(name, s->realm->n_params)) {
        ret->argv[1] = value;
        return true;
    }
    if (JSStringIsEqual(name, s->realm->n_env)) {
        ret->argv[2] = value;
        return true;
    }
    if (strlen(text) + 8 > sizeof text)
        return bad_binding(s, text, "the name is too long");
    if (!is_name(s, name, text))
        return bad_binding(s, text, "it is not a name, or a reserved word");
    if (ret->argc == GBX_ARGS_MAX)
        return bad_binding(s, text, "there are too many");
    gbx_buf_puts(params, ",");
    gbx_buf_puts(params, text);
    ret->argv[ret->argc++] = value;
    return true;
}

static bool bind_all(source *s, gbx_span json, gbx_buf *params, gbx_compiled *ret)
{
    JSContextRef ctx = s->realm->ctx;
    JSStringRef text = gbx_string_new(json.data, json.len);
    JSValueRef bindings = text != NULL ? JSValueMakeFromJSONString(ctx, text) : NULL;
    JSPropertyNameArrayRef names;
    bool ok = true;

    gbx_string_release(&text);
    if (bindings == NULL || !JSValueIsObject(ctx, bindings) ||
        JSValueIsArray(ctx, bindings)) {
        gbx_describe_text(s->realm, GBX_FAILURE_INPUT, s->error,
                          "the bindings are not a JSON object");
        return false;
    }
    names = JSObjectCopyPropertyNames(ctx, gbx_object(bindings));
    for (size_t i = 0; ok && i < JSPropertyNameArrayGetCount(names); i++)
        ok = bind(s, gbx_object(bindings), JSPropertyNameArrayGetNameAtIndex(names, i),
                  params, ret);
    JSPropertyNameArrayRelease(names);
    return ok;
}

static bool compile_body(source *s, JSValueRef input, gbx_compiled *ret)
{
    const gbx_msg_call *call = s->realm->in;
    gbx_buf params = {.ceiling = GBX_KIB(64)};
    bool ok = true;

    gbx_buf_puts(&params, "params,env");
    ret->argv[1] = input;
    ret->argv[2] =
        s->realm->env != NULL ? s->realm->env : JSObjectMake(s->realm->ctx, NULL, NULL);
    ret->argc = 3;
    if (call->bindings.len > 0)
        ok = bind_all(s, call->bindings, &params, ret);
    gbx_buf_append(&params, "", 1);
    assert(!params.failed);
    ok = ok && compile_async(s, (const char *)params.data, s->code, ret);
    gbx_buf_cleanup(&params);
    return ok;
}

/* `await` as a variable name is legal in a script but never intended: `await (x)`
 * would call it. In a static block the word is reserved, so both uses fail to parse. */
static bool uses_await(source *s)
{
    JSStringRef text;
    bool used;

    if (!contains(s->code, "await"))
        return false;
    text = compose(STRICT "class C{static{", s->code, "\n}}");
    used = !parses(s, text);
    JSStringRelease(text);
    return used;
}

static void put_hidden(JSContextRef ctx, JSObjectRef object, JSStringRef name,
                       JSValueRef value)
{
    if (!JSObjectHasProperty(ctx, object, name))
        JSObjectSetProperty(ctx, object, name, value, kJSPropertyAttributeDontEnum,
                            NULL);
}

/*
 * A script finds each dataset as a global. The dataset that the call names also is its
 * own member: models write data.orders and ({ orders }) => as if data held all.
 */
static void name_datasets(source *s)
{
    gbx_realm *realm = s->realm;
    JSContextRef ctx = realm->ctx;
    JSPropertyNameArrayRef names = JSObjectCopyPropertyNames(ctx, realm->datasets);

    for (size_t i = 0; i < JSPropertyNameArrayGetCount(names); i++) {
        JSStringRef name = JSPropertyNameArrayGetNameAtIndex(names, i);
        JSValueRef value = JSObjectGetProperty(ctx, realm->datasets, name, NULL);
        char text[GBX_NAME_MAX + 4];

        gbx_string_copy(name, text, sizeof text);
        if (!contains(s->code, text))
            continue;
        put_hidden(ctx, realm->global, name, value);
        if (realm->data != NULL && JSValueIsObject(ctx, value) &&
            JSValueIsStrictEqual(ctx, value, realm->data))
            put_hidden(ctx, gbx_object(value), name, value);
    }
    JSPropertyNameArrayRelease(names);
}

/*
 * Without await and return at the top level, the engine's completion value is the
 * script's value, blocks included. Otherwise the code is the body of an async function;
 * gbx_prepare() has put a return before its last expression.
 */
static bool compile_script(source *s, JSValueRef input, gbx_compiled *ret)
{
    static const char open[] = STRICT "void 0;"; /* else the directive is the value */
    gbx_realm *realm = s->realm;
    JSStringRef text = compose(open, s->code, "");
    bool plain;

    if ((realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) != 0 ||
        realm->only_dataset != NULL || realm->data != NULL)
        JSObjectSetProperty(realm->ctx, realm->global, realm->input_name, input,
                            kJSPropertyAttributeDontEnum, NULL);
    if (realm->data != NULL)
        gbx_set(realm->ctx, realm->global, "data", realm->data,
                kJSPropertyAttributeDontEnum);
    if (realm->datasets != NULL)
        name_datasets(s);
    realm->origin.prefix = sizeof open - 1;
    plain = !is_known(s) && parses(s, text) && !uses_await(s);
    if (plain)
        ret->value = evaluate(s, text);
    else if (!contains(s->code, "await") && !contains(s->code, "return"))
        fail_syntax(s);
    JSStringRelease(text);
    /* If a dataset is given and the script ends in a function, that is the code. */
    if (plain && s->exception == NULL && realm->data != NULL &&
        JSValueIsObject(realm->ctx, ret->value) &&
        JSObjectIsFunction(realm->ctx, gbx_object(ret->value)))
        ret->function = gbx_object(ret->value);
    if (plain)
        return s->exception == NULL || fail_thrown(s);
    if (!contains(s->code, "await") && !contains(s->code, "return"))
        return false;
    return compile_async(s, "", s->code, ret);
}

static bool compile(source *s, JSValueRef input, gbx_compiled *ret)
{
    gbx_realm *realm = s->realm;

    ret->function = NULL;
    ret->value = NULL;
    ret->argv[0] = JSValueMakeUndefined(realm->ctx);
    ret->argv[1] = input;
    ret->argc = 2;
    if (realm->data != NULL) {
        ret->argv[1] = realm->data;
        ret->argv[2] = input; /* missing, so that a default value applies */
        ret->argc = (realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) != 0 ? 3 : 2;
    }
    switch ((gbx_form)realm->in->form) {
    case GBX_FORM_FUNCTION: return compile_function(s, ret);
    case GBX_FORM_EXECUTE: return compile_execute(s, ret);
    case GBX_FORM_BODY: return compile_body(s, input, ret);
    case GBX_FORM_SCRIPT: return compile_script(s, input, ret);
    }
    gbx_describe_text(realm, GBX_FAILURE_BAD_FORM, s->error, "no such form of code");
    return false;
}

/* The arguments with which the code's function is called, as source text. */
static const char *arguments_of(const gbx_realm *realm)
{
    bool has_input = (realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) != 0;

    if (realm->in->form == GBX_FORM_BODY)
        return "params, env";
    if (realm->data != NULL)
        return "data, input";
    return has_input || realm->only_dataset != NULL ? "input ?? undefined"
                                                    : "undefined";
}

/* Remove types and find a script's value. s->code changes if there is anything to
 * change. False if the code cannot run. */
static bool prepare(source *s)
{
    gbx_realm *realm = s->realm;
    gbx_prepared_code *made = &realm->prepared;

    if (!gbx_prepare((const char *)s->code.data, s->code.len,
                     realm->origin.first_column - 1, (gbx_form)realm->in->form,
                     arguments_of(realm), made))
        abort();
    if (made->fault != GBX_HINT_NONE) {
        gbx_describe_fault(realm, s->code, s->error);
        return false;
    }
    if (!made->is_changed && realm->in->form != GBX_FORM_SCRIPT)
        return true;
    s->code = (gbx_span){(const uint8_t *)made->code, made->code_len};
    s->is_prepared = true;
    realm->origin.inserts = made->inserts;
    realm->origin.insert_count = made->insert_count;
    return true;
}

bool gbx_compile(gbx_realm *realm, JSValueRef input, gbx_compiled *ret,
                 gbx_msg_error *ret_error)
{
    source s = {.realm = realm, .code = realm->in->code, .error = ret_error};

    if (!gbx_utf8_valid(s.code.data, s.code.len, NULL)) {
        gbx_describe_text(realm, GBX_FAILURE_SYNTAX, ret_error,
                          "the code is not UTF-8");
        return false;
    }
    if (realm->in->form == GBX_FORM_SCRIPT ||
        gbx_may_be_generic((const char *)s.code.data, s.code.len))
        return prepare(&s) && compile(&s, input, ret);
    if (compile(&s, input, ret))
        return true;
    if (ret_error->failure != GBX_FAILURE_SYNTAX)
        return false;
    /* It may be TypeScript, or a module. */
    return prepare(&s) && s.is_prepared && compile(&s, input, ret);
}
