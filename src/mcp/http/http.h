/* SPDX-License-Identifier: MIT */
/*
 * http - the MCP server at an address: Streamable HTTP, in both eras.
 *
 * It has three kinds of processes. The front listens, and moves messages between
 * connections and children; it runs no engine and reads no data. A child is the
 * ordinary server on standard input and output. The spawner forks children. It is
 * forked before the first client connects, so its memory holds no client's data.
 * Children and spawner die with the front.
 *
 * In the older eras each session has a child. In 2026-07-28 all requests of a caller
 * share one. Without OAuth there is one caller: whoever may send requests.
 *
 * A connection carries one request after another. Bytes that arrive before the answer
 * are never read as the next request, so a proxy cannot disagree about where a request
 * ends. In the front, everything runs on the loop's thread.
 */
#ifndef GBX_MCP_HTTP_HTTP_H
#define GBX_MCP_HTTP_HTTP_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "base/sha256.h"
#include "mcp/rpc/rpc.h"
#include "mcp/telemetry/telemetry.h"
#include "policy/policy.h"

#include <netinet/in.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* ---- who may send requests ---------------------------------------------------- */

#define GBX_HTTP_NAME_SIZE 128

/* The sender of a request. Callers differ if their rights do. */
typedef struct gbx_http_caller {
    char id[33]; /* "" without OAuth */
    char name[GBX_HTTP_NAME_SIZE];
    uint32_t rights; /* its scopes, for its child */
    uint32_t left_s; /* seconds until its token expires; 0: never */
} gbx_http_caller;

/* A decision about a request. */
typedef struct gbx_http_admission {
    int status;         /* 0: admitted; GBX_HTTP_PENDING; else that of the refusal */
    const char *fields; /* further header fields of the refusal, or NULL */
    const char *why;
} gbx_http_admission;

/* Not decided yet: `changed` will be called. */
#define GBX_HTTP_PENDING (-1)

/* Admits requests by their Authorization field. Texts that it returns are borrowed until
 * the next call. Loop's thread only. */
typedef struct gbx_http_access gbx_http_access;
struct gbx_http_access {
    gbx_http_caller whole; /* who may do everything; serves to try the server's start */
    /* Set by the front: pending requests may be decided now. From the loop. */
    void (*changed)(void *user);
    void *changed_user;
    gbx_status (*start)(gbx_http_access *access, gbx_mcp_loop *loop, gbx_error *reterr);
    void (*stop)(gbx_http_access *access);
    gbx_http_admission (*admit)(gbx_http_access *access, const char *authorization,
                                gbx_http_caller *ret);
    /* May the caller call that tool, or with NULL read the metrics? Never pending. */
    gbx_http_admission (*call)(gbx_http_access *access, const gbx_http_caller *caller,
                               const char *tool);
    /* A public JSON document at that path, or NULL. */
    const char *(*document)(gbx_http_access *access, const char *path);
};

/* ---- a page besides the server: src/mcp/console ---------------------------------- */

/* Loop's thread only. */
typedef struct gbx_http_console gbx_http_console;
struct gbx_http_console {
    /* Listen. caller: who calls tools on the page, by children of the spawner. */
    gbx_status (*start)(gbx_http_console *console, gbx_mcp_loop *loop, int spawner,
                        const gbx_http_caller *caller, gbx_error *reterr);
    /* A descriptor for another server process, which becomes the caller's; -1: none is
     * left. */
    int (*join)(gbx_http_console *console);
    void (*stop)(gbx_http_console *console);
};

/* ---- front.c --------------------------------------------------------------- */

typedef struct gbx_http_options {
    const char *address;       /* "[ADDR:]PORT" or GBX_HTTP_SYSTEMD, or NULL */
    const char *socket;        /* path of a socket file, or NULL */
    const char *path;          /* "/mcp" */
    const char *token_file;    /* for "Authorization: Bearer"; NULL: no token needed */
    gbx_trust trust;           /* in that file */
    const char *oauth_file;    /* for OAuth; NULL: none */
    gbx_http_access *access;   /* by that file, or NULL; borrowed */
    gbx_http_console *console; /* or NULL; borrowed */
    const char *tls_cert; /* PEM file of the certificate and its chain; NULL: no TLS */
    const char *tls_key;  /* PEM file of its key */
    bool is_behind_proxy;
    uint8_t token[GBX_SHA256_SIZE]; /* SHA-256 of it, once the file is read */
    gbx_metrics *metrics;           /* served at GBX_HTTP_METRICS; NULL: nothing is */
} gbx_http_options;

