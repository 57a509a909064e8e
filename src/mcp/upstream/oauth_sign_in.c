/* SPDX-License-Identifier: MIT */
/*
 * oauth_sign_in - signs a person in: from the server's refusal to tokens. The browser
 * returns to a port of this machine, which is open only for that time.
 *
 * The code that the browser brings is useful only with our verifier (PKCE) and our
 * state, and only at the authorization server that we asked. That server must name
 * itself in `iss` if its metadata says so (RFC 9207).
 */
#include "mcp/upstream/internal.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "base/timeouts.h"
#include "mcp/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define CALLBACK "/callback"

/* 43 characters in base64url. */
#define VERIFIER_BYTES 32

typedef struct sign_in {
    const gbx_oauth_sign_in_options *options;
    const char *url; /* of the server */
    gbx_mcp_loop *loop;
    gbx_http_client *web;
    gbx_oauth_metadata metadata;
    json_t *kept; /* the state to store */
    char *redirect;
    char *verifier;
    char *state;
    gbx_http_listeners listeners;
    gbx_http_server *browser;
    gbx_mcp_timer patience;
    struct event *pasted;
    struct event *stopped;
    char *query; /* of the address to which the browser returned, or NULL */
    /* One request and its response. */
    gbx_http_exchange *exchange;
    CURLcode result;
    bool is_over; /* the awaited event has happened */
} sign_in;

/* Run the loop until is_over. */
static void await_end(sign_in *s)
{
    s->is_over = false;
    while (!s->is_over && event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_ONCE) == 0)
        ;
}

/* ---- requests -------------------------------------------------------------------- */

static void on_done(void *user, gbx_http_exchange *e, CURLcode result)
{
    sign_in *s = user;

    s->exchange = e;
    s->result = result;
    s->is_over = true;
}

static const gbx_http_exchange_hooks hooks = {.done = on_done};

/* Wait for the response, which is s->exchange; NULL: it was not sent. */
static void await(sign_in *s, const gbx_http_exchange *sent)
{
    s->exchange = NULL;
    if (sent != NULL)
        await_end(s);
}

static void end_exchange(sign_in *s)
{
    gbx_http_exchange_free(s->exchange);
    s->exchange = NULL;
}

static bool is_answered(const sign_in *s)
{
    return s->exchange != NULL && s->result == CURLE_OK;
}

static void ask(sign_in *s, gbx_http_method method, const char *url, const char *body,
                bool is_event)
{
    gbx_http_headers headers = {.lib = &s->web->lib};

    gbx_http_header_add(&headers, "Accept",
                        is_event ? "application/json, text/event-stream"
                                 : "application/json");
    if (method == GBX_HTTP_POST)
        gbx_http_header_add(&headers, "Content-Type", "application/json");
    await(s, gbx_http_exchange_start(&(gbx_http_exchange_options){
                 .web = s->web,
                 .method = method,
                 .url = url,
                 .headers = headers.list,
                 .body = body,
                 .body_len = body != NULL ? strlen(body) : 0,
                 .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_OAUTH),
                 .hooks = &hooks,
                 .user = s,
             }));
}

/* A gbx_oauth_get_fn. */
static json_t *get(void *user, const char *url)
{
    sign_in *s = user;
    json_t *found = NULL;

    ask(s, GBX_HTTP_GET, url, NULL, false);
    if (is_answered(s) && s->exchange->status == 200)
        found = gbx_oauth_object(s->exchange);
    end_exchange(s);
    return found;
}

/* ---- the server ------------------------------------------------------------------- */

#define MESSAGE(method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"

/* Send the server requests that it may refuse: some servers refuse only tools/list.
 * *ret is the challenge of its refusal, to be freed; NULL: it refused nothing. */
static gbx_status knock(sign_in *s, char **ret, gbx_error *err)
{
    static const char *const messages[] = {
        MESSAGE("initialize",
                "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"glovebox\",\"version\":\"1\"}"),
        MESSAGE("tools/list", ""),
    };
    gbx_status status = GBX_OK;

    *ret = NULL;
    for (size_t i = 0; status == GBX_OK && *ret == NULL && i < GBX_COUNTOF(messages);
         i++) {
        ask(s, GBX_HTTP_POST, s->url, messages[i], true);
        if (!is_answered(s))
            status = gbx_fail(err, GBX_E_OS, "the server cannot be asked: %s",
                              s->exchange != NULL
                                  ? gbx_http_exchange_error(s->exchange, s->result)
                                  : "its URL is wrong");
        else if (s->exchange->status == 401)
            *ret = gbx_need(strdup(gbx_http_exchange_challenge(s->exchange)));
        end_exchange(s);
    }
    return status;
}
#undef MESSAGE

