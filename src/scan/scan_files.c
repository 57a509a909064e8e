/* SPDX-License-Identifier: MIT */
/* scan_files - walks a folder that may be hostile: it follows no links, and bounds the
 * number of files, bytes and entries and the depth. */
#include "scan/scan.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "base/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX   20000
#define ENTRIES_MAX 200000
#define BYTES_MAX   GBX_MIB(64)
#define FILE_MAX    GBX_MIB(8) /* the same as in scan.js */
#define DEPTH_MAX   32
#define NOTES_MAX   100
#define NAMES_MAX   8

/* Folders whose files a running server does not use. */
#define LEFT_OUT_FOLDERS                                          \
    "node_modules test tests __tests__ __mocks__ spec specs e2e " \
    "fixtures benchmarks benchmark bench coverage"
#define ENDINGS "js mjs cjs jsx ts mts cts tsx"
#define NAMES   "package.json package-lock.json yarn.lock pnpm-lock.yaml"
/* Files whose names contain one of these are left out, such as run.test.ts. */
static const char *const left_out_middles[] = {".test.", "-test.",  ".spec.",
                                               "-spec.", ".bench.", ".stories.",
                                               ".d.",    ".min."};

void gbx_scan_files_free(gbx_scan_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        free(files->list[i].text);
    }
    free(files->list);
    gbx_buf_cleanup(&files->unread);
    gbx_buf_cleanup(&files->left_names);
    *files = (gbx_scan_files){0};
}

void gbx_scan_unread(gbx_scan_files *files, const char *path, const char *why)
{
    if (files->unread_count++ >= NOTES_MAX)
        return;
    gbx_json_put_open(&files->unread, NULL, '{');
    gbx_json_put_text(&files->unread, "path", path);
    gbx_json_put_text(&files->unread, "why", why);
    (void)gbx_buf_puts(&files->unread, "}");
}

void gbx_scan_add(gbx_scan_files *files, const char *path, char *text, size_t len)
{
    const char *why = files->count >= FILES_MAX        ? "there are too many files"
                      : files->bytes + len > BYTES_MAX ? "the project is too large"
                                                       : NULL;

    if (why != NULL) {
        gbx_scan_unread(files, path, why);
        free(text);
        return;
    }
    if (files->count == files->room) {
        files->room = files->room == 0 ? 64 : files->room * 2;
        files->list =
            gbx_need(reallocarray(files->list, files->room, sizeof files->list[0]));
    }
    files->list[files->count++] =
        (gbx_scan_file){.path = gbx_need(strdup(path)), .text = text, .len = len};
    files->bytes += len;
}

const char *gbx_scan_slurp(int fd, size_t max, gbx_buf *to)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return gbx_fail_reason(errno);
    if (!S_ISREG(st.st_mode))
        return "it is not a file";
    if ((uint64_t)st.st_size > max)
        return "it is too large";
    gbx_buf_init(to, max + 1);
    if (!gbx_buf_read(to, fd))
        return to->failed ? "it is too large" : gbx_fail_reason(errno);
    return to->len > max ? "it is too large" : NULL;
}

static void read_one(gbx_scan_files *files, int fd, const char *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = FILE_MAX * 6 + 16};
    const char *why = gbx_scan_slurp(fd, FILE_MAX, &bytes);
    size_t len;
    char *taken;

    if (why != NULL) {
        gbx_scan_unread(files, path, why);
        return;
    }
    (void)gbx_json_append_string(&text,
                                 bytes.data != NULL ? (const char *)bytes.data : "",
                                 bytes.len);
    taken = gbx_need(gbx_buf_take_string(&text, &len));
    gbx_scan_add(files, path, taken, len);
}

/* ---- folders -------------------------------------------------------------------- */

static bool is_folder_left_out(const char *name, size_t len)
{
    return name[0] == '.' || gbx_text_is_listed(LEFT_OUT_FOLDERS, name, len);
}

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');

    return (dot != NULL && dot != name &&
            gbx_text_is_listed(ENDINGS, dot + 1, strlen(dot + 1))) ||
           gbx_text_is_listed(NAMES, name, strlen(name));
}

static bool is_file_left_out(const char *name)
{
    for (size_t i = 0; i < GBX_COUNTOF(left_out_middles); i++)
        if (strstr(name, left_out_middles[i]) != NULL)
            return true;
    return false;
}

static void leave_out(gbx_scan_files *files, const char *path)
{
    if (files->left_out++ < NAMES_MAX)
        (void)gbx_buf_printf(&files->left_names, "%s%s",
                             files->left_names.len > 0 ? ", " : "", path);
}

bool gbx_scan_leave_out(gbx_scan_files *files, const char *path)
{
    const char *name = path;
    bool is_left_out = false;

    for (const char *end; (end = strchr(name, '/')) != NULL; name = end + 1)
        is_left_out |= is_folder_left_out(name, (size_t)(end - name));
    is_left_out |= is_file_left_out(name);
    if (is_left_out)
        leave_out(files, path);
    return is_left_out;
}

static void walk(gbx_scan_files *files, int folder, const char *path, int depth);

static void visit(gbx_scan_files *files, int folder, const char *path, const char *name,
                  int depth)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    char below[PATH_MAX];
    struct stat st;

    if (snprintf(below, sizeof below, "%s%s%s", path, *path != '\0' ? "/" : "", name) >=
            (int)sizeof below ||
        fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISLNK(st.st_mode)) {
        if (is_source(name) || strchr(name, '.') == NULL)
            gbx_scan_unread(files, below, "it is a link");
        return;
    }
    if (S_ISDIR(st.st_mode) ? is_folder_left_out(name, strlen(name))
                            : is_source(name) && is_file_left_out(name)) {
        leave_out(files, below);
        return;
    }
    if (!S_ISDIR(st.st_mode) && !(S_ISREG(st.st_mode) && is_source(name)))
        return;
    /* The entry may have been replaced by a pipe or a link since fstatat(). */
    fd = openat(folder, name,
                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
                    (S_ISDIR(st.st_mode) ? O_DIRECTORY : 0));
    if (fd < 0)
        gbx_scan_unread(files, below, gbx_fail_reason(errno));
    else if (!S_ISDIR(st.st_mode))
        read_one(files, fd, below);
    else if (depth >= DEPTH_MAX)
        gbx_scan_unread(files, below, "it is nested too deeply");
    else
        walk(files, gbx_fd_take(&fd), below, depth + 1);
}

static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Owns the descriptor. */
static void walk(gbx_scan_files *files, int folder, const char *path, int depth)
{
    struct dirent **entries = NULL;
    int count = scandirat(folder, ".", &entries, is_entry, alphasort);

    if (count < 0)
        gbx_scan_unread(files, path, gbx_fail_reason(errno));
    for (int i = 0; i < count; i++) {
        if (files->entries++ < ENTRIES_MAX)
            visit(files, folder, path, entries[i]->d_name, depth);
        free(entries[i]);
    }
    if (files->entries >= ENTRIES_MAX)
        gbx_scan_unread(files, *path != '\0' ? path : ".",
                        "there are too many entries: the rest is not read");
    free(entries);
    gbx_fd_close(&folder);
}

gbx_status gbx_scan_read(const char *path, gbx_scan_files *files, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", path,
                        gbx_fail_reason(errno));
    if (S_ISDIR(st.st_mode))
        walk(files, gbx_fd_take(&fd), "", 0);
    else
        read_one(files, fd, slash != NULL ? slash + 1 : path);
    return GBX_OK;
}
