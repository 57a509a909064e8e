/* SPDX-License-Identifier: MIT */
/*
 * running - a call from its code to the engine: the code is parsed, on the loop if it
 * is short, else on the parse thread; the data that it needs must be loaded.
 */
#include "base/cleanup.h"
#include "guard/guard.h"
#include "mcp/code/code.h"
#include "mcp/data/compute.h"
#include "mcp/data/datasets.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- datasets that could not be read --------------------------------------------- */

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
    gbx_compute_refuse_call(c, "UNAVAILABLE", error, hint);
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

/* Find unread datasets that would silently be missing, if the code uses them. */
static void find_doubts(gbx_compute *c)
{
    const gbx_mcp_data *d = c->data;

    free(c->in_doubt);
    c->in_doubt = NULL;
    c->unread = NULL;
    for (size_t i = 0; c->needs == NULL && i < d->count; i++) {
        if (d->sets[i].is_loaded || !mentions(c, d->sets[i].spec.name))
            continue;
        if (c->in_doubt == NULL)
            c->in_doubt = calloc(d->count, sizeof *c->in_doubt);
        if (c->in_doubt != NULL)
            c->in_doubt[i] = true;
    }
}

/* ---- with the engine ------------------------------------------------------------- */

static void submit(void *user)
{
    gbx_compute *c = user;
    gbx_view input = gbx_view_member(c->arguments, "input");
    gbx_call call = GBX_CALL_INIT;

    call.form = GBX_FORM_SCRIPT;
    call.code = c->script.code;
    call.code_len = c->script.code_len;
    call.dataset = c->set != NULL ? c->set->spec.name : "*";
    if (input.at != NULL) {
        call.input = input.at;
        call.input_len = input.len;
    }
    call.on_log = gbx_compute_on_log;
    call.log_user = c;
    c->error.status = gbx_submit(c->data->engine, &call, gbx_compute_on_done, c,
                                 &c->submitted, &c->error);
}

/* The call may have ended already. */
static void on_submitted(void *user)
{
    gbx_compute *c = user;

    c->is_given = false;
    if (c->error.status != GBX_OK) {
        gbx_compute_refuse_call(c, "UNAVAILABLE", c->error.message, "");
        return;
    }
    c->ticket = c->submitted;
    if (c->is_over)
        gbx_compute_end(c);
    else if (c->is_cancelled)
        gbx_abort(c->data->engine, c->ticket);
}

static void give_to_engine(gbx_compute *c)
{
    if (c->code.len <= GBX_ASIDE_SHORT) {
        submit(c);
        on_submitted(c);
        return;
    }
    c->job = (gbx_parse_thread_job){submit, on_submitted, c, .patience = &c->patience};
    c->is_given = gbx_parse_thread_give(c->data->aside, &c->job);
    if (!c->is_given)
        gbx_compute_refuse_call(c, "UNAVAILABLE", "no memory for the call", "");
}

/* ---- reading the code ------------------------------------------------------------ */

/* May run twice. */
static void read_code(void *user)
{
    gbx_compute *c = user;

    c->unread = NULL;
    if (!c->has_script) {
        gbx_script_cleanup(&c->script);
        c->error.status = gbx_script_make((const char *)c->code.data, c->code.len,
                                          "data, input", &c->script, &c->error);
    }
    if (c->error.status != GBX_OK || c->script.message != NULL || c->in_doubt == NULL)
        return;
    for (size_t i = 0; i < c->data->count && c->unread == NULL; i++) {
        const gbx_dataset_state *set = &c->data->sets[i];

        if (c->in_doubt[i] &&
            gbx_parameter_names_reads(c->script.code, c->script.code_len,
                                      set->spec.name))
            c->unread = set;
    }
}

static void refuse_code(gbx_compute *c)
{
    const char *text = (const char *)c->code.data;
    gbx_location at = {.line = c->script.line, .column = c->script.column};
    GBX_CLEANUP(gbx_free)
    char *frame = gbx_guard_frame(text, c->code.len, at.line, at.column);

    at.frame = frame;
    gbx_compute_refuse(c->request, "SYNTAX", c->script.message, c->script.hint, &at);
    gbx_compute_forget(c);
}

static void on_read(void *user)
{
    gbx_compute *c = user;

    c->is_given = false;
    if (c->error.status != GBX_OK) {
        gbx_compute_refuse_call(c, "UNAVAILABLE", "no memory for the call", "");
        return;
    }
    c->has_script = true;
    gbx_recent_keep(&c->data->recent, (const char *)c->code.data, c->code.len,
                    &c->script);
    if (c->is_cancelled)
        gbx_compute_cancel(c);
    else if (c->script.message != NULL)
        refuse_code(c);
    else if (c->set != NULL && !c->set->is_loaded)
        refuse_unread(c, c->set);
    else if (c->unread != NULL && !c->unread->is_loaded)
        refuse_unread(c, c->unread);
    else if (c->unread != NULL) /* it was loaded meanwhile: are the others? */
        gbx_compute_begin(c);
    else
        give_to_engine(c);
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_compute_begin(gbx_compute *c)
{
    c->is_begun = true;
    if (c->data->engine == NULL) {
        gbx_compute_refuse_call(c, "UNAVAILABLE", c->data->engine_problem,
                                GBX_ADVICE_MEND);
        return;
    }
    if (!c->has_script)
        c->has_script = gbx_recent_find(&c->data->recent, (const char *)c->code.data,
                                        c->code.len, &c->script);
    find_doubts(c);
    if (c->has_script && c->in_doubt == NULL) {
        on_read(c);
        return;
    }
    c->job = (gbx_parse_thread_job){read_code, on_read, c, .patience = &c->patience};
    switch (gbx_parse_thread_read(c->data->aside, &c->job, c->code.len)) {
    case GBX_ASIDE_NOW: on_read(c); break;
    case GBX_ASIDE_LATER: c->is_given = true; break;
    case GBX_ASIDE_NEVER:
        gbx_compute_refuse_call(c, "UNAVAILABLE", "no memory for the call", "");
        break;
    }
}

void gbx_compute_cancel(gbx_compute *c)
{
    c->is_cancelled = true;
    if (!c->is_given || gbx_parse_thread_withdraw(c->data->aside, &c->job))
        gbx_compute_refuse_call(c, "ABORTED", "the call was cancelled before it began",
                                "");
}