/* Add the scope that tools asked for: the server may at first ask for less. */
static void widen_scope(sign_in *s)
{
    gbx_error err = {0};
    json_t *before = NULL;
    const char *wanted;

    if (gbx_oauth_read(s->url, s->options->trust, &before, &err) != GBX_OK)
        return;
    wanted = gbx_oauth_text(before, "wantedScope");
    if (*wanted != '\0') {
        const char *had = gbx_oauth_text(before, "scope");

        char *all = gbx_printed("%s%s%s", had, *had != '\0' ? " " : "", wanted);

        free(s->metadata.scope);
        s->metadata.scope = all;
    }
    json_decref(before);
}

/* ---- the client -------------------------------------------------------------------- */

static void keep(sign_in *s, const char *name, const char *value)
{
    if (value != NULL && *value != '\0')
        (void)json_object_set_new(s->kept, name, json_string(value));
}

/* How the client authenticates, of the methods that the server accepts (RFC 8414: the
 * default is client_secret_basic). */
static const char *find_auth(const sign_in *s, bool has_secret)
{
    const json_t *list =
        json_object_get(s->metadata.endpoints, "token_endpoint_auth_methods_supported");
    static const char *const ways[] = {"none", "client_secret_basic",
                                       "client_secret_post"};

    for (size_t i = has_secret ? 1 : 0; i < GBX_COUNTOF(ways); i++)
        if (gbx_oauth_lists(list, ways[i]))
            return ways[i];
    return has_secret ? "client_secret_basic" : "none";
}

static gbx_status take_client(sign_in *s, gbx_error *err)
{
    json_t *made = is_answered(s) ? gbx_oauth_object(s->exchange) : NULL;
    long answer = s->exchange != NULL ? s->exchange->status : 0;
    const char *id = gbx_oauth_text(made, "client_id");
    const char *secret = gbx_oauth_text(made, "client_secret");
    const char *auth = gbx_oauth_text(made, "token_endpoint_auth_method");
    gbx_status status = GBX_OK;

    if (*id == '\0' || (answer != 200 && answer != 201)) {
        status = gbx_fail(err, GBX_E_DATA,
                          "the authorization server does not register this program: "
                          "HTTP status %ld. Register it there, and give \"clientId\"",
                          answer);
    } else {
        keep(s, "clientId", id);
        keep(s, "clientSecret", secret);
        keep(s, "clientAuth", *auth != '\0' ? auth : find_auth(s, *secret != '\0'));
    }
    json_decref(made);
    return status;
}

static gbx_status register_client(sign_in *s, gbx_error *err)
{
    json_t *what = gbx_need(
        json_pack("{s:s, s:[s], s:[s,s], s:[s], s:s, s:s, s:s*}", "client_name",
                  "Glovebox", "redirect_uris", s->redirect, "grant_types",
                  "authorization_code", "refresh_token", "response_types", "code",
                  "application_type", "native", "token_endpoint_auth_method",
                  find_auth(s, false), "scope", s->metadata.scope));
    char *text = gbx_need(json_dumps(what, JSON_COMPACT));
    gbx_status status;

    ask(s, GBX_HTTP_POST,
        gbx_oauth_text(s->metadata.endpoints, "registration_endpoint"), text, false);
    status = take_client(s, err);
    end_exchange(s);
    free(text);
    json_decref(what);
    return status;
}

/* Take a configured client id, or the URL of a document, or register a client now. */
static gbx_status find_client(sign_in *s, gbx_error *err)
{
    const gbx_mcp_oauth_config *own = &s->options->server->oauth;

    if (own->issuer != NULL && strcmp(own->issuer, s->metadata.issuer) != 0)
        return gbx_fail(
            err, GBX_E_DATA,
            "the server names the authorization server '%.200s', which is not "
            "the \"issuer\" of its entry",
            s->metadata.issuer);
    if (own->client_id != NULL) {
        keep(s, "clientId", own->client_id);
        keep(s, "clientSecret", own->client_secret);
        keep(s, "clientAuth", find_auth(s, own->client_secret != NULL));
    } else if (own->client_url != NULL &&
               json_is_true(json_object_get(s->metadata.endpoints,
                                            "client_id_metadata_document_supported"))) {
        keep(s, "clientId", own->client_url);
        keep(s, "clientAuth", "none");
    } else if (*gbx_oauth_text(s->metadata.endpoints, "registration_endpoint") !=
               '\0') {
        return register_client(s, err);
    } else {
        return gbx_fail(err, GBX_E_USAGE,
                        "the authorization server '%.200s' registers no programs: "
                        "register one there, and give \"clientId\"",
                        s->metadata.issuer);
    }
    return GBX_OK;
}

