/* SPDX-License-Identifier: MIT */
/* loop_runner - see loop_runner.h. */
#include "loop_runner.h"

#include "base/buf.h"
#include "base/sha256.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

/* One engine of the other machine. */
typedef struct loop_engine {
    LIST_ENTRY(loop_engine) link;
    char key[GBX_SHA256_HEX_SIZE]; /* of its contents */
    gbx_engine *engine;
    gbx_error error; /* why there is none */
} loop_engine;

typedef struct loop_lease {
    LIST_ENTRY(loop_lease) link;
    gbx_lease *lease;
    char key[GBX_SHA256_HEX_SIZE];
    gbx_buf call; /* as much of it as has come */
    gbx_relay *relay;
    bool is_granted;
    bool is_refused; /* its ending is set */
} loop_lease;

/* The lock is held while functions of leases and relays are called. */
typedef struct loop {
    LIST_ENTRY(loop) link; /* in loops */
    const gbx_engine *front;
    gbx_options own;
    pthread_mutex_t lock;
    pthread_cond_t made;
    const gbx_contents *making; /* of an engine that is made now, or NULL */
    pthread_t thread;
    int wake;
    bool is_ending;
    LIST_HEAD(, loop_lease) leases;
    LIST_HEAD(, loop_engine) engines;
} loop;

/* Of the engines that a test has made. */
static LIST_HEAD(, loop) loops;
static pthread_mutex_t loops_lock = PTHREAD_MUTEX_INITIALIZER;

/* For threads that are not the test's. */
static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void wake(loop *l)
{
    uint64_t one = 1;

    must(write(l->wake, &one, sizeof one) == sizeof one);
}

/* ---- the other machine ------------------------------------------------------------- */

/* Equal for equal contents. */
static void print_key(const gbx_contents *c, char key[GBX_SHA256_HEX_SIZE])
{
    gbx_contents numbers = *c;
    uint8_t hash[GBX_SHA256_SIZE];
    gbx_sha256 sum;

    numbers.functions = NULL;
    numbers.items = NULL;
    gbx_sha256_init(&sum);
    gbx_sha256_add(&sum, &numbers, sizeof numbers);
    gbx_sha256_add(&sum, c->functions, strlen(c->functions) + 1);
    for (size_t i = 0; i < c->count; i++) {
        const gbx_content *item = &c->items[i];

        gbx_sha256_add(&sum, &item->kind, sizeof item->kind);
        gbx_sha256_add(&sum, &item->format, sizeof item->format);
        gbx_sha256_add(&sum, item->name, strlen(item->name) + 1);
        gbx_sha256_add(&sum, item->sha256, sizeof item->sha256);
    }
    gbx_sha256_end(&sum, hash);
    gbx_sha256_print(hash, key);
}

static loop_engine *find_engine(loop *l, const char *key)
{
    loop_engine *e;

    LIST_FOREACH(e, &l->engines, link)
    if (strcmp(e->key, key) == 0)
        break;
    return e;
}

static bool is_used(const loop *l, const loop_engine *e)
{
    const loop_lease *lease;

    LIST_FOREACH(lease, &l->leases, link)
    if (strcmp(lease->key, e->key) == 0)
        return true;
    return false;
}

static void free_engine(loop_engine *e)
{
    gbx_engine_free(e->engine);
    free(e);
}

/* In place of those that no lease uses. The lock is held, but not meanwhile. */
static loop_engine *make_engine(loop *l, const gbx_contents *contents)
{
    loop_engine *e = calloc(1, sizeof *e);
    loop_engine *old, *next;
    LIST_HEAD(, loop_engine) unused = {0};

    must(e != NULL);
    print_key(contents, e->key);
    while (l->making != NULL)
        (void)pthread_cond_wait(&l->made, &l->lock);
    l->making = contents;
    (void)pthread_mutex_unlock(&l->lock);
    must(gbx_relay_engine(contents, &l->own, &e->engine, &e->error) == e->error.status);
    (void)pthread_mutex_lock(&l->lock);
    l->making = NULL;
    (void)pthread_cond_broadcast(&l->made);
    for (old = LIST_FIRST(&l->engines); old != NULL; old = next) {
        next = LIST_NEXT(old, link);
        if (!is_used(l, old)) {
            LIST_REMOVE(old, link);
            LIST_INSERT_HEAD(&unused, old, link);
        }
    }
    LIST_INSERT_HEAD(&l->engines, e, link);
    (void)pthread_mutex_unlock(&l->lock);
    for (old = LIST_FIRST(&unused); old != NULL; old = next) {
        next = LIST_NEXT(old, link);
        free_engine(old);
    }
    (void)pthread_mutex_lock(&l->lock);
    return e;
}

