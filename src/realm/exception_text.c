/* SPDX-License-Identifier: MIT */
/*
 * exception_text - describes an exception as text, for the author of the code.
 *
 * The thrown value is hostile: every property is read in its own exception slot, the
 * host's deadline stops a getter that loops, and every length is capped. Positions are
 * those of the user's own frames, in the caller's text; frames of the engine and of our
 * scripts are dropped.
 */
#include "base/utf8.h"
#include "realm/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TAIL_UNITS   2048 /* kept from the end of a message that is too long */
#define MARK_SIZE    64   /* of the note that says how much was left out */
#define CLASSES_SIZE 1024 /* the names of an error's classes */
#define CAUSES_MAX   1024 /* bytes of what follows the message */

/*
 * Converts the engine's positions in our text to positions in the caller's.
 *
 * The engine is given the number of the first line, so lines are right except past the
 * end, where our suffix is. Columns are shifted by our prefix on the first line and by
 * what was inserted into a script.
 */
static void map_position(const gbx_origin *origin, uint32_t *line, uint32_t *column)
{
    if (*line == 0)
        return;
    if (*line < origin->first_line)
        *line = origin->first_line;
    if (origin->last_line != 0 && *line > origin->last_line) {
        *line = origin->last_line;
        *column = 0;
    }
    if (*column == 0)
        return;
    if (*line == origin->first_line)
        *column = *column > origin->prefix ? *column - origin->prefix : 1;
    /* From last to first: each place counts the insertions before it. */
    for (size_t i = origin->insert_count; i > 0; i--) {
        const gbx_insert *in = &origin->inserts[i - 1];

        if (*line - origin->first_line + 1 == in->line && *column > in->column) {
            uint32_t over = *column - in->column;

            *column -= over < in->units ? over : in->units;
        }
    }
    if (*line == origin->first_line)
        *column += origin->first_column - 1;
}

static bool read_number(const char **at, const char *end, uint32_t *ret)
{
    const char *from = *at;
    uint32_t value = 0;

    while (*at < end && **at >= '0' && **at <= '9' && value < 100000000)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    *ret = value;
    return *at > from;
}

/* One frame of the engine's stack trace. */
typedef struct frame {
    const char *name;
    size_t name_len;
    uint32_t line;
    uint32_t column;
} frame;

/* Parse a line of the engine's stack, "name@code.js:12:34"; false if it is not in the
 * script at url. */
static bool parse_frame(const char *line, size_t len, const char *url, frame *ret)
{
    const char *end = line + len;
    const char *at = memrchr(line, '@', len);
    size_t url_len = strlen(url);

    /* Up to "@url:..."; a URL may have an @, too. */
    while (at != NULL && ((size_t)(end - at) < url_len + 2 ||
                          memcmp(at + 1, url, url_len) != 0 || at[url_len + 1] != ':'))
        at = memrchr(line, '@', (size_t)(at - line));
    if (at == NULL)
        return false;
    ret->name = line;
    ret->name_len = (size_t)(at - line);
    at += url_len + 2;
    if (!read_number(&at, end, &ret->line) || at == end || *at++ != ':')
        return false;
    if ((ret->name_len == 11 && memcmp(line, "global code", 11) == 0) ||
        (ret->name_len == 9 && memcmp(line, "eval code", 9) == 0))
        ret->name_len = 0;
    return read_number(&at, end, &ret->column);
}

/* Find the next frame, from *at on, in the script at url; moves *at past it. */
static bool next_frame(const char **at, const char *end, const char *url, frame *ret)
{
    while (*at < end) {
        const char *line = *at;
        const char *next = memchr(line, '\n', (size_t)(end - line));

        if (next == NULL)
            next = end;
        *at = next + 1;
        if (parse_frame(line, (size_t)(next - line), url, ret))
            return true;
    }
    return false;
}

uint32_t gbx_read_count(gbx_realm *realm, JSObjectRef object, JSStringRef name)
{
    JSValueRef exception = NULL;
    JSValueRef value = JSObjectGetProperty(realm->ctx, object, name, &exception);
    double number;

    if (exception != NULL || value == NULL || !JSValueIsNumber(realm->ctx, value))
        return 0;
    number = JSValueToNumber(realm->ctx, value, NULL);
    return number >= 1 && number < 1e8 ? (uint32_t)number : 0;
}

