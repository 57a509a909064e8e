/* SPDX-License-Identifier: MIT */
/* zygote - forks templates from a warm process that engines share; see engine.h. */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits on how often, and how long, a zygote's address layout is shared. */
#define FORKS_MAX 1000
#define AGE_NS    (INT64_C(600) * 1000 * GBX_NS_PER_MS)

/* Maximum number of zygotes: one for each kind of engine. */
#define ZYGOTES_MAX 4

/* Templates that are executed while a zygote starts: three after each other take about as
 * long as it does, and no engine waits. Of more at once, the others wait for it. */
#define BESIDE_MAX 3

#define PATH_SIZE 512

/* After so many engines in a row with the same CONFIG, the next one's template is forked
 * before it is asked for; and the longest such CONFIG. */
#define SPARE_AFTER 4
#define CONFIG_SIZE 1024

/* The properties that templates inherit; other values need another zygote. */
typedef struct likeness {
    char worker_path[PATH_SIZE];
    gbx_jit jit;
    uint32_t huge_pages;
    uid_t uids[3];
    gid_t gids[3];
    int is_dumpable;
    struct rlimit limits[RLIM_NLIMITS];
} likeness;

typedef enum state {
    IDLE, /* no process, and none wanted */
    WANTED,
    READY,
} state;

/* A template for an engine like the last ones, which starts while nobody waits. */
typedef struct spare {
    gbx_spawned process; /* pid 0: none */
    uint32_t worker_uid; /* as asked for */
    char uids[GBX_WORKER_UIDS_SIZE];
    uint8_t config[CONFIG_SIZE]; /* of the last engine */
    size_t config_len;
    uint32_t row; /* engines in a row with this CONFIG */
} spare;

typedef struct zygote {
    likeness of;
    state state;
    gbx_spawned process;
    spare spare;
    int64_t asked_ns; /* when a template was last requested; 0: never */
    int64_t born_ns;
    uint32_t forks;
    uint32_t beside;   /* templates that were executed while it was WANTED */
    uint32_t failures; /* in a row */
    int64_t retry_ns;  /* not wanted before this time, after a failure */
} zygote;

/* All zygotes of one process. */
typedef struct family {
    pid_t owner; /* its process; a child of fork() makes its own family */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_keeper;
    zygote members[ZYGOTES_MAX];
} family;

static _Atomic(family *) zygotes_of_process;

/* The family of this process; NULL if memory is out. One that was inherited by fork()
 * is ignored: its lock may be held for ever. */
static family *mine(void)
{
    family *old = atomic_load(&zygotes_of_process);
    family *made;

    if (old != NULL && old->owner == getpid())
        return old;
    made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->owner = getpid();
    made->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    made->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    for (size_t i = 0; i < ZYGOTES_MAX; i++)
        made->members[i].process = GBX_SPAWNED_INIT;
    if (atomic_compare_exchange_strong(&zygotes_of_process, &old, made))
        return made;
    free(made);
    return old;
}

static void look(const gbx_spawn_options *o, likeness *ret)
{
    const char *path =
        o->worker_path != NULL ? o->worker_path : secure_getenv("GLOVEBOX_WORKER");

    memset(ret, 0, sizeof *ret);
    if (path != NULL)
        (void)memcpy(ret->worker_path, path, strnlen(path, PATH_SIZE - 1));
    ret->jit = o->jit;
    ret->huge_pages = o->huge_pages;
    (void)getresuid(&ret->uids[0], &ret->uids[1], &ret->uids[2]);
    (void)getresgid(&ret->gids[0], &ret->gids[1], &ret->gids[2]);
    ret->is_dumpable = prctl(PR_GET_DUMPABLE);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        (void)getrlimit((__rlimit_resource_t)i, &ret->limits[i]);
}

/* ---- requests and answers -------------------------------------------------------- */

