/* SPDX-License-Identifier: MIT */
/* env - one JavaScript thread: the queue of events for it, its engines, and a count of
 * the threads that work for it. The lock is held only for lists and to wake the
 * thread. */
#include "addon.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

typedef struct task {
    gbx_node_env *e;
    void (*work)(void *);
    void *arg;
} task;

/* The longest time that one turn holds up the event loop, in ns. */
#define SLICE_NS 2000000

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void append(gbx_node_env *e, gbx_node_event *event)
{
    event->next = NULL;
    if (e->last != NULL)
        e->last->next = event;
    else
        e->first = event;
    e->last = event;
}

/* The oldest event. NULL: none, and the next post wakes this thread again. */
static gbx_node_event *pop(gbx_node_env *e)
{
    gbx_node_event *event;

    (void)pthread_mutex_lock(&e->lock);
    event = e->first;
    if (event == NULL)
        e->is_awake = false;
    else
        e->first = event->next;
    if (e->first == NULL)
        e->last = NULL;
    (void)pthread_mutex_unlock(&e->lock);
    return event;
}

static void tell(gbx_node_env *e, napi_env env, gbx_node_event *event)
{
    napi_handle_scope scope;
    bool is_over = true;

    if (napi_open_handle_scope(env, &scope) == napi_ok) {
        is_over = event->tell(event, e, env);
        (void)napi_close_handle_scope(env, scope);
    }
    if (is_over) {
        event->drop(event);
        return;
    }
    (void)pthread_mutex_lock(&e->lock);
    append(e, event);
    (void)pthread_mutex_unlock(&e->lock);
}

/* Report waiting events; if time runs out, ask the dispatcher to call again. */
static void tell_some(gbx_node_env *e, napi_env env)
{
    int64_t until = now_ns() + SLICE_NS;
    gbx_node_event *event;
    bool has_more;

    while ((event = pop(e)) != NULL) {
        tell(e, env, event);
        if (now_ns() < until)
            continue;
        (void)pthread_mutex_lock(&e->lock);
        has_more = e->first != NULL;
        (void)pthread_mutex_unlock(&e->lock);
        if (has_more) {
            napi_value kind = gbx_node_number(env, GBX_NODE_MORE);

            gbx_node_dispatch(e, env, 1, &kind);
            return;
        }
    }
}

/* On the JavaScript thread; env is NULL when the thread is about to end. */
static void on_wake(napi_env env, napi_value callback, void *context, void *data)
{
    if (env != NULL)
        tell_some(context, env);
}

/*
 * The JavaScript thread ends, and no JavaScript runs any more. Threads that work for it
 * finish first, since they use the engines; then every process ends.
 */
static void on_end(void *arg)
{
    gbx_node_env *e = arg;
    gbx_node_event *event;

    (void)pthread_mutex_lock(&e->lock);
    e->is_ending = true;
    while (e->threads > 0)
        (void)pthread_cond_wait(&e->changed, &e->lock);
    (void)pthread_mutex_unlock(&e->lock);
    while (e->engines != NULL)
        gbx_node_engine_end(e->engines);
    while ((event = pop(e)) != NULL)
        event->drop(event);
    (void)napi_release_threadsafe_function(e->wake, napi_tsfn_abort);
    gbx_node_env_unref(e);
}

static bool set_up(gbx_node_env *e, napi_env env, napi_value dispatch)
{
    napi_value name;
    napi_value buffer;
    napi_value figures;

    return napi_create_reference(env, dispatch, 1, &e->dispatch) == napi_ok &&
           napi_create_arraybuffer(env, GBX_NODE_FIGURES * sizeof(double),
                                   (void **)&e->figures, &buffer) == napi_ok &&
           napi_create_typedarray(env, napi_float64_array, GBX_NODE_FIGURES, buffer, 0,
                                  &figures) == napi_ok &&
           napi_create_reference(env, figures, 1, &e->figures_ref) == napi_ok &&
           napi_create_string_latin1(env, "glovebox", NAPI_AUTO_LENGTH, &name) ==
               napi_ok &&
           napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, e,
                                           on_wake, &e->wake) == napi_ok &&
           /* An engine that waits for nothing does not keep the process alive. */
           napi_unref_threadsafe_function(env, e->wake) == napi_ok &&
           /* After the function above: hooks run in the opposite order. */
           napi_add_env_cleanup_hook(env, on_end, e) == napi_ok;
}

