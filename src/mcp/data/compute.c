/* SPDX-License-Identifier: MIT */
/*
 * compute - a call of the tool: its arguments, its code, its console lines on their way to
 * the client, and its end. The engine's thread does two things with a call: it appends lines
 * under a lock, and posts the result.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "mcp/code/code.h"
#include "mcp/data/datasets.h"
#include "mcp/rpc/rpc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Console lines waiting for the loop; those that do not fit are still in the result. */
#define LINES_MAX GBX_KIB(64)

#define CODE_MAX GBX_MIB(1)

/* The library's default for this form. */
#define CODE_BYTES 51200

#define NAME_BYTES 256

/* Characters of the examples in a description. */
#define DESCRIBED_MAX 3000

struct gbx_compute {
    gbx_compute *next; /* in data->calls */
    gbx_mcp_data *data;
    gbx_mcp_request *request;
    gbx_view arguments;
    gbx_buf code;
    const gbx_dataset_state *set;   /* the dataset to call it with; NULL: all of them */
    const gbx_dataset_state *needs; /* the dataset it waits for; NULL: all of them */
    gbx_ticket ticket;              /* 0: not submitted */
    gbx_result *result;
    gbx_buf lines;    /* under data->log_lock; per line: level, text, NUL */
    bool is_question; /* for a description of the dataset: code is the input for it */
    bool is_begun;    /* it no longer waits for data */
    gbx_mcp_post lines_post;
    gbx_mcp_post end_post;
};

/* ---- life ------------------------------------------------------------------------ */

