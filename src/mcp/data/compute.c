/* SPDX-License-Identifier: MIT */
/*
 * compute - one call of the tool: checks its arguments, runs its code, forwards its
 * console lines to the client, and ends it.
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

#define CODE_MAX GBX_MIB(1)

#define NAME_BYTES 256

/* Maximum length of the examples in a description, in characters. */
#define DESCRIBED_MAX 3000

struct gbx_compute {
    LIST_ENTRY(gbx_compute) in_data;
    gbx_mcp_data *data;
    gbx_mcp_request *request;
    gbx_view arguments;
    gbx_buf code;
    const gbx_dataset_state *set;   /* the dataset to call it with; NULL: all of them */
    const gbx_dataset_state *needs; /* the dataset it waits for; NULL: all of them */
    gbx_box_run *run;
    bool is_question; /* for a description of the dataset; `code` is its input */
};

/* ---- life ------------------------------------------------------------------------ */

static void forget(gbx_compute *c)
{
    LIST_REMOVE(c, in_data);
    gbx_buf_cleanup(&c->code);
    free(c);
}

static void refuse_call(gbx_compute *c, const char *code, const char *error,
                        const char *hint)
{
    gbx_compute_refuse(c->request, code, error, hint);
    forget(c);
}

static void on_cancel(void *user)
{
    const gbx_compute *c = user;

    gbx_box_abort(c->run); /* it then ends like any other call */
}

/* ---- its end --------------------------------------------------------------------- */

static void on_log(void *user, gbx_log_level level, const char *text, size_t len)
{
    const gbx_compute *c = user;

    gbx_mcp_progress(c->request, -1, text, len);
    gbx_mcp_log_line(c->request, level, text, len);
}

/* Append advice that needs knowledge of the host. */
static void advise(const gbx_compute *c, const gbx_result *result, gbx_buf *to)
{
    static const char unknown[] = "unknown dataset '";
    const char *hint = gbx_result_hint(result);

    if (c->needs == NULL)
        gbx_data_say_unread(c->data, (const char *)c->code.data, c->code.len, to);
    if (to->len > 0 || strncmp(hint, unknown, sizeof unknown - 1) != 0)
        return;
    (void)gbx_buf_printf(to, "%s: ", hint);
    gbx_data_say_names(c->data, to);
}

static bool is_unread(const gbx_compute *c)
{
    return c->set != NULL && c->set->is_settled && !c->set->is_loaded;
}

static void on_done(void *user, gbx_result *result, const gbx_error *error)
{
    gbx_compute *c = user;
    char unread[GBX_ERROR_MESSAGE_SIZE + 160];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf advice = {.ceiling = GBX_KIB(4)};

    if (result == NULL && error->status != GBX_E_CLOSED) {
        refuse_call(c, "UNAVAILABLE", error->message, GBX_ADVICE_MEND);
    } else if (result == NULL && is_unread(c)) {
        (void)snprintf(unread, sizeof unread, "dataset '%s' could not be read: %s",
                       c->set->spec.name, c->set->problem);
        refuse_call(c, "UNAVAILABLE", unread,
                    c->set->is_held
                        ? "somebody holds the database: try again in some seconds"
                        : GBX_ADVICE_MEND);
    } else if (result == NULL) {
        refuse_call(c, "ABORTED", "the call was cancelled before it began", "");
    } else {
        if (!c->is_question)
            advise(c, result, &advice);
        gbx_compute_reply(c->data, c->request, gbx_rpc_string(&advice), c->is_question,
                          result);
        gbx_result_free(result);
        forget(c);
    }
}

/* ---- its beginning --------------------------------------------------------------- */

/* Call it when the dataset is loaded. */
static void ask_for_description(gbx_compute *c, gbx_call *call)
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
    call->input = (const char *)c->code.data;
    call->input_len = c->code.len;
}

static gbx_box_turn take_turn(void *user, gbx_call *call)
{
    gbx_compute *c = user;

    if (!gbx_data_is_ready(c->data, c->needs))
        return GBX_BOX_WAITS;
    if (is_unread(c))
        return GBX_BOX_ENDS;
    if (c->is_question)
        ask_for_description(c, call);
    return GBX_BOX_GOES;
}

static void start(gbx_compute *c)
{
    static const gbx_box_hooks hooks = {.log = on_log,
                                        .turn = take_turn,
                                        .done = on_done};
    gbx_view input = gbx_view_member(c->arguments, "input");
    gbx_call call = GBX_CALL_INIT;

    call.dataset = c->set != NULL ? c->set->spec.name : "*";
    if (c->is_question) {
        call.form = GBX_FORM_FUNCTION;
        call.flags = GBX_CALL_NO_GUARD;
        call.code = gbx_script_describe;
        call.code_len = strlen(gbx_script_describe);
        call.limits = &c->data->describing;
    } else {
        call.form = GBX_FORM_SCRIPT;
        call.code = (const char *)c->code.data;
        call.code_len = c->code.len;
        call.input = input.at;
        call.input_len = input.len;
        call.limits = &c->data->options.limits;
    }
    c->run = gbx_box_start(c->data->box, &call, &hooks, c);
    gbx_mcp_on_cancel(c->request, on_cancel, c);
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

/* The engine's error, but before anything parses the code. */
static bool check_length(gbx_compute *c)
{
    uint32_t most = c->data->options.limits.code_bytes;
    char error[128];

    if (c->code.len <= most)
        return true;
    (void)snprintf(error, sizeof error, "the code is %zu bytes, and %u are the limit",
                   c->code.len, most);
    refuse_call(c, "INVALID_CODE", error,
                "shorten the code; values for it go into 'input'");
    return false;
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
    refuse_call(c, "INVALID_ARGS", gbx_rpc_string(&error), hint);
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

/* True if a dataset is named without code: it is to be described. */
static bool is_question(const gbx_compute *c)
{
    char code = gbx_view_kind(gbx_view_member(c->arguments, "code"));

    return (code == 0 || code == 'n') &&
           gbx_view_kind(gbx_view_member(c->arguments, "dataset")) == '"' &&
           gbx_view_member(c->arguments, "input").at == NULL;
}

void gbx_compute_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"code", "dataset", "input", NULL};
    gbx_mcp_data *d = user;
    gbx_compute *c = gbx_need(calloc(1, sizeof *c));
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    c->data = d;
    c->request = request;
    c->arguments = arguments;
    gbx_buf_init(&c->code, CODE_MAX);
    LIST_INSERT_HEAD(&d->calls, c, in_data);
    /* Refuse unknown arguments: the model meant one of ours. */
    if (!gbx_code_check_names(arguments, names, &message)) {
        refuse_call(c, "INVALID_ARGS", gbx_rpc_string(&message),
                    "values for the code go into 'input'");
        return;
    }
    c->is_question = is_question(c);
    if (!c->is_question && !(take_text(c, "code", &c->code) && check_length(c)))
        return;
    if (choose_dataset(c))
        start(c);
}

void gbx_compute_end_all(gbx_mcp_data *d)
{
    gbx_compute *c;

    while ((c = LIST_FIRST(&d->calls)) != NULL) {
        gbx_box_drop(c->run);
        refuse_call(c, "ABORTED", "the server has ended", "");
    }
}
