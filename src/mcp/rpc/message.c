/* SPDX-License-Identifier: MIT */
/* message - reads and writes JSON-RPC messages. A member that decides the meaning may
 * occur only once: one reader would take the first and another the last, and so see
 * two different messages. */
#include "mcp/rpc/rpc.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION, ID, METHOD, PARAMS, RESULT, ERROR, MEMBERS };

static const char *const names[MEMBERS] = {
    [VERSION] = "jsonrpc", [ID] = "id",         [METHOD] = "method",
    [PARAMS] = "params",   [RESULT] = "result", [ERROR] = "error",
};

static bool refuse(gbx_rpc_fault *fault, int code, const char *message)
{
    fault->code = code;
    fault->message = message;
    return false;
}

/* Some languages write every possible member, with null for those that are missing. */
static void drop_nulls(gbx_view m[MEMBERS])
{
    static const unsigned optional[] = {METHOD, PARAMS, ERROR};

    for (size_t i = 0; i < GBX_COUNTOF(optional); i++)
        if (gbx_view_kind(m[optional[i]]) == 'n')
            m[optional[i]] = (gbx_view){0};
    if (gbx_view_kind(m[RESULT]) == 'n' &&
        (m[METHOD].at != NULL || m[ERROR].at != NULL))
        m[RESULT] = (gbx_view){0};
}

static bool read_call(gbx_view m[MEMBERS], gbx_rpc_message *ret, gbx_rpc_fault *fault)
{
    char kind = gbx_view_kind(m[PARAMS]);

    if (m[RESULT].at != NULL || m[ERROR].at != NULL)
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "a message is a request or a response, not both");
    if (m[ID].at != NULL && !gbx_rpc_is_id(m[ID]))
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "the id of a request is a string or an integer");
    if (m[METHOD].at == NULL)
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "a message has a method, a result or an error");
    if (!gbx_rpc_copy_text(m[METHOD], ret->method, sizeof ret->method))
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "the method is a string of at most 128 bytes");
    if (kind != 0 && kind != '{') {
        fault->is_answerable = m[ID].at != NULL;
        return refuse(fault, GBX_RPC_INVALID_PARAMS, "params must be an object");
    }
    ret->kind = m[ID].at != NULL ? GBX_RPC_REQUEST : GBX_RPC_NOTIFICATION;
    ret->payload = m[PARAMS];
    return true;
}

static bool read_response(gbx_view m[MEMBERS], gbx_rpc_message *ret,
                          gbx_rpc_fault *fault)
{
    bool is_error = m[ERROR].at != NULL;
    bool is_unknown = m[ID].at == NULL || gbx_view_kind(m[ID]) == 'n'; /* its request */
    int64_t id;

    if (is_error == (m[RESULT].at != NULL))
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "a response has a result or an error");
    if (ret->id.at == NULL && gbx_id_read(m[ID], &id)) /* 1.0 */
        ret->id = m[ID];
    if (ret->id.at == NULL && (!is_error || !is_unknown))
        return refuse(fault, GBX_RPC_INVALID_REQUEST,
                      "the id of a response is a string or an integer");
    if (is_error && gbx_view_kind(m[ERROR]) != '{')
        return refuse(fault, GBX_RPC_INVALID_REQUEST, "an error is an object");
    ret->kind = is_error ? GBX_RPC_ERROR : GBX_RPC_RESULT;
    ret->payload = is_error ? m[ERROR] : m[RESULT];
    return true;
}

bool gbx_rpc_read(const char *text, size_t len, gbx_rpc_message *ret,
                  gbx_rpc_fault *ret_fault)
{
    gbx_view value;

    *ret_fault = (gbx_rpc_fault){.is_answerable = true};
    if (!gbx_view_open(text, len, &value))
        return refuse(ret_fault, GBX_RPC_PARSE_ERROR, "the line is not JSON");
    return gbx_rpc_read_view(value, ret, ret_fault);
}

