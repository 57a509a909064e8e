/* SPDX-License-Identifier: MIT */
/*
 * guest_requests - handles requests of sandboxed code to the host. A request is an
 * array that begins with the operation.
 *
 * Requests are hostile: code can call the host function itself, with any arguments. The
 * line number comes from the code and is only bounded, not verified.
 */
#include "mcp/code/code_mode.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST_ARGS      5
#define LINE_NUMBER_MAX 10000000
#define VALUE_MAX       GBX_MIB(256)

typedef struct gbx_guest_request {
    gbx_code_run *run;
    gbx_request request;
    gbx_view args[GUEST_ARGS]; /* after the operation */
} gbx_guest_request;

/* Answer the request with an error. */
static void refuse(const gbx_guest_request *a, const char *code, const char *message)
{
    gbx_code_run_fault(a->run, code, message);
    gbx_code_answer_error(a->run->code, a->request, code, message, strlen(message),
                          false);
}

/* ---- call ------------------------------------------------------------------------ */

static void on_call(const gbx_guest_request *a)
{
    gbx_code_run *run = a->run;
    const char *why;
    gbx_code_call *call;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    if (run->call_count >= run->code->settings->calls) {
        refuse(a, "CALL_LIMIT",
               "the limit on calls of one execute is reached: ask for more at once");
        return;
    }
    call = gbx_code_call_new(run->code, run->request, a->args[0], a->args[1],
                             a->args[2], &message, &why);
    if (call == NULL) {
        refuse(a, why, gbx_rpc_string(&message));
        return;
    }
    call->run = run;
    call->asked = a->request;
    (void)snprintf(call->base.run, sizeof call->base.run, "%s", run->id);
    (void)gbx_code_take_count(gbx_view_member(a->args[3], "line"), LINE_NUMBER_MAX,
                              &call->base.line);
    (void)gbx_code_take_count(gbx_view_member(a->args[3], "timeoutMs"), UINT32_MAX,
                              &call->base.up.timeout_ms);
    call->raw = gbx_view_is_true(gbx_view_member(a->args[3], "raw"));
    run->call_count++;
    run->open++;
    *run->calls_end = call;
    run->calls_end = &call->next;
    gbx_gate_start(run->code->gate, &call->base);
}

/* ---- discover -------------------------------------------------------------------- */

typedef struct gbx_guest_query {
    gbx_code_run *run;
    gbx_request request;
    gbx_code_query query;
} gbx_guest_query;

static void answer_tools(const gbx_guest_query *q)
{
    static const char too_long[] =
        "the list is longer than 64 MiB: ask for one server, or "
        "with a query";
    gbx_mcp_code *code = q->run->code;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf answer = {.ceiling = GBX_MIB(64)};

    gbx_code_answer_query(code, &q->query, &answer);
    if (!answer.failed)
        gbx_box_answer(code->box, q->request, (char *)answer.data, answer.len);
    else
        gbx_code_answer_error(code, q->request, "OUTPUT_TOO_LARGE", too_long,
                              strlen(too_long), false);
}

/* An empty list would claim that the server had no tools. */
static void refuse_unlisted(const gbx_guest_query *q, const gbx_upstream_reply *failure)
{
    const char *error_code = gbx_upstream_fault_name(failure->fault);
    const char *message = "the server cannot be started";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = GBX_MIB(1)};

    if (gbx_gate_redact(q->run->code->gate, failure->message, strlen(failure->message),
                        &clean))
        message = gbx_rpc_string(&clean);
    gbx_code_run_fault(q->run, error_code, message);
    gbx_code_answer_error(q->run->code, q->request, error_code, message,
                          strlen(message), gbx_upstream_is_retryable(failure));
}

static void on_listed(void *user, const gbx_upstream_reply *failure)
{
    gbx_guest_query *q = user;
    gbx_guest_request a = {.run = q->run, .request = q->request};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    if (!q->run->is_ending && failure == NULL) {
        if (q->query.tool[0] != 0)
            gbx_code_no_tool(q->run->code, q->query.server, q->query.tool, &message);
        if (message.len > 0)
            refuse(&a, "NOT_FOUND", gbx_rpc_string(&message));
        else
            answer_tools(q);
    } else if (!q->run->is_ending) {
        refuse_unlisted(q, failure);
    }
    gbx_code_run_release(q->run);
    free(q);
}

static void on_discover(const gbx_guest_request *a)
{
    gbx_guest_query *q = gbx_need(calloc(1, sizeof *q));
    gbx_code_run *run = a->run;
    const char *why;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    if (!gbx_code_read_query(run->code, a->args[0],
                             gbx_view_member(a->args[1], "server"), a->args[1],
                             &q->query, &message, &why)) {
        refuse(a, why, gbx_rpc_string(&message));
        free(q);
        return;
    }
    q->run = run;
    q->request = a->request;
    run->holders++;
    gbx_code_list_tools(run->code, q->query.server, false, NULL, on_listed, free, q);
}

