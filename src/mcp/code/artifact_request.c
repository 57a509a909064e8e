/* SPDX-License-Identifier: MIT */
/*
 * artifact_request - artifact(name, value, mimeType): a value that code keeps for
 * readers of its answer.
 *
 * Long values are searched for secrets on a thread, one at a time per run, since code
 * could pass a thousand at once. Later values wait for earlier ones.
 */
#include "base/base64.h"
#include "base/cleanup.h"
#include "mcp/code/guest_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX GBX_MIB(256)

struct gbx_keeping {
    gbx_guest_request asked; /* without its arguments */
    char *name;
    char mime_type[GBX_ARTIFACT_MIME_SIZE];
    gbx_buf bytes;
    bool is_bytes; /* the value must not be read as text */
    gbx_gate_sift *sift;
    gbx_keeping *next; /* in the list of the run */
};

static void free_keeping(gbx_keeping *k)
{
    gbx_gate_forget(k->sift);
    gbx_buf_cleanup(&k->bytes);
    free(k->name);
    free(k);
}

/* Code that does not await the artifact never sees the refusal, so the reply reports
 * it, too. */
static void refuse(const gbx_guest_request *a, const char *code, const char *why)
{
    gbx_code_run *run = a->run;

    if (run->unkept++ == 0)
        (void)snprintf(run->why_unkept, sizeof run->why_unkept, "%s", why);
    gbx_guest_request_refuse(a, code, why);
}

/* ---- what is given --------------------------------------------------------------- */

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
    GBX_CLEANUP(gbx_free) char *given = gbx_guest_request_text(a->args[2], GBX_KIB(1));

    if (gbx_view_kind(a->args[2]) != '"' || (given != NULL && given[0] == 0))
        given = strdup(usual);
    return given != NULL && gbx_artifacts_mime(given, ret);
}

/* NULL if the value cannot be kept; it is then refused. */
static gbx_keeping *take(const gbx_guest_request *a)
{
    gbx_keeping *k = calloc(1, sizeof *k);

    if (k == NULL) {
        refuse(a, "UNAVAILABLE", "memory is out");
        return NULL;
    }
    gbx_buf_init(&k->bytes, VALUE_MAX);
    k->asked = (gbx_guest_request){.run = a->run, .request = a->request};
    k->is_bytes = gbx_view_is_true(gbx_view_member(a->args[3], "bytes"));
    k->name = gbx_guest_request_text(a->args[0], 200);
    if (!take_mime(a, k->is_bytes, k->mime_type)) {
        refuse(a, "INVALID_ARGS",
               "mimeType is a type and a subtype, as in \"text/csv\"");
    } else if (a->args[1].at == NULL ||
               !take_bytes(a->args[1], k->is_bytes, &k->bytes)) {
        refuse(a, "INVALID_ARGS", "an artifact has a name and a value");
    } else {
        k->is_bytes = k->is_bytes &&
                      !gbx_artifacts_is_text(k->mime_type, k->bytes.data, k->bytes.len);
        return k;
    }
    free_keeping(k);
    return NULL;
}

/* ---- keeping --------------------------------------------------------------------- */

/* text: redacted; at NULL: it could not be redacted. The value is kept even if the code
 * has ended and no longer waits for the answer. */
static void keep(const gbx_keeping *k, gbx_view text)
{
    gbx_code_run *run = k->asked.run;
    bool has_name = k->name != NULL && k->name[0] != 0;
    char why[GBX_RUN_WHY_SIZE];
    gbx_buf answer;

    gbx_buf_init(&answer, GBX_KIB(4));
    (void)gbx_buf_puts(&answer, "{\"value\":");
    if (text.at == NULL) {
        refuse(&k->asked, "INVALID_ARGS", "an artifact has a name and a value");
    } else if (gbx_code_run_try_keep(run, has_name ? k->name : "artifact", k->mime_type,
                                     text.at, text.len, k->is_bytes, &answer, why)) {
        (void)gbx_buf_puts(&answer, "}");
        gbx_box_answer(run->code->box, k->asked.request, (char *)answer.data,
                       answer.len);
    } else {
        refuse(&k->asked, "ARTIFACT_LIMIT", why);
    }
    gbx_buf_cleanup(&answer);
}

static void keep_at_once(const gbx_keeping *k)
{
    const char *bytes = k->bytes.data != NULL ? (const char *)k->bytes.data : "";
    gbx_buf clean;

    gbx_buf_init(&clean, VALUE_MAX);
    if (k->is_bytes)
        keep(k, (gbx_view){bytes, k->bytes.len});
    else if (!gbx_gate_redact(k->asked.run->code->gate, bytes, k->bytes.len, &clean))
        keep(k, (gbx_view){NULL, 0});
    else
        keep(k, (gbx_view){clean.data != NULL ? (char *)clean.data : "", clean.len});
    gbx_buf_cleanup(&clean);
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted);

/* Keep values that take no time, up to the first that does. */
static void go_on(gbx_code_run *run)
{
    gbx_keeping *k;

    while ((k = run->keepings) != NULL) {
        gbx_view text = {(const char *)k->bytes.data, k->bytes.len};

        if (!k->is_bytes)
            k->sift = gbx_gate_redact_later(run->code->gate, &text, 1, on_sifted, k);
        if (k->sift != NULL)
            return;
        keep_at_once(k);
        run->keepings = k->next;
        run->holders--;
        free_keeping(k);
    }
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_keeping *k = user;
    gbx_code_run *run = k->asked.run;

    k->sift = NULL;
    keep(k, sifted->done ? sifted->text : (gbx_view){NULL, 0});
    run->keepings = k->next;
    free_keeping(k);
    go_on(run);
    gbx_code_run_release(run); /* the hold of k; this may free the run */
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_keep(const gbx_guest_request *a)
{
    gbx_keeping *k = take(a);
    gbx_keeping **at = &a->run->keepings;

    if (k == NULL)
        return;
    while (*at != NULL)
        at = &(*at)->next;
    *at = k;
    a->run->holders++;
    if (a->run->keepings == k)
        go_on(a->run);
}

void gbx_code_run_drop_keepings(gbx_code_run *run)
{
    gbx_keeping *k;

    while ((k = run->keepings) != NULL) {
        run->keepings = k->next;
        run->holders--;
        free_keeping(k);
    }
}
