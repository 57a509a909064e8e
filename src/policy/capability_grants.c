/* SPDX-License-Identifier: MIT */
/* capability_grants - add one item to a policy, from text; see json_reader.h. */
#include "policy/internal.h"
#include "policy/json_reader.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define NAME_LEN_MAX 128

static gbx_status check_name(const char *text, size_t len, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    size_t n = gbx_name_length(text, len);

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the name is missing");
    if (n < len)
        return gbx_refuse(reterr, text, n,
                          "'%s' is not a name: letters, digits, '_' and '$', not "
                          "beginning with a digit",
                          gbx_quote(quote, text, len));
    if (len > NAME_LEN_MAX)
        return gbx_refuse(reterr, text, 0, "the name is longer than %d characters",
                          NAME_LEN_MAX);
    return GBX_OK;
}

/* A path of names and dots; the last part may be a star. */
static gbx_status check_pattern(const char *text, size_t len, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    size_t at = 0;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the name is missing");
    if (len > NAME_LEN_MAX)
        return gbx_refuse(reterr, text, 0, "the name is longer than %d characters",
                          NAME_LEN_MAX);
    for (;;) {
        size_t n = gbx_name_length(text + at, len - at);

        if (n == 0 && at + 1 == len && text[at] == '*')
            return GBX_OK;
        if (n == 0 || (at + n < len && text[at + n] != '.'))
            return gbx_refuse(
                reterr, text, at + n,
                "'%s' is not a name of functions: write one like 'db.query', "
                "or 'db.*' for all below 'db'",
                gbx_quote(quote, text, len));
        at += n;
        if (at == len)
            return GBX_OK;
        at++;
    }
}

static char *copy_value(const char *value, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy != NULL) {
        memcpy(copy, value, len);
        copy[len] = '\0';
    }
    return copy;
}

static gbx_status add_site(gbx_site **sites, size_t *count, size_t since,
                           const char *text, size_t len, gbx_error *reterr)
{
    gbx_site *room;
    gbx_site site;
    gbx_status status = gbx_list_check(*count, "sites", reterr);

    if (status == GBX_OK)
        status = gbx_site_parse(text, len, &site, reterr);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < *count; i++) {
        if (!gbx_site_equals(&(*sites)[i], &site))
            continue;
        free(site.host);
        return i >= since ? gbx_refuse_twice(reterr, text, len) : GBX_OK;
    }
    room = gbx_list_room(sites, *count, sizeof site);
    if (room == NULL) {
        free(site.host);
        return gbx_list_nomem(reterr);
    }
    *room = site;
    ++*count;
    return GBX_OK;
}

gbx_status gbx_grant_site(gbx_json_reader *r, const char *text, size_t len,
                          void *target)
{
    gbx_fetch_policy *fetch = &r->policy->fetch;

    return add_site(&fetch->sites, &fetch->site_count, r->since.fetch.site_count, text,
                    len, r->err);
}

gbx_status gbx_grant_secret_site(gbx_json_reader *r, const char *text, size_t len,
                                 void *target)
{
    gbx_secret *secret = target;

    return add_site(&secret->sites, &secret->site_count, 0, text, len, r->err);
}

gbx_status gbx_grant_env(gbx_policy *policy, size_t since, const gbx_entry *entry,
                         gbx_error *reterr)
{
    gbx_pair pair = {.value_len = entry->value_len};
    gbx_pair *room;
    size_t at = 0;
    size_t bytes;
    gbx_status status = gbx_list_check(policy->env_count, "variables", reterr);

    if (status == GBX_OK)
        status = check_name(entry->name, entry->name_len, reterr);
    if (status != GBX_OK)
        return status;
    while (at < policy->env_count &&
           (strlen(policy->env[at].name) != entry->name_len ||
            memcmp(policy->env[at].name, entry->name, entry->name_len) != 0))
        at++;
    if (pair.value_len > GBX_VALUE_MAX ||
        !gbx_utf8_valid((const uint8_t *)entry->value, pair.value_len, NULL))
        return gbx_refuse(reterr, entry->name, 0,
                          "the value is not UTF-8, or longer than %d bytes",
                          GBX_VALUE_MAX);
    if (at < policy->env_count) {
        bool is_same = policy->env[at].value_len == pair.value_len &&
                       memcmp(policy->env[at].value, entry->value, pair.value_len) == 0;

        return at >= since || !is_same
                   ? gbx_refuse_twice(reterr, entry->name, entry->name_len)
                   : GBX_OK;
    }
    bytes = entry->name_len + pair.value_len;
    for (size_t i = 0; i < policy->env_count; i++)
        bytes += strlen(policy->env[i].name) + policy->env[i].value_len;
    if (bytes > GBX_ENV_MAX)
        return gbx_refuse(reterr, entry->name, 0,
                          "the variables are longer than %d bytes together",
                          GBX_ENV_MAX);
    pair.name = strndup(entry->name, entry->name_len);
    pair.value = copy_value(entry->value, pair.value_len);
    room = gbx_list_room(&policy->env, policy->env_count, sizeof pair);
    if (pair.name == NULL || pair.value == NULL || room == NULL) {
        gbx_pairs_cut(&pair, 0, 1);
        return gbx_list_nomem(reterr);
    }
    *room = pair;
    policy->env_count++;
    return GBX_OK;
}