/* ---- artifact -------------------------------------------------------------------- */

/* A value to keep for readers of the reply. Long values are searched for secrets on a
 * thread, one at a time per run, since code could pass a thousand at once. Later values
 * wait for earlier ones. */
typedef struct gbx_keeping {
    gbx_guest_request asked; /* without its arguments */
    char *name;
    char mime_type[GBX_ARTIFACT_MIME_SIZE];
    gbx_buf bytes;
    bool is_bytes; /* the value must not be read as text */
    gbx_gate_sift *sift;
    STAILQ_ENTRY(gbx_keeping) in_run;
} gbx_keeping;

static void free_keeping(gbx_keeping *k)
{
    gbx_gate_forget(k->sift);
    gbx_buf_cleanup(&k->bytes);
    free(k->name);
    free(k);
}

/* Code that does not await the artifact never sees the refusal, so the reply reports
 * it, too. */
static void refuse_artifact(const gbx_guest_request *a, const char *code,
                            const char *why)
{
    gbx_code_run *run = a->run;

    if (run->unkept++ == 0)
        (void)snprintf(run->why_unkept, sizeof run->why_unkept, "%s", why);
    refuse(a, code, why);
}

/* The bytes of the value: decoded base64, a string, or the JSON itself. */
static bool take_bytes(gbx_view value, bool is_bytes, gbx_buf *to)
{
    gbx_view text = is_bytes ? gbx_view_member(value, "base64") : value;

    if ((is_bytes && gbx_view_kind(text) != '"') || !gbx_view_append_text(text, to))
        return false;
    return !is_bytes || to->len == 0 ||
           gbx_base64_decode((char *)to->data, to->len, to->data, &to->len);
}

/* The type given by code, or the default; false if it is not valid. */
static bool take_mime(const gbx_guest_request *a, bool is_bytes,
                      char ret[GBX_ARTIFACT_MIME_SIZE])
{
    const char *usual = is_bytes                           ? "application/octet-stream"
                        : gbx_view_kind(a->args[1]) == '"' ? "text/plain"
                                                           : "application/json";
    GBX_CLEANUP(gbx_free) char *given = gbx_view_string(a->args[2], GBX_KIB(1));

    if (gbx_view_kind(a->args[2]) != '"' || (given != NULL && given[0] == 0))
        given = strdup(usual);
    return given != NULL && gbx_artifacts_mime(given, ret);
}

/* NULL if the value cannot be kept; it is then refused. */
static gbx_keeping *take_artifact(const gbx_guest_request *a)
{
    gbx_keeping *k = gbx_need(calloc(1, sizeof *k));

    gbx_buf_init(&k->bytes, VALUE_MAX);
    k->asked = (gbx_guest_request){.run = a->run, .request = a->request};
    k->is_bytes = gbx_view_is_true(gbx_view_member(a->args[3], "bytes"));
    k->name = gbx_view_string(a->args[0], 200);
    if (!take_mime(a, k->is_bytes, k->mime_type)) {
        refuse_artifact(a, "INVALID_ARGS",
                        "mimeType is a type and a subtype, as in \"text/csv\"");
    } else if (a->args[1].at == NULL ||
               !take_bytes(a->args[1], k->is_bytes, &k->bytes)) {
        refuse_artifact(a, "INVALID_ARGS", "an artifact has a name and a value");
    } else {
        k->is_bytes = k->is_bytes &&
                      !gbx_artifacts_is_text(k->mime_type, k->bytes.data, k->bytes.len);
        return k;
    }
    free_keeping(k);
    return NULL;
}

/* text: the redacted value, or missing if that failed. The value is kept even if the
 * code has ended and no longer waits for the answer. */
static void keep(const gbx_keeping *k, gbx_view text)
{
    gbx_code_run *run = k->asked.run;
    bool has_name = k->name != NULL && k->name[0] != 0;
    char why[GBX_RUN_WHY_SIZE];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf answer = {.ceiling = GBX_KIB(4)};

    (void)gbx_buf_puts(&answer, "{\"value\":");
    if (text.at == NULL) {
        refuse_artifact(&k->asked, "INVALID_ARGS",
                        "an artifact has a name and a value");
    } else if (gbx_code_run_try_keep(run, has_name ? k->name : "artifact", k->mime_type,
                                     text.at, text.len, k->is_bytes, &answer, why)) {
        (void)gbx_buf_puts(&answer, "}");
        gbx_box_answer(run->code->box, k->asked.request, (char *)answer.data,
                       answer.len);
    } else {
        refuse_artifact(&k->asked, "ARTIFACT_LIMIT", why);
    }
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted);

