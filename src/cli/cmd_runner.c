/* SPDX-License-Identifier: MIT */
/* cmd_runner - `glovebox runner` runs calls of other machines; `glovebox runners` and `glovebox
 * doctor --nats` show who does. What runners say of themselves is foreign text. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "nats/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SEATS_PER_PROCESSOR 4
#define ENGINES             16
#define CALL_BYTES          GBX_MIB(16) /* or as many as datasets have: the more */
#define ANSWERS_MS          300
#define CELL_MAX            64 /* bytes of what a runner says in one column */
#define CALLS               21

typedef struct nats_args {
    const char *url; /* NULL: not given */
    const char *creds;
    const char *tls_ca;
} nats_args;

static const gbx_opt nats_rows[] = {
    GBX_ROW_TEXT(nats_args, url, "nats", "URL",
                 "nats://HOST:4222 or tls://HOST:4222, and after it ?pool=NAME or "
                 "&nkey=FILE"),
    GBX_ROW_TEXT(nats_args, creds, "creds", "FILE",
                 "credentials: a token and its seed, as nsc writes them"),
    GBX_ROW_TEXT(nats_args, tls_ca, "tls-ca", "FILE",
                 "certificates of authorities that the server may have its own from, "
                 "besides the system's"),
    {0},
};

static char *address_of(const nats_args *args)
{
    gbx_buf to = {.ceiling = GBX_KIB(16)};

    (void)gbx_buf_puts(&to, args->url);
    gbx_remote_url_put(&to, "creds", args->creds);
    gbx_remote_url_put(&to, "tls-ca", args->tls_ca);
    return gbx_need(gbx_buf_take_string(&to, NULL));
}

/* Of the plug-in, to *ret, a pointer to a function. */
static gbx_status find_function(const char *name, void *ret, gbx_error *reterr)
{
    void *library = dlopen(GBX_NATS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *address = library != NULL ? dlsym(library, name) : NULL;
    const char *version = address != NULL ? dlsym(library, "gbx_runner_version") : NULL;

    if (address != NULL && (version == NULL || strcmp(version, GBX_VERSION) != 0))
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "the runner 'nats' has version %s, and this program %s",
                        version != NULL ? version : "unknown", GBX_VERSION);
    memcpy(ret, &address, sizeof address);
    return address != NULL ? GBX_OK
                           : gbx_fail(reterr, GBX_E_UNSUPPORTED,
                                      "cannot load the runner 'nats': %s", dlerror());
}

static gbx_status list(const nats_args *args, char **ret_json, gbx_view *ret,
                       gbx_error *err)
{
    GBX_CLEANUP(gbx_free) char *address = address_of(args);
    gbx_status (*ask)(const char *, uint32_t, char **, gbx_error *);
    gbx_status status = find_function("gbx_runner_list", &ask, err);

    if (status == GBX_OK)
        status = ask(address, ANSWERS_MS, ret_json, err);
    if (status == GBX_OK && !gbx_view_open(*ret_json, strlen(*ret_json), ret))
        status = gbx_fail(err, GBX_E_PROTOCOL, "a runner's answer is not JSON");
    return status;
}

/* A line for each: what it says of itself, as texts. */
static void print_list(const gbx_term *out, gbx_view runners)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view runner;

    if (gbx_view_count(runners) == 0)
        (void)
            fputs("no runner answers: is one started with the same server, account and "
                  "pool?\n",
                  out->stream);
    while (gbx_view_next(runners, &cursor, &name, &runner)) {
        GBX_CLEANUP(gbx_free)
        char *version = gbx_view_string(gbx_view_member(runner, "version"), CELL_MAX);
        gbx_view facts = gbx_view_member(runner, "metadata");
        size_t fact = 0;
        gbx_view value;

        gbx_term_print(out, "version %s", version != NULL ? version : "?");
        while (gbx_view_next(facts, &fact, &name, &value)) {
            GBX_CLEANUP(gbx_free) char *key = gbx_view_string(name, CELL_MAX);
            GBX_CLEANUP(gbx_free) char *text = gbx_view_string(value, CELL_MAX);

            gbx_term_print(out, ", %s %s", key != NULL ? key : "?",
                           text != NULL ? text : "?");
        }
        (void)fputc('\n', out->stream);
    }
}

