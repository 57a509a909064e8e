/* SPDX-License-Identifier: MIT */
/* outcome - see outcome.h. */
#include "outcome.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Of the text of log lines, and what a line itself counts for: 1 ms. */
#define LINES_AT_ONCE  262144
#define BYTES_PER_LINE 256

typedef gbx_node_call call;

typedef struct line {
    gbx_node_event event;
    double call;
    double time_ms;
    gbx_log_level level;
    size_t len;
    char text[];
} line;

static void fill_figures(double *figures, gbx_result *result, gbx_ticket ticket)
{
    gbx_stats stats = gbx_result_stats(result);

    figures[GBX_NODE_WALL_MS] = stats.wall_ms;
    figures[GBX_NODE_CPU_MS] = stats.cpu_ms;
    figures[GBX_NODE_PEAK_MEMORY] = (double)stats.peak_memory_bytes;
    figures[GBX_NODE_INPUT] = (double)stats.input_bytes;
    figures[GBX_NODE_OUTPUT] = (double)stats.output_bytes;
    figures[GBX_NODE_LOG] = (double)stats.log_bytes;
    figures[GBX_NODE_HOST_CALLS] = stats.host_calls;
    figures[GBX_NODE_TICKET] = (double)ticket;
}

static napi_value make_text(napi_env env, const char *text)
{
    return gbx_node_utf8(env, text, strlen(text));
}

/* A refusal: code is the status, and value its message. */
static void tell_refusal(call *c, gbx_node_env *e, napi_env env)
{
    napi_value args[4] = {gbx_node_number(env, GBX_NODE_DONE),
                          gbx_node_number(env, c->id),
                          gbx_node_number(env, c->error.status),
                          make_text(env, c->error.message)};

    gbx_node_dispatch(e, env, 4, args);
}

/* [error, hint, stack, line, column, frame, thrown name, message]; of a success undefined,
 * or the hint. */
static napi_value make_failure(napi_env env, gbx_result *result)
{
    gbx_location at = gbx_result_location(result);
    napi_value list;

    if (gbx_result_code(result) == GBX_CODE_VALUE)
        return gbx_result_hint(result)[0] == 0
                   ? gbx_node_undefined(env)
                   : make_text(env, gbx_result_hint(result));
    if (napi_create_array(env, &list) != napi_ok)
        return gbx_node_undefined(env);
    napi_value parts[] = {make_text(env, gbx_result_error(result)),
                          make_text(env, gbx_result_hint(result)),
                          make_text(env, gbx_result_stack(result)),
                          gbx_node_number(env, at.line),
                          gbx_node_number(env, at.column),
                          make_text(env, at.frame),
                          make_text(env, gbx_result_thrown_name(result)),
                          make_text(env, gbx_result_thrown_message(result))};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++)
        (void)napi_set_element(env, list, i, parts[i]);
    return list;
}

/* [level, time, text, level, ...]: as many as may be told at once, or undefined. */
static napi_value make_lines(napi_env env, call *c)
{
    size_t count = gbx_result_log_count(c->result);
    size_t bytes = 0;
    uint32_t at = 0;
    napi_value list;

    if (c->lines_told >= count || napi_create_array(env, &list) != napi_ok)
        return gbx_node_undefined(env);
    while (c->lines_told < count && bytes < LINES_AT_ONCE) {
        gbx_log log = gbx_result_log(c->result, c->lines_told++);

        bytes += log.text_len + BYTES_PER_LINE;
        (void)napi_set_element(env, list, at++, gbx_node_number(env, log.level));
        (void)napi_set_element(env, list, at++, gbx_node_number(env, log.time_ms));
        (void)napi_set_element(env, list, at++,
                               gbx_node_utf8(env, log.text, log.text_len));
    }
    return list;
}

static napi_value make_value(napi_env env, gbx_result *result)
{
    size_t len = 0;
    const char *value = gbx_result_value(result, &len);

    return len > 0 ? gbx_node_utf8(env, value, len) : gbx_node_undefined(env);
}

static bool tell_line(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    line *l = (line *)event;
    napi_value args[5] = {
        gbx_node_number(env, GBX_NODE_LINE), gbx_node_number(env, l->call),
        gbx_node_number(env, l->level),      gbx_node_utf8(env, l->text, l->len),
        gbx_node_number(env, l->time_ms),
    };

    gbx_node_dispatch(e, env, 5, args);
    return true;
}

static void drop_line(gbx_node_event *event)
{
    free(event);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_node_outcome_tell(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    call *c = (call *)event;
    napi_value lines;

    if (c->result == NULL) {
        tell_refusal(c, e, env);
        return true;
    }
    lines = make_lines(env, c);
    if (c->lines_told < gbx_result_log_count(c->result)) {
        napi_value part[3] = {gbx_node_number(env, GBX_NODE_LINES),
                              gbx_node_number(env, c->id), lines};

        gbx_node_dispatch(e, env, 3, part);
        return false;
    }
    fill_figures(e->figures, c->result, c->ticket);
    napi_value args[8] = {
        gbx_node_number(env, GBX_NODE_DONE),
        gbx_node_number(env, c->id),
        gbx_node_number(env, gbx_result_code(c->result)),
        make_value(env, c->result),
        make_text(env, gbx_result_call_id(c->result)),
        make_failure(env, c->result),
        lines,
        gbx_node_boolean(env, gbx_result_logs_truncated(c->result) != 0),
    };
    gbx_node_dispatch(e, env, 8, args);
    return true;
}

void gbx_node_outcome_on_log(void *user, const gbx_log *log)
{
    call *c = user;
    line *l = malloc(sizeof *l + log->text_len);

    if (l == NULL)
        return; /* the result has it all the same */
    l->event.tell = tell_line;
    l->event.drop = drop_line;
    l->call = c->id;
    l->time_ms = log->time_ms;
    l->level = log->level;
    l->len = log->text_len;
    memcpy(l->text, log->text, log->text_len);
    gbx_node_post(c->engine->e, &l->event);
}