gbx_status gbx_grant_variable(gbx_json_reader *r, const char *text, size_t len,
                              void *target)
{
    gbx_entry entry = {.name = text, .name_len = len};
    gbx_status status = gbx_host_value(text, len, &entry, r->err);

    if (status != GBX_OK)
        return status;
    assert(entry.value != NULL); /* else it was refused */
    return gbx_grant_env(r->policy, r->since.env_count, &entry, r->err);
}

static gbx_status add_function(char ***patterns, size_t *count, size_t since,
                               const char *text, size_t len, gbx_error *reterr)
{
    size_t at = gbx_names_find(*patterns, 0, *count, text, len);
    gbx_status status = gbx_list_check(*count, "functions", reterr);

    if (status == GBX_OK)
        status = check_pattern(text, len, reterr);
    if (status != GBX_OK)
        return status;
    if (at < *count)
        return at >= since ? gbx_refuse_twice(reterr, text, len) : GBX_OK;
    return gbx_names_add(patterns, count, text, len, reterr);
}

gbx_status gbx_grant_function(gbx_json_reader *r, const char *text, size_t len,
                              void *target)
{
    gbx_policy *policy = r->policy;

    return add_function(&policy->functions, &policy->function_count,
                        r->since.function_count, text, len, r->err);
}

gbx_status gbx_grant_secret_function(gbx_json_reader *r, const char *text, size_t len,
                                     void *target)
{
    gbx_secret *secret = target;

    return add_function(&secret->functions, &secret->function_count, 0, text, len,
                        r->err);
}

gbx_status gbx_grant_secret(gbx_policy *policy, const gbx_entry *entry,
                            gbx_secret **ret, gbx_error *reterr)
{
    gbx_secret secret = {.value_len = entry->value_len};
    gbx_secret *room;
    gbx_status status = gbx_list_check(policy->secret_count, "secrets", reterr);

    if (status == GBX_OK)
        status = check_name(entry->name, entry->name_len, reterr);
    for (size_t i = 0; status == GBX_OK && i < policy->secret_count; i++)
        if (strlen(policy->secrets[i].name) == entry->name_len &&
            memcmp(policy->secrets[i].name, entry->name, entry->name_len) == 0)
            status = gbx_refuse_twice(reterr, entry->name, entry->name_len);
    if (status != GBX_OK)
        return status;
    /* The value itself never enters a message. */
    if (secret.value_len < GBX_SECRET_MIN || secret.value_len > GBX_SECRET_MAX)
        return gbx_refuse(reterr, entry->name, 0,
                          "the value of a secret has from %u to %u bytes",
                          GBX_SECRET_MIN, GBX_SECRET_MAX);
    for (size_t i = 0; i < secret.value_len; i++)
        if ((uint8_t)entry->value[i] < 0x20 || entry->value[i] == 0x7F)
            return gbx_refuse(reterr, entry->name, 0,
                              "the value of a secret has a control character in it "
                              "(a line end?), which no header can carry");
    secret.name = strndup(entry->name, entry->name_len);
    secret.value = gbx_secret_memory_new(secret.value_len + 1);
    room = gbx_list_room(&policy->secrets, policy->secret_count, sizeof secret);
    if (secret.name == NULL || secret.value == NULL || room == NULL) {
        gbx_secrets_cut(&secret, 0, 1);
        return gbx_list_nomem(reterr);
    }
    memcpy(secret.value, entry->value, secret.value_len);
    *room = secret;
    policy->secret_count++;
    *ret = room;
    return GBX_OK;
}