/* Keep values in order, up to the first that must be redacted on a thread. */
static void go_on(gbx_code_run *run)
{
    gbx_keeping *k;

    while ((k = STAILQ_FIRST(&run->keepings)) != NULL) {
        gbx_view text = {k->bytes.data != NULL ? (const char *)k->bytes.data : "",
                         k->bytes.len};

        if (k->is_bytes)
            keep(k, text);
        else
            gbx_gate_redact_start(run->code->gate, GBX_SECRET_LINE, &text, 1, on_sifted,
                                  k, &k->sift);
        if (k->sift != NULL)
            return;
        STAILQ_REMOVE_HEAD(&run->keepings, in_run);
        run->holders--;
        free_keeping(k);
    }
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_keeping *k = user;
    gbx_code_run *run = k->asked.run;
    bool was_on_thread = k->sift != NULL; /* else go_on() frees k */

    k->sift = NULL;
    keep(k, sifted->done ? sifted->text : (gbx_view){NULL, 0});
    if (!was_on_thread)
        return;
    STAILQ_REMOVE_HEAD(&run->keepings, in_run);
    free_keeping(k);
    go_on(run);
    gbx_code_run_release(run); /* the hold of k; this may free the run */
}

static void on_artifact(const gbx_guest_request *a)
{
    gbx_keeping *k = take_artifact(a);

    if (k == NULL)
        return;
    STAILQ_INSERT_TAIL(&a->run->keepings, k, in_run);
    a->run->holders++;
    if (STAILQ_FIRST(&a->run->keepings) == k)
        go_on(a->run);
}

void gbx_code_run_drop_keepings(gbx_code_run *run)
{
    gbx_keeping *k;

    while ((k = STAILQ_FIRST(&run->keepings)) != NULL) {
        STAILQ_REMOVE_HEAD(&run->keepings, in_run);
        run->holders--;
        free_keeping(k);
    }
}

/* ---- kept artifacts -------------------------------------------------------------- */

/* NULL: it does not exist, and the request was refused. */
static const gbx_artifact *find_artifact(const gbx_guest_request *a)
{
    gbx_artifacts *store = a->run->code->artifacts;
    GBX_CLEANUP(gbx_free)
    char *uri = gbx_view_string(a->args[0], GBX_ARTIFACT_URI_SIZE);
    const gbx_artifact *found =
        uri != NULL ? gbx_artifacts_find(store, uri, gbx_clock_now_ns()) : NULL;

    if (found == NULL)
        refuse(a, "NOT_FOUND",
               uri != NULL ? gbx_artifacts_fault(store, uri)
                           : "the uri of an artifact is a short string");
    return found;
}

static void put_base64(gbx_buf *to, const gbx_artifact *a)
{
    (void)gbx_buf_puts(to, "\"");
    (void)gbx_base64_append(to, a->data, a->len);
    (void)gbx_buf_puts(to, "\"");
}

static void on_read(const gbx_guest_request *a)
{
    const gbx_artifact *found = find_artifact(a);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf answer = {0};

    if (found == NULL)
        return;
    gbx_buf_init(&answer, 6 * found->len + GBX_KIB(4));
    (void)gbx_buf_puts(&answer, "{\"value\":{");
    gbx_json_put_text(&answer, "mimeType", found->mime_type);
    gbx_json_put_key(&answer, found->is_text ? "text" : "base64");
    if (found->is_text)
        (void)gbx_json_append_string(&answer, found->data, found->len);
    else
        put_base64(&answer, found);
    (void)gbx_buf_puts(&answer, "}}");
    gbx_box_answer(a->run->code->box, a->request, (char *)answer.data, answer.len);
}

#define IMAGES_MAX  8
#define IMAGE_BYTES GBX_MIB(4)

/* True if the data begins as its image type requires; "?" stands for any byte. Hosts
 * pass images to their model, and many fail permanently on one of another type. */
static bool is_image(const gbx_artifact *a)
{
    static const struct {
        const char *mime_type;
        const char *begin;
    } types[] = {{"image/png", "\x89PNG\r\n\x1a\n"},
                 {"image/jpeg", "\xff\xd8\xff"},
                 {"image/gif", "GIF8"},
                 {"image/webp", "RIFF????WEBP"}};

    for (size_t i = 0; i < GBX_COUNTOF(types); i++) {
        size_t n = 0;

        if (strcmp(a->mime_type, types[i].mime_type) != 0)
            continue;
        while (n < a->len && types[i].begin[n] != 0 &&
               (types[i].begin[n] == '?' || types[i].begin[n] == a->data[n]))
            n++;
        return types[i].begin[n] == 0;
    }
    return false;
}