/* Receive one datagram in time, and the descriptor that it may carry. */
static bool receive(int control, gbx_timeout patience, gbx_zygote_answer *ret,
                    int *ret_fd)
{
    struct pollfd p = {.fd = control, .events = POLLIN};
    int polled;

    *ret_fd = -1;
    do
        polled = poll(&p, 1, (int)gbx_timeout_ms(patience));
    while (polled < 0 && errno == EINTR);
    return polled > 0 && gbx_fd_receive(control, ret, sizeof *ret, ret_fd, 1,
                                        MSG_DONTWAIT) == (ssize_t)sizeof *ret;
}

static bool request(int control, const gbx_spawn_options *o, const int fds[3])
{
    gbx_zygote_request text = {.layers_off = o->layers_off, .is_spare = o->is_spare};

    if (strlen(o->uids) >= sizeof text.uids)
        return false;
    strcpy(text.uids, o->uids);
    return gbx_fd_send(control, &text, sizeof text, fds, o->cgroup >= 0 ? 3 : 2,
                       MSG_DONTWAIT) == (ssize_t)sizeof text;
}

/* ---- state of a zygote; the lock is held ----------------------------------------- */

static void end_spare(zygote *z)
{
    if (z->spare.process.pid != 0)
        gbx_spawned_close(&z->spare.process);
    z->spare = (spare){.row = 0};
}

static void end(zygote *z)
{
    end_spare(z);
    gbx_spawned_close(&z->process);
    z->process = GBX_SPAWNED_INIT;
    z->state = IDLE;
}

static void note(zygote *z, bool is_well)
{
    unsigned doubled = z->failures < 6 ? z->failures : 6;

    z->failures = is_well ? 0 : z->failures + 1;
    z->retry_ns =
        gbx_clock_now_ns() + (gbx_timeout_ns(GBX_TIMEOUT_ZYGOTE_RETRY) << doubled);
}

/* False: the time is up. */
static bool wait_changed(family *f, int64_t until_ns)
{
    struct timespec ts = {.tv_sec = until_ns / 1000000000,
                          .tv_nsec = until_ns % 1000000000};

    return pthread_cond_clockwait(&f->changed, &f->lock, CLOCK_MONOTONIC, &ts) !=
           ETIMEDOUT;
}

/* The place of this kind; if it has none, that of the kind that was unused for longest,
 * whose zygote ends. NULL: all are being started. */
static zygote *place_of(family *f, const likeness *of)
{
    zygote *oldest = NULL;

    for (size_t i = 0; i < ZYGOTES_MAX; i++) {
        zygote *z = &f->members[i];

        if (memcmp(&z->of, of, sizeof *of) == 0)
            return z;
        if (z->state != WANTED && (oldest == NULL || z->asked_ns < oldest->asked_ns))
            oldest = z;
    }
    if (oldest != NULL) {
        end(oldest);
        *oldest = (zygote){.of = *of, .process = GBX_SPAWNED_INIT};
    }
    return oldest;
}

/* A failure of the zygote ends it. */
static bool fork_template(zygote *z, const gbx_spawn_options *o, gbx_span config,
                          gbx_spawned *ret)
{
    int fds[3] = {-1, -1, o->cgroup};
    gbx_zygote_answer text = {0};
    int pidfd = -1;
    bool is_open = gbx_spawned_open(ret, SOCK_STREAM, &fds[0], &fds[1], NULL) == GBX_OK;
    bool ok = is_open && request(z->process.control, o, fds);

    gbx_fd_close(&fds[0]);
    gbx_fd_close(&fds[1]);
    ok = ok && receive(z->process.control, GBX_TIMEOUT_ZYGOTE, &text, &pidfd) &&
         text.error == 0 && text.pid > 0 && pidfd >= 0;
    if (ok) {
        ret->pid = text.pid;
        ret->pidfd = pidfd;
        ok = send(ret->control, config.data, config.len, MSG_NOSIGNAL) ==
             (ssize_t)config.len;
    } else {
        gbx_fd_close(&pidfd);
    }
    if (!ok)
        gbx_spawned_close(ret);
    if (!is_open) /* not the zygote's fault: descriptors are out */
        return false;
    z->forks++;
    note(z, ok);
    if (!ok)
        end(z);
    return ok;
}

