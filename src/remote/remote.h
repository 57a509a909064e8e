/* SPDX-License-Identifier: MIT */
/*
 * remote - calls on other machines: the two sides, over any bus. client.c is the
 * caller's, behind gbx_runner; lessor.c is the runner's, with relays.
 *
 * Everything that a bus brings is hostile. Ids are 64 or 128 random bits; only durations
 * travel, never times. Each side has one lock. The order of locks: a side's, then an
 * engine's, then the bus' own.
 */
#ifndef GBX_REMOTE_REMOTE_H
#define GBX_REMOTE_REMOTE_H

#include "base/buf.h"
#include "base/fail.h"

#include <glovebox/relay.h>
#include <glovebox/runner.h>

/* ---- the bus: all that the protocol needs of a messaging system --------------- */

typedef enum gbx_bus_event {
    GBX_BUS_MESSAGE,
    GBX_BUS_NOBODY, /* nobody listens on the subject of a message with that reply subject */
} gbx_bus_event;

typedef struct gbx_bus_message {
    const char *subject;
    const char *reply; /* or NULL */
    gbx_span body;
} gbx_bus_message;

/* One call at a time for all of a bus; it must not block. */
typedef void (*gbx_bus_fn)(void *user, gbx_bus_event event,
                           const gbx_bus_message *message);

typedef struct gbx_bus {
    size_t chunk; /* bytes of a payload: the most */
    const struct gbx_bus_ops *ops;
} gbx_bus;

typedef struct gbx_bus_ops {
    /* One payload of two parts. True: it counts as sent. reply may be NULL. */
    bool (*publish)(gbx_bus *bus, const char *subject, const char *reply, gbx_span head,
                    gbx_span tail);
    /* queue: the group of which one member gets a message; NULL: none. NULL: out of memory,
     * or the subject is not valid. */
    void *(*subscribe)(gbx_bus *bus, const char *subject, const char *queue,
                       gbx_bus_fn fn, void *user);
    /* No call after it returns. Hold no lock that fn takes, but within a call of one. */
    void (*unsubscribe)(gbx_bus *bus, void *subscription);
    /* Not within a call of a gbx_bus_fn. No call after it returns. */
    void (*close)(gbx_bus *bus);
} gbx_bus_ops;

/* ---- the address (nats_url.c) ------------------------------------------------- */

#define GBX_REMOTE_URL_MAX 1024 /* bytes, the NUL included */

/*
 * The one text that names a server, a pool and credentials:
 *
 *     nats://HOST:4222[?pool=NAME&creds=FILE&nkey=FILE&tls-ca=FILE]
 *
 * The pointers are into text: do not copy it. What is missing is NULL, but pool ("main").
 */
typedef struct gbx_remote_url {
    char text[GBX_REMOTE_URL_MAX]; /* cut into pieces */
    const char *server;
    const char *pool; /* of [a-z0-9-] */
    const char *creds;
    const char *nkey;
    const char *tls_ca;
} gbx_remote_url;

/* GBX_E_USAGE says what is wrong, without the text, which may hold a password. Nothing is
 * opened or read. */
gbx_status gbx_remote_url_parse(const char *text, gbx_remote_url *ret,
                                gbx_error *reterr);

/* Append a parameter to such a text; value NULL: none. */
void gbx_remote_url_put(gbx_buf *to, const char *name, const char *value);

/* ---- both ------------------------------------------------------------------ */

/* The kinds of subjects: glovebox.v1.POOL.KIND and more tokens. */
#define GBX_SUBJECT_ANY    "any" /* questions; the runners are one queue group */
#define GBX_SUBJECT_KEY    "key" /* .HASH of contents: those that have an engine for it */
#define GBX_SUBJECT_RUNNER "r"   /* .ID.TOKEN: everything else to that runner */
#define GBX_SUBJECT_CALLER "c"   /* .ID.TOKEN: everything to that caller */
#define GBX_SUBJECT_GROUP  "runners"

/* ---- the caller (client.c) --------------------------------------------------- */

typedef struct gbx_client gbx_client;

