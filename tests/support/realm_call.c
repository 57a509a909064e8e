/* SPDX-License-Identifier: MIT */
/* realm_call - the realm is made in the child: each call has a process of its own. */
#include "support/realm_call.h"

#include "support/stand_in.h"

#include "base/buf.h"
#include "base/clock.h"

#include <JavaScriptCore/JavaScript.h>
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glovebox/glovebox.h>

/* What ends by itself has that long: a busy machine takes ten times what a quiet one does. */
#define PATIENCE_MS 60000

static const char *const environment[] = {
    "TZ=UTC",
    "LANG=C",
    "LD_BIND_NOW=1",
    "Malloc=1",
    "GIGACAGE_ENABLED=0",
    "JSC_useConcurrentJIT=0",
    "JSC_useConcurrentGC=0",
    "JSC_numberOfGCMarkers=1",
    "JSC_useWasm=0",
    "JSC_useTailCalls=0",
    "JSC_jitMemoryReservationSize=33554432",
    "REALM_TEST=1",
    NULL,
};

typedef struct session {
    gbx_buf out;
    stand_in host;
} session;

static void on_log(void *user, const gbx_msg_log *line)
{
    session *s = user;

    gbx_buf_printf(&s->out, "%d%c", line->level, line->flags & GBX_LOG_CUT ? '#' : '|');
    gbx_buf_append(&s->out, line->text.data, line->text.len);
    gbx_buf_puts(&s->out, "\n");
}

static double on_now(void *user)
{
    return (double)gbx_clock_now_ns() / GBX_NS_PER_MS;
}

static gbx_span span(const char *text, size_t len)
{
    return (gbx_span){(const uint8_t *)text, len};
}

static void on_request(void *user, const gbx_msg_hostcall *msg)
{
    stand_in_request(&((session *)user)->host, msg);
}

static void on_cancel(void *user, uint32_t id)
{
    stand_in_cancel(&((session *)user)->host, id);
}

static void on_wait(void *user, uint32_t ms)
{
    stand_in_wait(&((session *)user)->host, ms);
}

static gbx_msg_call message(const realm_call *call)
{
    return (gbx_msg_call){
        .form = call->form,
        .flags = (uint8_t)((call->fixed ? GBX_CALL_WIRE_FIXED_NOW : 0) |
                           (call->input != NULL ? GBX_CALL_WIRE_HAS_INPUT : 0)),
        .seed = call->seed,
        .now_ms = call->now_ms,
        .output_bytes = call->output_bytes,
        .log_bytes = call->log_bytes,
        .first_line = call->line,
        .first_column = call->column,
        .capabilities = (call->capabilities & ~call->withheld) |
                        (call->console ? GBX_CAP_CONSOLE : 0) |
                        (call->timers ? GBX_CAP_TIMERS : 0),
        .entropy =
            span(call->entropy, call->entropy != NULL ? strlen(call->entropy) : 0),
        .env = span(call->env, call->env != NULL ? strlen(call->env) : 0),
        .host_calls = 100,
        .host_calls_at_once = 4,
        .host_out_bytes = 1048576,
        .code = span(call->code, call->code_len),
        .dataset =
            span(call->dataset, call->dataset != NULL ? strlen(call->dataset) : 0),
        .bindings =
            span(call->bindings, call->bindings != NULL ? strlen(call->bindings) : 0),
        .input = span(call->input, call->input != NULL ? strlen(call->input) : 0),
    };
}

static void print_failure(session *s, const gbx_msg_error *e, bool with_stack)
{
    static const char *const names[] = {"?",      "SYNTAX", "THROWN", "NOT_JSON",
                                        "OUTPUT", "INPUT",  "NEVER",  "BAD_FORM"};

    gbx_buf_printf(&s->out, "%s%s ", e->is_out_of_memory ? "OOM " : "",
                   names[e->failure]);
    gbx_buf_append(&s->out, e->name.data, e->name.len);
    gbx_buf_puts(&s->out, e->name.len > 0 ? ": " : "");
    gbx_buf_append(&s->out, e->message.data, e->message.len);
    if (e->line > 0)
        gbx_buf_printf(&s->out, " @%u:%u", e->line, e->column);
    if (with_stack && e->stack.len > 0) {
        gbx_buf_puts(&s->out, "\n");
        gbx_buf_append(&s->out, e->stack.data, e->stack.len);
    }
}

