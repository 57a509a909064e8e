/* SPDX-License-Identifier: MIT */
/* host_files - runs host_files.js in sealed workers, and answers its questions. */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/preload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS      60000
#define FILE_MAX     GBX_MIB(64) /* Claude Code keeps histories in its file */
#define QUESTION_MAX GBX_MIB(512)
#define ROUNDS_MAX   16

extern const char gbx_script_host_files[];

static void release_result(gbx_result **result)
{
    gbx_result_free(*result);
}

gbx_status gbx_host_files_open(gbx_host_files *files, gbx_trust trust,
                               gbx_error *reterr)
{
    const gbx_preload preload = {"host_files.js", gbx_script_host_files,
                                 strlen(gbx_script_host_files)};
    gbx_options options = GBX_OPTIONS_INIT;

    options.limits.timeout_ms = CALL_MS;
    options.limits.memory_bytes = GBX_MIB(1024);
    options.limits.output_bytes = GBX_MIB(128);
    options.pool_size = 1;
    options.max_workers = 1;
    options.preloads = &preload;
    options.preload_count = 1;
    files->trust = trust;
    return gbx_engine_new(&options, &files->engine, reterr);
}

void gbx_host_files_close(gbx_host_files *files)
{
    gbx_result_free(files->plan);
    gbx_engine_free(files->engine);
}

/* Call one of the script's functions. */
static gbx_status ask(gbx_host_files *files, const char *function, const gbx_buf *input,
                      gbx_result **ret, gbx_view *ret_value, gbx_error *reterr)
{
    GBX_CLEANUP(release_result) gbx_result *result = NULL;
    gbx_call call = GBX_CALL_INIT;
    char code[64];
    const char *value;
    gbx_status status;
    size_t len;

    (void)gbx_need(input->failed ? NULL : input->data);
    call.flags = GBX_CALL_NO_GUARD; /* the code is ours */
    call.code_len =
        (size_t)snprintf(code, sizeof code, "input => host_files.%s(input)", function);
    call.code = code;
    call.input = (const char *)input->data;
    call.input_len = input->len;
    status = gbx_execute(files->engine, &call, &result, reterr);
    if (status != GBX_OK)
        return status;
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        return gbx_fail(reterr, GBX_E_DATA, "%s", gbx_result_error(result));
    value = gbx_result_value(result, &len);
    if (!gbx_view_open(value, len, ret_value))
        return gbx_fail(reterr, GBX_E_DATA, "no answer of the files' reader");
    *ret = result;
    result = NULL;
    return GBX_OK;
}

/* ---- reading a file -------------------------------------------------------------- */

static uint32_t number_of(gbx_view view)
{
    return gbx_view_kind(view) == '0' ? (uint32_t)strtoul(view.at, NULL, 10) : 0;
}

/* The script's answer is {"value"}, or {"message", "line", "column"}. */
static gbx_status parse(gbx_host_files *files, const char *path, const gbx_buf *text,
                        gbx_buf *ret, gbx_error *reterr)
{
    static const char *const names[] = {"value", "message", "line", "column"};
    GBX_CLEANUP(release_result) gbx_result *result = NULL;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf question = {.ceiling = QUESTION_MAX, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_ERROR_MESSAGE_SIZE};
    const char *bytes = text->data != NULL ? (const char *)text->data : "";
    const char *extension = strrchr(path, '.');
    gbx_view answer = {0};
    gbx_view m[GBX_COUNTOF(names)];
    gbx_status status;
    uint32_t line;
    uint32_t column;
    size_t at;

    if (!gbx_utf8_valid(text->data, text->len, &at)) {
        gbx_utf8_position(bytes, text->len, at, &line, &column);
        return gbx_fail_at(reterr, GBX_E_DATA, line, column, "invalid UTF-8");
    }
    gbx_json_put_open(&question, NULL, '{');
    gbx_json_put_bool(&question, "isToml",
                      extension != NULL && strcmp(extension, ".toml") == 0);
    gbx_json_put_key(&question, "text");
    (void)gbx_json_append_string(&question, bytes, text->len);
    (void)gbx_buf_puts(&question, "}");
    status = ask(files, "read", &question, &result, &answer, reterr);
    if (status != GBX_OK)
        return status;
    gbx_view_members(answer, names, GBX_COUNTOF(names), m);
    if (m[0].at != NULL) {
        (void)gbx_buf_append(ret, m[0].at, m[0].len);
        (void)gbx_need(ret->data);
        return GBX_OK;
    }
    (void)gbx_view_append_text(m[1], &message);
    return gbx_fail_at(reterr, GBX_E_DATA, number_of(m[2]), number_of(m[3]), "%.*s",
                       (int)message.len, (const char *)message.data);
}

