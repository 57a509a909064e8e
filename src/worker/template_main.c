/* SPDX-License-Identifier: MIT */
/*
 * template_main - sets up the template and forks workers. Engine and realm come first
 * (they open files), then the seal that forks inherit, then the first message to the
 * host.
 */
#include "worker/worker.h"

#include "realm/realm.h"
#include "wire/wire.h"
#include "zones/zones.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- children --------------------------------------------------------------- */

#define GBX_CHILDREN_MAX 1100 /* more than the host's maximum, to include killed ones */

typedef struct gbx_children {
    size_t count;
    struct gbx_child {
        pid_t pid;
        uint64_t worker_id;
    } list[GBX_CHILDREN_MAX];
} gbx_children;

static uint64_t microseconds(const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000u + (uint64_t)tv->tv_usec;
}

/* Reap one child that has ended; false if none has. */
static bool gbx_children_reap(gbx_children *children, gbx_msg_exited *ret)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        for (size_t i = 0; i < children->count; i++) {
            if (children->list[i].pid != pid)
                continue;
            *ret = (gbx_msg_exited){
                .worker_id = children->list[i].worker_id,
                .status = (uint32_t)status,
                .cpu_us = microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime),
                .max_rss_kib = (uint64_t)usage.ru_maxrss,
            };
            children->list[i] = children->list[--children->count];
            return true;
        }
        /* As pid 1 of its namespace the template also inherits orphans, which are
         * not workers. */
    }
    return false;
}

/* ---- preloads -------------------------------------------------------------- */

/*
 * Loads the host's own scripts into the realm: reads them from the control channel,
 * maps them, and runs them within a limit of processor time.
 *
 * In the template alone, between CONFIG and HELLO. The host is trusted, but its scripts
 * may not end, and one that loops must be reported by name. When the time is up a signal
 * handler sends a message to the host. The message is encoded before each script runs, so
 * that the handler need not allocate.
 */

typedef struct gbx_preloads {
    gbx_realm_preload items[GBX_PRELOADS_MAX]; /* their spans are mapped */
    size_t count;
} gbx_preloads;

/* Limit for all of them together. A large library takes a tenth of a second. */
#define CPU_SECONDS 3

/* The handler's message, and its destination. */
static struct last_word {
    int control;
    gbx_buf hello;
} last_word;

static void on_time(int signal)
{
    (void)!write(last_word.control, last_word.hello.data, last_word.hello.len);
    _exit(4);
}

/* Read the next LOAD of a script, whose text is mapped. False if the channel ends or
 * another message arrives. */
