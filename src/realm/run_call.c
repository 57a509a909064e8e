/* SPDX-License-Identifier: MIT */
/*
 * run_call - runs one call, from its message to its outcome.
 *
 * Everything that could be done in the template was done there. A gbx_failure depends
 * on the order of the steps: input, then compiling, then running, then waiting, then
 * serialising.
 */
#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "realm/internal.h"

#include <assert.h>
#include <ctype.h>
#include <glovebox/glovebox.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Serialises a value as JSON, with the engine's own serialiser, within a limit.
 *
 * The serialiser is native: a guest's JSON.stringify has no effect. Getters, toJSON and
 * proxies of the value do run, under the host's deadline, and what they throw is their
 * own exception; explain() of result.js identifies what JSON cannot hold.
 */

/* The words are the host's own (engine/verdict.c). */
static bool too_large(gbx_realm *realm, uint64_t limit, gbx_msg_error *ret_error)
{
    gbx_describe_text(realm, GBX_FAILURE_OUTPUT, ret_error,
                      "the result is larger than the output limit of %llu bytes",
                      (unsigned long long)limit);
    return false;
}

/*
 * The serialiser needs several times the room of its text. If memory ran out, the
 * result may have been over its own limit anyway. A UTF-16 unit is at least one byte.
 */
static size_t least_bytes(gbx_realm *realm, JSValueRef value, uint64_t limit)
{
    JSValueRef args[] = {value, JSValueMakeNumber(realm->ctx, (double)limit)};
    JSValueRef units =
        JSObjectCallAsFunction(realm->ctx, realm->least_units, NULL, 2, args, NULL);

    return units != NULL ? (size_t)JSValueToNumber(realm->ctx, units, NULL) : 0;
}

/* JSON text is well-formed UTF-16, so the engine's own encoder is safe. */
static bool encode(gbx_realm *realm, JSStringRef json, uint64_t limit,
                   gbx_msg_result *ret, gbx_msg_error *ret_error)
{
    size_t length = JSStringGetLength(json);
    size_t most = JSStringGetMaximumUTF8CStringSize(json);
    size_t size = sizeof realm->small;
    char *to = realm->small;
    size_t used;

    if (length > limit)
        return too_large(realm, limit, ret_error);
    if (most > size) {
        /* Text is mostly ASCII: get more room only if needed. */
        size = length + 64;
        to = realm->large = malloc(size);
        if (to == NULL)
            abort();
        used = JSStringGetUTF8CString(json, to, size);
        if (used != length + 1) {
            free(to);
            size = most < limit + 8 ? most : (size_t)limit + 8;
            to = realm->large = malloc(size);
            if (to == NULL)
                abort();
            used = JSStringGetUTF8CString(json, to, size);
        }
    } else {
        used = JSStringGetUTF8CString(json, to, size);
    }
    if (used - 1 > limit)
        return too_large(realm, limit, ret_error);
    ret->is_undefined = 0;
    ret->json = (gbx_span){(const uint8_t *)to, used - 1};
    return true;
}

/* Fail with the reason from `explain`; without one, the guest's code threw. */
static bool refuse(gbx_realm *realm, JSValueRef value, JSObjectRef explain,
                   JSValueRef exception, gbx_msg_error *ret_error)
{
    JSValueRef args[] = {value, exception};
    JSValueRef why;

    why = JSObjectCallAsFunction(realm->ctx, explain, NULL, exception != NULL ? 2 : 1,
                                 args, NULL);
    if (!gbx_cell_is_oom(&realm->cells, realm->ctx, exception) && why != NULL &&
        JSValueIsString(realm->ctx, why)) {
        char text[1024];

        gbx_value_copy(realm->ctx, why, text, sizeof text);
        gbx_describe_text(realm, GBX_FAILURE_NOT_JSON, ret_error, "%s", text);
    } else {
        gbx_describe(realm, exception, GBX_FAILURE_THROWN, ret_error);
    }
    return false;
}