bool gbx_rpc_read_view(gbx_view value, gbx_rpc_message *ret, gbx_rpc_fault *ret_fault)
{
    gbx_view m[MEMBERS];
    gbx_rpc_message message = {0};
    bool has_all_once;
    bool is_response;

    *ret_fault = (gbx_rpc_fault){.is_answerable = true};
    if (gbx_view_kind(value) == '[') {
        *ret = (gbx_rpc_message){.kind = GBX_RPC_BATCH, .payload = value};
        return true;
    }
    if (gbx_view_kind(value) != '{')
        return refuse(ret_fault, GBX_RPC_INVALID_REQUEST, "a message is an object");
    has_all_once = gbx_view_once(value, names, MEMBERS, m);
    /* Of two ids, neither is used. */
    if (!has_all_once && !gbx_view_once(value, &names[ID], 1, &m[ID]))
        m[ID] = (gbx_view){0};
    if (gbx_rpc_is_id(m[ID]))
        ret_fault->id = message.id = m[ID];
    /* If it may be a response, the id is one of ours and must not be answered. */
    if (!has_all_once && m[METHOD].at == NULL)
        ret_fault->id = (gbx_view){0};
    if (!has_all_once)
        return refuse(ret_fault, GBX_RPC_INVALID_REQUEST,
                      "a member of the message is there twice");
    is_response = m[RESULT].at != NULL || m[ERROR].at != NULL;
    drop_nulls(m);
    is_response = is_response && m[METHOD].at == NULL;
    ret_fault->is_answerable = !is_response;
    if (!gbx_view_is_text(m[VERSION], "2.0"))
        return refuse(ret_fault, GBX_RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    if (is_response) {
        if (!read_response(m, &message, ret_fault))
            return false;
    } else if (!read_call(m, &message, ret_fault)) {
        return false;
    }
    *ret = message;
    return true;
}

bool gbx_rpc_is_id(gbx_view view)
{
    char kind = gbx_view_kind(view);

    if (kind != '"' && kind != '0')
        return false;
    for (size_t i = 1; kind == '0' && i < view.len; i++)
        if (view.at[i] < '0' || view.at[i] > '9')
            return false;
    return true;
}

bool gbx_rpc_same_id(gbx_view a, gbx_view b)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf left = {.ceiling = a.len};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf right = {.ceiling = b.len};

    if (a.len == b.len && memcmp(a.at, b.at, a.len) == 0)
        return true;
    if (gbx_view_kind(a) != '"' || gbx_view_kind(b) != '"')
        return false;
    /* "a" and "\u0061" are one id. */
    return gbx_view_append_text(a, &left) && gbx_view_append_text(b, &right) &&
           left.len == right.len &&
           (left.len == 0 || memcmp(left.data, right.data, left.len) == 0);
}

bool gbx_rpc_integer(gbx_view view, int64_t *ret)
{
    bool is_negative = view.len > 0 && view.at[0] == '-';
    uint64_t value;

    if (gbx_view_kind(view) != '0' ||
        !gbx_decimal_read(view.at + is_negative, view.len - is_negative, INT64_MAX,
                          &value))
        return false;
    *ret = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

const char *gbx_rpc_string(gbx_buf *text)
{
    if (!gbx_buf_append(text, "", 1))
        return "";
    text->len--;
    return (const char *)text->data;
}

bool gbx_rpc_copy_text(gbx_view view, char *ret, size_t size)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = size - 1};

    if (!gbx_view_take_text(view, &text) ||
        (text.len > 0 && memchr(text.data, 0, text.len) != NULL))
        return false;
    if (text.len > 0)
        memcpy(ret, text.data, text.len);
    ret[text.len] = '\0';
    return true;
}

const char *gbx_mcp_asking_method(unsigned asking)
{
    return (asking & GBX_MCP_ASK_SAMPLING) != 0 ? "sampling/createMessage"
           : (asking & GBX_MCP_ASK_ROOTS) != 0  ? "roots/list"
                                                : "elicitation/create";
}

unsigned gbx_mcp_asking_read(gbx_view capabilities)
{
    gbx_view elicitation = gbx_view_member(capabilities, "elicitation");
    gbx_view url = gbx_view_member(elicitation, "url");
    unsigned asking = 0;

    /* An empty object, from before there were two modes, means a form. */
    if (gbx_view_kind(elicitation) == '{' &&
        (gbx_view_kind(gbx_view_member(elicitation, "form")) == '{' ||
         gbx_view_kind(url) == 0))
        asking |= GBX_MCP_ASK_FORM;
    if (gbx_view_kind(url) == '{')
        asking |= GBX_MCP_ASK_URL;
    if (gbx_view_kind(gbx_view_member(capabilities, "sampling")) == '{')
        asking |= GBX_MCP_ASK_SAMPLING;
    if (gbx_view_kind(gbx_view_member(capabilities, "roots")) == '{')
        asking |= GBX_MCP_ASK_ROOTS;
    return asking;
}