/* Append the last count units of text as UTF-8, without splitting a character. The API
 * alone would widen all of the text. */
static void append_tail(JSStringRef text, size_t count, gbx_buf *to)
{
    size_t at = JSStringGetLength(text) - count;
    JSChar units[TAIL_UNITS];
    const uint8_t *narrow = gbx_string_narrow(text);

    if (narrow == NULL)
        memcpy(units, JSStringGetCharactersPtr(text) + at, count * sizeof *units);
    for (size_t i = 0; narrow != NULL && i < count; i++)
        units[i] = narrow[at + i];
    at = (units[0] & 0xFC00) == 0xDC00 ? 1 : 0;
    gbx_utf8_append_utf16(to, units + at, count - at);
}

/* Copy a message. If it is too long, keep its head and tail, since its end may name the
 * cause. */
static size_t copy_message(gbx_realm *realm, JSValueRef value, size_t size)
{
    char *to = realm->message;
    size_t len = gbx_value_copy(realm->ctx, value, to, size);
    JSStringRef text;
    size_t left;
    gbx_buf tail;

    if (len + 4 < size)
        return len;
    text = JSValueToStringCopy(realm->ctx, value, NULL);
    if (text != NULL && JSStringGetLength(text) > gbx_utf16_units(to, len)) {
        gbx_buf_init(&tail, size);
        append_tail(text, TAIL_UNITS, &tail);
        len = gbx_string_copy(text, to, size - MARK_SIZE - tail.len);
        left = JSStringGetLength(text) - gbx_utf16_units(to, len) -
               gbx_utf16_units((char *)tail.data, tail.len);
        len +=
            (size_t)snprintf(to + len, MARK_SIZE, " [... %zu characters ...] ", left);
        memcpy(to + len, tail.data, tail.len);
        len += tail.len;
        to[len] = 0;
        gbx_buf_cleanup(&tail);
    }
    gbx_string_release(&text);
    return len;
}

/* Leaves room for what is appended. */
static size_t read_message(gbx_realm *realm, JSObjectRef error, size_t room)
{
    JSValueRef exception = NULL;
    JSValueRef value =
        JSObjectGetProperty(realm->ctx, error, realm->n_message, &exception);

    realm->message[0] = 0;
    return exception == NULL ? copy_message(realm, value, GBX_MESSAGE_MAX - room) : 0;
}

/* The message, followed by the error's cause or its list of errors. */
static size_t read_words(gbx_realm *realm, JSObjectRef error)
{
    JSValueRef args[] = {error, realm->causes_options};
    JSValueRef text;
    char causes[CAUSES_MAX];
    size_t added, skipped, len;

    if (!JSObjectHasProperty(realm->ctx, error, realm->n_cause) &&
        !JSObjectHasProperty(realm->ctx, error, realm->n_errors))
        return read_message(realm, error, 0);
    text = JSObjectCallAsFunction(realm->ctx, realm->inspect, NULL, 2, args, NULL);
    added = gbx_value_copy(realm->ctx, text, causes, sizeof causes);
    len = read_message(realm, error, added);
    skipped = len == 0 && added > 2 ? 2 : 0; /* "; " */
    memcpy(realm->message + len, causes + skipped, added - skipped + 1);
    return len + added - skipped;
}

static size_t read_text(gbx_realm *realm, JSObjectRef object, JSStringRef name,
                        char *to, size_t size)
{
    JSValueRef exception = NULL;
    JSValueRef value = JSObjectGetProperty(realm->ctx, object, name, &exception);

    to[0] = 0;
    return exception == NULL ? gbx_value_copy(realm->ctx, value, to, size) : 0;
}

/* For an object that is not an error: would a name and a message leave anything out?
 * Inherited properties, as from the prototype of an older kind of error, do not
 * count. */
static bool has_more(gbx_realm *realm, JSObjectRef object)
{
    JSPropertyNameArrayRef names = JSObjectCopyPropertyNames(realm->ctx, object);
    JSValueRef proto = JSObjectGetPrototype(realm->ctx, object);
    bool has_proto = JSValueIsObject(realm->ctx, proto);
    bool found = false;

    for (size_t i = 0; i < JSPropertyNameArrayGetCount(names) && !found; i++) {
        JSStringRef name = JSPropertyNameArrayGetNameAtIndex(names, i);

        found =
            !JSStringIsEqual(name, realm->n_name) &&
            !JSStringIsEqual(name, realm->n_message) &&
            !(has_proto && JSObjectHasProperty(realm->ctx, gbx_object(proto), name));
    }
    JSPropertyNameArrayRelease(names);
    return found;
}

