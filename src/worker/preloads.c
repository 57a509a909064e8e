/* SPDX-License-Identifier: MIT */
/*
 * preloads - see worker.h. When the time is up a signal handler sends a message to the
 * host. The message is encoded before each script runs, so that the handler need not
 * allocate.
 */
#include "worker/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

/* Limit for all of them together. A large library takes a tenth of a second. */
#define CPU_SECONDS 3

/* The handler's message, and its destination. */
static struct last_word {
    int control;
    gbx_buf hello;
} last_word;

static void on_time(int signal)
{
    (void)signal;
    (void)!write(last_word.control, last_word.hello.data, last_word.hello.len);
    _exit(4);
}

/* Read one PRELOAD, whose text is mapped. */
static bool read_one(int control, gbx_realm_preload *ret)
{
    gbx_msg_preload msg;
    gbx_header header;
    uint8_t *body;
    void *data = NULL;
    bool ok;
    int fd;

    if (!gbx_channel_read_header_fd(control, &header, &fd))
        return false;
    body = malloc(GBX_NAME_MAX + 64); /* its name lives as long as the process */
    ok = body != NULL && fd >= 0 && header.type == GBX_MSG_PRELOAD &&
         header.body_len <= GBX_NAME_MAX + 64 &&
         gbx_channel_read(control, body, header.body_len) &&
         gbx_msg_get_preload((gbx_span){body, header.body_len}, &msg) &&
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
    *ret = (gbx_realm_preload){.name = msg.name, .source = {data, (size_t)msg.size}};
    return true;
}

bool gbx_preloads_read(gbx_preloads *preloads, int control, uint32_t count)
{
    preloads->count = 0;
    while (preloads->count < count)
        if (!read_one(control, &preloads->items[preloads->count++]))
            return false;
    return true;
}

void gbx_preloads_watch(const gbx_preloads *preloads, int control)
{
    static const struct itimerval limit = {.it_value = {CPU_SECONDS, 0}};

    if (preloads->count == 0)
        return;
    last_word.control = control;
    gbx_buf_init(&last_word.hello, GBX_KIB(1));
    gbx_preloads_begin((void *)(uintptr_t)preloads, 0);
    (void)signal(SIGPROF, on_time);
    (void)setitimer(ITIMER_PROF, &limit, NULL);
}

void gbx_preloads_begin(void *user, size_t index)
{
    const gbx_preloads *preloads = user;
    gbx_span name = preloads->items[index].name;
    char text[GBX_NAME_MAX + 96];
    gbx_msg_hello hello = {.version = GBX_WIRE_VERSION, .preload = (uint32_t)index + 1};
    sigset_t prof;

    (void)snprintf(text, sizeof text,
                   "%.*s: it has not ended within %d seconds of processor time",
                   (int)name.len, (const char *)name.data, CPU_SECONDS);
    hello.failure = (gbx_span){(const uint8_t *)text, strlen(text)};
    (void)sigemptyset(&prof);
    (void)sigaddset(&prof, SIGPROF);
    (void)sigprocmask(SIG_BLOCK, &prof, NULL);
    last_word.hello.len = 0;
    (void)gbx_msg_put_hello(&last_word.hello, &hello);
    (void)sigprocmask(SIG_UNBLOCK, &prof, NULL);
}

void gbx_preloads_unwatch(void)
{
    static const struct itimerval none = {0};

    (void)setitimer(ITIMER_PROF, &none, NULL);
    (void)signal(SIGPROF, SIG_DFL);
    gbx_buf_cleanup(&last_word.hello);
}

void gbx_preloads_report(const gbx_preloads *preloads, gbx_msg_hello *hello)
{
    for (size_t i = 0; i < preloads->count; i++) {
        if (!preloads->items[i].failed)
            continue;
        hello->preload = (uint32_t)i + 1;
        hello->line = preloads->items[i].line;
        hello->column = preloads->items[i].column;
    }
}

void gbx_preloads_cleanup(gbx_preloads *preloads)
{
    for (size_t i = 0; i < preloads->count; i++)
        if (preloads->items[i].source.len > 0)
            (void)munmap((void *)(uintptr_t)preloads->items[i].source.data,
                         preloads->items[i].source.len);
    preloads->count = 0;
}
