/* SPDX-License-Identifier: MIT */
/* nats_ledger - see nats_ledger.h. */
#include "nats_ledger.h"

#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <fcntl.h>
#include <glovebox/host.h>
#include <stdatomic.h>
#include <unistd.h>

#define SLOTS       16
#define PATIENCE_MS 30000 /* for an answer: no call has half of that */
#define REST_MS     500   /* after a call for which there was no runner */

static int notes;
static unsigned self;

static void note(char what, unsigned call, long detail)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%c %u %u %ld\n", what, self, call, detail);

    if (write(notes, line, (size_t)len) != len)
        abort();
}

/* Its call may have ended meanwhile. */
static void answer(gbx_engine *engine, gbx_request request, const char *json,
                   size_t len)
{
    gbx_status status = gbx_answer(engine, request, json, len, NULL);

    if (status != GBX_OK && status != GBX_E_CLOSED)
        abort();
}

static void on_effect(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    note('E', (unsigned)strtoul(call->args + 1, NULL, 10), 0);
    answer(engine, call->request, "true", 4);
}

static void on_echo(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    answer(engine, call->request, call->args, call->args_len);
}

/* ---- calls -------------------------------------------------------------------------- */

/* One effect each, at different moments of a call. N is the call's number. */
static const struct {
    const char *code;
    unsigned timeout_ms;
    bool has_input, has_data;
} kinds[] = {
    {"async () => { await effect(N); return N }", 4000, false, false},
    {"async () => { await effect(N); return N }", 4000, false, true},
    {"async () => { await effect(N); await sleep(30); return N }", 4000, false, false},
    {"async () => { await sleep(20); await effect(N); return N }", 4000, false, true},
    {"async () => { for (let i = 0; i < 5; i++) await echo(i); await effect(N); return N }",
     4000, false, false},
    {"async () => { await effect(N); return 'x'.repeat(400000) }", 4000, false, false},
    {"async (s) => { await effect(N); return s.length }", 4000, true, false},
    {"async () => { await effect(N); console.log('y'.repeat(90000)); throw Error('N') }",
     4000, false, false},
    {"async () => { await effect(N); for (;;); }", 250, false, false},
    {"async () => { await effect(N); await echo(people.length); return N }", 4000,
     false, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct slot {
    atomic_bool is_busy;
    unsigned call;
    gbx_signal *stop;
    double began_ms, abort_ms; /* 0: it is not aborted */
    double rest_ms;            /* no new call until then */
} slot;

static slot slots[SLOTS];
static gbx_engine *engines[2]; /* with and without a dataset */
static char large[400000];

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    slot *s = user;

    note('A', s->call, gbx_result_code(result));
    if (gbx_result_code(result) == GBX_CODE_UNAVAILABLE)
        s->rest_ms = now_ms() + REST_MS;
    gbx_result_free(result);
    s->is_busy = false;
}

static void begin(slot *s, unsigned number)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_limits limits = GBX_LIMITS_INIT;
    unsigned kind = (unsigned)random() % KINDS;
    char code[256];
    size_t len = 0;
    gbx_error err;

    for (const char *at = kinds[kind].code; *at != '\0'; at++)
        len += (size_t)sprintf(code + len, *at == 'N' ? "%u" : "%c",
                               *at == 'N' ? number : (unsigned)*at);
    limits.timeout_ms = kinds[kind].timeout_ms;
    call.code = code;
    call.code_len = len;
    call.limits = &limits;
    if (kinds[kind].has_input) {
        call.input = large;
        call.input_len = sizeof large;
    }
    gbx_signal_free(s->stop);
    s->stop = call.signal = gbx_signal_new();
    s->call = number;
    s->began_ms = now_ms();
    s->abort_ms = random() % 8 == 0 ? s->began_ms + (double)(random() % 40) : 0;
    s->is_busy = true;
    note('B', number, kind);
    if (gbx_submit(engines[kinds[kind].has_data], &call, on_done, s, NULL, &err) !=
        GBX_OK) {
        (void)dprintf(2, "a call was not taken: %s\n", err.message);
        exit(4);
    }
}

static void watch(slot *s)
{
    if (s->abort_ms != 0 && s->abort_ms < now_ms()) {
        s->abort_ms = 0;
        gbx_signal_abort(s->stop);
    }
    if (now_ms() - s->began_ms > PATIENCE_MS) {
        (void)dprintf(2, "call %u of caller %u has no answer\n", s->call, self);
        exit(3);
    }
}

/* Run calls until this many were begun, and all have an answer. */
static void run_until(unsigned *number, unsigned calls)
{
    unsigned busy = 1;

    while (*number < calls || busy > 0) {
        busy = 0;
        for (unsigned i = 0; i < SLOTS; i++) {
            if (!slots[i].is_busy && slots[i].rest_ms < now_ms() && *number < calls)
                begin(&slots[i], (*number)++);
            if (slots[i].is_busy) {
                busy++;
                watch(&slots[i]);
            }
        }
        (void)usleep(500);
    }
}

/* ---- the process --------------------------------------------------------------------- */