gbx_status gbx_host_files_read(gbx_host_files *files, const char *path,
                               gbx_buf *ret_text, gbx_buf *ret_value, gbx_error *reterr)
{
    const gbx_trusted_file trusted = {path, "", O_RDONLY | O_NONBLOCK, files->trust,
                                      false};
    gbx_status status =
        gbx_trusted_file_read(&trusted, FILE_MAX, ret_text, NULL, NULL, reterr);

    gbx_buf_init_secret(ret_value, QUESTION_MAX);
    if (status == GBX_E_POLICY)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': it is too large", path);
    if (status != GBX_OK)
        return status;
    return parse(files, path, ret_text, ret_value, reterr);
}

/* ---- answers to the script ------------------------------------------------------- */

static bool is_named(const gbx_host_files *files, const char *path)
{
    for (size_t i = 0; i < files->from_count; i++)
        if (strcmp(files->from[i], path) == 0)
            return true;
    return false;
}

/* A worker that a hostile file has taken over must not read other files of the user. */
static bool is_of_hosts(const gbx_host_files *files, const char *path)
{
    static const char *const names[] = {"claude_desktop_config.json",
                                        ".claude.json",
                                        ".mcp.json",
                                        "mcp.json",
                                        "settings.json",
                                        "config.toml"};
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; slash != NULL && i < GBX_COUNTOF(names); i++)
        if (strcmp(slash + 1, names[i]) == 0)
            return true;
    return is_named(files, path);
}

static void answer_file(gbx_host_files *files, const char *path, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value = {0};
    gbx_error err = {0};
    gbx_status status =
        is_of_hosts(files, path)
            ? gbx_host_files_read(files, path, &text, &value, &err)
            : gbx_fail(&err, GBX_E_DATA, "'%s' is not a file of a host", path);
    bool is_missing = err.os_errno == ENOENT || err.os_errno == ENOTDIR;

    gbx_json_put_open(to, NULL, '{');
    if (status == GBX_OK)
        gbx_json_put_json(to, "value", (const char *)value.data, value.len);
    else
        gbx_json_put_bool(to, is_missing ? "isMissing" : "isBad", true);
    (void)gbx_buf_puts(to, "}");
    if (status != GBX_OK && (!is_missing || is_named(files, path)))
        files->unreadable(files->user, path, &err);
}

/* Append whether our reader accepts the entry. Unset variables do not matter here. */
static void answer_check(const char *text, gbx_buf *to)
{
    gbx_mcp_config *config = NULL;
    gbx_error err = {0};
    bool is_read = gbx_mcp_config_parse(text, strlen(text), NULL, GBX_TRUST_OWN,
                                        &config, &err) == GBX_OK;
    bool has_one = is_read && config->server_count == 1;
    const char *fault = has_one ? config->servers[0].fault : err.message;

    gbx_json_put_open(to, NULL, '{');
    if (fault != NULL) { /* without the position, which is not in a real file */
        static const char name[] = ": mcpServers.x";
        const char *why = strstr(fault, name);

        why = why != NULL ? why + sizeof name - 1 : fault;
        gbx_json_put_text(to, "why", why + strspn(why, ".: "));
    }
    gbx_json_put_bool(to, "isLeft", !has_one || config->servers[0].is_malformed);
    (void)gbx_buf_puts(to, "}");
    gbx_mcp_config_free(config);
}

