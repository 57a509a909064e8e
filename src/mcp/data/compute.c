/* SPDX-License-Identifier: MIT */
/*
 * compute - a call from its arguments to the engine, its console lines on their way to the
 * client, its end. The engine's thread touches a call in two places only: it appends lines
 * under a lock, and posts the result.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "mcp/code/advice.h"
#include "mcp/code/script.h"
#include "mcp/data/inner.h"
#include "mcp/data/naming.h"
#include "mcp/rpc/message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Console lines that wait for the loop; what does not fit is in the result anyway. */
#define LINES_MAX GBX_KIB(64)

#define CODE_MAX GBX_MIB(1)

#define NAME_BYTES 256

struct gbx_compute {
    gbx_compute *next; /* in data->calls */
    gbx_mcp_data *data;
    gbx_mcp_request *request;
    gbx_view arguments;
    gbx_buf code;
    gbx_script script;
    const gbx_dataset_state *set;   /* that it is called with; NULL: all of them */
    const gbx_dataset_state *needs; /* what it waits for; NULL: all of them */
    bool is_begun;                  /* it does not wait any more */
    gbx_ticket ticket;              /* 0: not submitted yet */
    gbx_result *result;
    gbx_buf lines;  /* under data->log_lock: of each its level, its text, NUL */
    bool is_posted; /* and somebody will take them */
};

/* ---- life --------------------------------------------------------------------------- */

static void release(gbx_compute *c)
{
    gbx_result_free(c->result);
    gbx_script_cleanup(&c->script);
    gbx_buf_cleanup(&c->code);
    gbx_buf_cleanup(&c->lines);
    free(c);
}

static void forget(gbx_compute *c)
{
    gbx_compute **at = &c->data->calls;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    release(c);
}

static void refuse(gbx_compute *c, const char *code, const char *error,
                   const char *hint)
{
    gbx_compute_refuse(c->request, code, error, hint, NULL);
    forget(c);
}

static void on_cancel(void *user)
{
    gbx_compute *c = user;

    if (c->ticket != 0)
        gbx_abort(c->data->engine, c->ticket); /* it ends as any other */
    else
        refuse(c, "ABORTED", "the call was cancelled before it began", "");
}

/* ---- from the engine's thread ------------------------------------------------------------ */

static void take_lines(gbx_compute *c)
{
    gbx_buf lines;

    (void)pthread_mutex_lock(&c->data->log_lock);
    lines = c->lines;
    gbx_buf_init(&c->lines, LINES_MAX);
    c->is_posted = false;
    (void)pthread_mutex_unlock(&c->data->log_lock);
    for (size_t at = 0; at < lines.len;) {
        gbx_log_level level = (gbx_log_level)lines.data[at];
        const char *line = (const char *)lines.data + at + 1;
        size_t len = strlen(line);

        gbx_mcp_progress(c->request, -1, line, len);
        gbx_mcp_log_line(c->request, level, line, len);
        at += 1 + len + 1;
    }
    gbx_buf_cleanup(&lines);
}

static void lines_arrived(void *arg)
{
    take_lines(arg);
}

/* Posts run in their order: the one of the end comes behind all of these. */
static void on_log(void *user, const gbx_log *log)
{
    gbx_compute *c = user;
    uint8_t level = (uint8_t)log->level;
    bool must_post = false;

    (void)pthread_mutex_lock(&c->data->log_lock);
    if (gbx_buf_reserve(&c->lines, log->text_len + 2) != NULL) {
        (void)gbx_buf_append(&c->lines, &level, 1);
        (void)gbx_buf_append(&c->lines, log->text, log->text_len + 1);
        must_post = !c->is_posted;
        c->is_posted = true;
    } else {
        c->lines.failed = false; /* full: later ones may fit again */
    }
    (void)pthread_mutex_unlock(&c->data->log_lock);
    if (must_post && !gbx_mcp_loop_post(c->data->loop, lines_arrived, c)) {
        (void)pthread_mutex_lock(&c->data->log_lock);
        c->is_posted = false;
        (void)pthread_mutex_unlock(&c->data->log_lock);
    }
}

static void ended(void *arg)
{
    gbx_compute *c = arg;
    gbx_called called = {c->data, c->set,
                         gbx_view_member(c->arguments, "input").at != NULL};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf advice;

    gbx_buf_init(&advice, GBX_KIB(4));
    gbx_compute_advise(&called, &c->script, c->result, &advice);
    gbx_compute_reply(c->data, c->request, (const char *)c->code.data, c->code.len,
                      &c->script,
                      gbx_buf_append(&advice, "", 1) ? (const char *)advice.data : "",
                      c->result);
    forget(c);
}

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    gbx_compute *c = user;

    (void)ticket;
    c->result = result;
    (void)gbx_mcp_loop_post(c->data->loop, ended, c); /* else it is ended with us */
}

/* ---- arguments --------------------------------------------------------------------------- */

static const gbx_dataset_state *find_set(const gbx_mcp_data *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->sets[i].spec.name, name) == 0)
            return &d->sets[i];
    return NULL;
}