/* While the server or all runners are away this fails: then again. */
static gbx_engine *make_engine(const char *address, bool has_data)
{
    static const char people[] = "[{\"name\":\"Ada\"},{\"name\":\"Bob\"}]";
    gbx_options options = GBX_OPTIONS_INIT;
    double end = now_ms() + 60000;
    gbx_engine *engine = NULL;
    gbx_error err = {0};

    options.runner_name = address;
    while (gbx_engine_new(&options, &engine, &err) != GBX_OK && now_ms() < end)
        (void)usleep(50000);
    if (engine != NULL &&
        (gbx_engine_expose(engine, "effect", on_effect, NULL, &err) != GBX_OK ||
         gbx_engine_expose(engine, "echo", on_echo, NULL, &err) != GBX_OK))
        end = 0;
    while (engine != NULL && has_data && now_ms() < end &&
           gbx_engine_load(engine, "people", people, strlen(people), GBX_DATA_JSON,
                           &err) != GBX_OK)
        (void)usleep(50000);
    if (engine == NULL || now_ms() >= end) {
        (void)dprintf(2, "no engine: %s\n", err.message);
        exit(5);
    }
    return engine;
}

static void note_size(void)
{
    note('R', (unsigned)proc_fds(), (long)proc_rss_kib());
}

int ledger_caller(const char *file, const char *address, unsigned caller,
                  unsigned calls)
{
    unsigned number = 0;

    self = caller;
    srandom(caller * 7919 + 1);
    notes = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    memset(large, 'x', sizeof large);
    large[0] = large[sizeof large - 1] = '"';
    for (int i = 0; i < 2; i++)
        engines[i] = make_engine(address, i == 1);
    run_until(&number, calls / 3);
    note_size();
    run_until(&number, calls);
    note_size();
    for (int i = 0; i < 2; i++)
        gbx_engine_free(engines[i]);
    for (int i = 0; i < SLOTS; i++)
        gbx_signal_free(slots[i].stop);
    note('Z', 0, 0);
    return 0;
}

/* ---- the verdict --------------------------------------------------------------------- */

static void read_line(ledger *l, const char *line)
{
    unsigned caller;
    unsigned call;
    long detail;
    char what;
    ledger_entry *e;

    assert_int_equal(sscanf(line, "%c %u %u %ld", &what, &caller, &call, &detail), 4);
    assert_true(caller < LEDGER_CALLERS && call < LEDGER_CALLS);
    if (l->entries[caller] == NULL)
        l->entries[caller] = calloc(LEDGER_CALLS, sizeof *e);
    e = &l->entries[caller][call];
    switch (what) {
    case 'B':
        e->begun++;
        l->begun[caller]++;
        break;
    case 'E':
        e->effects++;
        l->effects++;
        break;
    case 'A':
        e->answers++;
        e->code = (unsigned char)detail;
        l->by_code[e->code]++;
        break;
    case 'R':
        if (caller == 0) {
            l->fds[l->fds[0] != 0] = call;
            l->rss_kib[l->rss_kib[0] != 0] = (size_t)detail;
        }
        break;
    default: l->has_ended[caller] = true; break;
    }
}

void ledger_read(ledger *l, const char *file)
{
    char line[128];
    FILE *from = fopen(file, "re");

    memset(l, 0, sizeof *l);
    while (from != NULL && fgets(line, sizeof line, from) != NULL)
        read_line(l, line);
    if (from != NULL)
        (void)fclose(from);
}

/* Why an answer is not true, or NULL. */
static const char *lie(const ledger_entry *e, bool has_ended)
{
    if (e->begun != 1)
        return "it never began";
    if (e->effects > 1)
        return "it had two effects";
    if (e->answers > 1 || (has_ended && e->answers == 0))
        return "it did not have one answer";
    if (e->answers == 0)
        return NULL;
    if (e->code == GBX_CODE_VALUE || e->code == GBX_CODE_RUNTIME)
        return e->effects == 1 ? NULL : "it ended without its effect";
    if (e->code == GBX_CODE_UNAVAILABLE)
        return e->effects == 0 ? NULL : "it has begun";
    return e->code == GBX_CODE_TIMEOUT || e->code == GBX_CODE_ABORTED ||
                   e->code == GBX_CODE_CRASHED || e->code == GBX_CODE_LOST
               ? NULL
               : "nothing here ends so";
}

void ledger_check(const ledger *l)
{
    for (unsigned c = 0; c < LEDGER_CALLERS; c++)
        for (unsigned i = 0; l->entries[c] != NULL && i < LEDGER_CALLS; i++) {
            const ledger_entry *e = &l->entries[c][i];
            const char *why =
                e->begun + e->effects + e->answers > 0 ? lie(e, l->has_ended[c]) : NULL;

            if (why != NULL)
                fail_msg("call %u of caller %u, %s, %u effects: %s", i, c,
                         e->answers > 0 ? gbx_code_name((gbx_code)e->code)
                                        : "no answer",
                         e->effects, why);
        }
}

void ledger_free(ledger *l)
{
    for (unsigned c = 0; c < LEDGER_CALLERS; c++)
        free(l->entries[c]);
}
