/* SPDX-License-Identifier: MIT */
/* hostile_script - see hostile_script.h. Nothing here has to be robust but against its
 * own writers: a command that is not known ends the worker with status 90. */
#include "hostile_script.h"

#include "hostile_plan.h"
#include "syntax/hint_table.h"
#include "wire/messages.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define OUT_MAX GBX_MIB(300)

typedef struct script {
    int channel;
    uint64_t own_id;
    uint64_t id;
    size_t unread; /* of the CALL's body */
    long drip_us;
    gbx_buf last; /* what `again` and `flood` repeat */
    /* of the next frame; -1: as it is */
    int64_t length;
    int64_t type;
    int64_t reserved;
    int64_t cut;
    int64_t split;
} script;

static void pause_us(long us)
{
    struct timespec ts = {us / 1000000, us % 1000000 * 1000};

    (void)nanosleep(&ts, NULL);
}

static void put(script *s, const uint8_t *data, size_t len)
{
    while (len > 0) {
        size_t want = s->drip_us > 0 ? 1 : len;
        ssize_t n = send(s->channel, data, want, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        data += n;
        len -= (size_t)n;
        if (s->drip_us > 0)
            pause_us(s->drip_us);
    }
}

static void get(script *s, void *data, size_t len)
{
    uint8_t *at = data;

    while (len > 0) {
        ssize_t n = read(s->channel, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0); /* the host has gone */
        at += n;
        len -= (size_t)n;
    }
}

static void skip(script *s, size_t len)
{
    uint8_t bin[4096];

    for (size_t n; len > 0; len -= n) {
        n = len < sizeof bin ? len : sizeof bin;
        get(s, bin, n);
    }
}

static void drain(script *s)
{
    skip(s, s->unread);
    s->unread = 0;
}

/* Send s->last as the modifiers say, and forget them. */
static void emit(script *s)
{
    uint8_t *data = s->last.data;
    size_t len = s->last.len;

    if (s->last.failed)
        _exit(91);
    for (int i = 0; s->length >= 0 && i < 4; i++)
        data[i] = (uint8_t)(s->length >> (8 * i));
    if (s->type >= 0)
        data[4] = (uint8_t)s->type;
    if (s->reserved >= 0)
        for (int i = 0; i < 3; i++)
            data[5 + i] = (uint8_t)(s->reserved >> (8 * i));
    if (s->cut >= 0 && (size_t)s->cut < len)
        len = (size_t)s->cut;
    if (s->split > 0 && (size_t)s->split < len) {
        put(s, data, (size_t)s->split);
        pause_us(3000);
        put(s, data + s->split, len - (size_t)s->split);
    } else {
        put(s, data, len);
    }
    s->length = s->type = s->reserved = s->cut = s->split = -1;
}

static int digit(char c)
{
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : 0;
}

static void unescape(const char *text, gbx_buf *to)
{
    for (; *text != 0; text++) {
        uint8_t byte = (uint8_t)*text;

        if (byte == '\\' && text[1] == 'x') {
            byte = (uint8_t)(digit(text[2]) << 4 | digit(text[3]));
            text += 3;
        } else if (byte == '\\' && text[1] != 0) {
            text++;
            byte = (uint8_t)(*text == 'n'   ? '\n'
                             : *text == 'r' ? '\r'
                             : *text == 't' ? '\t'
                                            : *text);
        }
        (void)gbx_buf_append(to, &byte, 1);
    }
}

static void unhex(const char *text, gbx_buf *to)
{
    for (; *text != 0; text++) {
        uint8_t byte = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));

        if (*text == ' ')
            continue;
        (void)gbx_buf_append(to, &byte, 1);
        text++;
    }
}

static void put_result(script *s, gbx_span json, uint8_t is_undefined)
{
    gbx_msg_result msg = {.is_undefined = is_undefined, .json = json};

    (void)gbx_msg_put(&s->last, s->id, &msg);
    (void)gbx_buf_append(&s->last, json.data, json.len);
    emit(s);
}

static void put_deep(script *s, uint64_t depth)
{
    gbx_buf json;

    gbx_buf_init(&json, OUT_MAX);
    for (uint64_t i = 0; i < 2 * depth; i++)
        (void)gbx_buf_puts(&json, i < depth ? "[" : "]");
    put_result(s, (gbx_span){json.data, json.len}, 0);
    gbx_buf_cleanup(&json);
}

static void put_big(script *s, uint64_t size)
{
    gbx_buf json;

    gbx_buf_init(&json, OUT_MAX);
    for (uint64_t i = 0; i < size; i++)
        (void)gbx_buf_puts(&json, i == 0 || i == size - 1 ? "\"" : "x");
    put_result(s, (gbx_span){json.data, json.len}, 0);
    gbx_buf_cleanup(&json);
}