/* ---- the keeper thread, the parent of zygotes and their templates ---------------- */

static bool start(const likeness *of, gbx_spawned *ret)
{
    gbx_spawn_options options = {.worker_path =
                                     of->worker_path[0] != 0 ? of->worker_path : NULL,
                                 .jit = of->jit,
                                 .uids = "",
                                 .cgroup = -1,
                                 .kind = GBX_SPAWN_ZYGOTE,
                                 .huge_pages = of->huge_pages};
    gbx_zygote_answer ready;
    int fd = -1;
    bool is_ready = gbx_spawn(&options, ret, NULL) == GBX_OK &&
                    receive(ret->control, GBX_TIMEOUT_HELLO, &ready, &fd);

    gbx_fd_close(&fd);
    if (is_ready)
        ret->is_settled = true; /* templates are in its group at first: kill only it */
    else
        gbx_spawned_close(ret);
    return is_ready;
}

static bool wants_spare(const zygote *z)
{
    return z->state == READY && z->spare.row >= SPARE_AFTER &&
           z->spare.process.pid == 0;
}

/* The lock is released while the system is asked for users, which may be slow. */
static void start_spare(family *f, zygote *z)
{
    char uids[GBX_WORKER_UIDS_SIZE];
    gbx_spawn_options options = {.uids = uids, .cgroup = -1, .is_spare = true};
    uint32_t asked = z->spare.worker_uid;
    spare *s = &z->spare;

    (void)pthread_mutex_unlock(&f->lock);
    gbx_worker_uid_choose(asked, uids);
    (void)pthread_mutex_lock(&f->lock);
    if (!wants_spare(z) || s->worker_uid != asked)
        return;
    strcpy(s->uids, uids);
    s->process = GBX_SPAWNED_INIT;
    if (!fork_template(z, &options, (gbx_span){s->config, s->config_len}, &s->process))
        end_spare(z);
}

/* The lock is released while the process starts; state WANTED reserves its place. */
static void start_wanted(family *f, zygote *z)
{
    gbx_spawned process = GBX_SPAWNED_INIT;
    likeness of = z->of;
    bool is_ready;

    (void)pthread_mutex_unlock(&f->lock);
    is_ready = start(&of, &process);
    (void)pthread_mutex_lock(&f->lock);
    note(z, is_ready);
    z->process = process;
    z->born_ns = gbx_clock_now_ns();
    z->forks = 0;
    z->state = is_ready ? READY : IDLE;
    (void)pthread_cond_broadcast(&f->changed);
}

/* Start wanted zygotes, end unused ones. Returns when to run again; INT64_MAX: on
 * the next change. */
static int64_t look_after(family *f)
{
    int64_t again = INT64_MAX;

    for (size_t i = 0; i < ZYGOTES_MAX; i++) {
        zygote *z = &f->members[i];
        int64_t until = z->asked_ns + gbx_timeout_ns(GBX_TIMEOUT_ZYGOTE_IDLE);

        if (z->state == WANTED)
            start_wanted(f, z);
        if (wants_spare(z))
            start_spare(f, z);
        if (z->state == READY && gbx_clock_now_ns() >= until)
            end(z);
        else if (z->state == READY && until < again)
            again = until;
    }
    return again;
}

static void *keep(void *arg)
{
    family *f = arg;

    (void)prctl(PR_SET_NAME, "gbx-zygotes");
    (void)pthread_mutex_lock(&f->lock);
    for (;;) {
        int64_t again = look_after(f);
        bool has_work = false;

        for (size_t i = 0; i < ZYGOTES_MAX; i++)
            if (f->members[i].state == WANTED || wants_spare(&f->members[i]))
                has_work = true;
        if (has_work)
            continue;
        if (again == INT64_MAX)
            (void)pthread_cond_wait(&f->changed, &f->lock);
        else
            (void)wait_changed(f, again);
    }
    return NULL;
}