static void *run_task(void *arg)
{
    task t = *(task *)arg;

    free(arg);
    t.work(t.arg);
    (void)pthread_mutex_lock(&t.e->lock);
    t.e->threads--;
    (void)pthread_cond_broadcast(&t.e->changed);
    (void)pthread_mutex_unlock(&t.e->lock);
    gbx_node_env_unref(t.e);
    return NULL;
}

gbx_node_env *gbx_node_env_new(napi_env env, napi_value dispatch)
{
    gbx_node_env *e = calloc(1, sizeof *e);

    if (e == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for the addon");
        return NULL;
    }
    e->env = env;
    e->references = 1;
    (void)pthread_mutex_init(&e->lock, NULL);
    (void)pthread_cond_init(&e->changed, NULL);
    if (set_up(e, env, dispatch))
        return e;
    (void)napi_throw_error(env, "GBX_E_NOMEM", "the addon cannot be set up");
    gbx_node_env_unref(e);
    return NULL;
}

void gbx_node_env_ref(gbx_node_env *e)
{
    (void)pthread_mutex_lock(&e->lock);
    e->references++;
    (void)pthread_mutex_unlock(&e->lock);
}

void gbx_node_env_unref(gbx_node_env *e)
{
    bool is_last;

    (void)pthread_mutex_lock(&e->lock);
    is_last = --e->references == 0;
    (void)pthread_mutex_unlock(&e->lock);
    if (!is_last)
        return;
    (void)pthread_cond_destroy(&e->changed);
    (void)pthread_mutex_destroy(&e->lock);
    free(e);
}

void gbx_node_post(gbx_node_env *e, gbx_node_event *event)
{
    (void)pthread_mutex_lock(&e->lock);
    append(e, event);
    /* Under the lock: once is_ending is set, the function may be released. */
    if (!e->is_awake && !e->is_ending)
        e->is_awake = napi_call_threadsafe_function(e->wake, NULL,
                                                    napi_tsfn_nonblocking) == napi_ok;
    (void)pthread_mutex_unlock(&e->lock);
}

/* Report more events; the dispatcher calls this after other work of the event loop. */
napi_value gbx_node_drain(napi_env env, napi_callback_info info)
{
    void *e = NULL;

    if (napi_get_cb_info(env, info, NULL, NULL, NULL, &e) == napi_ok)
        tell_some(e, env);
    return NULL;
}

void gbx_node_dispatch(gbx_node_env *e, napi_env env, size_t argc,
                       const napi_value *argv)
{
    napi_value dispatch;
    napi_value global;
    napi_value ignored;
    bool is_pending = false;

    if (napi_get_reference_value(env, e->dispatch, &dispatch) != napi_ok ||
        napi_get_global(env, &global) != napi_ok)
        return;
    (void)napi_call_function(env, global, dispatch, argc, argv, &ignored);
    if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending &&
        napi_get_and_clear_last_exception(env, &ignored) == napi_ok)
        (void)napi_fatal_exception(env, ignored);
}

bool gbx_node_run(gbx_node_env *e, void (*work)(void *), void *arg)
{
    task *t = malloc(sizeof *t);
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int failed;

    if (t == NULL || pthread_attr_init(&attr) != 0) {
        free(t);
        return false;
    }
    *t = (task){.e = e, .work = work, .arg = arg};
    (void)pthread_mutex_lock(&e->lock);
    e->threads++;
    e->references++;
    (void)pthread_mutex_unlock(&e->lock);
    /* Signals belong to the host: this thread must get none. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    failed = pthread_create(&thread, &attr, run_task, t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (failed == 0)
        return true;
    free(t);
    (void)pthread_mutex_lock(&e->lock);
    e->threads--;
    (void)pthread_mutex_unlock(&e->lock);
    gbx_node_env_unref(e);
    return false;
}
