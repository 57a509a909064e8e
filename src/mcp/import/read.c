/* SPDX-License-Identifier: MIT */
/*
 * read - reads hosts' files. Only the needed members of JSON are decoded: the rest
 * belongs to the host, and our parser might reject it.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/config/config.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Claude Code keeps histories in its file. */
#define FILE_MAX GBX_MIB(64)

/* Read a regular file; reading a pipe would block. NULL, or the reason for
 * failing, with errno. */
static const char *read_all(int fd, gbx_buf *to)
{
    struct stat st;
    ssize_t n = 1;

    if (fstat(fd, &st) < 0)
        return gbx_fail_reason(errno);
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    if (!S_ISREG(st.st_mode))
        return errno == EISDIR ? gbx_fail_reason(errno) : "it is not a file";
    while (n > 0) {
        uint8_t *at = gbx_buf_reserve(to, GBX_KIB(64));

        errno = EFBIG;
        if (at == NULL)
            return "it is too large";
        n = read(fd, at, GBX_KIB(64));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            to->len += (size_t)n;
    }
    return n == 0 ? NULL : gbx_fail_reason(errno);
}

static const gbx_jsonc_wanted in_project[] = {{"mcpServers", NULL},
                                              {"disabledMcpjsonServers", NULL},
                                              {"enabledMcpjsonServers", NULL},
                                              {"enableAllProjectMcpServers", NULL},
                                              {"disabledMcpServers", NULL},
                                              {"hasTrustDialogAccepted", NULL},
                                              {NULL, NULL}};
static const gbx_jsonc_wanted projects[] = {{"*", in_project}, {NULL, NULL}};
static const gbx_jsonc_wanted in_settings[] = {{"servers", NULL},
                                               {"inputs", NULL},
                                               {NULL, NULL}};
static const gbx_jsonc_wanted in_permissions[] = {{"deny", NULL},
                                                  {"ask", NULL},
                                                  {NULL, NULL}};
static const gbx_jsonc_wanted in_ours[] = {{"rules", NULL},
                                           {"defaults", NULL},
                                           {"secrets", NULL},
                                           {NULL, NULL}};
static const gbx_jsonc_wanted wanted[] = {{"mcpServers", NULL},
                                          {"glovebox", in_ours},
                                          {"servers", NULL},
                                          {"inputs", NULL},
                                          {"mcp", in_settings},
                                          {"projects", projects},
                                          {"permissions", in_permissions},
                                          {"disabledMcpjsonServers", NULL},
                                          {"enabledMcpjsonServers", NULL},
                                          {"enableAllProjectMcpServers", NULL},
                                          {NULL, NULL}};

/* Remove byte order mark and comments, check everything, and decode the wanted
 * members only. */
static gbx_status parse(gbx_host_file_text *file, char *text, size_t len,
                        gbx_error *reterr)
{
    gbx_json_fault fault;
    json_error_t e;
    uint32_t line;
    uint32_t column;

    gbx_jsonc_blank(text, len);
    if (!gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, &fault))
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column, "%s",
                           fault.message);
    gbx_jsonc_keep(text, len, wanted);
    file->root = json_loads(text, JSON_REJECT_DUPLICATES, &e);
    if (file->root != NULL && !gbx_json_is_whole(text, strlen(text), file->root))
        return gbx_fail(reterr, GBX_E_NOMEM, "memory is out");
    if (file->root != NULL)
        return GBX_OK;
    gbx_utf8_position(text, len, e.position > 0 ? (size_t)e.position : 0, &line,
                      &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s", e.text);
}

static gbx_status read_json(gbx_host_file_text *file, gbx_error *reterr)
{
    size_t mark_len = gbx_jsonc_mark_len(file->text, file->len);
    size_t len = file->len - mark_len;
    char *copy = malloc(len + 1);
    gbx_status status;

    if (copy == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "memory is out");
    memcpy(copy, file->text + mark_len, len);
    copy[len] = '\0';
    status = parse(file, copy, len, reterr);
    explicit_bzero(copy, len);
    free(copy);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_host_file_read(const char *path, gbx_trust trust,
                              gbx_host_file_text *ret, gbx_error *reterr)
{
    const gbx_trusted_file trusted = {path, "", O_RDONLY | O_NONBLOCK, trust, false};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_host_file_text file = {.root = NULL};
    size_t n = strlen(path);
    const char *why;
    gbx_status status;
    gbx_buf buf;

    status = gbx_trusted_file_open(&trusted, &fd, NULL, reterr);
    if (status != GBX_OK)
        return status;
    gbx_buf_init(&buf, FILE_MAX);
    why = read_all(fd, &buf);
    if (why != NULL) {
        gbx_buf_cleanup(&buf);
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", path, why);
    }
    file.text = gbx_buf_take_string(&buf, &file.len);
    if (file.text == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "memory is out");
    file.is_toml = n > 5 && strcmp(path + n - 5, ".toml") == 0;
    status = file.is_toml ? gbx_toml_read(file.text, file.len, &file.root, reterr)
                          : read_json(&file, reterr);
    if (status == GBX_OK)
        *ret = file;
    else
        gbx_host_file_cleanup(&file);
    return status;
}

void gbx_host_file_cleanup(gbx_host_file_text *file)
{
    if (file->text != NULL)
        explicit_bzero(file->text, file->len); /* it may hold secrets */
    free(file->text);
    json_decref(file->root);
    *file = (gbx_host_file_text){.root = NULL};
}

/* ---- numbers as they are written ------------------------------------------- */

/* Numbers in env and headers stand for strings; they are copied as they are written,
 * 1.50 and not 1.5. */

static void keep(json_t *pairs, gbx_view written)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    for (void *at = json_object_iter(pairs);
         at != NULL && gbx_view_next(written, &cursor, &name, &value);
         at = json_object_iter_next(pairs, at))
        if (json_is_number(json_object_iter_value(at)))
            (void)json_object_iter_set_new(pairs, at,
                                           json_stringn(value.at, value.len));
}

void gbx_host_keep_numbers(gbx_host_file_text *file, const gbx_host_place *place)
{
    json_t *servers = (json_t *)(uintptr_t)gbx_host_servers(file, place);
    size_t cursor = 0;
    gbx_view name;
    gbx_view written;
    gbx_view at;
    gbx_edit edit;

    if (servers == NULL || file->is_toml ||
        !gbx_edit_open(&edit, file->text, file->len))
        return;
    at = edit.root;
    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = gbx_view_member(at, place->keys[i]);
    /* Decoded values keep the order of the text. */
    for (void *server = json_object_iter(servers);
         server != NULL && gbx_view_next(at, &cursor, &name, &written);
         server = json_object_iter_next(servers, server)) {
        const json_t *entry = json_object_iter_value(server);

        keep(json_object_get(entry, "env"), gbx_view_member(written, "env"));
        keep(json_object_get(entry, "headers"), gbx_view_member(written, "headers"));
    }
    gbx_edit_close(&edit);
}