/* The thrown value is not an error: show it as the console would. */
static size_t show(gbx_realm *realm, JSValueRef value)
{
    JSValueRef args[] = {value, realm->line_options};
    JSValueRef text;

    if (JSValueIsString(realm->ctx, value))
        return copy_message(realm, value, GBX_MESSAGE_MAX);
    text = JSObjectCallAsFunction(realm->ctx, realm->inspect, NULL, 2, args, NULL);
    return copy_message(realm, text, GBX_MESSAGE_MAX);
}

/* List the names of the error's class and of those that it extends, as "\nA\nError\n". */
static void list_classes(gbx_realm *realm, JSObjectRef error, char to[CLASSES_SIZE])
{
    JSValueRef exception = NULL;
    JSValueRef class =
        JSObjectGetProperty(realm->ctx, error, realm->n_constructor, &exception);
    size_t len = 1;
    size_t added;

    to[0] = '\n';
    while (exception == NULL && len + 2 < CLASSES_SIZE &&
           JSValueIsObject(realm->ctx, class) &&
           (added = read_text(realm, gbx_object(class), realm->n_name, to + len,
                              CLASSES_SIZE - 1 - len)) > 0) {
        len += added;
        to[len++] = '\n';
        class = JSObjectGetPrototype(realm->ctx, gbx_object(class));
    }
    to[len] = 0;
}

static void describe_object(gbx_realm *realm, JSValueRef exception, gbx_msg_error *ret)
{
    JSObjectRef error = gbx_object(exception);
    gbx_kind kind = gbx_cell_kind(&realm->cells, realm->ctx, exception);
    char classes[CLASSES_SIZE] = "";
    char url[GBX_NAME_MAX + 32];
    bool is_shown;
    size_t len;

    /* A DOMException is not an error to the engine, but it has a stack. */
    len = read_text(realm, error, realm->n_stack, realm->raw, sizeof realm->raw);
    ret->message.len = kind == GBX_KIND_ERROR ? read_words(realm, error)
                                              : read_message(realm, error, 0);
    is_shown = kind != GBX_KIND_ERROR && len == 0 && ret->message.len > 0 &&
               has_more(realm, error);
    if (!is_shown)
        ret->name.len =
            read_text(realm, error, realm->n_name, realm->name, GBX_NAME_MAX);
    if (is_shown || (kind != GBX_KIND_ERROR && ret->message.len == 0))
        ret->message.len = show(realm, exception);
    if (kind == GBX_KIND_ERROR && ret->name.len == 0)
        ret->name.len = (size_t)snprintf(realm->name, sizeof realm->name, "Error");
    if (kind == GBX_KIND_ERROR)
        list_classes(realm, error, classes);
    ret->stack.len = gbx_frames(&realm->origin, realm->raw, len, classes, realm->stack,
                                GBX_STACK_MAX, &ret->line, &ret->column);
    if (kind != GBX_KIND_ERROR || ret->line != 0)
        return;
    read_text(realm, error, realm->n_source_url, url, sizeof url);
    if (strcmp(url, realm->origin.url) != 0)
        return;
    ret->line = gbx_read_count(realm, error, realm->n_line);
    ret->column = gbx_read_count(realm, error, realm->n_column);
    map_position(&realm->origin, &ret->line, &ret->column);
}

/* True for the messages of refused allocations for which the engine sets no bit: of
 * buffers, and by its libraries, such as Intl's. */
static bool is_refusal(gbx_realm *realm, JSValueRef exception)
{
    static const struct {
        const char *name;
        const char *begins;
    } said[] = {
        {"RangeError", "Out of memory"},
        {"RangeError", "Array buffer allocation failed"},
        {"TypeError", "failed to initialize "},
        {"TypeError", "Failed to initialize "},
        {"TypeError", "failed to format "},
        {"TypeError", "Failed to format "},
    };

    if (!gbx_realm_was_refused() ||
        gbx_cell_kind(&realm->cells, realm->ctx, exception) != GBX_KIND_ERROR)
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(said); i++)
        if (strcmp(realm->name, said[i].name) == 0 &&
            strncmp(realm->message, said[i].begins, strlen(said[i].begins)) == 0)
            return true;
    return false;
}