/* True if other machines may send requests: by TLS of its own or of a proxy. */
bool gbx_http_is_public(const gbx_http_options *options);
#define GBX_HTTP_METRICS "/metrics"

/* Check that the options are complete and consistent; else GBX_E_USAGE. */
gbx_status gbx_http_check(const gbx_http_options *options, gbx_error *reterr);

/* Read the token file, if one is set. */
gbx_status gbx_http_read_token(gbx_http_options *options, gbx_error *reterr);

/* Serve until a signal ends the server. Takes ownership of spawner. */
gbx_status gbx_http_serve(const gbx_http_options *options, int spawner,
                          gbx_error *reterr);

/* ---- listeners.c ------------------------------------------------------------- */

/* The address that stands for the sockets that systemd has opened. */
#define GBX_HTTP_SYSTEMD "systemd"

#define GBX_HTTP_LISTENERS_MAX 8

typedef union gbx_socket_address {
    struct sockaddr some;
    struct sockaddr_storage any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
} gbx_socket_address;

typedef struct gbx_http_listener {
    int fd;
    char host[64]; /* as in a Host field, "127.0.0.1" or "[::1]"; "": a socket file */
    uint16_t port;
    char name
        [128]; /* for people: "http://127.0.0.1:8080", or the path of a socket file */
} gbx_http_listener;

typedef struct gbx_http_listeners {
    gbx_http_listener items[GBX_HTTP_LISTENERS_MAX];
    size_t count;
    const char *file; /* the socket file that we created, or NULL */
    struct stat made;
} gbx_http_listeners;

/* Check that the options name addresses that may be served; else GBX_E_USAGE. */
gbx_status gbx_http_listeners_check(const gbx_http_options *options, gbx_error *reterr);
/* Open all listeners. Close them also after an error. */
gbx_status gbx_http_listeners_open(gbx_http_listeners *all,
                                   const gbx_http_options *options, gbx_error *reterr);
void gbx_http_listeners_close(gbx_http_listeners *all);
/* In a fork of the process pid: close the descriptors that systemd passed to it. */
void gbx_http_close_inherited(pid_t pid);

/* ---- tls.c ------------------------------------------------------------------- */

typedef struct gbx_http_tls gbx_http_tls;

/* Load OpenSSL, the certificate and the key. Free *ret also after an error. */
gbx_status gbx_http_tls_new(const gbx_http_options *options, gbx_http_tls **ret,
                            gbx_error *reterr);
void gbx_http_tls_free(gbx_http_tls *tls);

/* A bufferevent that takes ownership of fd, and does the handshake. */
struct bufferevent *gbx_http_tls_accept(gbx_http_tls *tls, struct event_base *base,
                                        int fd);

/* Tell the client that nothing follows. All output has been written. */
void gbx_http_tls_end(const gbx_http_tls *tls, struct bufferevent *bev);

/* ---- spawner.c --------------------------------------------------------------- */

/*
 * Fork the spawner. Call it before any thread is started and any secret is read. It
 * returns in the front, where *ret_socket is the socket to the spawner; and later in
 * each child, where it is -1, *ret_caller is its caller, *ret_console leads to the page
 * or is -1, and standard input and output lead to the client.
 */
gbx_status gbx_spawner_start(int *ret_socket, gbx_http_caller *ret_caller,
                             int *ret_console, gbx_error *reterr);

/* Fork a child; *ret_fd is the other end of its stdin and stdout. console: its descriptor
 * to the page, which is closed here; or -1. False with errno. */
bool gbx_spawner_fork(int spawner, const gbx_http_caller *caller, int console,
                      int *ret_fd);

/* ---- http_request.c ---------------------------------------------------------- */

/*
 * A strict parser of HTTP/1.1 requests; it does no I/O.
 *
 * Anything that two parsers could interpret differently is refused: a line end without
 * its carriage return, white space before a colon, a folded field, a repeated field
 * that must be single, two lengths, a length with a sign, chunk extensions, trailers.
 */

#define GBX_HTTP_HEAD_MAX   GBX_KIB(16)
#define GBX_HTTP_FIELDS_MAX 64
/* A child accepts lines of 16 MiB, and our ids may be longer than the client's. */
#define GBX_HTTP_BODY_MAX (GBX_MIB(16) - 64)

typedef struct gbx_http_field {
    char *name;
    char *value; /* without white space around it */
} gbx_http_field;

typedef enum gbx_http_part {
    GBX_HTTP_IN_HEAD,
    GBX_HTTP_IN_BODY, /* the head is complete */
    GBX_HTTP_COMPLETE,
} gbx_http_part;

