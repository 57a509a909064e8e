/* SPDX-License-Identifier: MIT */
/* blobs - see blobs.h. */
#include "remote/lessor.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE GBX_KIB(128)

struct gbx_blob {
    gbx_blobs *owner;
    gbx_blob *next; /* one that was used before it */
    uint8_t sha256[GBX_SHA256_SIZE];
    uint64_t size;
    uint64_t filled;
    gbx_sha256 hash;
    int fd;
    bool is_whole; /* checked and sealed */
    bool is_bad;
};

struct gbx_blobs {
    uint64_t max;
    uint64_t used; /* bytes of all, those on their way too */
    int folder;    /* or -1 */
    gbx_blob *newest;
};

/* The link that points to it, or to NULL. */
static gbx_blob **find(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE])
{
    gbx_blob **at = &blobs->newest;

    while (*at != NULL && memcmp((*at)->sha256, sha256, GBX_SHA256_SIZE) != 0)
        at = &(*at)->next;
    return at;
}

static void remove_at(gbx_blob **at)
{
    gbx_blob *blob = *at;
    char name[GBX_SHA256_HEX_SIZE];

    *at = blob->next;
    blob->owner->used -= blob->filled;
    gbx_sha256_print(blob->sha256, name);
    if (blob->owner->folder >= 0 && blob->is_whole)
        (void)unlinkat(blob->owner->folder, name, 0);
    gbx_fd_close(&blob->fd);
    free(blob);
}

/* Count len bytes more, in place of others if it must be. */
static bool take_room(gbx_blobs *blobs, uint64_t len)
{
    while (blobs->used + len > blobs->max) {
        gbx_blob **oldest = NULL;

        for (gbx_blob **at = &blobs->newest; *at != NULL; at = &(*at)->next)
            oldest = (*at)->is_whole ? at : oldest;
        if (oldest == NULL)
            return false;
        remove_at(oldest);
    }
    blobs->used += len;
    return true;
}