/* ---- the browser -------------------------------------------------------------------- */

/* The user of the other end of a connection on this machine; -1: unknown. */
static long find_peer(int fd)
{
    struct sockaddr_in here = {0};
    struct sockaddr_in there = {0};
    socklen_t len = sizeof here;
    FILE *table = fopen("/proc/net/tcp", "re");
    unsigned from;
    unsigned from_port;
    unsigned to;
    unsigned to_port;
    long user;
    long found = -1;
    char line[256];

    if (getsockname(fd, (struct sockaddr *)&here, &len) < 0 ||
        getpeername(fd, (struct sockaddr *)&there, &len) < 0)
        there.sin_port = 0;
    while (table != NULL && fgets(line, sizeof line, table) != NULL)
        /* "N: ADDR:PORT ADDR:PORT STATE QUEUES TIMER RETRIES UID ..." */
        if (sscanf(line, "%*s %x:%x %x:%x %*s %*s %*s %*s %ld", &from, &from_port, &to,
                   &to_port, &user) == 5 &&
            from == there.sin_addr.s_addr && from_port == ntohs(there.sin_port) &&
            to == here.sin_addr.s_addr && to_port == ntohs(here.sin_port))
            found = user;
    if (table != NULL)
        (void)fclose(table);
    return found;
}

/* Other users of this machine can see the address that the browser opens (in its
 * arguments), and could send a code of their own. */
static gbx_http_verdict on_head(void *user, gbx_http_connection *c,
                                const gbx_http_request *r)
{
    long peer = find_peer(gbx_http_descriptor(c));

    if (peer != (long)geteuid() && peer != 0) {
        gbx_http_reply(c, 403, NULL, NULL, NULL, 0);
        return GBX_HTTP_ANSWERED;
    }
    if (strcmp(r->method, "GET") == 0 && strcmp(r->path, CALLBACK) == 0 &&
        r->part == GBX_HTTP_COMPLETE)
        return GBX_HTTP_GO_ON;
    gbx_http_reply(c, 404, NULL, NULL, NULL, 0);
    return GBX_HTTP_ANSWERED;
}

/* The value of a parameter, to be freed; NULL: there is none. */
static char *find_param(const char *query, const char *name)
{
    GBX_CLEANUP(gbx_free) char *coded = NULL;
    size_t len = strlen(name);

    while (strncmp(query, name, len) != 0 || query[len] != '=') {
        query += strcspn(query, "&");
        if (*query++ == '\0')
            return NULL;
    }
    query += len + 1;
    coded = gbx_need(strndup(query, strcspn(query, "&")));
    return gbx_need(evhttp_uridecode(coded, 0, NULL));
}

/* Take the query with which the browser returns. Only the browser that opened our URL
 * knows the state. */
static bool take_query(sign_in *s, const char *query)
{
    GBX_CLEANUP(gbx_free) char *state = find_param(query, "state");

    if (state == NULL || s->state == NULL || strcmp(state, s->state) != 0 ||
        s->query != NULL)
        return false;
    s->query = gbx_need(strdup(query));
    gbx_http_server_stop_accepting(s->browser);
    gbx_mcp_timer_set(&s->patience, 100); /* for the page to reach the browser */
    return true;
}

static void on_callback(void *user, gbx_http_connection *c, const gbx_http_request *r)
{
    static const char page[] = "<!doctype html><title>Glovebox</title>"
                               "<p>You may close this page, and go on in the terminal.";

    if (take_query(user, r->query != NULL ? r->query : ""))
        gbx_http_reply(c, 200,
                       "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n",
                       "text/html", page, sizeof page - 1);
    else
        gbx_http_reply(c, 400, NULL, NULL, NULL, 0);
}

/* A browser on another machine cannot reach us: the person copies the address of its
 * last page. */