typedef struct gbx_http_request {
    gbx_buf head;
    char *method;
    char *path;  /* without the query */
    char *query; /* without its '?'; or NULL */
    gbx_http_field fields[GBX_HTTP_FIELDS_MAX];
    size_t field_count;
    gbx_http_part part;
    bool is_1_0; /* HTTP/1.0, which has no chunks */
    bool is_chunked;
    size_t left; /* unread bytes of the body, or of the chunk */
    int chunk;   /* state of the chunked body */
    gbx_buf body;
    size_t digits; /* read of a chunk's size */
} gbx_http_request;

void gbx_http_request_init(gbx_http_request *request);
void gbx_http_request_cleanup(gbx_http_request *request);

/* Read the next bytes of the head or of the body, up to its end; *used is their number.
 * Returns 0, or the HTTP status with which to refuse the request. */
int gbx_http_request_feed(gbx_http_request *request, const char *data, size_t len,
                          size_t *used);

/* The value of a field, or NULL. */
const char *gbx_http_field_of(const gbx_http_request *request, const char *name);

/* True if the client wants to close after the answer, as HTTP/1.0 always does. */
bool gbx_http_is_last(const gbx_http_request *request);

/* True if a list of media ranges, as in Accept, has a type ("text/event-stream"). */
bool gbx_http_accepts(const char *list, const char *type);

/* ---- http_connection.c --------------------------------------------------------- */

/* Connections, from accept() to the last byte. A client that does not send or does not
 * read is disconnected after a while. A connection stays open for the next request
 * unless the request was refused or its answer was a stream. */

typedef struct gbx_http_server gbx_http_server;
typedef struct gbx_http_connection gbx_http_connection;

typedef enum gbx_http_verdict {
    GBX_HTTP_GO_ON,
    GBX_HTTP_ANSWERED, /* the request was refused, for instance */
    GBX_HTTP_UNDECIDED,
} gbx_http_verdict;

typedef struct gbx_http_hooks {
    void *user;
    size_t max; /* limit of connections; 0: what descriptors allow */
    /* The head is complete. */
    gbx_http_verdict (*head)(void *user, gbx_http_connection *c,
                             const gbx_http_request *request);
    /* The request is complete. It must be answered, now or later. */
    void (*request)(void *user, gbx_http_connection *c,
                    const gbx_http_request *request);
} gbx_http_hooks;

/* Takes the descriptors of the listeners, which must outlive it, as tls must (NULL: no
 * TLS). Not accepting yet. */
gbx_http_server *gbx_http_server_new(gbx_mcp_loop *loop, gbx_http_listeners *listeners,
                                     gbx_http_tls *tls, const gbx_http_hooks *hooks);
void gbx_http_server_accept(gbx_http_server *server);
/* Ask again about all undecided heads. */
void gbx_http_server_decide(gbx_http_server *server);
/* Stop accepting, and close each connection after its answer. */
void gbx_http_server_stop_accepting(gbx_http_server *server);
/* True while an answer is being sent. */
bool gbx_http_server_is_sending(const gbx_http_server *server);
/* Closes every connection. NULL is ignored. */
void gbx_http_server_free(gbx_http_server *server);

/* gone is called once if the connection ends before its answer; then the connection
 * must not be used any more. NULL: nothing is called. */
void gbx_http_on_gone(gbx_http_connection *c, void (*gone)(void *user), void *user);

/* Answer. fields: more header fields, each with its line end, or NULL. Copies body. */
void gbx_http_reply(gbx_http_connection *c, int status, const char *fields,
                    const char *type, const void *body, size_t len);
/* Refuse the request with a JSON-RPC error; its connection ends. */
void gbx_http_reply_error(gbx_http_connection *c, int status, const char *fields,
                          gbx_view id, int code, const char *message);
/* Answer with a stream of events, which ends with the connection. */
void gbx_http_begin_events(gbx_http_connection *c, const char *fields);
/* Append head, text and an empty line to the stream, all or nothing. False: the client
 * does not read, and its connection is closed. */
bool gbx_http_put(gbx_http_connection *c, const char *head, const void *text,
                  size_t len);
/* End the stream when everything is sent. */
void gbx_http_end(gbx_http_connection *c);
/* Close the connection after so many seconds if it is still open. 0: do not. */
void gbx_http_close_after(gbx_http_connection *c, uint32_t seconds);
/* Bytes of output that the client has not read yet. */
size_t gbx_http_unread(const gbx_http_connection *c);
/* Its socket, borrowed for inspection. */
int gbx_http_descriptor(const gbx_http_connection *c);
/* The listener that accepted it. */
const gbx_http_listener *gbx_http_listener_of(const gbx_http_connection *c);

/* ---- child_link.c ------------------------------------------------------------- */