/* Report what silently became null or {} as a console line, if the call has a
 * console. */
static void tell_lost(gbx_realm *realm, JSValueRef value, gbx_span json)
{
    JSValueRef why;
    JSStringRef text;

    if ((realm->in->capabilities & GBX_CAP_CONSOLE) == 0 ||
        (memmem(json.data, json.len, "null", 4) == NULL &&
         memmem(json.data, json.len, "{}", 2) == NULL))
        return;
    why =
        JSObjectCallAsFunction(realm->ctx, realm->explain_lost, NULL, 1, &value, NULL);
    if (why == NULL || !JSValueIsString(realm->ctx, why))
        return;
    text = JSValueToStringCopy(realm->ctx, why, NULL);
    gbx_console_emit(realm, GBX_LOG_WARN, text);
    JSStringRelease(text);
}

/* Restore the digits that integers beyond 2^53 - 1 have lost as Numbers, if a preload
 * has left a function for it. */
static bool restore_digits(gbx_realm *realm, uint64_t limit, gbx_msg_result *ret,
                           gbx_msg_error *ret_error)
{
    JSValueRef text;
    JSStringRef json;
    bool ok;

    if (realm->preload_result == NULL ||
        !gbx_json_has_digits((const char *)ret->json.data, ret->json.len))
        return true;
    text = gbx_value_of_text(realm->ctx, (const char *)ret->json.data, ret->json.len);
    text =
        JSObjectCallAsFunction(realm->ctx, realm->preload_result, NULL, 1, &text, NULL);
    if (text == NULL || !JSValueIsString(realm->ctx, text))
        return true;
    json = JSValueToStringCopy(realm->ctx, text, NULL);
    free(realm->large);
    realm->large = NULL;
    ok = encode(realm, json, limit, ret, ret_error);
    JSStringRelease(json);
    return ok;
}

/* Serialise within limit bytes. False with *ret_error filled. */
static bool gbx_serialise(gbx_realm *realm, JSValueRef value, uint64_t limit,
                          gbx_msg_result *ret, gbx_msg_error *ret_error)
{
    JSContextRef ctx = realm->ctx;
    JSValueRef exception = NULL;
    JSStringRef json;
    bool ok;

    if (JSValueIsUndefined(ctx, value)) {
        *ret = (gbx_msg_result){.is_undefined = 1};
        return true;
    }
    if (JSValueIsSymbol(ctx, value))
        return refuse(realm, value, realm->explain_top, NULL, ret_error);
    realm->control[0] = 1;
    json = JSValueCreateJSONString(ctx, value, 0, &exception);
    realm->control[0] = 0;
    if (json == NULL && gbx_cell_is_oom(&realm->cells, ctx, exception) &&
        least_bytes(realm, value, limit) > limit)
        return too_large(realm, limit, ret_error);
    if (json == NULL && exception != NULL)
        return refuse(realm, value, realm->explain, exception, ret_error);
    if (json == NULL) {
        /* A function, or an object whose toJSON returned undefined. */
        if (JSObjectIsFunction(ctx, gbx_object(value)))
            return refuse(realm, value, realm->explain_top, NULL, ret_error);
        *ret = (gbx_msg_result){.is_undefined = 1};
        return true;
    }
    ok = encode(realm, json, limit, ret, ret_error) &&
         restore_digits(realm, limit, ret, ret_error);
    JSStringRelease(json);
    if (ok)
        tell_lost(realm, value, ret->json);
    return ok;
}

static void seed_random(uint32_t *state, uint64_t seed)
{
    for (int i = 0; i < 4; i += 2) {
        uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */

        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
        state[i] = (uint32_t)z;
        state[i + 1] = (uint32_t)(z >> 32);
    }
    state[3] |= (state[0] | state[1] | state[2] | state[3]) == 0;
}