static bool gbx_preloads_read(gbx_preloads *preloads, int control)
{
    gbx_msg_load msg;
    gbx_header header;
    uint8_t *body;
    void *data = NULL;
    bool ok;
    int fd;

    if (!gbx_channel_read_header_fd(control, &header, &fd))
        return false;
    body = malloc(GBX_NAME_MAX + 64); /* its name lives as long as the process */
    ok = body != NULL && fd >= 0 && header.type == GBX_MSG_LOAD &&
         header.body_len <= GBX_NAME_MAX + 64 &&
         gbx_channel_read(control, body, header.body_len) &&
         gbx_msg_get(((gbx_span){body, header.body_len}), &msg) &&
         msg.size <= GBX_PRELOAD_MAX;
    if (ok && msg.size > 0) {
        data = mmap(NULL, (size_t)msg.size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = data != MAP_FAILED;
    }
    if (fd >= 0)
        (void)close(fd);
    if (!ok) {
        free(body);
        return false;
    }
    preloads->items[preloads->count++] =
        (gbx_realm_preload){.name = msg.name, .source = {data, (size_t)msg.size}};
    return true;
}

/* Called when the preload at index is about to run. user is the gbx_preloads. */
static void gbx_preloads_begin(void *user, size_t index)
{
    const gbx_preloads *preloads = user;
    gbx_span name = preloads->items[index].name;
    char text[GBX_NAME_MAX + 96];
    gbx_msg_hello hello = {.version = GBX_WIRE_VERSION, .preload = (uint32_t)index + 1};
    sigset_t prof;

    (void)snprintf(text, sizeof text,
                   "%.*s: it has not ended within %d seconds of processor time",
                   (int)name.len, (const char *)name.data, CPU_SECONDS);
    hello.failure = gbx_span_of(text);
    (void)sigemptyset(&prof);
    (void)sigaddset(&prof, SIGPROF);
    (void)sigprocmask(SIG_BLOCK, &prof, NULL);
    last_word.hello.len = 0;
    (void)gbx_msg_put(&last_word.hello, 0, &hello);
    (void)sigprocmask(SIG_UNBLOCK, &prof, NULL);
}

/* Fill hello->preload and its position, if one has failed. Unmap the scripts: the realm
 * does not need them any more. */
static void gbx_preloads_end(gbx_preloads *preloads, gbx_msg_hello *hello)
{
    for (size_t i = 0; i < preloads->count; i++) {
        const gbx_realm_preload *p = &preloads->items[i];

        if (p->failed) {
            hello->preload = (uint32_t)i + 1;
            hello->line = p->line;
            hello->column = p->column;
        }
        if (p->source.len > 0)
            (void)munmap((void *)(uintptr_t)p->source.data, p->source.len);
    }
    preloads->count = 0;
}

/* ---- the template ---------------------------------------------------------- */

/* Limits of the room: a smaller one is not worth it, and few inputs need more. */
#define ROOM_MIN GBX_MIB(8)
#define ROOM_MAX GBX_MIB(32)

/* Added to the nice value. If both want a processor, the host comes first: to answer,
 * and to end what runs here. A third of its weight leaves enough for calls on a machine
 * that is busy with other things. */
#define STEP_BELOW_HOST 5

typedef struct template
{
    int control;
    int signals; /* signalfd of SIGCHLD */
    gbx_msg_config config;
    gbx_seal seal;
    gbx_preloads preloads;
    gbx_realm *realm;
    gbx_children children;
    gbx_pages pages; /* pages that every worker writes and a fork does not copy */
    char time_zones[64];
    bool is_spare; /* no engine has it yet */
}
template;

static bool send_all(template *t, gbx_buf *buf)
{
    bool sent = !buf->failed && gbx_channel_write(t->control, buf->data, buf->len);

    gbx_buf_cleanup(buf);
    return sent;
}

/* Count this process's threads and check for a writable and executable mapping. Call
 * before the seal, which removes /proc. */
static void look_at_self(gbx_msg_hello *hello)
{
    gbx_maps maps = gbx_maps_read(false);
    char line[512];
    FILE *f = fopen("/proc/self/status", "re");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        (void)sscanf(line, "Threads: %u", &hello->threads);
    if (f != NULL)
        (void)fclose(f);
    for (size_t i = 0; i < maps.count; i++)
        if (maps.list[i].prot == (PROT_READ | PROT_WRITE | PROT_EXEC))
            hello->jit_page = 1;
    gbx_maps_free(&maps);
}

static bool say_hello(template *t, gbx_msg_hello *hello, const char *failure)
{
    gbx_buf buf = {.ceiling = GBX_KIB(64)};

    hello->version = GBX_WIRE_VERSION;
    hello->landlock_abi = t->seal.landlock_abi;
    hello->engine = gbx_span_of(gbx_realm_engine());
    hello->user = gbx_span_of(t->seal.user);
    hello->layout = gbx_span_of(t->seal.layout);
    hello->speculation = gbx_span_of(t->seal.speculation);
    hello->time_zones = gbx_span_of(t->time_zones);
    hello->failure = gbx_span_of(failure);
    hello->oom_known = t->realm != NULL && gbx_realm_knows_oom(t->realm);
    hello->layer_count = GBX_LAYER_COUNT;
    for (size_t i = 0; i < GBX_LAYER_COUNT; i++) {
        const gbx_layer_state *state = &t->seal.layers[i];

        hello->layers[i] = (gbx_layer_report){.layer = (uint8_t)i,
                                              .stands = state->stands,
                                              .reason = gbx_span_of(state->reason)};
    }
    (void)gbx_msg_put(&buf, 0, hello);
    return send_all(t, &buf);
}

/* Fork one child with a channel of its own, and report it to the host. */
static bool fork_child(template *t, uint64_t worker_id, gbx_session_proof proof,
                       const gbx_msg_attack *msg)
{
    gbx_msg_forked forked = {.worker_id = worker_id};
    int pair[2] = {-1, -1};
    int pidfd = -1;
    pid_t pid = -1;
    gbx_buf buf = {.ceiling = 256};
    bool sent;

    if (t->children.count == GBX_CHILDREN_MAX) {
        errno = EAGAIN;
    } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        /* There is one thread, outside the C library's locks: fork()'s preparations are
         * not needed, and would write to the loader's pages. */
        gbx_seal_measure(&t->seal);
        pid = _Fork();
        if (pid == 0) {
            if (msg != NULL) { /* seal without the given layers, and attack */
                t->seal.layers_off |= msg->layers_off;
                if (!gbx_seal_worker(&t->seal, pair[1]))
                    _exit(4);
                gbx_attack_run(msg->index);
                _exit(5);
            }
            gbx_pages_claim(&t->pages);
            gbx_text_claim();
            gbx_session_run(t->realm, &t->seal, pair[1], proof);
        }
        if (pid > 0)
            pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
    if (pidfd < 0)
        forked.error = (uint32_t)(errno != 0 ? errno : EAGAIN);
    (void)gbx_msg_put(&buf, 0, &forked);
    if (pidfd >= 0) {
        int fds[2] = {pair[0], pidfd};

        t->children.list[t->children.count++] =
            (struct gbx_child){.pid = pid, .worker_id = worker_id};
        sent =
            !buf.failed && gbx_channel_write_fds(t->control, buf.data, buf.len, fds, 2);
        gbx_buf_cleanup(&buf);
    } else {
        if (pid > 0)
            (void)kill(pid, SIGKILL);
        sent = send_all(t, &buf);
    }
    for (size_t i = 0; i < 2; i++)
        if (pair[i] >= 0)
            (void)close(pair[i]);
    if (pidfd >= 0)
        (void)close(pidfd);
    return sent;
}

static bool rehearse(void *realm)
{
    return gbx_realm_rehearse(realm);
}

/* Reserve an eighth of what a call may have. Blocks beyond it are mapped singly: those
 * can grow in place, and no leftover of one is too small for the next. */
static void make_room(template *t)
{
    uint64_t room = t->config.memory_bytes / 8;

    if (room >= ROOM_MIN)
        t->seal.room_bytes = gbx_heap_reserve(room < ROOM_MAX ? room : ROOM_MAX);
}

static bool load(template *t, gbx_span body, int fd)
{
    gbx_realm_fault fault = {.line = 0};
    gbx_msg_loaded loaded = {0};
    gbx_msg_load msg;
    gbx_buf buf = {.ceiling = GBX_KIB(16)};
    void *data = NULL;

    if (!gbx_msg_get(body, &msg) || fd < 0 || msg.size > SIZE_MAX)
        return false;
    if (msg.size > 0)
        data = mmap(NULL, (size_t)msg.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        (void)snprintf(fault.message, sizeof fault.message, "cannot map %llu bytes",
                       (unsigned long long)msg.size);
    } else {
        gbx_realm_data from = {.name = msg.name,
                               .text = {data, (size_t)msg.size},
                               .format = msg.format};

        gbx_reserve_open(&t->seal);
        loaded.ok = gbx_realm_load(t->realm, &from, &fault);
        if (!gbx_reserve_close_again(&t->seal))
            return false;
        if (data != NULL)
            (void)munmap(data, (size_t)msg.size);
        gbx_realm_settle(t->realm, t->config.warm);
        gbx_heap_close_holes();
        make_room(t);
    }
    loaded.line = fault.line;
    loaded.column = fault.column;
    loaded.message = gbx_span_of(fault.message);
    (void)gbx_msg_put(&buf, 0, &loaded);
    return send_all(t, &buf);
}

static bool expose(template *t, gbx_span body)
{
    gbx_msg_loaded loaded = {0};
    gbx_msg_expose msg;
    gbx_buf buf = {.ceiling = GBX_KIB(1)};

    if (!gbx_msg_get(body, &msg))
        return false;
    loaded.ok = gbx_realm_expose(t->realm, msg.name);
    if (!loaded.ok)
        loaded.message = gbx_span_of("the name is taken");
    (void)gbx_msg_put(&buf, 0, &loaded);
    return send_all(t, &buf);
}

/* Handle one message of the host. False ends the template. */
static bool serve_one(template *t)
{
    uint8_t body[GBX_KIB(4)];
    gbx_span span = {.data = body};
    gbx_msg_attack msg;
    gbx_msg_fork fork;
    gbx_header header;
    bool served = false;
    int fd;

    if (!gbx_channel_read_header_fd(t->control, &header, &fd))
        return false;
    span.len = header.body_len;
    if (header.body_len <= sizeof body &&
        gbx_channel_read(t->control, body, header.body_len)) {
        if (header.type == GBX_MSG_FORK && !t->config.attack_mode)
            served = gbx_msg_get(span, &fork) &&
                     fork_child(t, fork.worker_id,
                                fork.hurries ? GBX_SESSION_HURRIES : GBX_SESSION_PROVES,
                                NULL);
        else if (header.type == GBX_MSG_ATTACK && t->config.attack_mode)
            served = gbx_msg_get(span, &msg) &&
                     fork_child(t, msg.worker_id, GBX_SESSION_PROVES, &msg);
        else if (header.type == GBX_MSG_LOAD && !t->config.attack_mode)
            served = load(t, span, fd);
        else if (header.type == GBX_MSG_EXPOSE && !t->config.attack_mode)
            served = expose(t, span);
        if (header.type == GBX_MSG_LOAD)
            gbx_stack_clear();
    }
    if (fd >= 0)
        (void)close(fd);
    return served;
}

static void serve(template *t)
{
    struct pollfd fds[2] = {{.fd = t->control, .events = POLLIN},
                            {.fd = t->signals, .events = POLLIN}};
    struct signalfd_siginfo info;
    gbx_msg_exited exited;

    gbx_stack_clear();
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents != 0) {
            gbx_buf buf = {.ceiling = GBX_MIB(1)};

            (void)!read(t->signals, &info, sizeof info);
            while (gbx_children_reap(&t->children, &exited))
                (void)gbx_msg_put(&buf, 0, &exited);
            if (buf.len > 0 && !send_all(t, &buf))
                return;
        }
        if (fds[0].revents != 0 && t->is_spare) { /* its engine's first message */
            (void)prctl(PR_SET_NAME, "glovebox-worker");
            t->is_spare = false;
        }
        if (fds[0].revents != 0 && !serve_one(t))
            return;
    }
}