static void on_pasted(evutil_socket_t fd, short what, void *arg)
{
    sign_in *s = arg;
    char line[8192];
    ssize_t n = read(fd, line, sizeof line - 1);
    char *rest = line;
    char *word;

    if (n <= 0) {
        (void)event_del(s->pasted);
        return;
    }
    line[n] = '\0';
    while ((word = strsep(&rest, " \r\n")) != NULL)
        if (strchr(word, '?') != NULL)
            (void)take_query(s, strchr(word, '?') + 1);
}

static void on_patience(void *user)
{
    sign_in *s = user;

    s->is_over = true;
}

static void on_stopped(evutil_socket_t fd, short what, void *arg)
{
    on_patience(arg);
}

static gbx_status open_port(sign_in *s, gbx_error *err)
{
    const gbx_http_options here = {.address = "0"};
    const gbx_http_hooks browser_hooks = {.user = s,
                                          .head = on_head,
                                          .request = on_callback};
    gbx_status status = gbx_http_listeners_open(&s->listeners, &here, err);

    if (status != GBX_OK)
        return status;
    s->browser = gbx_http_server_new(s->loop, &s->listeners, NULL, &browser_hooks);
    gbx_http_server_accept(s->browser);
    s->redirect = gbx_printed("%s" CALLBACK, s->listeners.items[0].name);
    return GBX_OK;
}

/* base64url, without padding; to be freed. */
static char *code(const void *data, size_t len)
{
    gbx_buf text = {.ceiling = GBX_KIB(1)};
    char *c;

    (void)gbx_base64_append(&text, data, len);
    c = gbx_need(gbx_buf_take_string(&text, NULL));
    for (char *at = c; *at != '\0'; at++)
        *at = (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at == '=' ? '\0' : *at);
    return c;
}

static char *make_random(void)
{
    uint8_t bits[VERIFIER_BYTES];

    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        (void)gbx_need(NULL);
    return code(bits, sizeof bits);
}

/* The URL that the person opens; to be freed. */
static char *print_url(const sign_in *s)
{
    const gbx_libcurl *lib = &s->web->lib;
    const char *endpoint =
        gbx_oauth_text(s->metadata.endpoints, "authorization_endpoint");
    uint8_t hash[GBX_SHA256_SIZE];
    gbx_buf form = {.ceiling = GBX_MIB(1)}; /* several long texts, percent-encoded */
    GBX_CLEANUP(gbx_free) char *query = NULL;

    gbx_sha256_of(s->verifier, strlen(s->verifier), hash);
    gbx_oauth_put(lib, &form, "response_type", "code");
    gbx_oauth_put(lib, &form, "client_id", gbx_oauth_text(s->kept, "clientId"));
    gbx_oauth_put(lib, &form, "redirect_uri", s->redirect);
    gbx_oauth_put(lib, &form, "state", s->state);
    GBX_CLEANUP(gbx_free) char *challenge = code(hash, sizeof hash);
    gbx_oauth_put(lib, &form, "code_challenge", challenge);
    gbx_oauth_put(lib, &form, "code_challenge_method", "S256");
    gbx_oauth_put(lib, &form, "resource", s->metadata.resource);
    gbx_oauth_put(lib, &form, "scope", s->metadata.scope);
    query = gbx_need(gbx_buf_take_string(&form, NULL));
    return gbx_printed("%s%c%s", endpoint, strchr(endpoint, '?') != NULL ? '&' : '?',
                       query);
}

/* Check the query that the browser brought; *ret is the code, to be freed. */
static gbx_status read_answer(const sign_in *s, char **ret, gbx_error *err)
{
    GBX_CLEANUP(gbx_free) char *fault = find_param(s->query, "error");
    GBX_CLEANUP(gbx_free) char *issuer = find_param(s->query, "iss");
    bool must =
        json_is_true(json_object_get(s->metadata.endpoints,
                                     "authorization_response_iss_parameter_supported"));

    if (issuer != NULL ? strcmp(issuer, s->metadata.issuer) != 0 : must)
        return gbx_fail(err, GBX_E_DATA,
                        "the answer comes from another authorization server than "
                        "'%.200s'",
                        s->metadata.issuer);
    if (fault != NULL)
        return gbx_fail(err, GBX_E_DATA, "the authorization server refuses: %s",
                        gbx_oauth_is_code(fault) ? fault : "it does not say why");
    *ret = find_param(s->query, "code");
    return *ret != NULL && **ret != '\0'
               ? GBX_OK
               : gbx_fail(err, GBX_E_DATA,
                          "the authorization server has given no code");
}