/* ---- glovebox doctor --nats ------------------------------------------------------ */

/* The least time of some calls with options, in ms; negative with *err. */
static double measure(const gbx_options *options, char machine[CELL_MAX + 1],
                      gbx_error *err)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_engine *engine = NULL;
    gbx_status status = gbx_engine_new(options, &engine, err);
    double least = -1;

    call.code = "() => 1";
    call.code_len = strlen(call.code);
    for (size_t i = 0; status == GBX_OK && i < CALLS; i++) {
        int64_t from_ns = gbx_clock_now_ns();
        gbx_result *result = NULL;
        double ms;

        status = gbx_execute(engine, &call, &result, err);
        ms = (double)(gbx_clock_now_ns() - from_ns) / 1e6;
        if (status == GBX_OK && gbx_result_code(result) != GBX_CODE_VALUE)
            status = gbx_fail(err, GBX_E_CLOSED, "%s: %s",
                              gbx_code_name(gbx_result_code(result)),
                              gbx_result_error(result));
        if (status == GBX_OK)
            (void)snprintf(machine, CELL_MAX + 1, "%s", gbx_result_machine(result));
        least = least < 0 || ms < least ? ms : least;
        gbx_result_free(result);
    }
    gbx_engine_free(engine);
    return status == GBX_OK ? least : -1;
}

int gbx_doctor_nats(const char *url, gbx_options *options, gbx_color color)
{
    const nats_args args = {.url = url};
    GBX_CLEANUP(gbx_free) char *json = NULL;
    gbx_term out = gbx_term_open(stdout, color);
    gbx_trouble trouble = {0};
    char machine[CELL_MAX + 1] = "";
    gbx_view runners;
    gbx_error none;
    double here;
    double there;

    if (!gbx_trouble_host(&trouble, list(&args, &json, &runners, &trouble.err)))
        return gbx_trouble_report(&trouble, false, (int)color);
    print_list(&out, runners);
    here = measure(options, machine, &none); /* a caller may have no seal of its own */
    options->runner_name = url;
    there = measure(options, machine, &trouble.err);
    if (there < 0) {
        (void)gbx_trouble_host(&trouble, trouble.err.status);
        return gbx_trouble_report(&trouble, false, (int)color);
    }
    gbx_term_print(&out, "a call on %s takes %.3f ms, the least of %d", machine, there,
                   CALLS);
    if (here >= 0)
        (void)fprintf(out.stream, "; here %.3f ms: NATS adds %.3f ms", here,
                      there - here);
    (void)fputc('\n', out.stream);
    return 0;
}

/* ---- glovebox runners -------------------------------------------------------------- */

typedef struct runners_args {
    gbx_common_args common;
    nats_args nats;
    bool json;
} runners_args;

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(runners_args, json, "json", "print the answers as a JSON array"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Server", nats_rows, offsetof(runners_args, nats)},
    {"Options", rows, 0},
    GBX_COMMON_GROUP,
    {0},
};

static int runners_main(void *parsed)
{
    const runners_args *args = parsed;
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);
    GBX_CLEANUP(gbx_free) char *json = NULL;
    gbx_trouble trouble = {0};
    gbx_view runners;

    if (args->nats.url == NULL)
        return gbx_command_misuse(&gbx_command_runners, args->json,
                                  "--nats URL names the server");
    if (!gbx_trouble_host(&trouble, list(&args->nats, &json, &runners, &trouble.err)))
        return gbx_trouble_report(&trouble, args->json, args->common.color);
    if (args->json) {
        gbx_term_json(&out, json, strlen(json));
        (void)fputc('\n', out.stream);
    } else {
        print_list(&out, runners);
    }
    return 0;
}

const gbx_command gbx_command_runners = {
    .name = "runners",
    .summary = "list the machines that run calls over NATS",
    .usage = "runners --nats URL [options]",
    .description =
        "Asks all runners of the server's account, by NATS' service protocol, and prints what\n"
        "they say within 0.3 seconds, a line for each: version, layers of the seal that\n"
        "stand, calls that run of those that may, datasets, and the engine with its age.",
    .examples =
        "glovebox runners --nats nats://127.0.0.1:4222\n"
        "glovebox runners --nats tls://nats.example.com --creds ops.creds --json",
    .groups = groups,
    .args_size = sizeof(runners_args),
    .run = runners_main,
};