static void release(gbx_compute *c)
{
    gbx_result_free(c->result);
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

static void refuse_call(gbx_compute *c, const char *code, const char *error,
                        const char *hint)
{
    gbx_compute_refuse(c->request, code, error, hint);
    forget(c);
}

static void on_cancel(void *user)
{
    gbx_compute *c = user;

    if (c->ticket != 0)
        gbx_abort(c->data->engine, c->ticket); /* it then ends like any other call */
    else
        refuse_call(c, "ABORTED", "the call was cancelled before it began", "");
}

/* ---- what the engine sends ---------------------------------------------------- */

static void lines_arrived(void *arg)
{
    gbx_compute *c = arg;
    gbx_buf lines;

    (void)pthread_mutex_lock(&c->data->log_lock);
    lines = c->lines;
    gbx_buf_init(&c->lines, LINES_MAX);
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

/* Posts run in order: the one for the end comes after all of these. */
static void on_log(void *user, const gbx_log *log)
{
    gbx_compute *c = user;
    uint8_t level = (uint8_t)log->level;
    bool must_post = false;

    (void)pthread_mutex_lock(&c->data->log_lock);
    if (gbx_buf_reserve(&c->lines, log->text_len + 2) != NULL) {
        (void)gbx_buf_append(&c->lines, &level, 1);
        (void)gbx_buf_append(&c->lines, log->text, log->text_len + 1);
        must_post = true;
    } else {
        c->lines.failed = false; /* full: shorter lines may still fit */
    }
    (void)pthread_mutex_unlock(&c->data->log_lock);
    if (must_post)
        gbx_mcp_loop_post(c->data->loop, &c->lines_post);
}

/* A dataset that could not be read is missing, and code that reads it may not notice. */
static void say_unread(const gbx_compute *c, gbx_buf *to)
{
    const gbx_mcp_data *d = c->data;

    for (size_t i = 0; c->needs == NULL && i < d->count; i++)
        if (!d->sets[i].is_loaded &&
            gbx_code_mentions((const char *)c->code.data, c->code.len,
                              d->sets[i].spec.name))
            (void)gbx_buf_printf(to, "%sdataset '%s' could not be read: %s",
                                 to->len > 0 ? "; " : "", d->sets[i].spec.name,
                                 d->sets[i].problem);
}

/* What only the host knows of a failure. */
static void advise(const gbx_compute *c, gbx_buf *to)
{
    static const char unknown[] = "unknown dataset '";
    const char *hint = gbx_result_hint(c->result);

    say_unread(c, to);
    if (to->len > 0 || strncmp(hint, unknown, sizeof unknown - 1) != 0)
        return;
    (void)gbx_buf_printf(to, "%s: ", hint);
    gbx_data_say_names(c->data, to);
}

static void ended(void *arg)
{
    gbx_compute *c = arg;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf advice = {.ceiling = GBX_KIB(4)};

    if (!c->is_question)
        advise(c, &advice);
    gbx_compute_reply(c->data, c->request,
                      gbx_buf_append(&advice, "", 1) ? (char *)advice.data : "",
                      c->is_question, c->result);
    forget(c);
}

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    gbx_compute *c = user;

    (void)ticket;
    c->result = result;
    gbx_mcp_loop_post(c->data->loop, &c->end_post);
}

/* ---- a dataset that could not be read -------------------------------------------- */

static void refuse_unread(gbx_compute *c, const gbx_dataset_state *set)
{
    char error[GBX_ERROR_MESSAGE_SIZE + 160];

    (void)snprintf(error, sizeof error, "dataset '%s' could not be read: %s",
                   set->spec.name, set->problem);
    refuse_call(c, "UNAVAILABLE", error,
                set->is_held ? "somebody holds the database: try again in some seconds"
                             : GBX_ADVICE_MEND);
}

/* ---- with the engine ------------------------------------------------------------- */

/* Its data has been loaded. */
static void ask_for_description(gbx_compute *c)
{
    const gbx_told *told = &c->set->told;
    const gbx_description of = {
        .name = c->set->spec.name,
        .shown = &c->data->shown,
        .columns = told->columns,
        .columns_len = told->columns != NULL ? strlen(told->columns) : 0,
        .brief = DESCRIBED_MAX,
        .is_table = told->is_table,
    };

    (void)gbx_describe_whole(&of, &c->code);
}

static void submit(gbx_compute *c)
{
    gbx_time_budget budget = gbx_code_budget(c->code.len);
    gbx_view input = gbx_view_member(c->arguments, "input");
    gbx_call call = GBX_CALL_INIT;
    gbx_status status;
    gbx_error error;

    if (c->is_question)
        ask_for_description(c);
    call.form = GBX_FORM_SCRIPT;
    call.code = (const char *)c->code.data;
    call.code_len = c->code.len;
    call.dataset = c->set != NULL ? c->set->spec.name : "*";
    if (c->is_question) {
        call.form = GBX_FORM_FUNCTION;
        call.flags = GBX_CALL_NO_GUARD;
        call.code = gbx_script_describe;
        call.code_len = strlen(gbx_script_describe);
        call.input = (const char *)c->code.data;
        call.input_len = c->code.len;
    } else if (input.at != NULL) {
        call.input = input.at;
        call.input_len = input.len;
    }
    call.limits = c->is_question ? NULL : &c->data->options.limits;
    call.on_log = on_log;
    call.log_user = c;
    gbx_time_budget_begin(&budget);
    status = gbx_submit(c->data->engine, &call, on_done, c, &c->ticket, &error);
    gbx_time_budget_end(&budget);
    if (status != GBX_OK)
        refuse_call(c, "UNAVAILABLE", error.message, "");
}

/* The data it waited for is ready. */
static void begin(gbx_compute *c)
{
    c->is_begun = true;
    if (c->data->engine == NULL) {
        refuse_call(c, "UNAVAILABLE", c->data->engine_problem, GBX_ADVICE_MEND);
        return;
    }
    if (c->set != NULL && !c->set->is_loaded)
        refuse_unread(c, c->set);
    else
        submit(c);
}

/* ---- arguments ------------------------------------------------------------------- */

/* The text of a string member, NUL-terminated; code may contain NUL. False: the member
 * is not such a string, and the call was refused. */
static bool take_text(gbx_compute *c, const char *name, gbx_buf *to)
{
    gbx_view view = gbx_view_member(c->arguments, name);
    bool is_code = strcmp(name, "code") == 0;
    bool is_taken = gbx_view_kind(view) == '"' && gbx_view_take_text(view, to);
    char error[128];

    if (is_taken && gbx_buf_append(to, "", 1) &&
        (is_code || strlen((const char *)to->data) + 1 == to->len)) {
        to->len--;
        return true;
    }
    if (view.at == NULL || gbx_view_kind(view) == 'n')
        (void)snprintf(error, sizeof error, "'%s' is missing", name);
    else if (gbx_view_kind(view) != '"')
        (void)snprintf(error, sizeof error, "'%s' is not a string", name);
    else if (!is_taken && !to->failed)
        (void)snprintf(
            error, sizeof error,
            "'%s' has half of a surrogate pair in it, which is not a character", name);
    else
        (void)snprintf(error, sizeof error, "'%s' has more than %zu bytes%s", name,
                       to->ceiling - 1, is_code ? "" : ", or a NUL in it");
    refuse_call(c, "INVALID_ARGS", error,
                is_code ? "give the code as a string: (data) => result; a dataset "
                          "without code is described"
                        : "give the name of a dataset, or leave it out");
    return false;
}

/* The engine's own error, but before anything parses the code. */
static bool check_length(gbx_compute *c)
{
    uint32_t most = c->data->options.limits.code_bytes;
    char error[128];

    if (most == 0)
        most = CODE_BYTES;
    if (c->code.len <= most)
        return true;
    (void)snprintf(error, sizeof error, "the code is %zu bytes, and %u are the limit",
                   c->code.len, most);
    refuse_call(c, "INVALID_CODE", error,
                "shorten the code; values for it go into 'input'");
    return false;
}

/* Refuse unknown arguments: the model meant one of ours. */
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
        (void)snprintf(error, sizeof error, "unknown argument '%s'", name);
        (void)snprintf(hint, sizeof hint, "%s%s%s",
                       near != NULL ? "did you mean '"
                                    : "the arguments are code, dataset",
                       near != NULL ? near : " and input",
                       near != NULL ? "'?" : "; values for the code go into input");
        refuse_call(c, "INVALID_ARGS", error, hint);
        return false;
    }
    return true;
}