/* Lines to and from a child. */

typedef struct gbx_child_link gbx_child_link;

typedef struct gbx_child_hooks {
    void *user;
    void (*line)(void *user, const char *line, size_t len);
    /* The child has ended by itself. The last hook; free the link in it or later. */
    void (*ended)(void *user);
} gbx_child_hooks;

/* All links, also freed ones that still wait for their child to end. */
typedef struct gbx_child_set {
    gbx_mcp_loop *loop;
    gbx_http_console *console; /* that children join; or NULL */
    int spawner;
    size_t count;
    LIST_HEAD(, gbx_child_link) links;
} gbx_child_set;

/* Limit of children at a time. */
#define GBX_CHILDREN_MAX 64

/* NULL with errno; EAGAIN: too many children. */
gbx_child_link *gbx_child_new(gbx_child_set *children, const gbx_http_caller *caller,
                              const gbx_child_hooks *hooks);
/* Lines to and from whoever has the other end of a socket that does not block. Takes
 * ownership of fd. */
gbx_child_link *gbx_child_adopt(gbx_child_set *children, int fd,
                                const gbx_child_hooks *hooks);
/* Send one message, without its newline. False: too many bytes wait to be read. */
bool gbx_child_send(gbx_child_link *child, const void *line, size_t len);
/* Ask the child to end. No hook is called any more. NULL is ignored. */
void gbx_child_free(gbx_child_link *child);
/* Drop all links at once. */
void gbx_child_set_drop(gbx_child_set *children);

/* ---- request_checks.c ------------------------------------------------------------ */

/* Checks of a request before a child sees it. True: go on. False: it was answered. */

/* Is the sender admitted? *ret is the sender. */
gbx_http_verdict gbx_http_admit(const gbx_http_options *options, gbx_http_connection *c,
                                const gbx_http_request *request, gbx_http_caller *ret);
/* Does it ask for metrics? */
bool gbx_http_wants_metrics(const gbx_http_options *options,
                            const gbx_http_request *request);
/* Check path, Host, Origin, sender, method and media types. */
gbx_http_verdict gbx_http_guard_head(const gbx_http_options *options,
                                     gbx_http_connection *c,
                                     const gbx_http_request *request);
/* Check that the caller may do what the message asks for, or with NULL read the metrics. */
bool gbx_http_check_call(const gbx_http_options *options, gbx_http_connection *c,
                         const gbx_http_caller *caller, const gbx_rpc_message *message);

/* True if the request is of 2026-07-28. message: NULL for GET and DELETE. */
bool gbx_http_is_modern(const gbx_http_request *request,
                        const gbx_rpc_message *message);
/* Check that header fields and _meta of 2026-07-28 agree. */
bool gbx_http_check_modern(gbx_http_connection *c, const gbx_http_request *request,
                           const gbx_rpc_message *message);
/* Check that the version in the header, if any, is a legacy one. */
bool gbx_http_check_legacy(gbx_http_connection *c, const gbx_http_request *request);

/* ---- session_streams.c ------------------------------------------------------------ */

/*
 * The streams of a session: one for each POST with requests, and one for messages that
 * belong to no request. In the older eras a stream outlives its connection: its last
 * events are kept, and a client that reconnects with the id of the last event that it
 * received gets the rest.
 */

/* Limits for one session: kept events, bytes of these, and finished streams. */
#define GBX_STREAM_EVENTS_MAX 512
#define GBX_STREAM_BYTES_MAX  GBX_MIB(4)
#define GBX_STREAMS_KEPT      32

typedef struct gbx_stream_event {
    TAILQ_ENTRY(gbx_stream_event) entry;
    uint64_t number; /* in its stream, from 1 */
    size_t len;
    char text[];
} gbx_stream_event;

typedef struct gbx_stream {
    TAILQ_ENTRY(gbx_stream) entry; /* oldest first */
    struct gbx_streams *owner;
    uint64_t number;
    gbx_http_connection *connection; /* or NULL */
    bool has_begun;                  /* as a stream of events */
    size_t open;                     /* requests without an answer */
    uint64_t last;                   /* number of the last event */
    uint64_t sent;                   /* number of the last event that was sent */
    int64_t since_ns;                /* time of the last event or heartbeat */
    TAILQ_HEAD(, gbx_stream_event) events;
} gbx_stream;

typedef struct gbx_streams {
    TAILQ_HEAD(gbx_stream_list, gbx_stream) all;
    bool keeps;         /* keep events after they were sent */
    bool primes;        /* clients accept events without data */
    const char *fields; /* further header fields of answers, or NULL */
    uint64_t last;      /* number of the last stream */
    size_t event_count;
    size_t bytes;
    void *user;
    /* The connection of a stream ended early; the stream is freed next. NULL: kept. */
    void (*gone)(void *user, gbx_stream *stream);
} gbx_streams;