/* START END MESSAGE, with the number of the row before; 0: a call that was not awaited. */
static gbx_msg_error hinted(uint64_t number, gbx_span text)
{
    gbx_msg_error msg = {.failure = GBX_FAILURE_THROWN};
    char *rest;

    msg.hint = number > 0 ? (uint32_t)number : GBX_HINT_UNAWAITED;
    msg.hint_start = (uint32_t)strtoul((const char *)text.data, &rest, 0);
    msg.hint_end = (uint32_t)strtoul(rest, &rest, 0);
    msg.message = (gbx_span){(const uint8_t *)rest, strlen(rest)};
    return msg;
}

typedef enum message_kind {
    RESULT,
    UNDEFINED,
    DEEP,
    BIG,
    ERROR,
    OOM,
    HINT,
    LOG,
    WAIT,
    REFUSED,
    READY,
    FRAME,
    RAW,
} message_kind;

static const struct message {
    const char *word;
    bool has_number; /* the text begins after it */
    bool is_hex;
} messages[] = {
    [RESULT] = {"result", false, false}, [UNDEFINED] = {"undefined", false, false},
    [DEEP] = {"deep", true, false},      [BIG] = {"big", true, false},
    [ERROR] = {"error", true, false},    [OOM] = {"oom", true, false},
    [HINT] = {"hint", true, false},      [LOG] = {"log", true, false},
    [WAIT] = {"wait", true, false},      [REFUSED] = {"refused", false, false},
    [READY] = {"ready", false, false},   [FRAME] = {"frame", true, true},
    [RAW] = {"raw", false, true},
};

/* The number that stands first, and the text after it (without one: all of the text). */
static void send_message(script *s, message_kind kind, uint64_t number, gbx_span text)
{
    gbx_msg_error error = {.failure = (uint8_t)number, .message = text};
    gbx_msg_log log = {.level = (uint8_t)number, .text = text};
    gbx_msg_wait wait = {.ms = (uint32_t)number};

    switch (kind) {
    case RESULT: put_result(s, text, 0); return;
    case UNDEFINED: put_result(s, (gbx_span){0}, 1); return;
    case DEEP: put_deep(s, number); return;
    case BIG: put_big(s, number); return;
    case OOM:
        error.failure = GBX_FAILURE_THROWN;
        error.is_out_of_memory = 1;
        (void)gbx_msg_put(&s->last, s->id, &error);
        break;
    case HINT: error = hinted(number, text); /* fall through */
    case ERROR: (void)gbx_msg_put(&s->last, s->id, &error); break;
    case LOG: (void)gbx_msg_put(&s->last, s->id, &log); break;
    case WAIT: (void)gbx_msg_put(&s->last, s->id, &wait); break;
    case REFUSED: (void)gbx_msg_write(&s->last, GBX_MSG_REFUSED, s->id, NULL); break;
    case READY: (void)gbx_msg_write(&s->last, GBX_MSG_READY, s->id, NULL); break;
    case FRAME:
        (void)gbx_msg_write(&s->last, (gbx_msg_type)number, s->id, NULL);
        (void)gbx_buf_append(&s->last, text.data, text.len);
        if (s->length < 0)
            s->length = (int64_t)(s->last.len - GBX_FRAME_HEADER_SIZE);
        break;
    case RAW:
        (void)gbx_buf_append(&s->last, text.data, text.len);
        put(s, s->last.data, s->last.len);
        return;
    }
    emit(s);
}

/* False if the command is none of the messages. */
static bool say(script *s, const char *word, const char *rest)
{
    for (size_t i = 0; i < GBX_COUNTOF(messages); i++) {
        const struct message *m = &messages[i];
        const char *text = rest;
        gbx_buf bytes;

        if (strcmp(word, m->word) != 0)
            continue;
        if (m->has_number) {
            text = strchr(rest, ' ');
            text = text != NULL ? text + 1 : "";
        }
        gbx_buf_init(&bytes, OUT_MAX);
        if (m->is_hex)
            unhex(text, &bytes);
        else
            unescape(text, &bytes);
        (void)gbx_buf_append(&bytes, "", 1); /* for those that read numbers in it */
        bytes.len--;
        gbx_buf_cleanup(&s->last);
        send_message(s, (message_kind)i, strtoull(rest, NULL, 0),
                     (gbx_span){bytes.data, bytes.len});
        gbx_buf_cleanup(&bytes);
        return true;
    }
    return false;
}