static void refuse_name(gbx_compute *c, const char *name)
{
    const gbx_mcp_data *d = c->data;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf error = {.ceiling = GBX_KIB(4)};
    const char *names[GBX_DATASETS_MAX];
    const char *near;
    char hint[160];

    for (size_t i = 0; i < d->count; i++)
        names[i] = d->sets[i].spec.name;
    near = gbx_nearest(name, names, d->count);
    (void)gbx_buf_puts(&error, "unknown dataset '");
    (void)gbx_utf8_append_escaped(&error, name,
                                  gbx_utf8_cut(name, strlen(name), GBX_SPEC_NAME_MAX),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(&error, "': ");
    gbx_data_say_names(d, &error);
    (void)snprintf(hint, sizeof hint, "%s%s%s",
                   near != NULL ? "did you mean '" : "leave 'dataset' out",
                   near != NULL ? near : "", near != NULL ? "'?" : " for all of them");
    refuse_call(c, "INVALID_ARGS",
                gbx_buf_append(&error, "", 1) ? (const char *)error.data
                                              : "unknown dataset",
                hint);
}

/* False: the dataset does not exist, and the call was refused. */
static bool choose_dataset(gbx_compute *c)
{
    const gbx_mcp_data *d = c->data;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name = {.ceiling = NAME_BYTES};
    char kind = gbx_view_kind(gbx_view_member(c->arguments, "dataset"));

    if (kind == 0 || kind == 'n') { /* some clients send null for a missing argument */
        c->set = d->count == 1 ? &d->sets[0] : NULL;
    } else {
        if (!take_text(c, "dataset", &name))
            return false;
        c->set = gbx_data_find(d, (const char *)name.data);
        if (c->set == NULL) {
            refuse_name(c, (const char *)name.data);
            return false;
        }
    }
    /* All datasets are also members of `datasets`, whichever one the code is called
     * with. */
    c->needs = c->set;
    if (c->code.len > 0 && memmem(c->code.data, c->code.len, "datasets", 8) != NULL)
        c->needs = NULL;
    return true;
}

/* A dataset without code: describe it. */
static bool is_question(const gbx_compute *c)
{
    char code = gbx_view_kind(gbx_view_member(c->arguments, "code"));

    return (code == 0 || code == 'n') &&
           gbx_view_kind(gbx_view_member(c->arguments, "dataset")) == '"' &&
           gbx_view_member(c->arguments, "input").at == NULL;
}

static bool take_code(gbx_compute *c)
{
    c->is_question = is_question(c);
    return c->is_question || (take_text(c, "code", &c->code) && check_length(c));
}

void gbx_compute_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_data *d = user;
    gbx_compute *c = gbx_need(calloc(1, sizeof *c));
    gbx_compute **at = &d->calls;

    c->data = d;
    c->request = request;
    c->arguments = arguments;
    gbx_buf_init(&c->code, CODE_MAX);
    gbx_buf_init(&c->lines, LINES_MAX);
    c->lines_post = (gbx_mcp_post){.run = lines_arrived, .arg = c};
    c->end_post = (gbx_mcp_post){.run = ended, .arg = c};
    while (*at != NULL)
        at = &(*at)->next;
    *at = c;
    gbx_mcp_on_cancel(request, on_cancel, c);
    if (!check_names(c) || !take_code(c) || !choose_dataset(c))
        return;
    gbx_data_try_again(d);
    if (gbx_data_is_ready(d, c->needs))
        begin(c);
}

void gbx_compute_go_on(gbx_mcp_data *d)
{
    gbx_compute *next;

    for (gbx_compute *c = d->calls; c != NULL; c = next) {
        next = c->next; /* this may free the call, but no other */
        if (!c->is_begun && gbx_data_is_ready(d, c->needs))
            begin(c);
    }
}

void gbx_compute_end_all(gbx_mcp_data *d)
{
    gbx_compute *c;

    while ((c = d->calls) != NULL) {
        d->calls = c->next;
        gbx_compute_refuse(c->request, "ABORTED", "the server has ended", "");
        release(c);
    }
}