static void begin(gbx_realm *realm, const gbx_msg_call *call,
                  const gbx_realm_host *host)
{
    realm->in = call;
    realm->host = host;
    realm->log_left = call->log_bytes + GBX_LOG_LINE_COST; /* the first line is free */
    realm->log_ended = false;
    realm->promise = NULL;
    realm->data = NULL;
    while (realm->rejected_count > 0) { /* from a warming run in the template */
        realm->rejected_count--;
        for (int i = 0; i < 2; i++)
            JSValueUnprotect(realm->ctx, realm->rejected[realm->rejected_count][i]);
    }
    realm->origin = (gbx_origin){
        .url = GBX_CODE_URL,
        .first_line = call->first_line > 0 ? call->first_line : 1,
        .first_column = call->first_column > 0 ? call->first_column : 1,
    };
    seed_random(realm->seed, call->seed);
    realm->virtual_ms = 0;
    if ((call->flags & GBX_CALL_WIRE_FIXED_NOW) != 0)
        gbx_wallclock_fix((double)call->now_ms);
    if ((call->capabilities & GBX_CAP_TIMERS) == 0)
        gbx_timers_remove(realm, "");
    if ((call->capabilities & GBX_CAP_CONSOLE) == 0)
        JSObjectDeleteProperty(realm->ctx, realm->global, realm->n_console, NULL);
    gbx_grants_begin(realm);
    gbx_host_begin(realm);
    if (call->dataset.len >
        0) { /* a call over data, in an engine that other scripts share */
        realm->preload_input = realm->preload_result = NULL;
        realm->has_servers = false;
    }
}

/* True if the code may have a number beyond 2^53 - 1: 16 digits, or an exponent. */
static bool may_have_digits(gbx_span code)
{
    size_t run = 0; /* characters that began with a digit */

    for (size_t i = 0; i < code.len; i++) {
        const uint8_t *at = code.data + i;
        uint8_t c = at[0];
        /* Of an exponent that may lead beyond 2^53 - 1. */
        bool is_exponent =
            code.len - i > 2 && (c | 0x20) == 'e' &&
            (at[1] == '+' || (isdigit(at[1]) != 0 && isdigit(at[2]) != 0));

        if (run > 0 && is_exponent)
            return true;
        run =
            isdigit(c) != 0 || (run > 0 && (isalnum(c) != 0 || c == '_')) ? run + 1 : 0;
        if (run == 16)
            return true;
    }
    return false;
}

/* Read the input with the function that a preload has left for integers beyond
 * 2^53 - 1. NULL: no such function, no such integer, or the text is not JSON. */
static JSValueRef read_digits(gbx_realm *realm, JSStringRef text)
{
    gbx_span code = realm->in->code;
    gbx_span input = realm->in->input;
    JSValueRef args[2];

    if (realm->preload_input == NULL || text == NULL ||
        (!may_have_digits(code) &&
         !gbx_json_has_digits((const char *)input.data, input.len)))
        return NULL;
    args[0] = gbx_value_of_text(realm->ctx, (const char *)code.data, code.len);
    args[1] = JSValueMakeString(realm->ctx, text);
    return JSObjectCallAsFunction(realm->ctx, realm->preload_input, NULL, 2, args,
                                  NULL);
}

static bool read_input(gbx_realm *realm, JSValueRef *ret, gbx_msg_error *ret_error)
{
    gbx_span in = realm->in->input;
    bool ends = in.len >= GBX_REALM_LARGE_INPUT && in.data[in.len] == 0;
    JSStringRef text;

    if ((realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) == 0) {
        *ret = realm->only_dataset != NULL ? realm->only_dataset
                                           : JSValueMakeNull(realm->ctx);
        return true;
    }
    text = ends ? gbx_string_lent((const char *)in.data, in.len)
                : gbx_string_new(in.data, in.len);
    *ret = read_digits(realm, text);
    if (*ret == NULL && text != NULL)
        *ret = JSValueMakeFromJSONString(realm->ctx, text);
    if (*ret == NULL)
        gbx_describe_not_json(realm, text, ret_error);
    gbx_string_release(&text);
    return *ret != NULL;
}