/* CONFIG must be the first message. Its spans are kept. */
static bool read_config(template *t)
{
    uint8_t *body;
    gbx_header header;

    if (!gbx_channel_read_header(t->control, &header) ||
        header.type != GBX_MSG_CONFIG || header.body_len > GBX_CONFIG_MAX)
        return false;
    body = malloc((size_t)header.body_len + 1);
    return body != NULL && gbx_channel_read(t->control, body, header.body_len) &&
           gbx_msg_get(((gbx_span){body, header.body_len}), &t->config) &&
           t->config.version == GBX_WIRE_VERSION;
}

/* Receive SIGCHLD through a descriptor. */
static bool set_signals(template *t)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    gbx_template_block_signals();
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return false;
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return t->signals >= 0;
}

/* Begin the realm that all engines have. */
static bool begin(template *t, const gbx_prepared *prepared, const char **ret_reason)
{
    if (prepared != NULL) {
        t->realm = prepared->realm;
        memcpy(t->time_zones, prepared->time_zones, sizeof t->time_zones);
        return true;
    }
    t->realm = gbx_template_begin_realm(t->time_zones, ret_reason);
    return t->realm != NULL;
}

/* Everything that a template runs before it is forked. */
static void warm(template *t)
{
    gbx_realm_warm(t->realm, t->config.warm);
    gbx_realm_warm_own(t->realm, t->config.warm);
    gbx_realm_settle(t->realm, t->config.warm);
    make_room(t);
    gbx_template_forget_handlers();
    gbx_libs_drop();
    if (t->config.warm == 0)
        return;
    gbx_template_make_light(t->realm, t->config.huge_pages, &t->pages);
    gbx_pages_pin(&t->pages);
}