static void refuse(loop_lease *lease, const char *text)
{
    lease->is_refused = true;
    lease->lease->ending.how = GBX_ENDING_NO_WORKER;
    (void)snprintf(lease->lease->ending.reason, sizeof lease->lease->ending.reason,
                   "%.199s", text);
}

/* The bytes of the call that have not come: its header says how many it has. */
static size_t call_left(const loop_lease *lease)
{
    uint32_t body_len;

    if (lease->call.len < 16)
        return 16 - lease->call.len;
    memcpy(&body_len, lease->call.data, sizeof body_len);
    must(16 + (size_t)body_len <= lease->call.ceiling);
    return 16 + (size_t)body_len - lease->call.len;
}

static void grant(loop_lease *lease)
{
    lease->is_granted = true;
    (void)strcpy(lease->lease->machine, LOOP_MACHINE);
    (void)strcpy(lease->lease->engine, "JavaScriptCore of a loop");
    lease->lease->wake(lease->lease);
}

/* Do what can be done for one lease. False: its engine must be made first. */
static bool serve(loop *l, loop_lease *lease)
{
    loop_engine *e = find_engine(l, lease->key);
    const gbx_ending *ending = NULL;
    const void *data;
    gbx_error error = {0};

    if (lease->is_refused)
        return true;
    if (e == NULL)
        return false;
    if (e->engine == NULL)
        refuse(lease, e->error.message);
    else if (!lease->is_granted)
        grant(lease);
    else if (lease->relay == NULL && call_left(lease) == 0 &&
             gbx_relay_new(e->engine, lease->call.data, lease->call.len,
                           lease->lease->limits, &lease->relay, &error) != GBX_OK)
        refuse(lease, error.message);
    if (lease->is_refused ||
        (lease->relay != NULL &&
         (gbx_relay_step(lease->relay, &data, &ending) > 0 || ending != NULL)))
        lease->lease->wake(lease->lease);
    return true;
}

/* Serve all. The lock is held, but not while an engine is made. */
static void serve_all(loop *l)
{
    loop_lease *lease = LIST_FIRST(&l->leases);

    while (lease != NULL) {
        if (serve(l, lease)) {
            lease = LIST_NEXT(lease, link);
        } else {
            (void)make_engine(l, lease->lease->contents);
            lease = LIST_FIRST(&l->leases);
        }
    }
}