/* Find the dataset that the call names, and read the input, if any. */
static bool read_data(gbx_realm *realm, JSValueRef *ret, gbx_msg_error *ret_error)
{
    gbx_span name = realm->in->dataset;
    JSStringRef key;

    if (name.len == 0)
        return read_input(realm, ret, ret_error);
    key = gbx_string_new(name.data, name.len);
    if (realm->datasets != NULL && name.len == 1 && name.data[0] == '*')
        realm->data = realm->datasets;
    else if (realm->datasets != NULL && key != NULL &&
             JSObjectHasProperty(realm->ctx, realm->datasets, key))
        realm->data = JSObjectGetProperty(realm->ctx, realm->datasets, key, NULL);
    gbx_string_release(&key);
    if (realm->data == NULL) {
        gbx_describe_text(realm, GBX_FAILURE_INPUT, ret_error, "unknown dataset");
        return false;
    }
    *ret = JSValueMakeUndefined(realm->ctx);
    return (realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) == 0 ||
           read_input(realm, ret, ret_error);
}

/* A promise, or anything else with a function named then. */
static bool is_thenable(gbx_realm *realm, JSValueRef value)
{
    JSValueRef exception = NULL;
    JSValueRef then;

    if (!JSValueIsObject(realm->ctx, value))
        return false;
    then =
        JSObjectGetProperty(realm->ctx, gbx_object(value), realm->n_then, &exception);
    /* `await` will throw the exception of a getter again. */
    return exception != NULL || (JSValueIsObject(realm->ctx, then) &&
                                 JSObjectIsFunction(realm->ctx, gbx_object(then)));
}

/*
 * The engine runs all jobs before each call into it returns. A promise that is pending
 * then waits for the host, for a timer, or for nothing.
 */
static bool settle(gbx_realm *realm, JSValueRef *value, gbx_msg_error *ret_error)
{
    JSContextRef ctx = realm->ctx;
    JSObjectRef state =
        gbx_object(JSObjectCallAsFunction(ctx, realm->pending, NULL, 0, NULL, NULL));
    JSValueRef args[] = {*value, state};
    JSValueRef exception = NULL;

    JSObjectCallAsFunction(ctx, realm->watch, NULL, 2, args, &exception);
    for (;;) {
        JSValueRef status;

        if (exception != NULL) {
            gbx_describe(realm, exception, GBX_FAILURE_THROWN, ret_error);
            return false;
        }
        status = JSObjectGetProperty(ctx, state, realm->n_status, NULL);
        if (JSValueToNumber(ctx, status, NULL) != 0) {
            *value = JSObjectGetProperty(ctx, state, realm->n_value, NULL);
            if (JSValueToNumber(ctx, status, NULL) == 1)
                return true;
            gbx_describe(realm, *value, GBX_FAILURE_THROWN, ret_error);
            return false;
        }
        if (realm->host_open > 0) {
            gbx_host_wait(realm, &exception);
        } else if (!gbx_timers_step(realm, &exception)) {
            gbx_describe_text(realm, GBX_FAILURE_NEVER, ret_error,
                              "the promise can never settle: nothing is left that "
                              "could resolve it");
            return false;
        }
    }
}

static bool call_it(gbx_realm *realm, JSValueRef input, JSValueRef *ret,
                    gbx_msg_error *ret_error)
{
    gbx_compiled code;
    JSValueRef exception = NULL;

    if (!gbx_compile(realm, input, &code, ret_error))
        return false;
    *ret = code.value;
    if (code.function == NULL)
        return true;
    *ret = JSObjectCallAsFunction(realm->ctx, realm->call, code.function, code.argc,
                                  code.argv, &exception);
    if (exception == NULL)
        return true;
    gbx_describe(realm, exception, GBX_FAILURE_THROWN, ret_error);
    return false;
}