/* In a fork of the zygote, which has already run the rest. Its workers write the pages
 * that the zygote's would: to look again takes a fifth of a template's start. */
static void warm_more(template *t, const gbx_prepared *prepared)
{
    gbx_realm_warm_own(t->realm, t->config.warm);
    (void)gbx_realm_rehearse(t->realm); /* it was settled before it was complete */
    make_room(t);
    gbx_libs_drop(); /* not earlier: a capability may have loaded one */
    if (t->config.warm == 0)
        return;
    t->pages = prepared->pages;
    gbx_pages_pin(&t->pages);
}

static bool complete(template *t, const char **ret_reason)
{
    gbx_realm_setup setup = {.globals = t->config.globals,
                             .capabilities = t->config.capabilities,
                             .functions = t->config.functions,
                             .preloads = t->preloads.items,
                             .preload_count = t->preloads.count,
                             .on_preload = gbx_preloads_begin,
                             .user = &t->preloads};
    static const struct itimerval limit = {.it_value = {CPU_SECONDS, 0}};
    static const struct itimerval none = {0};
    bool is_made;

    if (t->preloads.count > 0) {
        /* Count the process's time. When it is up, on_time() sends HELLO with a failure
         * that names the preload, and ends the process. */
        last_word.control = t->control;
        gbx_buf_init(&last_word.hello, GBX_KIB(1));
        gbx_preloads_begin(&t->preloads, 0);
        (void)signal(SIGPROF, on_time);
        (void)setitimer(ITIMER_PROF, &limit, NULL);
    }
    is_made = gbx_realm_complete(t->realm, &setup, ret_reason);
    /* All have run, or one has failed: stop counting. */
    (void)setitimer(ITIMER_PROF, &none, NULL);
    (void)signal(SIGPROF, SIG_DFL);
    gbx_buf_cleanup(&last_word.hello);
    return is_made;
}