static void begin(gbx_realm *realm, uint8_t failure, gbx_msg_error *ret)
{
    uint32_t lines, column;

    *ret = (gbx_msg_error){
        .failure = failure,
        .name = {(const uint8_t *)realm->name, 0},
        .message = {(const uint8_t *)realm->message, 0},
        .stack = {(const uint8_t *)realm->stack, 0},
    };
    realm->name[0] = realm->message[0] = realm->stack[0] = 0;
    if (realm->in == NULL || realm->origin.last_line != 0)
        return;
    /* Everything after the end of the code is our suffix. */
    gbx_lines_position((const char *)realm->in->code.data, realm->in->code.len,
                       realm->in->code.len, &lines, &column);
    realm->origin.last_line = realm->origin.first_line + lines - 1;
}

/* The innermost frames of an error class of the code's own are its constructors; the
 * error is thrown where the first of them was called. */
size_t gbx_frames(const gbx_origin *origin, const char *stack, size_t len,
                  const char *classes, char *to, size_t size, uint32_t *ret_line,
                  uint32_t *ret_column)
{
    const char *at = stack;
    bool is_inside = true; /* the frames so far are its constructors */
    size_t used = 0;
    frame f;

    *ret_line = *ret_column = 0;
    to[0] = 0;
    while (next_frame(&at, stack + len, origin->url, &f)) {
        char name[CLASSES_SIZE];
        bool is_constructor;
        int n;

        (void)snprintf(name, sizeof name, "\n%.*s\n", (int)f.name_len, f.name);
        is_constructor = is_inside && strstr(classes, name) != NULL;
        map_position(origin, &f.line, &f.column);
        if (*ret_line == 0 || (is_inside && !is_constructor)) {
            *ret_line = f.line;
            *ret_column = f.column;
        }
        is_inside = is_constructor;
        n = snprintf(to + used, size - used, "%s    at %.*s%s%s:%u:%u%s",
                     used > 0 ? "\n" : "", (int)f.name_len, f.name,
                     f.name_len > 0 ? " (" : "", origin->url, f.line, f.column,
                     f.name_len > 0 ? ")" : "");
        if (n < 0 || (size_t)n >= size - used) {
            to[used] = 0; /* frames are never cut */
            break;
        }
        used += (size_t)n;
    }
    return used;
}

void gbx_describe(gbx_realm *realm, JSValueRef exception, uint8_t failure,
                  gbx_msg_error *ret)
{
    begin(realm, failure, ret);
    if (exception == NULL)
        return;
    if (JSValueIsObject(realm->ctx, exception))
        describe_object(realm, exception, ret);
    else
        ret->message.len = show(realm, exception);
    ret->is_out_of_memory = gbx_cell_is_oom(&realm->cells, realm->ctx, exception) ||
                            is_refusal(realm, exception);
}

void gbx_describe_syntax(gbx_realm *realm, JSValueRef exception, gbx_msg_error *ret)
{
    gbx_describe(realm, exception, GBX_FAILURE_SYNTAX, ret);
    ret->column = 0; /* the engine gives the line only */
    if (exception == NULL || !JSValueIsObject(realm->ctx, exception) ||
        strncmp(realm->message, "Unexpected token", 16) != 0 ||
        gbx_read_count(realm, gbx_object(exception), realm->n_line) <=
            realm->origin.last_line)
        return;
    /* The unexpected token is our own bracket: to the reader the code just ends. */
    ret->message.len =
        (size_t)snprintf(realm->message, GBX_MESSAGE_MAX, "Unexpected end of script");
}

void gbx_describe_text(gbx_realm *realm, uint8_t failure, gbx_msg_error *ret,
                       const char *format, ...)
{
    va_list args;
    int n;

    begin(realm, failure, ret);
    va_start(args, format);
    n = vsnprintf(realm->message, GBX_MESSAGE_MAX, format, args);
    va_end(args);
    if (n > 0)
        ret->message.len =
            (size_t)n < GBX_MESSAGE_MAX ? (size_t)n : GBX_MESSAGE_MAX - 1;
}