#define SUSPECT_MAX 4096 /* bytes of a value that are searched */
#define SHORT_CODE  4096
#define FIELDS_MAX  512 /* of the data that a misspelling is compared with */

typedef enum doubt_kind {
    NO_DOUBT,
    SOME_DOUBT,  /* a member is 0, null or empty */
    GREAT_DOUBT, /* nothing else is in the value */
} doubt_kind;

/* How much the value looks as if a part is missing. */
static doubt_kind doubt_of(const gbx_msg_result *result)
{
    static const char *const parts[] = {":null", "[null", ",null",
                                        ":0,",   ":0}",   ":[]",
                                        ":{}",   "{}",    "\"undefined\""};
    const char *json = (const char *)result->json.data;
    size_t len = result->json.len < SUSPECT_MAX ? result->json.len : SUSPECT_MAX;
    size_t empty = 0; /* bytes of 0, null, [], {} and "" */

    while (empty < len && strchr("0nul[]{}\",", json[empty]) != NULL)
        empty++;
    if (result->is_undefined != 0 || empty == result->json.len)
        return GREAT_DOUBT;
    for (size_t i = 0; i < GBX_COUNTOF(parts); i++)
        if (memmem(json, len, parts[i], strlen(parts[i])) != NULL)
            return SOME_DOUBT;
    return NO_DOUBT;
}

/* Set realm->name to the field, from found[1] on, that is nearest to name; else "". */
static void copy_nearest(gbx_realm *realm, JSObjectRef found, const char *name)
{
    static char texts[FIELDS_MAX][GBX_NEAREST_WORD_MAX + 4];
    const char *fields[FIELDS_MAX];
    const char *nearest;
    size_t count = 0;

    for (unsigned i = 1; count < FIELDS_MAX; i++) {
        JSValueRef value = JSObjectGetPropertyAtIndex(realm->ctx, found, i, NULL);

        if (!JSValueIsString(realm->ctx, value))
            break;
        if (gbx_value_copy(realm->ctx, value, texts[count], sizeof texts[0]) <=
            GBX_NEAREST_WORD_MAX) {
            fields[count] = texts[count];
            count++;
        }
    }
    nearest = gbx_nearest_name(name, fields, count);
    (void)snprintf(realm->name, sizeof realm->name, "%s",
                   nearest != NULL ? nearest : "");
}

/* List what the code may have read: datasets, its input (data; or NULL), and results of
 * calls. Returns how many; 0 if results were not all kept. */
static size_t find_sources(gbx_realm *realm, JSValueRef data, JSValueRef ret[3])
{
    size_t count = 0;

    if (realm->datasets != NULL)
        ret[count++] = realm->datasets;
    if (data != NULL && JSValueIsObject(realm->ctx, data))
        ret[count++] = data;
    if (realm->host_answers == 0)
        return count;
    ret[count] =
        JSObjectCallAsFunction(realm->ctx, realm->answered, NULL, 0, NULL, NULL);
    return ret[count] != NULL && JSValueIsObject(realm->ctx, ret[count]) ? count + 1
                                                                         : 0;
}

/* The code without types. */
static gbx_span plain_code(const gbx_realm *realm)
{
    return realm->prepared.plain != NULL
               ? (gbx_span){(const uint8_t *)realm->prepared.plain,
                            realm->prepared.plain_len}
               : realm->in->code;
}