/* Append [what, key, answer] for each [what, key] of need. */
static void answer_all(gbx_host_files *files, gbx_view need, gbx_buf *to)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view question;

    while (gbx_view_next(need, &cursor, &name, &question)) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
        size_t at = 0;
        gbx_view what = {0};
        gbx_view key = {0};
        const char *asked;

        if (!gbx_view_next(question, &at, &name, &what) ||
            !gbx_view_next(question, &at, &name, &key))
            continue;
        gbx_buf_init_secret(&text, key.len + 1);
        (void)gbx_view_append_text(key, &text);
        asked = gbx_need(gbx_buf_append(&text, "", 1) ? text.data : NULL);
        gbx_json_put_open(to, NULL, '[');
        gbx_json_put_json(to, NULL, what.at, what.len);
        gbx_json_put_json(to, NULL, key.at, key.len);
        if (gbx_view_is_text(what, "file:")) {
            answer_file(files, asked, to);
        } else if (gbx_view_is_text(what, "real:")) {
            GBX_CLEANUP(gbx_free) char *real = realpath(asked, NULL);

            if (real != NULL)
                gbx_json_put_text(to, NULL, real);
            else
                gbx_json_put_json(to, NULL, "null", 4);
        } else {
            answer_check(asked, to);
        }
        (void)gbx_buf_puts(to, "]");
    }
}

/* Refuse a path that is not UTF-8: the script could not ask for it. */
static gbx_status put_path(gbx_buf *to, const char *key, const char *path,
                           gbx_error *reterr)
{
    if (path != NULL && !gbx_utf8_valid((const uint8_t *)path, strlen(path), NULL))
        return gbx_fail(reterr, GBX_E_DATA, "the path '%s' is not UTF-8", path);
    gbx_json_put_text(to, key, path);
    return GBX_OK;
}

/* "own", "from", "here", "env", and the beginning of "known". */
static gbx_status put_world(gbx_buf *to, const gbx_buf *own, const char *const *from,
                            size_t from_count, gbx_error *reterr)
{
    static const char *const variables[] = {"HOME", "XDG_CONFIG_HOME",
                                            "CLAUDE_CONFIG_DIR", "CODEX_HOME"};
    GBX_CLEANUP(gbx_free) char *here = getcwd(NULL, 0);
    gbx_status status = GBX_OK;

    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_json(to, "own", (const char *)own->data, own->len);
    gbx_json_put_open(to, "from", '[');
    for (size_t i = 0; i < from_count && status == GBX_OK; i++)
        status = put_path(to, NULL, from[i], reterr);
    (void)gbx_buf_puts(to, "]");
    gbx_json_put_open(to, "env", '{');
    for (size_t i = 0; i < GBX_COUNTOF(variables) && status == GBX_OK; i++)
        status = put_path(to, variables[i], getenv(variables[i]), reterr);
    (void)gbx_buf_puts(to, "}");
    if (here == NULL)
        gbx_json_put_json(to, "here", "null", 4);
    else if (status == GBX_OK)
        status = put_path(to, "here", here, reterr);
    gbx_json_put_open(to, "known", '[');
    return status;
}

/* Ask again, with the answers that were needed, until no more are needed. */
gbx_status gbx_host_files_plan(gbx_host_files *files, const gbx_buf *own,
                               const char *const *from, size_t from_count,
                               gbx_view *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf question = {.ceiling = QUESTION_MAX, .is_secret = true};
    gbx_status status;

    files->from = from;
    files->from_count = from_count;
    status = put_world(&question, own, from, from_count, reterr);
    for (int round = 0; status == GBX_OK && round < ROUNDS_MAX; round++) {
        GBX_CLEANUP(release_result) gbx_result *result = NULL;
        const size_t len = question.len;
        gbx_view need;

        (void)gbx_buf_puts(&question, "]}");
        status = ask(files, "plan", &question, &result, ret, reterr);
        if (status != GBX_OK)
            return status;
        need = gbx_view_member(*ret, "need");
        if (need.at == NULL) {
            files->plan = result;
            result = NULL;
            return GBX_OK;
        }
        question.len = len;
        answer_all(files, need, &question);
    }
    return status != GBX_OK
               ? status
               : gbx_fail(reterr, GBX_E_DATA, "the files of the hosts lead nowhere");
}