gbx_blob *gbx_blobs_begin(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                          uint64_t size, gbx_error *reterr)
{
    gbx_blob *blob = NULL;

    if (*find(blobs, sha256) != NULL) {
        (void)gbx_fail(reterr, GBX_E_USAGE, "that dataset is there, or on its way");
    } else if (size > blobs->max) {
        (void)
            gbx_fail(reterr, GBX_E_DATA,
                     "a dataset of %llu bytes is larger than the limit of the machine, "
                     "%llu bytes",
                     (unsigned long long)size, (unsigned long long)blobs->max);
    } else {
        blob = calloc(1, sizeof *blob);
        if (blob == NULL)
            (void)gbx_fail(reterr, GBX_E_NOMEM, "no memory for a dataset");
    }
    if (blob == NULL)
        return NULL;
    *blob = (gbx_blob){.owner = blobs,
                       .next = blobs->newest,
                       .size = size,
                       .fd = memfd_create("glovebox-dataset",
                                          MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    memcpy(blob->sha256, sha256, sizeof blob->sha256);
    gbx_sha256_init(&blob->hash);
    blobs->newest = blob;
    return blob;
}

bool gbx_blob_put(gbx_blob *blob, uint64_t offset, gbx_span bytes)
{
    if (blob->is_bad || offset != blob->filled || bytes.len == 0 ||
        bytes.len > blob->size - blob->filled || !take_room(blob->owner, bytes.len)) {
        blob->is_bad = true;
        return false;
    }
    blob->filled += bytes.len;
    gbx_sha256_add(&blob->hash, bytes.data, bytes.len);
    blob->is_bad = !gbx_fd_write(blob->fd, bytes.data, bytes.len);
    return !blob->is_bad;
}

int gbx_blob_end(gbx_blob *blob)
{
    static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    uint8_t sha256[GBX_SHA256_SIZE];
    int fd = -1;

    gbx_sha256_end(&blob->hash, sha256);
    if (!blob->is_bad && blob->filled == blob->size &&
        memcmp(sha256, blob->sha256, sizeof sha256) == 0 &&
        fcntl(blob->fd, F_ADD_SEALS, seals) == 0)
        fd = fcntl(blob->fd, F_DUPFD_CLOEXEC, 3);
    blob->is_whole = fd >= 0;
    if (fd < 0)
        remove_at(find(blob->owner, blob->sha256));
    return fd;
}

/* Without a name until it is whole; and if the disk is full, not at all. */
void gbx_blobs_write(const gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                     int fd, uint64_t size)
{
    char name[GBX_SHA256_HEX_SIZE];
    char path[64];
    off_t at = 0;
    ssize_t n = 1;
    int file;

    gbx_sha256_print(sha256, name);
    if (blobs->folder < 0 || faccessat(blobs->folder, name, F_OK, 0) == 0)
        return;
    file = openat(blobs->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    while (file >= 0 && (uint64_t)at < size && n > 0)
        n = sendfile(file, fd, &at, size - (uint64_t)at);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && (uint64_t)at == size &&
        linkat(AT_FDCWD, path, blobs->folder, name, AT_SYMLINK_FOLLOW) < 0)
        errno = 0; /* the next start fetches it again */
    gbx_fd_close(&file);
}

void gbx_blobs_written(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE])
{
    char name[GBX_SHA256_HEX_SIZE];

    gbx_sha256_print(sha256, name);
    if (blobs->folder >= 0 && *find(blobs, sha256) == NULL)
        (void)unlinkat(blobs->folder, name, 0);
}

int gbx_blobs_get(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                  uint64_t *ret_size)
{
    gbx_blob **at = find(blobs, sha256);
    gbx_blob *blob = *at;

    if (blob == NULL || !blob->is_whole)
        return -1;
    *at = blob->next;
    blob->next = blobs->newest;
    blobs->newest = blob;
    *ret_size = blob->size;
    return fcntl(blob->fd, F_DUPFD_CLOEXEC, 3);
}

size_t gbx_blobs_count(const gbx_blobs *blobs, uint64_t *ret_bytes)
{
    size_t count = 0;

    for (const gbx_blob *b = blobs->newest; b != NULL; b = b->next)
        count += b->is_whole;
    *ret_bytes = blobs->used;
    return count;
}

/* ---- the folder ---------------------------------------------------------------- */

static bool parse_name(const char *name, uint8_t sha256[GBX_SHA256_SIZE])
{
    if (strspn(name, "0123456789abcdef") != 2 * GBX_SHA256_SIZE ||
        name[2 * GBX_SHA256_SIZE] != '\0')
        return false;
    for (size_t i = 0; i < GBX_SHA256_SIZE; i++)
        sha256[i] = (uint8_t)(gbx_hex_digit((uint8_t)name[2 * i]) * 16 +
                              gbx_hex_digit((uint8_t)name[2 * i + 1]));
    return true;
}

/* Take it as from anybody. False: it is not what its name says, or there is no room. */
static bool read_blob(gbx_blobs *blobs, int file, const uint8_t sha256[GBX_SHA256_SIZE],
                      uint64_t size)
{
    GBX_CLEANUP(gbx_free) uint8_t *bytes = malloc(PIECE);
    gbx_blob *blob = bytes != NULL ? gbx_blobs_begin(blobs, sha256, size, NULL) : NULL;
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    ssize_t n;

    if (blob == NULL)
        return false;
    while ((n = read(file, bytes, PIECE)) > 0 &&
           gbx_blob_put(blob, blob->filled, (gbx_span){bytes, (size_t)n}))
        continue;
    fd = gbx_blob_end(blob);
    return fd >= 0;
}

/* Take a file of the folder, or remove it if it is ours and of no use. */
static gbx_status take_file(gbx_blobs *blobs, const char *name, gbx_error *reterr)
{
    uint8_t sha256[GBX_SHA256_SIZE];
    struct stat st = {0};
    GBX_CLEANUP(gbx_fd_close)
    int file =
        openat(blobs->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid() || (st.st_mode & 07777) != 0600 || st.st_nlink != 1 ||
        !parse_name(name, sha256))
        return gbx_fail(
            reterr, GBX_E_OS,
            "the folder of datasets holds '%.100s', which is not a dataset of "
            "a runner of this user: choose a folder of its own",
            name);
    if (!read_blob(blobs, file, sha256, (uint64_t)st.st_size))
        (void)unlinkat(blobs->folder, name, 0);
    return GBX_OK;
}

static gbx_status read_folder(gbx_blobs *blobs, const char *path, gbx_error *reterr)
{
    DIR *entries;
    const struct dirent *entry;
    struct stat st;
    gbx_status status = GBX_OK;

    (void)mkdir(path, 0700);
    entries = opendir(path);
    if (entries == NULL || fstat(dirfd(entries), &st) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open the folder '%s': %s", path,
                        gbx_fail_reason(errno));
    blobs->folder = fcntl(dirfd(entries), F_DUPFD_CLOEXEC, 3);
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        status =
            gbx_fail(reterr, GBX_E_OS,
                     "the folder '%s' is refused, since others may write it", path);
    while (status == GBX_OK && (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = take_file(blobs, entry->d_name, reterr);
    (void)closedir(entries);
    return status;
}

gbx_blobs *gbx_blobs_new(uint64_t max_bytes, const char *folder, gbx_error *reterr)
{
    gbx_blobs *blobs = calloc(1, sizeof *blobs);

    if (blobs == NULL) {
        (void)gbx_fail(reterr, GBX_E_NOMEM, "no memory for datasets");
        return NULL;
    }
    *blobs = (gbx_blobs){.max = max_bytes, .folder = -1};
    if (folder == NULL || read_folder(blobs, folder, reterr) == GBX_OK)
        return blobs;
    gbx_blobs_free(blobs);
    return NULL;
}

void gbx_blobs_free(gbx_blobs *blobs)
{
    if (blobs == NULL)
        return;
    gbx_fd_close(&blobs->folder); /* the files stay */
    while (blobs->newest != NULL)
        remove_at(&blobs->newest);
    free(blobs);
}