/* ---- glovebox runner --------------------------------------------------------------- */

typedef struct runner_args {
    gbx_common_args common;
    nats_args nats;
    gbx_server_options server;
    const char *policy;
    bool trust_files;
    const char *security_log;
} runner_args;

static const gbx_opt runner_rows[] = {
    GBX_ROW_NUMBER(runner_args, server.max_workers, "max-workers", "N", 1, 1024,
                   "calls at once (default: four for each processor)"),
    GBX_ROW_NUMBER(
        runner_args, server.max_engines, "max-engines", "N", 1, 256,
        "engines at once: one for each set of datasets, preloads and functions "
        "(default 16)"),
    GBX_ROW_TEXT(
        runner_args, server.datasets_dir, "datasets", "DIRECTORY",
        "keep datasets there for the next start, readable for this user alone; "
        "without it nothing is on disk"),
    GBX_ROW_MIB(runner_args, server.dataset_bytes, "dataset-bytes", 1, 1048576,
                "size of all datasets, in units of 1,048,576 bytes (default 1024)"),
    GBX_ROW_TEXT(runner_args, policy, "policy", "FILE",
                 "the limits and capabilities that calls may have at most, as JSON"),
    GBX_ROW_TRUST_FILES(runner_args, trust_files),
    GBX_ROW_TEXT(runner_args, security_log, "security-log", "FILE",
                 "append a line for each call, and for what it was refused; - is "
                 "standard error"),
    {0},
};

static const gbx_opt_group runner_groups[] = {
    {"Server", nats_rows, offsetof(runner_args, nats)},
    {"Options", runner_rows, 0},
    {"The most that a call may ask for", gbx_limit_rows,
     offsetof(gbx_common_args, options)},
    {"Engine", gbx_engine_rows, offsetof(gbx_common_args, options)},
    GBX_COMMON_GROUP,
    {0},
};

static int stop_fd = -1;

/* The first signal drains, the second one ends the calls that run, too. */
static void on_stop(int number)
{
    const uint64_t one = 1;
    int before = errno;

    if (write(stop_fd, &one, sizeof one) < 0)
        _exit(128 + number);
    errno = before;
}

/* The policy's limits and capabilities bound what callers may ask for; no call gets the rest
 * of it. */
static bool take_caps(runner_args *args, gbx_trouble *trouble)
{
    const uint32_t flags = args->trust_files ? GBX_POLICY_TRUST_FILES : 0;
    GBX_CLEANUP(gbx_policy_release) gbx_policy *policy = NULL;

    args->server.capabilities = UINT32_MAX;
    if (args->policy == NULL)
        return true;
    trouble->file = args->policy;
    if (!gbx_trouble_input(trouble, gbx_policy_load_with(args->policy, flags, &policy,
                                                         &trouble->err)))
        return false;
    trouble->file = NULL;
    gbx_policy_print_warnings(policy);
    args->server.capabilities = policy->capabilities;
    gbx_limits_lower(&args->common.options.limits, &policy->limits);
    return true;
}

/* Make an engine once: a machine that cannot run a call must not take one. */
static gbx_status look_at_machine(const runner_args *args, gbx_server_options *to,
                                  gbx_error *err)
{
    gbx_options options = args->common.options;
    gbx_engine *engine = NULL;
    char *json = NULL;
    gbx_view report, days, layers, name, layer;
    size_t standing = 0;
    gbx_status status;

    options.pool_size = 1;
    status = gbx_engine_new(&options, &engine, err);
    if (status == GBX_OK)
        status = gbx_engine_report(engine, &json, err);
    gbx_engine_free(engine);
    if (status == GBX_OK && gbx_view_open(json, strlen(json), &report)) {
        days = gbx_view_member(report, "engineDays");
        to->engine_days = days.at != NULL ? (uint32_t)strtoul(days.at, NULL, 10) : 0;
        layers = gbx_view_member(report, "layers");
        for (size_t at = 0; gbx_view_next(layers, &at, &name, &layer);)
            standing += gbx_view_is_true(gbx_view_member(layer, "stands"));
        to->layers = gbx_printed("%zu of %zu", standing, gbx_view_count(layers));
        to->js_engine =
            gbx_need(gbx_view_string(gbx_view_member(report, "engine"), 128));
    }
    gbx_string_free(json);
    return status;
}