static const char *nearest_set(const gbx_mcp_data *d, const char *name)
{
    const char *names[256];
    size_t count = 0;

    while (count < d->count && count < GBX_COUNTOF(names)) {
        names[count] = d->sets[count].spec.name;
        count++;
    }
    return gbx_nearest(name, names, count);
}

/* The text of a string member, which ends in NUL. False, and refused, if it is none. */
static bool take_text(gbx_compute *c, const char *name, gbx_buf *to)
{
    gbx_view view = gbx_view_member(c->arguments, name);
    bool is_taken = gbx_view_kind(view) == '"' && gbx_view_take_text(view, to);
    char error[128];

    if (is_taken && gbx_buf_append(to, "", 1) &&
        strlen((const char *)to->data) + 1 == to->len) {
        to->len--;
        return true;
    }
    if (view.at == NULL)
        (void)snprintf(error, sizeof error, "'%s' is missing", name);
    else if (gbx_view_kind(view) != '"')
        (void)snprintf(error, sizeof error, "'%s' is not a string", name);
    else if (!is_taken && !to->failed)
        (void)snprintf(error, sizeof error,
                       "'%s' has half of a surrogate pair in it, which is no character",
                       name);
    else
        (void)snprintf(error, sizeof error,
                       "'%s' has more than %zu bytes, or a NUL in it", name,
                       to->ceiling - 1);
    refuse(c, "INVALID_ARGS", error,
           strcmp(name, "code") == 0 ? "give the code as a string: (data) => result"
                                     : "give the name of a dataset, or leave it out");
    return false;
}

/* What is none of ours was meant as one of ours. */
static bool check_names(gbx_compute *c)
{
    static const char *const known[] = {"code", "dataset", "input"};
    size_t cursor = 0;
    gbx_view key, value;

    while (gbx_view_next(c->arguments, &cursor, &key, &value)) {
        char name[64], error[160], hint[160];
        const char *near;

        if (!gbx_rpc_copy_text(key, name, sizeof name))
            (void)snprintf(name, sizeof name, "%.*s",
                           (int)(key.len - 2 < 60 ? key.len - 2 : 60), key.at + 1);
        if (strcmp(name, known[0]) == 0 || strcmp(name, known[1]) == 0 ||
            strcmp(name, known[2]) == 0)
            continue;
        near = gbx_nearest(name, known, GBX_COUNTOF(known));
        (void)snprintf(error, sizeof error, "there is no argument '%s'", name);
        (void)snprintf(hint, sizeof hint, "%s%s%s",
                       near != NULL ? "did you mean '"
                                    : "the arguments are code, dataset",
                       near != NULL ? near : " and input",
                       near != NULL ? "'?" : "; values for the code go into input");
        refuse(c, "INVALID_ARGS", error, hint);
        return false;
    }
    return true;
}

static void refuse_name(gbx_compute *c, const char *name)
{
    const gbx_mcp_data *d = c->data;
    const char *near = nearest_set(d, name);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf error;
    char hint[160];

    gbx_buf_init(&error, GBX_KIB(4));
    (void)gbx_buf_puts(&error, "there is no dataset '");
    (void)gbx_utf8_append_escaped(&error, name,
                                  gbx_artifacts_border(name, strlen(name),
                                                       GBX_SPEC_NAME_MAX),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(&error, "': ");
    gbx_data_say_names(d, &error);
    (void)snprintf(hint, sizeof hint, "%s%s%s",
                   near != NULL ? "did you mean '" : "leave 'dataset' out",
                   near != NULL ? near : "", near != NULL ? "'?" : " for all of them");
    refuse(c, "INVALID_ARGS",
           gbx_buf_append(&error, "", 1) ? (const char *)error.data
                                         : "there is no dataset of that name",
           hint);
}

/* All are datasets.NAME, too, whichever it is called with. */
static bool mentions_all(const gbx_compute *c)
{
    static const char word[] = "datasets";

    return memmem(c->code.data, c->code.len, word, sizeof word - 1) != NULL;
}

/* False, and refused, if there is none of that name. */
static bool choose_dataset(gbx_compute *c)
{
    const gbx_mcp_data *d = c->data;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name;

    char kind = gbx_view_kind(gbx_view_member(c->arguments, "dataset"));

    gbx_buf_init(&name, NAME_BYTES);
    if (kind == 0 || kind == 'n') { /* some clients send null for what is left out */
        c->set = d->count == 1 ? &d->sets[0] : NULL;
    } else {
        if (!take_text(c, "dataset", &name))
            return false;
        c->set = find_set(d, (const char *)name.data);
        if (c->set == NULL) {
            refuse_name(c, (const char *)name.data);
            return false;
        }
    }
    c->needs = mentions_all(c) ? NULL : c->set;
    return true;
}

/* ---- running ------------------------------------------------------------------------------- */

/* False, and refused, if it cannot be run. */
static bool make_script(gbx_compute *c)
{
    const char *text = (const char *)c->code.data;
    gbx_location at;
    char *frame;

    if (gbx_recent_make(&c->data->recent, text, c->code.len, "data, input", &c->script,
                        NULL) != GBX_OK) {
        refuse(c, "UNAVAILABLE", "no memory for the call", "");
        return false;
    }
    if (c->script.message == NULL)
        return true;
    at = (gbx_location){.line = c->script.line, .column = c->script.column};
    at.frame = frame = gbx_guard_frame(text, c->code.len, at.line, at.column);
    gbx_compute_refuse(c->request, "SYNTAX", c->script.message, c->script.hint, &at);
    free(frame);
    forget(c);
    return false;
}

static void submit(gbx_compute *c)
{
    gbx_view input = gbx_view_member(c->arguments, "input");
    gbx_call call = GBX_CALL_INIT;
    gbx_error error = {0};

    call.form = GBX_FORM_SCRIPT;
    call.code = c->script.code;
    call.code_len = c->script.code_len;
    call.dataset = c->set != NULL ? c->set->spec.name : "*";
    if (input.at != NULL) {
        call.input = input.at;
        call.input_len = input.len;
    }
    call.on_log = on_log;
    call.log_user = c;
    if (gbx_submit(c->data->engine, &call, on_done, c, &c->ticket, &error) != GBX_OK)
        refuse(c, "UNAVAILABLE", error.message, "");
}

static const gbx_dataset_state *first_loaded(const gbx_mcp_data *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->sets[i].is_loaded)
            return &d->sets[i];
    return NULL;
}