/* Find a member that the code reads but nothing has: it got undefined, no error. */
static void find_missing_field(gbx_realm *realm, JSValueRef data, doubt_kind doubt,
                               gbx_msg_result *ret)
{
    gbx_span code = plain_code(realm);
    gbx_member members[GBX_MEMBERS_MAX];
    JSValueRef names[GBX_MEMBERS_MAX];
    size_t count = gbx_members_find((const char *)code.data, code.len, members);
    char name[GBX_NEAREST_WORD_MAX + 1];
    JSValueRef args[2], all[3], found, index;
    size_t given = count > 0 ? find_sources(realm, data, all) : 0;
    const gbx_member *missing;

    if (given == 0)
        return;

    for (size_t i = 0; i < count; i++)
        names[i] =
            gbx_value_of_text(realm->ctx, (const char *)code.data + members[i].start,
                              members[i].end - members[i].start);
    args[0] = JSObjectMakeArray(realm->ctx, count, names, NULL);
    args[1] = JSObjectMakeArray(realm->ctx, given, all, NULL);
    found =
        JSObjectCallAsFunction(realm->ctx, realm->missing_field, NULL, 2, args, NULL);
    if (found == NULL || !JSValueIsObject(realm->ctx, found))
        return;
    index = JSObjectGetPropertyAtIndex(realm->ctx, gbx_object(found), 0, NULL);
    missing =
        &members[(size_t)JSValueToNumber(realm->ctx, index, NULL) % GBX_MEMBERS_MAX];
    if (missing->end - missing->start >= sizeof name)
        return;
    memcpy(name, code.data + missing->start, missing->end - missing->start);
    name[missing->end - missing->start] = 0;
    copy_nearest(realm, gbx_object(found), name);
    /* An input or a result may lack what is optional; a dataset's records rarely do. */
    if (realm->name[0] == 0 && realm->datasets == NULL &&
        (realm->host_answers == 0 || doubt < GREAT_DOUBT))
        return;
    ret->hint =
        realm->host_answers > 0 ? GBX_HINT_MISSING_MEMBER : GBX_HINT_MISSING_FIELD;
    ret->start = missing->start;
    ret->end = missing->end;
    ret->field = gbx_span_of(realm->name);
}

/* ---- what the code was given ----------------------------------------------------- */

/* True if no result of a call has a member of that name. */
static bool gave_no(gbx_realm *realm, JSValueRef answers, const char *member)
{
    JSValueRef name = gbx_value_of_text(realm->ctx, member, strlen(member));
    JSValueRef args[] = {JSObjectMakeArray(realm->ctx, 1, &name, NULL), answers};
    JSValueRef found =
        JSObjectCallAsFunction(realm->ctx, realm->missing_field, NULL, 2, args, NULL);

    return found != NULL && JSValueIsObject(realm->ctx, found);
}

static bool has_plain_results(gbx_realm *realm)
{
    JSValueRef answers =
        realm->host_answers > 0
            ? JSObjectCallAsFunction(realm->ctx, realm->answered, NULL, 0, NULL, NULL)
            : NULL;

    return answers != NULL && JSValueIsObject(realm->ctx, answers) &&
           gave_no(realm, answers, "content") &&
           gave_no(realm, answers, "structuredContent");
}

#define DATASETS_BYTES GBX_KIB(20) /* of the names of as many as `compute` takes */

static const char *names_of_datasets(gbx_realm *realm)
{
    static char names[DATASETS_BYTES];
    JSPropertyNameArrayRef list;
    size_t len = 0;

    if (realm->datasets == NULL)
        return NULL;
    list = JSObjectCopyPropertyNames(realm->ctx, realm->datasets);
    for (size_t i = 0;
         i < JSPropertyNameArrayGetCount(list) && len + GBX_NAME_MAX < sizeof names;
         i++) {
        len += JSStringGetUTF8CString(JSPropertyNameArrayGetNameAtIndex(list, i),
                                      names + len, GBX_NAME_MAX);
        names[len - 1] = ' ';
    }
    names[len > 0 ? len - 1 : 0] = 0;
    JSPropertyNameArrayRelease(list);
    return names;
}

