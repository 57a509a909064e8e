/* SPDX-License-Identifier: MIT */
/* mcp_import_own - see cli.h: our own file, locked against other writers
 * meanwhile. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Load our file as it is in im. */
static gbx_status load(const gbx_import *im, gbx_error *reterr)
{
    gbx_mcp_config *config = NULL;
    gbx_status status =
        gbx_mcp_config_parse((const char *)im->own.text.data, im->own.text.len,
                             im->own_path, im->trust, &config, reterr);

    gbx_mcp_config_free(config);
    return status;
}

/* Two first imports at once would each write only their own servers. */
static gbx_status lock_new(gbx_import *im, gbx_error *reterr)
{
    gbx_status status;

    gbx_file_make_folders(im->own_path);
    status =
        gbx_file_lock_folder(im->own_path, GBX_FILE_LOCK_MS, &im->own_lock, reterr);
    if (status == GBX_OK && access(im->own_path, F_OK) == 0)
        gbx_fd_close(&im->own_lock); /* the file exists by now, and has its own lock */
    return status;
}

/* Another import could change the file. A read-only one can be replaced all the
 * same. */
static bool lock_own(gbx_import *im, gbx_trouble *trouble)
{
    gbx_status status = GBX_OK;
    struct stat st;

    if (access(im->own_path, F_OK) < 0 && errno == ENOENT)
        status = lock_new(im, &trouble->err);
    if (status == GBX_OK && stat(im->own_path, &st) == 0 && S_ISREG(st.st_mode) &&
        access(im->own_path, W_OK) == 0)
        status = gbx_file_lock(im->own_path, im->trust, &im->own_lock, &trouble->err);
    if (status == GBX_OK)
        return true;
    if (trouble->err.os_errno == EPERM) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
    gbx_trouble_output(trouble);
    trouble->hint = "somebody else is changing it: try again";
    return false;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_import_name_file(gbx_trouble *trouble, const char *path, gbx_status status)
{
    trouble->file = path;
    gbx_trouble_input(trouble, status);
}

bool gbx_import_open(gbx_import *im, const char *path, bool is_dry,
                     gbx_trouble *trouble)
{
    gbx_host_file_text file = {.root = NULL};
    gbx_status status = GBX_OK;

    if (path == NULL)
        status = gbx_mcp_own_config(im->own_path, &trouble->err);
    else
        status = gbx_mcp_whole_path(path, im->own_path, &trouble->err);
    if (status != GBX_OK) {
        gbx_trouble_input(trouble, status);
        return false;
    }
    if (!is_dry && !lock_own(im, trouble))
        return false;
    status = gbx_host_file_read(im->own_path, im->trust, &file, &trouble->err);
    im->own_is_new = status == GBX_E_OS && trouble->err.os_errno == ENOENT;
    if (status != GBX_OK && !im->own_is_new) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
    trouble->err = (gbx_error){0};
    im->servers = json_object();
    if (file.root != NULL)
        (void)json_object_update(im->servers, json_object_get(file.root, "mcpServers"));
    if (file.root != NULL)
        (void)json_object_update(im->servers, json_object_get(file.root, "servers"));
    if (im->servers == NULL ||
        !gbx_edit_open(&im->own, im->own_is_new ? "{\n}\n" : file.text,
                       im->own_is_new ? 4 : file.len)) {
        gbx_host_file_cleanup(&file);
        (void)gbx_fail(&trouble->err, GBX_E_NOMEM, "out of memory");
        gbx_trouble_host(trouble, GBX_E_NOMEM);
        return false;
    }
    gbx_host_file_cleanup(&file);
    im->own_status = load(im, &im->own_err);
    return true;
}

bool gbx_import_check(gbx_import *im, gbx_trouble *trouble)
{
    gbx_error err = {0};
    gbx_status status = load(im, &err);

    if (status == GBX_OK)
        return true;
    trouble->err = im->own_err;
    if (im->own_status == GBX_OK) /* its line numbers refer to a file that does not
                                     exist */
        (void)gbx_fail(&trouble->err, status, "with these servers '%s' is none: %s",
                       im->own_path, err.message);
    else
        status = im->own_status;
    gbx_import_name_file(trouble, im->own_path, status);
    trouble->hint = "nothing has been written";
    return false;
}

void gbx_import_close(gbx_import *im)
{
    for (size_t i = 0; i < im->place_count; i++) {
        gbx_host_place_cleanup(&im->places[i].place);
        gbx_buf_cleanup(&im->places[i].taken);
    }
    gbx_edit_close(&im->own);
    json_decref(im->servers);
    gbx_fd_close(&im->own_lock);
}
