/* SPDX-License-Identifier: MIT */
/* fake_relay - see fake_relay.h. */
#include "fake_relay.h"

#include "base/cleanup.h"
#include "base/sha256.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CALLS_MAX 4096
#define JOBS_MAX  64

/* ---- the ledger -------------------------------------------------------------------- */

static struct {
    char name[32];
    unsigned begun;
} ledger[CALLS_MAX];
static size_t ledger_count;
static unsigned running, made;
static size_t said;

static void begin(const char *name)
{
    size_t i = 0;

    while (i < ledger_count && strcmp(ledger[i].name, name) != 0)
        i++;
    assert(i < CALLS_MAX);
    if (i == ledger_count)
        (void)snprintf(ledger[ledger_count++].name, sizeof ledger[i].name, "%s", name);
    ledger[i].begun++;
}

unsigned fake_begun(const char *name)
{
    for (size_t i = 0; i < ledger_count; i++)
        if (strcmp(ledger[i].name, name) == 0)
            return ledger[i].begun;
    return 0;
}

unsigned fake_running(void)
{
    return running;
}

unsigned fake_made(void)
{
    return made;
}

size_t fake_said(void)
{
    return said;
}

void fake_forget(void)
{
    memset(ledger, 0, sizeof ledger);
    ledger_count = 0;
    made = running = 0;
    said = 0;
}

/* ---- engines ----------------------------------------------------------------------- */

struct gbx_engine {
    unsigned calls;
};

/* Threads that make engines: they run when the test says so. */
static struct {
    void *(*run)(void *);
    void *user;
} jobs[JOBS_MAX];
static size_t job_count;

int __wrap_gbx_thread_start(pthread_t *ret, void *(*run)(void *), void *user);
int __wrap_gbx_thread_start(pthread_t *ret, void *(*run)(void *), void *user)
{
    assert(job_count < JOBS_MAX);
    jobs[job_count].run = run;
    jobs[job_count++].user = user;
    *ret = pthread_self();
    return 0;
}

bool fake_make_engines(void)
{
    size_t count = job_count;

    job_count = 0;
    for (size_t i = 0; i < count; i++)
        (void)jobs[i].run(jobs[i].user);
    return count > 0;
}

static gbx_status engine_new(const gbx_contents *contents, const gbx_options *own,
                             gbx_engine **ret, gbx_error *reterr)
{
    for (size_t i = 0; i < contents->count; i++) { /* as a template would read it */
        uint8_t hash[GBX_SHA256_SIZE];
        uint8_t *bytes = malloc(contents->items[i].size + 1);

        assert(pread(contents->items[i].fd, bytes, contents->items[i].size, 0) ==
               (ssize_t)contents->items[i].size);
        gbx_sha256_of(bytes, contents->items[i].size, hash);
        assert(memcmp(hash, contents->items[i].sha256, sizeof hash) == 0);
        free(bytes);
    }
    if (strstr(contents->functions, "bad") != NULL)
        return gbx_fail_at(reterr, GBX_E_DATA, 3, 7, "not JSON");
    *ret = calloc(1, sizeof **ret);
    assert(*ret != NULL);
    made++;
    return GBX_OK;
}

static void engine_free(gbx_engine *engine)
{
    assert(engine->calls == 0);
    free(engine);
}

/* ---- relays ------------------------------------------------------------------------ */

struct gbx_relay {
    gbx_engine *engine;
    char word[8];
    unsigned long left; /* bytes to say, or answers to hear */
    size_t heard;       /* bytes of the next answer */
    bool has_asked, is_aborted, has_ended;
    int fd;
    gbx_ending ending;
    size_t len;
    char bytes[65536]; /* that wait */
};