/* What changes later frames. */
static bool alter(script *s, const char *word, const char *rest)
{
    int64_t number = strtoll(rest, NULL, 0);
    const struct {
        const char *word;
        int64_t *value;
    } fields[] = {{"length", &s->length},
                  {"type", &s->type},
                  {"reserved", &s->reserved},
                  {"cut", &s->cut},
                  {"split", &s->split}};

    for (size_t i = 0; i < GBX_COUNTOF(fields); i++) {
        if (strcmp(word, fields[i].word) == 0) {
            *fields[i].value = number;
            return true;
        }
    }
    if (strcmp(word, "id") == 0)
        s->id = strcmp(rest, "own") == 0    ? s->own_id
                : strcmp(rest, "zero") == 0 ? 0
                                            : s->own_id + (uint64_t)number;
    else if (strcmp(word, "drip") == 0)
        s->drip_us = (long)number;
    else
        return false;
    return true;
}

/* What the process does to itself. */
static bool act(script *s, const char *word, const char *rest)
{
    long number = strtol(rest, NULL, 0);
    uint8_t header[GBX_FRAME_HEADER_SIZE];

    if (strcmp(word, "sleep") == 0) {
        pause_us(number * 1000);
    } else if (strcmp(word, "spin") == 0) {
        for (volatile unsigned i = 0;; i++)
            continue;
    } else if (strcmp(word, "hang") == 0 || strcmp(word, "stop") == 0) {
        hostile_act(word);
    } else if (strcmp(word, "exit") == 0) {
        _exit((int)number);
    } else if (strcmp(word, "signal") == 0) {
        (void)signal((int)number, SIG_DFL);
        (void)kill(getpid(), (int)number);
    } else if (strcmp(word, "grow") == 0) {
        char *memory = malloc((size_t)number << 20);

        for (size_t i = 0; memory != NULL && i < (size_t)number << 20; i += 4096)
            ((volatile char *)memory)[i] = 1;
    } else if (strcmp(word, "drain") == 0) {
        drain(s);
    } else if (strcmp(word, "eat") == 0) {
        skip(s, (size_t)number);
        s->unread -= (size_t)number;
    } else if (strcmp(word, "await") == 0) {
        drain(s);
        get(s, header, sizeof header);
        while (header[4] == GBX_MSG_ANSWER) { /* short ones */
            skip(s, (size_t)(header[0] | header[1] << 8));
            get(s, header, sizeof header);
        }
        if (header[4] != GBX_MSG_WAKE)
            _exit(92);
    } else if (strcmp(word, "shutread") == 0) {
        (void)shutdown(s->channel, SHUT_RD);
    } else if (strcmp(word, "shutwrite") == 0) {
        (void)shutdown(s->channel, SHUT_WR);
    } else if (strcmp(word, "close") == 0) {
        (void)close(s->channel);
    } else if (strcmp(word, "again") == 0) {
        for (long i = 0; i < number; i++)
            put(s, s->last.data, s->last.len);
    } else if (strcmp(word, "flood") == 0) {
        for (;;)
            put(s, s->last.data, s->last.len);
    } else {
        return false;
    }
    return true;
}

static void run(script *s, char *code)
{
    char *next;

    for (char *line = code; line != NULL; line = next) {
        char *rest;

        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = 0;
        rest = strchr(line, ' ');
        if (rest != NULL)
            *rest++ = 0;
        else
            rest = line + strlen(line);
        if (*line != 0 && !say(s, line, rest) && !alter(s, line, rest) &&
            !act(s, line, rest))
            _exit(90);
    }
}

/* Bytes of a CALL's body before the length of its code: an empty one has three more
 * lengths and nothing else. */
static size_t size_of_fixed(void)
{
    static const uint8_t entropy[GBX_ENTROPY_SIZE];
    static const gbx_msg_call empty = {.entropy = {entropy, sizeof entropy}};
    gbx_buf buf;
    size_t len;

    gbx_buf_init(&buf, 1024);
    (void)gbx_msg_put(&buf, 0, &empty);
    len = buf.len - GBX_FRAME_HEADER_SIZE - 3 * sizeof(uint32_t);
    gbx_buf_cleanup(&buf);
    return len;
}

_Noreturn void hostile_script_serve(int channel, uint64_t worker_id)
{
    script s = {.channel = channel,
                .length = -1,
                .type = -1,
                .reserved = -1,
                .cut = -1,
                .split = -1};
    uint8_t head[GBX_FRAME_HEADER_SIZE];
    size_t fixed_len = size_of_fixed();
    gbx_header header;
    uint32_t len;
    char *code;

    gbx_buf_init(&s.last, OUT_MAX);
    get(&s, head, sizeof head);
    hostile_plan_step("header", worker_id);
    if (!gbx_header_decode(head, &header) || header.type != GBX_MSG_CALL)
        _exit(93);
    s.own_id = s.id = header.call_id;
    skip(&s, fixed_len);
    get(&s, &len, sizeof len);
    code = calloc(1, len + 1);
    get(&s, code, len);
    s.unread = header.body_len - fixed_len - sizeof len - len;
    hostile_plan_step("call", worker_id);
    run(&s, code);
    hostile_plan_step("end", worker_id);
    for (;;)
        skip(&s, 1); /* until killed, or the host has gone */
}