void gbx_describe_not_json(gbx_realm *realm, JSStringRef text, gbx_msg_error *ret)
{
    JSValueRef exception = NULL;
    JSValueRef value;

    if (text == NULL) {
        gbx_describe_text(realm, GBX_FAILURE_INPUT, ret, "the text is not UTF-8");
        return;
    }
    /* The engine's message, from the pristine JSON.parse. */
    value = JSValueMakeString(realm->ctx, text);
    JSObjectCallAsFunction(realm->ctx, realm->parse, NULL, 1, &value, &exception);
    gbx_describe(realm, exception, GBX_FAILURE_INPUT, ret);
    ret->line = ret->column = 0;
}

/* Convert a position in the code to one in the caller's text. */
static void into_text(const gbx_realm *realm, uint32_t *line, uint32_t *column)
{
    if (*line == 1 && *column != 0)
        *column += realm->origin.first_column - 1;
    if (*line != 0)
        *line += realm->origin.first_line - 1;
}

void gbx_describe_fault(gbx_realm *realm, gbx_span code, gbx_msg_error *ret)
{
    const gbx_prepared_code *prepared = &realm->prepared;
    size_t at = prepared->fault_at < code.len ? prepared->fault_at : code.len;

    gbx_describe_text(realm, GBX_FAILURE_SYNTAX, ret, "%s",
                      gbx_hint_row_of(prepared->fault)->message);
    ret->name = gbx_span_of("SyntaxError");
    ret->hint = prepared->fault;
    gbx_lines_place((const char *)code.data, code.len, at, &ret->line, &ret->column);
    into_text(realm, &ret->line, &ret->column);
}

/* A message quotes the failed expression from the text without types, which has blanks
 * in their places. The source has the same length: copy its bytes into the message. */
static void restore_types(gbx_realm *realm, const gbx_explanation *e)
{
    static const char *const quotes[] = {"(evaluating '", "(In '", "(near '"};
    const char *source = (const char *)realm->in->code.data;
    const char *plain = realm->prepared.plain;
    size_t len = realm->prepared.plain_len;
    char *quoted = NULL;
    size_t start, end;

    for (size_t i = 0; i < GBX_COUNTOF(quotes) && quoted == NULL; i++) {
        quoted = strstr(realm->message, quotes[i]);
        quoted = quoted != NULL ? quoted + strlen(quotes[i]) : NULL;
    }
    if (plain == NULL || len != realm->in->code.len || quoted == NULL || e->line == 0 ||
        !gbx_lines_find(plain, len, e->line, &start, &end))
        return;
    end = strcspn(quoted, "'");
    plain = memmem(plain + start, len - start, quoted, end);
    if (plain == NULL)
        return;
    source += plain - realm->prepared.plain;
    /* The message may also begin with a part of that expression. */
    for (char *at = realm->message; *at != 0; at++) {
        size_t n = 0;

        while (n < end && at[n] == plain[n])
            n++;
        if (memcmp(plain, source, n) == 0)
            continue;
        memcpy(at, source, n);
        at += n - 1;
    }
}

void gbx_describe_cause(gbx_realm *realm, const gbx_given *given, gbx_msg_error *error)
{
    const gbx_prepared_code *prepared = &realm->prepared;
    gbx_span code = realm->in->code;
    gbx_explanation e = {.line = error->line, .column = error->column};

    if (error->hint != GBX_HINT_NONE || error->is_out_of_memory)
        return;
    if (prepared->plain != NULL)
        code = (gbx_span){(const uint8_t *)prepared->plain, prepared->plain_len};
    (void)snprintf(realm->raw, sizeof realm->raw, "%.*s%s%.*s", (int)error->name.len,
                   (const char *)error->name.data, error->name.len > 0 ? ": " : "",
                   (int)error->message.len, (const char *)error->message.data);
    if (e.line != 0)
        e.line -= realm->origin.first_line - 1;
    if (e.line == 1 && e.column != 0)
        e.column -= realm->origin.first_column - 1;
    gbx_explain((const char *)code.data, code.len, (gbx_form)realm->in->form,
                error->failure == GBX_FAILURE_SYNTAX ? GBX_ENDING_SYNTAX
                                                     : GBX_ENDING_THROWN,
                realm->raw, given, &e);
    restore_types(realm, &e);
    into_text(realm, &e.line, &e.column);
    error->line = e.line;
    error->column = e.column;
    error->hint = e.hint;
    error->hint_start = e.start;
    error->hint_end = e.end;
}