static gbx_status relay_open(gbx_engine *engine, const void *frame, size_t frame_len,
                             const gbx_limits *limits, gbx_relay **ret,
                             gbx_error *reterr)
{
    char text[256];
    char name[32];
    gbx_relay *r;
    size_t len = frame_len - 16 < sizeof text ? frame_len - 16 : sizeof text - 1;

    assert(engine != NULL && frame_len >= 16);
    if (limits->struct_size != sizeof *limits)
        return gbx_fail(reterr, GBX_E_USAGE, "these are not limits");
    memcpy(text, (const char *)frame + 16, len);
    text[len] = 0;
    r = calloc(1, sizeof *r);
    assert(r != NULL);
    if (sscanf(text, "%31s %7s %lu", name, r->word, &r->left) < 2 ||
        strcmp(r->word, "bad") == 0) {
        free(r);
        return gbx_fail(reterr, GBX_E_DATA, "no call");
    }
    r->engine = engine;
    r->fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    assert(r->fd >= 0);
    if (strcmp(r->word, "none") != 0)
        begin(name);
    running++;
    engine->calls++;
    *ret = r;
    return GBX_OK;
}

static int relay_fd(const gbx_relay *r)
{
    return r->fd;
}

static void say(gbx_relay *r, const char *text)
{
    memcpy(r->bytes + r->len, text, strlen(text));
    r->len += strlen(text);
}

static void end(gbx_relay *r, gbx_ending_how how, const char *last)
{
    r->ending = (gbx_ending){.how = how, .cpu_us = 7, .growth_bytes = 11};
    if (how == GBX_ENDING_NO_WORKER)
        (void)snprintf(r->ending.reason, sizeof r->ending.reason, "none to be had");
    r->has_ended = true;
    running--;
    say(r, last);
}

static void work(gbx_relay *r)
{
    size_t room = sizeof r->bytes - 3 - r->len;
    size_t n = r->left < room ? r->left : room;

    if (r->is_aborted)
        end(r, GBX_ENDING_ABORT, "");
    else if (strcmp(r->word, "none") == 0)
        end(r, GBX_ENDING_NO_WORKER, "");
    else if (strcmp(r->word, "ask") == 0 && r->left > 0 && !r->has_asked)
        say(r, "?");
    else if (strcmp(r->word, "say") == 0 && r->left > 0) {
        memset(r->bytes + r->len, 'x', n);
        r->len += n;
        r->left -= n;
    }
    r->has_asked = true;
    if (!r->has_ended && r->left == 0 && strcmp(r->word, "wait") != 0)
        end(r, GBX_ENDING_SAID, "END");
}

static size_t relay_step(gbx_relay *r, const void **data, const gbx_ending **ending)
{
    eventfd_t ignored;

    (void)eventfd_read(r->fd, &ignored);
    if (!r->has_ended)
        work(r);
    *data = r->bytes;
    *ending = r->has_ended ? &r->ending : NULL;
    return r->len;
}

static void relay_taken(gbx_relay *r, size_t len)
{
    assert(len <= r->len);
    r->len -= len;
    memmove(r->bytes, r->bytes + len, r->len);
    said += len;
}

static gbx_status relay_feed(gbx_relay *r, const void *data, size_t len)
{
    const char *bytes = data;

    for (size_t i = 0; i < len; i++) {
        if (strcmp(r->word, "ask") != 0 || r->left == 0 || bytes[i] != "yes"[r->heard])
            return GBX_E_DATA;
        r->heard = (r->heard + 1) % 3;
        if (r->heard == 0) {
            r->left--;
            r->has_asked = false;
        }
    }
    return GBX_OK;
}

static void relay_abort(gbx_relay *r)
{
    r->is_aborted = true;
    (void)eventfd_write(r->fd, 1);
}

static void relay_free(gbx_relay *r)
{
    if (!r->has_ended)
        running--;
    r->engine->calls--;
    (void)close(r->fd);
    free(r);
}

const gbx_relay_api fake_relay_api = {engine_new, engine_free, relay_open,
                                      relay_fd,   relay_step,  relay_taken,
                                      relay_feed, relay_abort, relay_free};