/*
 * Directories below which code may read, opened when the policy is made.
 *
 * From then on a root is its descriptor: renaming the directory, or replacing it by a
 * link, changes nothing.
 */

/* ---- directories ------------------------------------------------------------- */

/* File systems that expose the kernel and other processes. */
static const long not_files[] = {
    PROC_SUPER_MAGIC,   SYSFS_MAGIC,        DEBUGFS_MAGIC,
    TRACEFS_MAGIC,      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
    DEVPTS_SUPER_MAGIC, BPF_FS_MAGIC,       SECURITYFS_MAGIC,
};

static gbx_status refuse_path(const char *text, size_t len, int e, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    (void)gbx_quote(quote, text, len);
    if (e == ENOENT)
        return gbx_refuse(reterr, text, 0, "the directory '%s' does not exist", quote);
    if (e == ENOTDIR)
        return gbx_refuse(reterr, text, 0,
                          "'%s' is not a directory: list the one that the file is in",
                          quote);
    return gbx_refuse(reterr, text, 0, "the directory '%s' cannot be opened: %s", quote,
                      strerror(e));
}

/* Refuse directories that hold more than files. */
static gbx_status check_place(const char *path, int fd, const char *text, size_t len,
                              gbx_error *reterr)
{
    struct statfs fs;

    if (strcmp(path, "/") == 0)
        return gbx_refuse(reterr, text, 0,
                          "'/' is the whole machine: list the directories that the "
                          "code needs");
    if (strcmp(path, "/dev") == 0 || strncmp(path, "/dev/", 5) == 0)
        return gbx_refuse(reterr, text, 0, "there are devices in '/dev', not files");
    if (fstatfs(fd, &fs) != 0)
        return refuse_path(text, len, errno, reterr);
    for (size_t i = 0; i < GBX_COUNTOF(not_files); i++)
        if (fs.f_type == not_files[i])
            return gbx_refuse(reterr, text, 0,
                              "what is there is the kernel's and other processes', no "
                              "files");
    return GBX_OK;
}

/* Open the directory and resolve its real path. */
static gbx_status open_root(const char *path, const char *text, size_t len, int *ret_fd,
                            char **ret_path, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_free) char *real = realpath(path, NULL);
    gbx_status status;

    if (real != NULL)
        fd = open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOMEM)
        return gbx_list_nomem(reterr);
    if (fd < 0)
        return refuse_path(text, len, errno, reterr);
    status = check_place(real, fd, text, len, reterr);
    if (status != GBX_OK)
        return status;
    *ret_fd = gbx_fd_take(&fd);
    *ret_path = real;
    real = NULL;
    return GBX_OK;
}

gbx_status gbx_full_path(const char *base_dir, const char *text, size_t len, char *out,
                         gbx_error *reterr)
{
    bool is_absolute = len > 0 && text[0] == '/';
    int n;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the path is missing");
    if (memchr(text, '\0', len) != NULL)
        return gbx_refuse(reterr, text, 0, "a path has no NUL");
    n = len >= PATH_MAX
            ? PATH_MAX
            : snprintf(out, PATH_MAX, "%s%s%.*s", is_absolute ? "" : base_dir,
                       is_absolute ? "" : "/", (int)len, text);
    if (n >= PATH_MAX)
        return gbx_refuse(reterr, text, 0, "the path is longer than %d bytes",
                          PATH_MAX - 1);
    return GBX_OK;
}

gbx_status gbx_grant_root(gbx_json_reader *r, const char *text, size_t len,
                          void *target)
{
    gbx_file_policy *file = &r->policy->file;
    gbx_error *reterr = r->err;
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_free) char *real = NULL;
    GBX_CLEANUP(gbx_free) char *name = NULL;
    gbx_root *root;
    char path[PATH_MAX];
    gbx_status status = gbx_list_check(file->root_count, "directories", reterr);

    if (status == GBX_OK)
        status = gbx_full_path(r->base_dir, text, len, path, reterr);
    if (status == GBX_OK)
        status = open_root(path, text, len, &fd, &real, reterr);
    if (status != GBX_OK)
        return status;
    assert(real != NULL); /* else open_root() has failed */
    for (size_t i = 0; i < file->root_count; i++)
        if (strcmp(file->roots[i].path, real) == 0)
            return i < r->since.file.root_count ? GBX_OK
                                                : gbx_refuse_twice(reterr, text, len);
    name = strndup(text, len);
    root = gbx_list_room(&file->roots, file->root_count, sizeof *root);
    if (name == NULL || root == NULL)
        return gbx_list_nomem(reterr);
    *root = (gbx_root){.fd = gbx_fd_take(&fd), .path = real, .name = name};
    real = name = NULL;
    file->root_count++;
    return GBX_OK;
}