static void refuse_unread(gbx_compute *c, const gbx_dataset_state *set)
{
    const gbx_dataset_state *other = c->set == NULL ? first_loaded(c->data) : NULL;
    char error[GBX_ERROR_MESSAGE_SIZE + 160], hint[320];
    int n;

    (void)snprintf(error, sizeof error, "dataset '%s' could not be read: %s",
                   set->spec.name, set->problem);
    n = snprintf(hint, sizeof hint, "%s",
                 set->is_held ? "somebody holds the database: try again in some seconds"
                              : GBX_ADVICE_MEND);
    if (other != NULL)
        (void)snprintf(hint + n, sizeof hint - (size_t)n,
                       "; code that needs only another can be called with it: dataset: "
                       "\"%s\"",
                       other->spec.name);
    refuse(c, "UNAVAILABLE", error, hint);
}

static bool is_of_name(char character)
{
    return isalnum((unsigned char)character) || character == '_' || character == '$';
}

static bool mentions(const gbx_compute *c, const char *name)
{
    const char *code = (const char *)c->code.data;
    const char *end = code + c->code.len;
    size_t len = strlen(name);

    for (const char *at = code;
         (at = memmem(at, (size_t)(end - at), name, len)) != NULL; at++)
        if ((at == code || !is_of_name(at[-1])) &&
            (at + len == end || !is_of_name(at[len])))
            return true;
    return false;
}

/* One that the code counts on: it would be missing among the others without a word. */
static const gbx_dataset_state *find_unread(const gbx_compute *c)
{
    if (c->set != NULL && !c->set->is_loaded)
        return c->set;
    for (size_t i = 0; c->needs == NULL && i < c->data->count; i++) {
        const char *name = c->data->sets[i].spec.name;

        if (!c->data->sets[i].is_loaded && mentions(c, name) &&
            gbx_naming_reads(c->script.code, c->script.code_len, name))
            return &c->data->sets[i];
    }
    return NULL;
}

static void begin(gbx_compute *c)
{
    const gbx_dataset_state *unread;

    c->is_begun = true;
    if (c->data->engine == NULL) {
        refuse(c, "UNAVAILABLE", c->data->engine_problem, GBX_ADVICE_MEND);
    } else if (make_script(c)) {
        unread = find_unread(c);
        if (unread != NULL)
            refuse_unread(c, unread);
        else
            submit(c);
    }
}

/* ---- public to other modules -------------------------------------------- */

void gbx_compute_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_data *d = user;
    gbx_compute *c = calloc(1, sizeof *c);
    gbx_compute **at = &d->calls;

    if (c == NULL) {
        gbx_compute_refuse(request, "UNAVAILABLE", "no memory for the call", "", NULL);
        return;
    }
    c->data = d;
    c->request = request;
    c->arguments = arguments;
    gbx_buf_init(&c->code, CODE_MAX);
    gbx_buf_init(&c->lines, LINES_MAX);
    while (*at != NULL)
        at = &(*at)->next;
    *at = c;
    gbx_mcp_on_cancel(request, on_cancel, c);
    if (!check_names(c) || !take_text(c, "code", &c->code) || !choose_dataset(c))
        return;
    gbx_data_try_again(d);
    if (gbx_data_is_ready(d, c->needs))
        begin(c);
}

void gbx_compute_go_on(gbx_mcp_data *d)
{
    gbx_compute *next;

    for (gbx_compute *c = d->calls; c != NULL; c = next) {
        next = c->next; /* it may be gone after that, no other */
        if (!c->is_begun && gbx_data_is_ready(d, c->needs))
            begin(c);
    }
}

void gbx_compute_end_all(gbx_mcp_data *d)
{
    gbx_compute *c;

    while ((c = d->calls) != NULL) {
        d->calls = c->next;
        gbx_compute_refuse(c->request, "ABORTED", "the server has ended", "", NULL);
        release(c);
    }
}