static gbx_status serve(runner_args *args, gbx_error *err)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    GBX_CLEANUP(gbx_free) char *address = address_of(&args->nats);
    gbx_status (*run)(const char *, const gbx_server_options *, int, gbx_error *);
    gbx_status status = find_function("gbx_runner_serve", &run, err);

    if (status == GBX_OK)
        status = look_at_machine(args, &args->server, err);
    stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        (void)sigaction(numbers[i], &action, NULL);
    if (status == GBX_OK)
        status = run(address, &args->server, stop_fd, err);
    free((void *)(uintptr_t)args->server.layers);
    free((void *)(uintptr_t)args->server.js_engine);
    return status;
}

static const gbx_relay_api relay_api = {
    gbx_relay_engine, gbx_engine_free, gbx_relay_new,   gbx_relay_fd,   gbx_relay_step,
    gbx_relay_taken,  gbx_relay_feed,  gbx_relay_abort, gbx_relay_free,
};

static int runner_main(void *parsed)
{
    runner_args *args = parsed;
    gbx_server_options *server = &args->server;
    gbx_options *engine = &args->common.options;
    gbx_security_log log = {0};
    gbx_trouble trouble = {0};
    char host[65] = "";

    if (args->nats.url == NULL || engine->runner_name != NULL)
        return gbx_command_misuse(
            &gbx_command_runner, false,
            args->nats.url == NULL ? "--nats URL names the server"
                                   : "a runner runs calls itself: leave --runner out");
    (void)gethostname(host, sizeof host - 1);
    server->machine = host;
    server->api = &relay_api;
    if (server->max_workers == 0)
        server->max_workers =
            SEATS_PER_PROCESSOR * (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (server->max_engines == 0)
        server->max_engines = ENGINES;
    if (server->dataset_bytes == 0)
        server->dataset_bytes = GBX_MIB(1024);
    server->call_bytes =
        server->dataset_bytes > CALL_BYTES ? server->dataset_bytes : CALL_BYTES;
    server->memory_bytes = engine->total_memory_bytes;
    if (server->memory_bytes == 0)
        server->memory_bytes =
            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    engine->max_workers = server->max_workers;
    if (!take_caps(args, &trouble) ||
        (args->security_log != NULL &&
         !gbx_trouble_output(&trouble,
                             gbx_security_log_open(&log, args->security_log,
                                                   GBX_LOG_DROPS_LINES, &trouble.err))))
        return gbx_trouble_report(&trouble, false, args->common.color);
    gbx_security_log_use(&log, engine);
    /* This process holds them. */
    if (engine->limits.host_in_bytes == 0)
        engine->limits.host_in_bytes = GBX_MIB(64);
    if (engine->limits.host_out_bytes == 0)
        engine->limits.host_out_bytes = GBX_MIB(64);
    server->caps = engine->limits;
    server->engine = *engine;
    server->engine.globals = GBX_GLOBALS_STANDARD; /* each caller chooses its own */
    if (gbx_trouble_host(&trouble, serve(args, &trouble.err)))
        (void)gbx_trouble_output(&trouble, gbx_security_log_close(&log, &trouble.err));
    return trouble.exit == 0 ? 0
                             : gbx_trouble_report(&trouble, false, args->common.color);
}

const gbx_command gbx_command_runner = {
    .name = "runner",
    .summary = "run calls of other machines, which come over NATS",
    .usage = "runner --nats URL [options]",
    .description =
        "Connects to a NATS server and runs the calls that '--runner nats://...' sends, each\n"
        "in a sealed process of this machine. Functions, files, secrets and requests stay\n"
        "with the caller. SIGTERM lets the running calls end and takes no new ones; a second\n"
        "one ends them. Callers must be people whom you let run code here: use TLS, and\n"
        "credentials of the server.",
    .examples =
        "glovebox runner --nats nats://127.0.0.1:4222\n"
        "glovebox runner --nats tls://nats.example.com --creds runner.creds \\\n"
        "    --datasets /var/cache/glovebox --dataset-bytes 4096",
    .groups = runner_groups,
    .args_size = sizeof(runner_args),
    .run = runner_main,
};
