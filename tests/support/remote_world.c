/* SPDX-License-Identifier: MIT */
/* remote_world - see remote_world.h. */
#include "remote_world.h"

#include "base/clock.h"
#include "test.h"
#include "wire/messages.h"

int64_t world_now_ns;

int64_t __wrap_gbx_clock_now_ns(void);
int64_t __wrap_gbx_clock_now_ns(void)
{
    return world_now_ns;
}

/* ---- an engine's side of a lease ----------------------------------------------------- */

static leased *of(gbx_lease *lease)
{
    return (leased *)(void *)lease;
}

static void on_wake(gbx_lease *lease)
{
    assert_true(of(lease)->is_open);
    of(lease)->is_woken = true;
}

static void take(leased *k, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        memmove(k->last, k->last + 1, 2);
        k->last[2] = bytes[i];
        if (bytes[i] == '?')
            k->owed += 3;
    }
    k->received += len;
}

static void end(leased *k)
{
    bool is_evidence = k->lease.ending.how != GBX_ENDING_NO_WORKER &&
                       k->lease.ending.how != GBX_ENDING_GONE;

    k->ended += is_evidence;
    k->refused += !is_evidence;
    k->why = k->lease.ending.how == GBX_ENDING_GONE ? LOST : UNAVAILABLE;
    k->ending = k->lease.ending;
    k->over_ns = world_now_ns;
    (void)snprintf(k->text, sizeof k->text, "%s", k->ending.reason);
}

bool call_is_over(const leased *k)
{
    return k->refused + k->ended > 0;
}

/* What the engine's thread would do now. True: something. */
static bool drive(leased *k)
{
    world *w = k->world;
    gbx_runner *plug = &w->plugs[k->caller];
    size_t before = k->sent + k->owed + k->received;
    char bytes[65536];
    ptrdiff_t n = -1;

    if (!k->is_open || call_is_over(k) || (!k->is_woken && k->sent == 0))
        return false;
    k->is_woken = false;
    if (k->sent < k->call_len && !k->stalls)
        k->sent +=
            plug->send(plug->user, &k->lease, k->big + k->sent, k->call_len - k->sent);
    if (k->answers && k->owed > 0 && k->sent == k->call_len)
        k->owed -= plug->send(plug->user, &k->lease, "yes", 3);
    if (!k->keeps)
        n = plug->receive(plug->user, &k->lease, bytes, sizeof bytes);
    k->granted = k->lease.engine[0] != 0;
    k->machine = k->lease.machine;
    k->engine = k->lease.engine;
    if (n > 0)
        take(k, bytes, (size_t)n);
    if (n == 0)
        end(k);
    return n == 0 || k->sent + k->owed + k->received != before;
}

/* ---- the world ----------------------------------------------------------------------- */

#define LEASES_MAX 2048
static leased *leases[LEASES_MAX];
static size_t lease_count;

void world_settle(world *w)
{
    bool is_busy = true;

    while (is_busy) {
        is_busy = broker_next(w->broker);
        for (unsigned r = 0; r < RUNNERS_MAX; r++)
            if (w->servers[r] != NULL && !is_busy)
                (void)gbx_lessor_step(w->servers[r], world_now_ns);
        for (unsigned i = 0; i < CALLERS_MAX; i++) { /* none is always first */
            bool is_even = world_now_ns / GBX_NS_PER_MS % 2 == 0;
            unsigned c = is_even ? i : CALLERS_MAX - 1 - i;

            if (w->clients[c] != NULL && !is_busy)
                (void)gbx_client_tick(w->clients[c], world_now_ns);
        }
        for (size_t i = 0; i < lease_count && !is_busy; i++)
            is_busy = drive(leases[i]);
        is_busy = is_busy || fake_make_engines() || broker_next(w->broker);
    }
}

void world_pass(world *w, unsigned ms)
{
    world_settle(w);
    for (unsigned passed = 0; passed < ms; passed++) {
        world_now_ns += GBX_NS_PER_MS;
        world_settle(w);
    }
}

void runner_start(world *w, unsigned r)
{
    gbx_error error = {0};

    w->runner_buses[r] = broker_connect(w->broker, 65536);
    w->servers[r] = gbx_lessor_new(w->runner_buses[r], &w->url, &w->options[r], &error);
    if (w->servers[r] == NULL)
        fail_msg("%s", error.message);
}