/* bus and url are borrowed. Not NULL without *reterr. */
gbx_client *gbx_client_new(gbx_bus *bus, const gbx_remote_url *url, gbx_error *reterr);
/* Start the thread that ticks. Tests do without, and tick by themselves. */
gbx_status gbx_client_start(gbx_client *client, gbx_error *reterr);
/* Do what is due; returns when the next is. */
int64_t gbx_client_tick(gbx_client *client, int64_t now_ns);
/* The functions of ret, but dispose and name, which are the plug-in's. */
void gbx_client_runner(gbx_client *client, gbx_runner *ret);
/* For who has made it, and gets only the client in gbx_runner.dispose(). */
void **gbx_client_owner(gbx_client *client);
/* No lease is left. NULL is ignored. */
void gbx_client_free(gbx_client *client);

/* ---- the runner (lessor.c) ---------------------------------------------------- */

/* The functions of relay.h that it needs, as the plug-in does not link the library. */
typedef struct gbx_relay_api {
    gbx_status (*engine)(const gbx_contents *contents, const gbx_options *own,
                         gbx_engine **ret_engine, gbx_error *reterr);
    void (*engine_free)(gbx_engine *engine);
    gbx_status (*open)(gbx_engine *engine, const void *frame, size_t len,
                       const gbx_limits *limits, gbx_relay **ret_relay,
                       gbx_error *reterr);
    int (*fd)(const gbx_relay *relay);
    size_t (*step)(gbx_relay *relay, const void **ret_data,
                   const gbx_ending **ret_ending);
    void (*taken)(gbx_relay *relay, size_t len);
    gbx_status (*feed)(gbx_relay *relay, const void *data, size_t len);
    void (*abort)(gbx_relay *relay);
    void (*free)(gbx_relay *relay);
} gbx_relay_api;

typedef struct gbx_server_options {
    uint32_t max_workers; /* seats */
    uint32_t max_engines;
    uint64_t dataset_bytes;   /* of all datasets */
    uint64_t call_bytes;      /* of all calls at once: code, input and room for more */
    uint64_t memory_bytes;    /* of all calls at once: their limits */
    const char *datasets_dir; /* NULL: keep nothing on disk */
    gbx_limits caps;          /* the most that a call may ask for; 0: no limit */
    uint32_t capabilities;    /* gbx_capability bits that it may have */
    gbx_options engine;       /* for gbx_relay_engine() */
    const gbx_relay_api *api;
    const char *machine; /* its name, for people */
    /* What `glovebox doctor` says of it, for those who list runners. */
    const char *js_engine; /* with its version */
    const char *layers;    /* "12 of 12" */
    uint32_t engine_days;
} gbx_server_options;

typedef struct gbx_lessor gbx_lessor;

/* bus, url and options are borrowed. */
gbx_lessor *gbx_lessor_new(gbx_bus *bus, const gbx_remote_url *url,
                           const gbx_server_options *options, gbx_error *reterr);
/* Step the relays that are readable, and do what is due; returns when the next is. */
int64_t gbx_lessor_step(gbx_lessor *server, int64_t now_ns);
/* Take no more calls; abort: end those that run, too. */
void gbx_lessor_drain(gbx_lessor *server, bool abort);
bool gbx_lessor_is_idle(gbx_lessor *server);
void gbx_lessor_free(gbx_lessor *server); /* NULL is ignored */

/* Serve until stop_fd is readable, then drain; until it is readable again, then abort. */
gbx_status gbx_server_run(gbx_bus *bus, const gbx_remote_url *url,
                          const gbx_server_options *options, int stop_fd,
                          gbx_error *reterr);

/* ---- NATS' service protocol (service.c) ---------------------------------------- */

#define GBX_SERVICE_NAME "glovebox-runner"

/* A runner as a service: it answers $SRV.PING and $SRV.INFO. */
typedef struct gbx_service {
    gbx_bus *bus;
    const char *id; /* a token */
    void (*describe)(void *user,
                     gbx_buf *to); /* appends members of "metadata", texts */
    void *user;
    void *subscription; /* ends it */
} gbx_service;

bool gbx_service_open(gbx_service *service); /* false: out of memory */

/* Ask all runners for INFO, and wait so long: a JSON array of at most 1,000 answers, to be
 * freed. Each is a JSON object; more is not known of it. NULL: out of memory. */
char *gbx_service_list(gbx_bus *bus, const gbx_remote_url *url, uint32_t wait_ms);

#endif