/* ---- requests for a template; the lock is held ----------------------------------- */

static bool has_keeper(family *f)
{
    pthread_t thread;

    if (f->has_keeper)
        return true;
    f->has_keeper = gbx_thread_start(&thread, keep, f) == 0;
    if (f->has_keeper)
        (void)pthread_detach(thread);
    return f->has_keeper;
}

/* Count the engine, and give it the spare if there is one. */
static bool take_spare(zygote *z, const gbx_spawn_options *o, gbx_span config,
                       char uids[GBX_WORKER_UIDS_SIZE], gbx_spawned *ret)
{
    spare *s = &z->spare;
    struct pollfd p = {.events = 0}; /* for POLLHUP */

    if (!o->takes_spare || config.len > CONFIG_SIZE)
        return false;
    if (s->row == 0 || s->worker_uid != o->worker_uid || s->config_len != config.len ||
        memcmp(s->config, config.data, config.len) != 0) {
        end_spare(z);
        memcpy(s->config, config.data, config.len);
        s->config_len = config.len;
        s->worker_uid = o->worker_uid;
    }
    s->row++;
    if (s->process.pid == 0)
        return false;
    *ret = s->process;
    ret->was_spare = true;
    s->process.pid = 0;
    strcpy(uids, s->uids);
    p.fd = ret->control;
    if (poll(&p, 1, 0) == 0)
        return true;
    gbx_spawned_close(ret);
    *ret = GBX_SPAWNED_INIT;
    return false;
}

bool gbx_zygote_spawn(const gbx_spawn_options *options, gbx_span config,
                      char uids[GBX_WORKER_UIDS_SIZE], gbx_spawned *ret)
{
    int64_t now = gbx_clock_now_ns();
    int64_t until = now + gbx_timeout_ns(GBX_TIMEOUT_ZYGOTE);
    family *f = mine();
    zygote *z;
    likeness of;
    bool ok = false;

    *ret = GBX_SPAWNED_INIT;
    if (f == NULL)
        return false;
    look(options, &of);
    (void)pthread_mutex_lock(&f->lock);
    z = place_of(f, &of);
    if (z != NULL && z->state == READY &&
        (z->forks >= FORKS_MAX || now - z->born_ns > AGE_NS))
        end(z);
    /* Not for the first request: for a single engine, a zygote costs without gain. */
    if (z != NULL && z->state == IDLE && z->asked_ns != 0 &&
        now - z->asked_ns < gbx_timeout_ns(GBX_TIMEOUT_ZYGOTE_IDLE) &&
        (z->failures == 0 || now >= z->retry_ns) && has_keeper(f)) {
        z->state = WANTED;
        z->beside = 0;
        (void)pthread_cond_broadcast(&f->changed);
    }
    if (z != NULL)
        z->asked_ns = now;
    if (z != NULL && z->state == WANTED && z->beside++ < BESIDE_MAX)
        z = NULL;
    while (z != NULL && z->state == WANTED && wait_changed(f, until))
        continue;
    /* A zygote of another kind may have taken its place meanwhile. */
    if (z != NULL && z->state == READY && memcmp(&z->of, &of, sizeof of) == 0) {
        ok = take_spare(z, options, config, uids, ret) ||
             fork_template(z, options, config, ret);
        if (wants_spare(z))
            (void)pthread_cond_broadcast(&f->changed);
    }
    (void)pthread_mutex_unlock(&f->lock);
    return ok;
}

void gbx_zygote_end(void)
{
    family *f = mine();

    if (f == NULL)
        return;
    (void)pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < ZYGOTES_MAX; i++) {
        while (f->members[i].state == WANTED)
            (void)pthread_cond_wait(&f->changed, &f->lock);
        end(&f->members[i]);
        f->members[i] = (zygote){.process = GBX_SPAWNED_INIT};
    }
    (void)pthread_mutex_unlock(&f->lock);
}