static gbx_realm *make(const realm_call *call, session *s)
{
    const char *reason;
    gbx_realm_preload preloads[GBX_COUNTOF(call->preloads)];
    gbx_realm_setup setup = {.globals = call->globals,
                             .capabilities = call->capabilities,
                             .preloads = preloads,
                             .preload_count = call->preload_count};
    gbx_realm *realm;

    memcpy(preloads, call->preloads, sizeof preloads);
    realm = gbx_realm_new(&setup, &reason);
    if (realm == NULL) {
        gbx_buf_printf(&s->out, "NO REALM: %s", reason);
        for (unsigned i = 0; i < call->preload_count; i++)
            if (preloads[i].failed)
                gbx_buf_printf(&s->out, " #%u @%u:%u", i, preloads[i].line,
                               preloads[i].column);
        return NULL;
    }
    for (unsigned i = 0; i < call->dataset_count; i++) {
        const char *name = call->dataset_names[i];
        const char *json = call->datasets[i];
        gbx_realm_fault fault;

        gbx_realm_data data = {.name = span(name, strlen(name)),
                               .text = span(json, strlen(json))};

        if (!gbx_realm_load(realm, &data, &fault)) {
            gbx_buf_printf(&s->out, "NOT LOADED: %s", fault.message);
            return NULL;
        }
    }
    return realm;
}

static void run_here(const void *what, session *s)
{
    const realm_call *call = what;
    gbx_realm_host host = {.user = s,
                           .log = on_log,
                           .wait = on_wait,
                           .now_ms = on_now,
                           .request = on_request,
                           .cancel = on_cancel};
    gbx_msg_call in = message(call);
    gbx_realm *realm = make(call, s);
    gbx_realm_outcome outcome;

    if (realm == NULL)
        return;
    s->host.call = call;
    s->host.realm = realm;
    s->host.out = &s->out;
    gbx_realm_on_refusal(NULL, NULL);
    gbx_realm_run(realm, &in, &host, &outcome);
    if (!outcome.ok)
        print_failure(s, &outcome.error, call->with_stack);
    else if (outcome.result.is_undefined)
        gbx_buf_puts(&s->out, "undefined");
    else
        gbx_buf_append(&s->out, outcome.result.json.data, outcome.result.json.len);
}

static void write_all(int fd, const uint8_t *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n <= 0)
            return;
        data += n;
        len -= (size_t)n;
    }
}

static char *read_all(FILE *from)
{
    gbx_buf text;
    size_t n;

    gbx_buf_init(&text, GBX_MIB(256));
    do {
        uint8_t *to = gbx_buf_reserve(&text, GBX_KIB(64));

        n = fread(to, 1, GBX_KIB(64), from);
        text.len += n;
    } while (n > 0);
    return gbx_buf_take_string(&text, NULL);
}

/* ---- public ------------------------------------------------------------------ */

void realm_environment(char **argv)
{
    if (getenv("REALM_TEST") != NULL)
        return;

    char **env = malloc(sizeof environment);

    memcpy(env, environment, sizeof environment);
    execve("/proc/self/exe", argv, env);
    abort();
}

static bool add_preload(realm_call *call, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text;

    if (file == NULL || call->preload_count == GBX_COUNTOF(call->preloads))
        return false;
    text = read_all(file);
    fclose(file);
    call->preloads[call->preload_count++] =
        (gbx_realm_preload){.name = span(path, strlen(path)),
                            .source = span(text, strlen(text))};
    return true;
}