void gbx_mcp_asking_put(gbx_buf *to, const char *key, unsigned asking,
                        const char *extensions)
{
    gbx_json_put_open(to, key, '{');
    if ((asking & GBX_MCP_ASK_PERSON) != 0) {
        gbx_json_put_open(to, "elicitation", '{');
        if ((asking & GBX_MCP_ASK_FORM) != 0)
            gbx_json_put_json(to, "form", "{}", 2);
        if ((asking & GBX_MCP_ASK_URL) != 0)
            gbx_json_put_json(to, "url", "{}", 2);
        (void)gbx_buf_puts(to, "}");
    }
    if ((asking & GBX_MCP_ASK_SAMPLING) != 0)
        gbx_json_put_json(to, "sampling", "{}", 2);
    if ((asking & GBX_MCP_ASK_ROOTS) != 0)
        gbx_json_put_json(to, "roots", "{}", 2);
    gbx_json_put_json(to, "extensions", extensions,
                      extensions != NULL ? strlen(extensions) : 0);
    (void)gbx_buf_puts(to, "}");
}

int gbx_rpc_error_code(gbx_view error)
{
    int64_t code;

    if (!gbx_rpc_integer(gbx_view_member(error, "code"), &code) || code < INT32_MIN ||
        code > INT32_MAX)
        return GBX_RPC_INTERNAL_ERROR;
    return (int)code;
}

gbx_view gbx_rpc_error_message(gbx_view error)
{
    gbx_view message = gbx_view_member(error, "message");

    return gbx_view_kind(message) == '"' ? message : (gbx_view){0};
}

void gbx_rpc_begin_result(gbx_buf *to, gbx_view id)
{
    (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\"");
    gbx_json_put_json(to, "id", id.at, id.len);
    gbx_json_put_open(to, "result", '{');
}

void gbx_rpc_begin_request(gbx_buf *to, int64_t id, const char *method)
{
    (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\"");
    gbx_json_put_integer(to, "id", id);
    gbx_json_put_text(to, "method", method);
    gbx_json_put_open(to, "params", '{');
}

void gbx_rpc_begin_notification(gbx_buf *to, const char *method)
{
    (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\"");
    gbx_json_put_text(to, "method", method);
    gbx_json_put_open(to, "params", '{');
}

void gbx_rpc_end(gbx_buf *to)
{
    (void)gbx_buf_puts(to, "}}\n");
}

void gbx_rpc_put_error(gbx_buf *to, int code, const char *message, const char *data)
{
    gbx_json_put_integer(to, "code", code);
    gbx_json_put_shown(to, "message", message, strlen(message));
    gbx_json_put_json(to, "data", data, data != NULL ? strlen(data) : 0);
}

void gbx_rpc_append_error(gbx_buf *to, gbx_view id, int code, const char *message,
                          const char *data)
{
    (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\"");
    gbx_json_put_json(to, "id", id.at, id.len);
    gbx_json_put_open(to, "error", '{');
    gbx_rpc_put_error(to, code, message, data);
    gbx_rpc_end(to);
}

/* ---- ids of answers --------------------------------------------------------- */

bool gbx_id_read(gbx_view view, int64_t *ret)
{
    bool is_text = gbx_view_kind(view) == '"';
    const char *end;
    const char *first;
    const char *at;
    int64_t id = 0;

    if (!is_text && gbx_view_kind(view) != '0')
        return false;
    end = view.at + view.len - is_text;
    first = at = view.at + is_text;
    /* The digits are of an integer as we write it. */
    if (at < end && *at == '0')
        return false;
    for (; at < end && *at >= '0' && *at <= '9' && at - first < 18; at++)
        id = id * 10 + (*at - '0');
    /* A number may have a fraction that is all zeros. */
    if (!is_text && end - at >= 2 && at[0] == '.' && at[1] == '0')
        for (at++; at < end && *at == '0';)
            at++;
    if (at != end || id == 0)
        return false;
    *ret = id;
    return true;
}