/* ---- values from the host's environment and files ---------------------------- */

/* A value, its line end, and one byte more to detect that it is too long. */
#define ROOM (GBX_SECRET_MAX + 3)

static gbx_status refuse_file(const char *path, size_t len, int e, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    return gbx_refuse(reterr, path, 0, "the file '%s' cannot be read: %s",
                      gbx_quote(quote, path, len), strerror(e));
}

/* full is the path to open, path the text as written. */
static gbx_status open_secret(gbx_policy *policy, const char *full, const char *path,
                              size_t len, int *ret_fd, gbx_error *reterr)
{
    const gbx_trusted_file file = {full, "the secret ", O_RDONLY, policy->trust, true};
    char warning[GBX_ERROR_MESSAGE_SIZE];
    gbx_error err = {0};
    gbx_status status = gbx_trusted_file_open(&file, ret_fd, warning, &err);

    if (status != GBX_OK && err.os_errno != EPERM)
        return refuse_file(path, len, err.os_errno, reterr);
    if (status != GBX_OK)
        return gbx_refuse(reterr, path, 0, "%s", err.message);
    return *warning == '\0' ? GBX_OK
                            : gbx_names_add(&policy->warnings, &policy->warning_count,
                                            warning, strlen(warning), reterr);
}

gbx_status gbx_host_value(const char *name, size_t name_len, gbx_entry *ret,
                          gbx_error *reterr)
{
    char copy[256];
    char quote[GBX_QUOTE_SIZE];
    const char *value;

    (void)gbx_quote(quote, name, name_len);
    if (name_len == 0 || name_len >= sizeof copy ||
        memchr(name, '=', name_len) != NULL || memchr(name, '\0', name_len) != NULL)
        return gbx_refuse(reterr, name, 0,
                          "'%s' is not the name of an environment variable", quote);
    memcpy(copy, name, name_len);
    copy[name_len] = '\0';
    value = getenv(copy);
    if (value == NULL)
        return gbx_refuse(reterr, name, 0,
                          "the environment variable '%s' is not set: set it, or leave "
                          "the entry out",
                          quote);
    ret->value = value;
    ret->value_len = strlen(value);
    return GBX_OK;
}

gbx_status gbx_file_disown(gbx_file_policy *file, int fd, gbx_error *reterr)
{
    gbx_file_id *id;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot examine a file of the policy");
    id = gbx_list_room(&file->own, file->own_count, sizeof *id);
    if (id == NULL)
        return gbx_list_nomem(reterr);
    *id = (gbx_file_id){.device = st.st_dev, .inode = st.st_ino};
    file->own_count++;
    return GBX_OK;
}

void gbx_host_text_free(gbx_host_text *text)
{
    gbx_secret_memory_free(text->data, ROOM + 1);
    *text = (gbx_host_text){0};
}

gbx_status gbx_host_file(gbx_policy *policy, const char *base_dir, const char *path,
                         size_t len, gbx_host_text *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_host_text_free) gbx_host_text text = {0};
    char full[PATH_MAX];
    gbx_buf buf;
    gbx_status status = gbx_full_path(base_dir, path, len, full, reterr);

    if (status == GBX_OK)
        status = open_secret(policy, full, path, len, &fd, reterr);
    if (status != GBX_OK)
        return status;
    text.data = gbx_secret_memory_new(ROOM + 1);
    if (text.data == NULL)
        return gbx_list_nomem(reterr);
    buf = (gbx_buf){.data = (uint8_t *)text.data, .capacity = ROOM, .ceiling = ROOM};
    if (!gbx_buf_read(&buf, fd))
        return refuse_file(path, len, errno, reterr);
    text.len = buf.len;
    if (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    if (text.len > 0 && text.data[text.len - 1] == '\r')
        text.len--;
    text.data[text.len] = '\0';
    status = gbx_file_disown(&policy->file, fd, reterr);
    if (status != GBX_OK)
        return status;
    *ret = text;
    text.data = NULL;
    return GBX_OK;
}