void gbx_streams_cleanup(gbx_streams *streams);

gbx_stream *gbx_stream_new(gbx_streams *streams, gbx_http_connection *c);
/* The newest with a connection and open requests, or NULL. */
gbx_stream *gbx_streams_newest(gbx_streams *streams);
/* Send a message as an event. */
void gbx_stream_put(gbx_stream *stream, const char *message, size_t len);
/* Send the answer to one of its open requests. status: if nothing else is sent. */
void gbx_stream_answer(gbx_stream *stream, int status, const char *message, size_t len);
/* One of its open requests was cancelled, and gets no answer. */
void gbx_stream_give_up(gbx_stream *stream);
/* Move the stream to another connection, and send the events after `after`. */
void gbx_stream_attach(gbx_stream *stream, gbx_http_connection *c, uint64_t after);
/* Find the stream and the event of a Last-Event-ID; NULL: none. */
gbx_stream *gbx_streams_find(gbx_streams *streams, const char *event_id,
                             uint64_t *ret_after);
/* Send a heartbeat to clients that have received nothing for a while. */
void gbx_streams_beat(gbx_streams *streams, int64_t now_ns);
/* True if a stream has a connection. */
bool gbx_streams_is_used(const gbx_streams *streams);

/* ---- http_session.c ----------------------------------------------------------------- */

/*
 * Ids of requests and progress tokens. Two clients of one child may choose the same ones,
 * so the front replaces them in the text by numbers of its own.
 *
 * The front reads values by json_view, as the server does. It refuses a message with a
 * member that could be read in two ways.
 */

typedef struct gbx_message_cut {
    gbx_view old; /* the replaced part of the text */
    gbx_view fresh;
} gbx_message_cut;

/* Append text with each cut replaced. Cuts at one place are made in their order. */
bool gbx_message_splice(gbx_buf *to, const char *text, size_t len,
                        const gbx_message_cut *cuts, size_t count);

#define GBX_MCP_META_PREFIX "io.modelcontextprotocol/"

/* A child and its open requests: those of one client of the older eras, or all those of
 * a caller in 2026-07-28. */

/* Maximum length of a request's id, in bytes: it is kept while the request is open. */
#define GBX_HTTP_ID_MAX 1024

typedef struct gbx_http_pending {
    LIST_ENTRY(gbx_http_pending) entry; /* newest first */
    gbx_stream *stream;                 /* NULL: the probe, for no client */
    int64_t number;                     /* modern: its id for the child */
    char *id;                           /* as the client wrote it */
    size_t id_len;
    char *token; /* or NULL */
    size_t token_len;
    bool is_initialize;
} gbx_http_pending;

#define GBX_HTTP_SESSION_ID_SIZE 33

typedef struct gbx_http_session {
    LIST_ENTRY(gbx_http_session) entry;
    char id[GBX_HTTP_SESSION_ID_SIZE]; /* "": a modern one */
    char fields[80];                   /* header fields that name it */
    gbx_http_caller caller;
    gbx_child_link *child;
    bool is_modern;
    bool takes_batches; /* 2025-03-26 */
    bool is_refused;    /* initialize failed, or the client left before the answer */
    int64_t last_number;
    int64_t used_ns;
    gbx_streams streams;
    gbx_stream *own; /* for messages that belong to no request; legacy */
    LIST_HEAD(, gbx_http_pending) pending;
    size_t pending_count;
    void *user;
    /* The child has ended by itself, or is_refused. Free the session in this hook. */
    void (*ended)(void *user, struct gbx_http_session *session);
    /* The probe was answered. */
    void (*ready)(void *user);
} gbx_http_session;

/* NULL with errno. */
gbx_http_session *gbx_http_session_new(gbx_child_set *children,
                                       const gbx_http_caller *caller, bool is_modern);
/* Closes its connections, and asks its child to end. NULL is ignored. */
void gbx_http_session_free(gbx_http_session *session);

/* Handle a POST that passed the checks. text is the whole body. */
void gbx_http_session_post(gbx_http_session *session, gbx_http_connection *c,
                           const char *text, size_t len);
/* Handle a GET: of the stream for other messages, or the rest of an interrupted one. */
void gbx_http_session_listen(gbx_http_session *session, gbx_http_connection *c,
                             const char *last_event_id);
/* Send the child a request of our own; `ready` is called when it answers. */
void gbx_http_session_probe(gbx_http_session *session);

#endif