int gbx_template_serve(const gbx_launch *launch, const gbx_prepared *prepared)
{
    static template t; /* large, and lives as long as the process */
    gbx_msg_hello hello = {0};
    const char *reason = "";
    bool is_made;

    t.control = GBX_CONTROL_FD;
    t.is_spare = launch->is_spare;
    (void)!nice(STEP_BELOW_HOST);
    if (!set_signals(&t) || !read_config(&t) ||
        (launch->layers_off != 0 && !t.config.attack_mode))
        return 3;
    while (t.preloads.count < t.config.preloads)
        if (!gbx_preloads_read(&t.preloads, t.control))
            return 3;
    gbx_seal_init(&t.seal, launch->layers_off, launch->made, &launch->identity,
                  t.config.memory_bytes, t.config.cpu_s);
    is_made = begin(&t, prepared, &reason) && complete(&t, &reason);
    gbx_preloads_end(&t.preloads, &hello);
    if (is_made) {
        reason = "";
        if (prepared != NULL)
            warm_more(&t, prepared);
        else
            warm(&t);
        look_at_self(&hello);
        if (!gbx_identity_guard_speculation(
                &t.seal, (t.config.flags & GBX_CONFIG_GUARD_SPECULATION) != 0))
            reason = "this machine cannot turn its processor's speculation off";
        (void)dup2(1, 2); /* from here on failures are reported in messages */
        gbx_seal_template(&t.seal);
        if (hello.threads != 1)
            reason = "the engine has started a second thread: forks would not be whole";
    }
    if (!say_hello(&t, &hello, reason))
        return 3;
    if (*reason != 0)
        return 4;
    gbx_freeze_end();
    serve(&t);
    return 0;
}

/* ---- shared with the zygote ------------------------------------------------ */

gbx_realm *gbx_template_begin_realm(char time_zones[static 64], const char **ret_reason)
{
    gbx_heap_keep_together();
    gbx_realm_forbid_threads();
    gbx_zones_use(time_zones);
    return gbx_realm_begin(ret_reason);
}

void gbx_template_block_signals(void)
{
    static const int requests[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < GBX_COUNTOF(requests); i++)
        (void)sigaddset(&set, requests[i]);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
}

void gbx_template_forget_handlers(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP,
                                 SIGABRT, SIGFPE, SIGUSR1};

    for (size_t i = 0; i < GBX_COUNTOF(faults); i++)
        (void)signal(faults[i], SIG_DFL);
}

void gbx_template_make_light(gbx_realm *realm, size_t huge_pages, gbx_pages *ret_pages)
{
    gbx_heap_close_holes();
    (void)rehearse(realm); /* the engine must find its new places once */
    (void)gbx_text_enlarge(huge_pages, rehearse, realm);
    gbx_freeze(rehearse, realm);
    gbx_pages_learn(ret_pages, rehearse, realm);
}
