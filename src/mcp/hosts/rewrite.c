/* SPDX-License-Identifier: MIT */
/* rewrite - hosts' files, read and changed. All but the servers stays, to the byte. */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/config/jsonc.h"
#include "mcp/hosts/toml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Claude Code keeps histories in its file. */
#define FILE_MAX GBX_MIB(64)

static bool read_all(const char *path, gbx_buf *to)
{
    GBX_CLEANUP(gbx_fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    while (fd >= 0) {
        uint8_t *at = gbx_buf_reserve(to, GBX_KIB(64));
        ssize_t n = at != NULL ? read(fd, at, GBX_KIB(64)) : -1;

        if (at == NULL)
            errno = EFBIG;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        to->len += (size_t)n;
    }
    return false;
}

static gbx_status read_toml(gbx_host_file_text *file, gbx_error *reterr)
{
    gbx_toml toml = {.root = NULL};
    gbx_status status = gbx_toml_read(file->text, file->len, &toml, reterr);

    if (status == GBX_OK)
        file->root = json_incref(toml.root);
    gbx_toml_cleanup(&toml);
    return status;
}

static gbx_status read_json(gbx_host_file_text *file, gbx_error *reterr)
{
    char *copy = strndup(file->text, file->len);
    json_error_t e;
    uint32_t line;
    uint32_t column;

    if (copy == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "memory is out");
    gbx_jsonc_blank(copy, strlen(copy));
    file->root = json_loads(copy, JSON_REJECT_DUPLICATES, &e);
    explicit_bzero(copy, strlen(copy));
    free(copy);
    if (file->root != NULL)
        return GBX_OK;
    gbx_utf8_position(file->text, file->len, e.position > 0 ? (size_t)e.position : 0,
                      &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s", e.text);
}

static bool rewrite_json(const gbx_host_file_text *file, const gbx_host_place *place,
                         const char *server, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf map;
    gbx_edit edit;
    gbx_view at;
    bool done;

    gbx_buf_init(&map, GBX_KIB(64));
    (void)gbx_buf_puts(&map, "{\"glovebox\": ");
    (void)gbx_buf_puts(&map, server);
    (void)gbx_buf_puts(&map, "}");
    if (!gbx_buf_append(&map, "", 1) || !gbx_edit_open(&edit, file->text, file->len))
        return false;
    at = edit.root;
    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = gbx_view_member(at, place->keys[i]);
    done = at.at != NULL && gbx_edit_replace(&edit, at, (const char *)map.data) &&
           gbx_buf_append(to, edit.text.data, edit.text.len);
    gbx_edit_close(&edit);
    return done;
}

/* Every table of servers is left out, ours is the last. */
static bool rewrite_toml(const gbx_host_file_text *file, const gbx_host_place *place,
                         const char *command, const char *const *args, gbx_buf *to)
{
    gbx_toml toml = {.root = NULL};
    gbx_toml now = {.root = NULL};
    size_t at = 0;
    bool done;

    if (gbx_toml_read(file->text, file->len, &toml, NULL) != GBX_OK)
        return false;
    for (size_t i = 0; i < toml.table_count; i++) {
        if (strcmp(toml.tables[i].first, place->keys[0]) != 0)
            continue;
        (void)gbx_buf_append(to, file->text + at, toml.tables[i].from - at);
        at = toml.tables[i].to;
    }
    (void)gbx_buf_append(to, file->text + at, file->len - at);
    gbx_toml_cleanup(&toml);
    /* Servers may stand before the first table, too: as `mcp_servers.x.command = ...`. */
    done = !to->failed &&
           gbx_toml_read((const char *)to->data, to->len, &now, NULL) == GBX_OK &&
           json_object_get(now.root, place->keys[0]) == NULL;
    gbx_toml_cleanup(&now);
    if (done && to->len > 0 && to->data[to->len - 1] != '\n')
        (void)gbx_buf_puts(to, "\n");
    if (done && to->len > 0)
        (void)gbx_buf_puts(to, "\n");
    return done && gbx_host_print(GBX_HOST_CODEX, "glovebox", command, args, to);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_host_file_read(const char *path, gbx_host_file_text *ret,
                              gbx_error *reterr)
{
    gbx_host_file_text file = {.root = NULL};
    size_t n = strlen(path);
    gbx_status status;
    gbx_buf buf;

    gbx_buf_init(&buf, FILE_MAX);
    if (!read_all(path, &buf)) {
        gbx_buf_cleanup(&buf);
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s'", path);
    }
    file.text = gbx_buf_take_string(&buf, &file.len);
    if (file.text == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "memory is out");
    file.is_toml = n > 5 && strcmp(path + n - 5, ".toml") == 0;
    status = file.is_toml ? read_toml(&file, reterr) : read_json(&file, reterr);
    if (status == GBX_OK)
        *ret = file;
    else
        gbx_host_file_cleanup(&file);
    return status;
}

void gbx_host_file_cleanup(gbx_host_file_text *file)
{
    if (file->text != NULL)
        explicit_bzero(file->text, file->len); /* there may be secrets in it */
    free(file->text);
    json_decref(file->root);
    *file = (gbx_host_file_text){.root = NULL};
}

bool gbx_host_rewrite(const gbx_host_file_text *file, const gbx_host_place *place,
                      const char *command, const char *const *args, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf server;

    gbx_buf_init(&server, GBX_KIB(32));
    if (file->is_toml)
        return rewrite_toml(file, place, command, args, to);
    return gbx_host_put_server(command, args, &server) &&
           gbx_buf_append(&server, "", 1) &&
           rewrite_json(file, place, (const char *)server.data, to);
}