static bool pick(const char *value, const char *const *names, unsigned *ret)
{
    for (unsigned i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

static bool add_dataset(realm_call *call, char *name)
{
    char *json = strchr(name, '=');

    if (json == NULL || call->dataset_count == GBX_COUNTOF(call->datasets))
        return false;
    *json = 0;
    call->dataset_names[call->dataset_count] = name;
    call->datasets[call->dataset_count++] = json + 1;
    return true;
}

/* The members that are a text or a number. */
static bool set_member(realm_call *call, const char *key, char *value)
{
    const struct {
        const char *key;
        void *member;
        enum { TEXT, FLAG, WORD, LONG } type;
    } members[] = {
        {"input", &call->input, TEXT},
        {"dataset", &call->dataset, TEXT},
        {"entropy", &call->entropy, TEXT},
        {"env", &call->env, TEXT},
        {"bindings", &call->bindings, TEXT},
        {"answer", &call->answer, TEXT},
        {"body", &call->body, TEXT},
        {"fail", &call->fail, TEXT},
        {"console", &call->console, FLAG},
        {"timers", &call->timers, FLAG},
        {"silent", &call->silent, FLAG},
        {"stack", &call->with_stack, FLAG},
        {"withheld", &call->withheld, WORD},
        {"capabilities", &call->capabilities, WORD},
        {"log", &call->log_bytes, WORD},
        {"line", &call->line, WORD},
        {"column", &call->column, WORD},
        {"seed", &call->seed, LONG},
        {"output", &call->output_bytes, LONG},
    };
    uint64_t number = strtoull(value, NULL, 10);

    for (size_t i = 0; i < GBX_COUNTOF(members); i++) {
        if (strcmp(key, members[i].key) != 0)
            continue;
        switch (members[i].type) {
        case TEXT: memcpy(members[i].member, &value, sizeof value); break;
        case FLAG: *(bool *)members[i].member = *value == '1'; break;
        case WORD: *(uint32_t *)members[i].member = (uint32_t)number; break;
        case LONG: *(uint64_t *)members[i].member = number; break;
        }
        return true;
    }
    return false;
}

bool realm_call_option(realm_call *call, char *option)
{
    static const char *const forms[] = {"function", "execute", "body", "script", NULL};
    static const char *const globals[] = {"standard", "minimal", NULL};
    char *value = strchr(option, '=');
    unsigned form;

    if (strncmp(option, "data.", 5) == 0)
        return add_dataset(call, option + 5);
    if (value == NULL)
        return false;
    *value++ = 0;
    if (strcmp(option, "form") == 0) {
        if (!pick(value, forms, &form))
            return false;
        call->form = (uint8_t)form;
        return true;
    }
    if (strcmp(option, "globals") == 0)
        return pick(value, globals, &call->globals);
    if (strcmp(option, "preload") == 0)
        return add_preload(call, value);
    if (strcmp(option, "now") == 0) {
        call->fixed = true;
        call->now_ms = strtoll(value, NULL, 10);
        return true;
    }
    return set_member(call, option, value);
}

/* In a child that ends by itself or by SIGALRM; what it wrote, then how it ended. */
static char *in_child(void (*body)(const void *what, session *s), const void *what,
                      unsigned deadline_ms)
{
    struct itimerval deadline = {
        .it_value = {deadline_ms / 1000, (suseconds_t)(deadline_ms % 1000) * 1000}};
    gbx_buf text;
    ssize_t n;
    int fds[2], status;
    pid_t child;

    assert(pipe(fds) == 0);
    fflush(NULL);
    child = fork();
    assert(child >= 0);
    if (child == 0) {
        static session s;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGALRM, SIG_DFL);
        setitimer(ITIMER_REAL, &deadline, NULL);
        gbx_buf_init(&s.out, GBX_MIB(256));
        body(what, &s);
        write_all(fds[1], s.out.data, s.out.len);
        _exit(0);
    }
    close(fds[1]);
    gbx_buf_init(&text, GBX_MIB(256));
    do {
        uint8_t *to = gbx_buf_reserve(&text, GBX_KIB(64));

        n = read(fds[0], to, GBX_KIB(64));
        text.len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    close(fds[0]);
    assert(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        gbx_buf_printf(&text, "SIGNAL %d", WTERMSIG(status));
    return gbx_buf_take_string(&text, NULL);
}

char *realm_outcome(const realm_call *call, unsigned deadline_ms)
{
    return in_child(run_here, call, deadline_ms > 0 ? deadline_ms : PATIENCE_MS);
}

static void run_bare(const void *what, session *s)
{
    JSGlobalContextRef ctx = JSGlobalContextCreate(NULL);
    JSStringRef text;
    JSValueRef value;
    gbx_buf code;
    char json[1024];

    gbx_buf_init(&code, GBX_MIB(1));
    gbx_buf_puts(&code, "JSON.stringify((");
    gbx_buf_puts(&code, what);
    gbx_buf_append(&code, ")())", 5);
    text = JSStringCreateWithUTF8CString((const char *)code.data);
    value = JSEvaluateScript(ctx, text, NULL, NULL, 1, NULL);
    if (value == NULL || !JSValueIsString(ctx, value)) {
        gbx_buf_puts(&s->out, "no value");
        return;
    }
    JSStringGetUTF8CString(JSValueToStringCopy(ctx, value, NULL), json, sizeof json);
    gbx_buf_puts(&s->out, json);
}

char *realm_bare(const char *code)
{
    return in_child(run_bare, code, PATIENCE_MS);
}