static void on_show(const gbx_guest_request *a)
{
    gbx_code_run *run = a->run;
    const gbx_artifact *found = find_artifact(a);
    char why[160] = "";

    if (found == NULL)
        return;
    if (!is_image(found))
        (void)snprintf(
            why, sizeof why,
            "it is not a PNG, JPEG, GIF or WebP image of the type that it has");
    else if (found->len > IMAGE_BYTES)
        (void)snprintf(why, sizeof why, "an image has at most %zu bytes, this one %zu",
                       IMAGE_BYTES, found->len);
    else if (run->image_count == IMAGES_MAX ||
             run->images.len + found->len / 3 * 4 + GBX_KIB(1) > GBX_RUN_IMAGES_MAX)
        (void)snprintf(why, sizeof why,
                       "a script shows at most %d images, of 6 MB together",
                       IMAGES_MAX);
    if (why[0] != 0) {
        refuse(a, "INVALID_ARGS", why);
        return;
    }
    run->image_count++;
    (void)gbx_buf_printf(&run->images,
                         ",{\"type\":\"image\",\"mimeType\":\"%s\",\"data\":",
                         found->mime_type);
    put_base64(&run->images, found);
    (void)gbx_buf_puts(&run->images, "}");
    gbx_box_answer(run->code->box, a->request, "{}", 2);
}

/* ---- progress and faults --------------------------------------------------------- */

static double number_of(gbx_view view)
{
    char text[40] = "";

    if (gbx_view_kind(view) != '0' || view.len >= sizeof text)
        return -1;
    memcpy(text, view.at, view.len);
    return strtod(text, NULL);
}

static void on_progress(const gbx_guest_request *a)
{
    gbx_mcp_request *client = a->run->request;
    bool is_heard = gbx_mcp_hears_progress(client);
    double at = number_of(a->args[0]);
    double total = number_of(a->args[1]);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(16)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = GBX_KIB(64)};

    if (is_heard && gbx_view_kind(a->args[2]) == '"')
        (void)gbx_view_append_text(a->args[2], &text);
    if (is_heard)
        (void)gbx_gate_redact(a->run->code->gate,
                              text.data != NULL ? (char *)text.data : "", text.len,
                              &clean);
    is_heard = is_heard && !text.failed && !clean.failed;
    if (is_heard && at >= 0 && isfinite(at))
        gbx_mcp_progress_at(client, at, total, (char *)clean.data, clean.len);
    else if (is_heard)
        gbx_mcp_progress(client, total, (char *)clean.data, clean.len);
    gbx_box_answer(a->run->code->box, a->request, "{}", 2);
}

/* Accept only codes that servers.js uses. They affect nothing but the error code. */
static void on_fault(const gbx_guest_request *a)
{
    static const char *const codes[] = {"NOT_FOUND", "INVALID_ARGS", "CALL_LIMIT",
                                        "INPUT_TOO_LARGE"};
    GBX_CLEANUP(gbx_free)
    char *message = gbx_view_string(a->args[1], GBX_KIB(4));

    for (size_t i = 0; message != NULL && i < GBX_COUNTOF(codes); i++)
        if (gbx_view_is_text(a->args[0], codes[i]))
            gbx_code_run_fault(a->run, codes[i], message);
    gbx_box_answer(a->run->code->box, a->request, "{}", 2);
}

/* ---- dispatch -------------------------------------------------------------------- */

void gbx_code_run_request(void *user, const gbx_host_call *call, gbx_view args)
{
    static const struct {
        const char *name;
        void (*serve)(const gbx_guest_request *a);
    } operations[] = {{"call", on_call},         {"discover", on_discover},
                      {"progress", on_progress}, {"artifact", on_artifact},
                      {"read", on_read},         {"show", on_show},
                      {"fault", on_fault}};
    gbx_guest_request a = {.run = user, .request = call->request};
    gbx_view operation = {NULL, 0};
    gbx_view name;
    size_t cursor = 0;

    if (a.run->id[0] == 0)
        (void)snprintf(a.run->id, sizeof a.run->id, "%s", call->call_id);
    (void)gbx_view_next(args, &cursor, &name, &operation);
    for (size_t i = 0;
         i < GUEST_ARGS && gbx_view_next(args, &cursor, &name, &a.args[i]); i++)
        continue;
    for (size_t i = 0; i < GBX_COUNTOF(operations); i++) {
        if (!gbx_view_is_text(operation, operations[i].name))
            continue;
        operations[i].serve(&a);
        return;
    }
    refuse(&a, "INVALID_ARGS", "no such operation");
}