static gbx_given given_to(gbx_realm *realm)
{
    static char dataset[GBX_NAME_MAX + 1];
    gbx_span input = realm->in->input;
    gbx_given given = {.dataset = dataset, .datasets = names_of_datasets(realm)};

    (void)snprintf(dataset, sizeof dataset, "%.*s", (int)realm->in->dataset.len,
                   (const char *)realm->in->dataset.data);
    if (realm->data != NULL)
        given.flags |= GBX_GIVEN_DATA;
    if (realm->data != NULL && realm->data == realm->datasets)
        given.flags |= GBX_GIVEN_ALL;
    if ((realm->in->flags & GBX_CALL_WIRE_HAS_INPUT) == 0 || input.len == 0 ||
        (input.len == 4 && memcmp(input.data, "null", 4) == 0))
        given.flags |= GBX_GIVEN_NO_INPUT;
    else if (input.data[0] == '"')
        given.flags |= GBX_GIVEN_TEXT;
    if (realm->has_servers)
        given.flags |= GBX_GIVEN_SERVERS;
    if (realm->has_servers && has_plain_results(realm))
        given.flags |= GBX_GIVEN_RESULTS;
    return given;
}

static void find_hint(gbx_realm *realm, JSValueRef data, gbx_msg_result *ret)
{
    /* Skip long code with an input or calls: it often reads optional members. */
    bool has_data = realm->datasets != NULL ||
                    ((realm->in->input.len > 0 || realm->host_answers > 0) &&
                     realm->in->code.len <= SHORT_CODE);
    doubt_kind doubt = has_data ? doubt_of(ret) : NO_DOUBT;
    gbx_given given;

    if (doubt != NO_DOUBT)
        find_missing_field(realm, data, doubt, ret);
    if (ret->hint != GBX_HINT_NONE || ret->is_undefined == 0)
        return;
    if (realm->prepared.uncalled_start == realm->prepared.uncalled_end) {
        gbx_span code = plain_code(realm);
        gbx_explanation e = {.line = 0};

        if (realm->data == NULL)
            return;
        /* Find out whether the code's arguments explain it. */
        given = given_to(realm);
        gbx_explain((const char *)code.data, code.len, (gbx_form)realm->in->form,
                    GBX_ENDING_NOTHING, NULL, &given, &e);
        ret->hint = e.hint;
        ret->start = e.start;
        ret->end = e.end;
        return;
    }
    ret->hint = GBX_HINT_UNCALLED;
    ret->start = realm->prepared.uncalled_start;
    ret->end = realm->prepared.uncalled_end;
}

void gbx_realm_run(gbx_realm *realm, const gbx_msg_call *call,
                   const gbx_realm_host *host, gbx_realm_outcome *ret)
{
    JSValueRef data = NULL;
    JSValueRef value = NULL;
    bool is_of_code;

    memset(ret, 0, sizeof *ret);
    begin(realm, call, host);
    if ((call->flags & GBX_CALL_WIRE_FIXED_NOW) != 0 && !realm->can_fix_clock)
        gbx_describe_text(realm, GBX_FAILURE_BAD_FORM, &ret->error,
                          "the clock cannot be fixed in this process");
    else if (read_data(realm, &data, &ret->error) &&
             call_it(realm, data, &value, &ret->error)) {
        bool thenable = is_thenable(realm, value);

        realm->promise = thenable ? gbx_object(value) : NULL;
        ret->ok =
            (!thenable || settle(realm, &value, &ret->error)) &&
            gbx_serialise(realm, value, call->output_bytes, &ret->result, &ret->error);
    }
    if (realm->rejected_count > 0)
        gbx_console_rejections(realm);
    is_of_code = ret->error.failure == GBX_FAILURE_SYNTAX ||
                 ret->error.failure == GBX_FAILURE_THROWN ||
                 ret->error.failure == GBX_FAILURE_NOT_JSON ||
                 ret->error.failure == GBX_FAILURE_NEVER;
    if (!ret->ok && is_of_code) {
        gbx_given given = given_to(realm);

        gbx_describe_cause(realm, &given, &ret->error);
    }
    if (ret->ok)
        find_hint(realm, data, &ret->result);
    gbx_prepared_code_cleanup(&realm->prepared);
    realm->in = NULL;
    realm->host = NULL;
}