static gbx_status ask_person(sign_in *s, char **ret, gbx_error *err)
{
    GBX_CLEANUP(gbx_free) char *url = NULL;

    s->verifier = make_random();
    s->state = make_random();
    url = print_url(s);
    gbx_mcp_timer_set(&s->patience, s->options->timeout_ms);
    s->options->open(s->options->user, url);
    if (s->options->input >= 0)
        (void)event_add(s->pasted, NULL);
    if (s->options->stop >= 0)
        (void)event_add(s->stopped, NULL);
    await_end(s);
    (void)event_del(s->pasted);
    (void)event_del(s->stopped);
    gbx_mcp_timer_clear(&s->patience);
    return s->query != NULL
               ? read_answer(s, ret, err)
               : gbx_fail(err, GBX_E_OS, "nobody has signed in for %u minutes",
                          (unsigned)(s->options->timeout_ms / 60000));
}

/* ---- tokens ------------------------------------------------------------------------ */

static gbx_status exchange_code(sign_in *s, const char *brought, gbx_error *err)
{
    const gbx_libcurl *lib = &s->web->lib;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf form = {.ceiling = GBX_MIB(1), .is_secret = true};
    gbx_status status;

    gbx_oauth_put(lib, &form, "grant_type", "authorization_code");
    gbx_oauth_put(lib, &form, "code", brought);
    gbx_oauth_put(lib, &form, "redirect_uri", s->redirect);
    gbx_oauth_put(lib, &form, "code_verifier", s->verifier);
    gbx_oauth_put(lib, &form, "resource", s->metadata.resource);
    await(s, gbx_oauth_request(s->web, s->kept, &form, &hooks, s));
    status = s->exchange != NULL
                 ? gbx_oauth_take(s->exchange, s->result, s->kept, err)
                 : gbx_fail(err, GBX_E_OS, "the token endpoint cannot be asked");
    end_exchange(s);
    return status;
}

static gbx_status run(sign_in *s, gbx_error *err)
{
    GBX_CLEANUP(gbx_free) char *brought = NULL;
    GBX_CLEANUP(gbx_free) char *challenge = NULL;
    gbx_status status = gbx_http_client_new(s->loop, &s->web, err);

    if (status == GBX_OK)
        status = knock(s, &challenge, err);
    if (status == GBX_OK)
        status = gbx_oauth_discover(&s->web->lib, s->url, challenge, get, s,
                                    &s->metadata, err);
    if (status == GBX_OK)
        status = open_port(s, err);
    if (status != GBX_OK)
        return status;
    widen_scope(s);
    status = find_client(s, err);
    if (status == GBX_OK)
        status = ask_person(s, &brought, err);
    if (status != GBX_OK)
        return status;
    keep(s, "issuer", s->metadata.issuer);
    keep(s, "resource", s->metadata.resource);
    keep(s, "scope", s->metadata.scope);
    keep(s, "tokenEndpoint", gbx_oauth_text(s->metadata.endpoints, "token_endpoint"));
    status = exchange_code(s, brought, err);
    return status == GBX_OK
               ? gbx_oauth_write(s->url, s->options->trust, s->kept, GBX_OAUTH_PUT, err)
               : status;
}

gbx_status gbx_oauth_sign_in(const gbx_oauth_sign_in_options *options,
                             gbx_error *reterr)
{
    sign_in s = {.options = options, .url = options->server->url};
    gbx_status status;

    s.loop = gbx_mcp_loop_new();
    if (s.loop == NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot make an event loop: %s",
                        strerror(errno));
    s.kept = gbx_need(json_object());
    gbx_mcp_timer_init(&s.patience, s.loop, on_patience, &s);
    s.pasted = gbx_need(event_new(gbx_mcp_loop_base(s.loop), options->input,
                                  EV_READ | EV_PERSIST, on_pasted, &s));
    s.stopped = gbx_need(
        event_new(gbx_mcp_loop_base(s.loop), options->stop, EV_READ, on_stopped, &s));
    status = run(&s, reterr);
    gbx_http_server_free(s.browser);
    gbx_http_listeners_close(&s.listeners);
    gbx_http_client_free(s.web);
    gbx_mcp_timer_cleanup(&s.patience);
    event_free(s.pasted);
    event_free(s.stopped);
    gbx_mcp_loop_free(s.loop);
    gbx_oauth_metadata_cleanup(&s.metadata);
    json_decref(s.kept);
    free(s.redirect);
    gbx_wipe(s.verifier);
    free(s.state);
    free(s.query);
    return status;
}