void runner_kill(world *w, unsigned r)
{
    broker_kill(w->runner_buses[r]);
    (void)fake_make_engines(); /* the threads end */
    gbx_lessor_free(w->servers[r]);
    w->servers[r] = NULL;
}

void caller_kill(world *w, unsigned c)
{
    broker_kill(w->caller_buses[c]);
    for (size_t i = lease_count; i > 0; i--)
        if (leases[i - 1]->caller == c)
            call_end(leases[i - 1]);
    gbx_client_free(w->clients[c]);
    w->clients[c] = NULL;
}

world *world_new(unsigned callers, unsigned runners, unsigned seats)
{
    static const char *const machines[] = {"m0", "m1", "m2"};
    world *w = calloc(1, sizeof *w);
    gbx_error error = {0};

    assert_non_null(w);
    fake_forget();
    lease_count = 0;
    world_now_ns = 1000 * GBX_NS_PER_MS;
    w->broker = broker_new();
    w->url = (gbx_remote_url){.pool = "main"};
    w->contents = (gbx_contents){.struct_size = sizeof w->contents, .functions = ""};
    w->limits = (gbx_limits){.struct_size = sizeof w->limits,
                             .timeout_ms = 5000,
                             .cpu_ms = 5000,
                             .memory_bytes = 64 << 20,
                             .output_bytes = 1 << 20,
                             .host_in_bytes = 1 << 20};
    for (unsigned r = 0; r < runners; r++) {
        w->options[r] = (gbx_server_options){.max_workers = seats,
                                             .max_engines = 4,
                                             .dataset_bytes = 8 << 20,
                                             .call_bytes = 8 << 20,
                                             .memory_bytes = UINT64_C(1) << 40,
                                             .capabilities = 3,
                                             .api = &fake_relay_api,
                                             .machine = machines[r],
                                             .js_engine = "Fake 1.0"};
        runner_start(w, r);
    }
    for (unsigned c = 0; c < callers; c++) {
        w->caller_buses[c] = broker_connect(w->broker, 65536);
        w->clients[c] = gbx_client_new(w->caller_buses[c], &w->url, &error);
        assert_non_null(w->clients[c]);
        gbx_client_runner(w->clients[c], &w->plugs[c]);
    }
    return w;
}

void world_free(world *w)
{
    while (lease_count > 0)
        call_end(leases[lease_count - 1]);
    for (unsigned c = 0; c < CALLERS_MAX; c++)
        gbx_client_free(w->clients[c]);
    (void)fake_make_engines();
    for (unsigned r = 0; r < RUNNERS_MAX; r++)
        gbx_lessor_free(w->servers[r]);
    assert_int_equal(fake_running(), 0);
    broker_free(w->broker);
    free(w);
}

/* ---- calls --------------------------------------------------------------------------- */

/* One frame: a header, and the text with blanks after it. */
void call_begin_big(world *w, leased *k, unsigned caller, const char *text, size_t len)
{
    gbx_header header = {.body_len = (uint32_t)len, .type = GBX_MSG_CALL};
    gbx_error error = {0};

    memset(k, 0, sizeof *k);
    k->call_len = sizeof header + len;
    k->big = malloc(k->call_len);
    assert_non_null(k->big);
    memset(k->big, ' ', k->call_len);
    memcpy(k->big, &header, sizeof header);
    memcpy(k->big + sizeof header, text, strlen(text));
    k->lease = (gbx_lease){.struct_size = sizeof k->lease,
                           .contents = &w->contents,
                           .limits = &w->limits,
                           .capabilities = w->capabilities,
                           .call_bytes = sizeof header + len + 1000,
                           .wake = on_wake};
    k->machine = k->engine = "";
    k->world = w;
    k->caller = caller;
    k->is_open = true;
    assert_true(lease_count < LEASES_MAX);
    leases[lease_count++] = k;
    assert_int_equal(w->plugs[caller].lease(w->plugs[caller].user, &k->lease, &error),
                     GBX_OK);
}

void call_begin(world *w, leased *k, unsigned caller, const char *text)
{
    call_begin_big(w, k, caller, text, strlen(text));
}

void call_end(leased *k)
{
    size_t i = 0;

    if (!k->is_open)
        return;
    while (leases[i] != k)
        i++;
    leases[i] = leases[--lease_count];
    k->world->plugs[k->caller].release(k->world->plugs[k->caller].user, &k->lease);
    k->is_open = false;
    free(k->big);
}