static void *pump(void *arg)
{
    loop *l = arg;
    struct pollfd fds[256];
    uint64_t sum;

    (void)pthread_mutex_lock(&l->lock);
    while (!l->is_ending) {
        loop_lease *lease;
        nfds_t count = 1;

        serve_all(l);
        fds[0] = (struct pollfd){.fd = l->wake, .events = POLLIN};
        LIST_FOREACH(lease, &l->leases, link)
        if (lease->relay != NULL && count < 256)
            fds[count++] =
                (struct pollfd){.fd = gbx_relay_fd(lease->relay), .events = POLLIN};
        (void)pthread_mutex_unlock(&l->lock);
        (void)poll(fds, count, -1);
        (void)!read(l->wake, &sum, sizeof sum);
        (void)pthread_mutex_lock(&l->lock);
    }
    (void)pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- the runner -------------------------------------------------------------------- */

static gbx_status prepare(void *user, const gbx_contents *contents, gbx_error *reterr)
{
    loop *l = user;

    (void)pthread_mutex_lock(&l->lock);
    *reterr = make_engine(l, contents)->error;
    (void)pthread_mutex_unlock(&l->lock);
    return reterr->status;
}

static gbx_status ask(void *user, gbx_lease *given, gbx_error *reterr)
{
    loop *l = user;
    loop_lease *lease = calloc(1, sizeof *lease);

    if (lease == NULL)
        return GBX_E_NOMEM;
    given->plugin = lease;
    lease->lease = given;
    lease->call.ceiling = (size_t)given->call_bytes;
    print_key(given->contents, lease->key);
    (void)pthread_mutex_lock(&l->lock);
    LIST_INSERT_HEAD(&l->leases, lease, link);
    (void)pthread_mutex_unlock(&l->lock);
    wake(l);
    return GBX_OK;
}

/* Takes over at most 100,000 bytes, so that the rest is sent later. */
static size_t take(void *user, gbx_lease *given, const void *data, size_t len)
{
    loop_lease *lease = given->plugin;
    loop *l = user;
    size_t n = len < 100000 ? len : 100000;

    (void)pthread_mutex_lock(&l->lock);
    if (!lease->is_granted) {
        n = 0;
    } else if (call_left(lease) > 0) {
        n = n < call_left(lease) ? n : call_left(lease);
        must(gbx_buf_append(&lease->call, data, n));
    } else if (lease->relay != NULL) {
        /* Not from the worker: the engine itself sends what a relay accepts. */
        must(gbx_relay_feed(lease->relay, data, n) == GBX_OK);
    }
    (void)pthread_mutex_unlock(&l->lock);
    wake(l);
    if (n > 0 && n < len)
        given->wake(given);
    return n;
}

static ptrdiff_t fetch(void *user, gbx_lease *given, void *to, size_t size)
{
    loop_lease *lease = given->plugin;
    loop *l = user;
    const gbx_ending *ending = NULL;
    const void *data = NULL;
    size_t n = 0;

    (void)pthread_mutex_lock(&l->lock);
    if (lease->relay != NULL)
        n = gbx_relay_step(lease->relay, &data, &ending);
    if (n == 0 && ending != NULL)
        given->ending = *ending;
    n = n < size ? n : size;
    if (n > 0) {
        memcpy(to, data, n);
        gbx_relay_taken(lease->relay, n);
    }
    (void)pthread_mutex_unlock(&l->lock);
    wake(l);
    return n > 0 || ending != NULL || lease->is_refused ? (ptrdiff_t)n : -1;
}

static void cancel(void *user, gbx_lease *given)
{
    loop_lease *lease = given->plugin;
    loop *l = user;

    (void)pthread_mutex_lock(&l->lock);
    if (lease->relay != NULL)
        gbx_relay_abort(lease->relay);
    (void)pthread_mutex_unlock(&l->lock);
    wake(l);
}

static void release(void *user, gbx_lease *given)
{
    loop_lease *lease = given->plugin;
    loop *l = user;

    (void)pthread_mutex_lock(&l->lock);
    while (l->making == given->contents) /* they are needed until then */
        (void)pthread_cond_wait(&l->made, &l->lock);
    LIST_REMOVE(lease, link);
    gbx_relay_free(lease->relay);
    (void)pthread_mutex_unlock(&l->lock);
    gbx_buf_cleanup(&lease->call);
    free(lease);
}

static void dispose(void *user)
{
    loop *l = user;
    loop_engine *e;

    (void)pthread_mutex_lock(&loops_lock);
    if (l->front != NULL)
        LIST_REMOVE(l, link);
    (void)pthread_mutex_unlock(&loops_lock);
    (void)pthread_mutex_lock(&l->lock);
    l->is_ending = true;
    (void)pthread_mutex_unlock(&l->lock);
    wake(l);
    (void)pthread_join(l->thread, NULL);
    must(LIST_EMPTY(&l->leases));
    while ((e = LIST_FIRST(&l->engines)) != NULL) {
        LIST_REMOVE(e, link);
        free_engine(e);
    }
    (void)pthread_cond_destroy(&l->made);
    (void)pthread_mutex_destroy(&l->lock);
    (void)close(l->wake);
    free(l);
}

gbx_runner loop_runner_new(const gbx_options *own)
{
    gbx_options none = GBX_OPTIONS_INIT;
    loop *l = calloc(1, sizeof *l);

    assert_non_null(l);
    l->own = own != NULL ? *own : none;
    l->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    l->made = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(l->wake >= 0);
    assert_int_equal(pthread_create(&l->thread, NULL, pump, l), 0);
    return (gbx_runner){.struct_size = sizeof(gbx_runner),
                        .name = "loop",
                        .user = l,
                        .dispose = dispose,
                        .prepare = prepare,
                        .lease = ask,
                        .send = take,
                        .receive = fetch,
                        .cancel = cancel,
                        .release = release};
}

/* ---- engines of tests -------------------------------------------------------------- */

int loop_runner_is_on(void)
{
    return getenv("LOOP_RUNNER") != NULL;
}

int loop_runner_report(gbx_engine *front, char **ret)
{
    bool is_done = false;
    loop *l;

    (void)pthread_mutex_lock(&loops_lock);
    LIST_FOREACH(l, &loops, link)
    if (l->front == front)
        break;
    if (l == NULL) {
        is_done = gbx_engine_report(front, ret, NULL) == GBX_OK;
    } else {
        (void)pthread_mutex_lock(&l->lock);
        if (!LIST_EMPTY(&l->engines))
            is_done =
                gbx_engine_report(LIST_FIRST(&l->engines)->engine, ret, NULL) == GBX_OK;
        (void)pthread_mutex_unlock(&l->lock);
    }
    (void)pthread_mutex_unlock(&loops_lock);
    return is_done;
}

void loop_runner_is_of(const gbx_runner *runner, const gbx_engine *front)
{
    loop *l = runner->user;

    (void)pthread_mutex_lock(&loops_lock);
    l->front = front;
    LIST_INSERT_HEAD(&loops, l, link);
    (void)pthread_mutex_unlock(&loops_lock);
}
