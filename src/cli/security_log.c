/* SPDX-License-Identifier: MIT */
/* security_log - see cli.h. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time to wait for a reader: an active one has read the pending data by then. */
#define LINE_MS 100

static gbx_status fail(gbx_error *reterr, const char *what, const char *name, int error)
{
    const char *why = strerror(error);

    switch (error) {
    case ENOENT: why = "no such folder"; break;
    case EACCES: why = "no permission"; break;
    case EISDIR: why = "it is a directory"; break;
    case ELOOP: why = "it is a symbolic link"; break;
    case ENXIO:
    case EAGAIN: why = "nobody reads from it"; break;
    default: break;
    }
    errno = 0; /* the message has it */
    return gbx_fail(reterr, GBX_E_OS, "cannot %s the security log '%s': %s", what, name,
                    why);
}

/* End a partly written line before the next. */
static bool put(gbx_security_log *log, const char *line, size_t len)
{
    size_t done;

    if (log->is_torn && gbx_fd_put(log->fd, "\n", 1) != 1)
        return false;
    done = gbx_fd_put(log->fd, line, len);
    log->is_torn = done > 0 && done < len;
    return done == len;
}

/* One line at a time: two threads that see the same free space would block. */
static bool offer(gbx_security_log *log, const char *line, size_t len)
{
    bool is_taken;

    (void)pthread_mutex_lock(&log->lock);
    is_taken =
        (!log->goes_on || gbx_fd_has_room(log->fd, log->is_stuck ? 0 : LINE_MS)) &&
        put(log, line, len);
    log->is_stuck = !is_taken;
    (void)pthread_mutex_unlock(&log->lock);
    return is_taken;
}

/* Report the loss on standard error while it can still be fixed; once, without waiting
 * for the reader. */
static void say_lost(const gbx_security_log *log, int error)
{
    char line[512];
    gbx_error err = {0};
    int n;

    (void)fail(&err, "write", log->name, error);
    n = snprintf(line, sizeof line, "glovebox: %.300s; calls go on without it\n",
                 err.message);
    (void)gbx_fd_offer(STDERR_FILENO, line, (size_t)n, 0);
}

/* Called on any thread. Keeps the error of the first lost line. */
static void on_line(void *user, const char *line, size_t len)
{
    gbx_security_log *log = user;
    GBX_CLEANUP(gbx_free) char *named = NULL;
    int none = 0;
    int error;

    /* Before the brace and the newline. A longer line may be torn in a pipe. */
    if (log->client != NULL &&
        len + strlen(log->client) + sizeof ",\"client\":\"\"" <= PIPE_BUF) {
        int all = asprintf(&named, "%.*s,\"client\":\"%s\"}\n", (int)len - 2, line,
                           log->client);

        line = gbx_need(all < 0 ? NULL : named);
        len = (size_t)all;
    }
    if (log->also != NULL)
        log->also(log->also_user, line, len);
    if (!log->is_open || offer(log, line, len))
        return;
    error = errno;
    if (atomic_compare_exchange_strong(&log->error, &none, error) && log->says)
        say_lost(log, error);
}

gbx_status gbx_security_log_open(gbx_security_log *log, const char *path,
                                 gbx_log_patience patience, gbx_error *reterr)
{
    /* O_NONBLOCK: a FIFO without a reader is an error, not a wait. */
    const int flags =
        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

    bool is_stderr = strcmp(path, "-") == 0;
    struct stat st;
    bool is_file;

    *log = (gbx_security_log){.fd = is_stderr ? STDERR_FILENO : open(path, flags, 0600),
                              .also = log->also,
                              .also_user = log->also_user};
    if (log->fd < 0)
        return fail(reterr, "open", path, errno);
    log->name = gbx_need(strdup(is_stderr ? "standard error" : path));
    if (!is_stderr)
        (void)fcntl(log->fd, F_SETFL, O_APPEND); /* wait for a slow reader */
    (void)pthread_mutex_init(&log->lock, NULL);
    is_file = fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode);
    log->goes_on = patience == GBX_LOG_DROPS_LINES && !is_file;
    log->says = patience == GBX_LOG_DROPS_LINES && log->fd != STDERR_FILENO;
    log->is_open = true;
    return GBX_OK;
}

void gbx_security_log_use(gbx_security_log *log, gbx_options *options)
{
    if (!log->is_open && log->also == NULL)
        return;
    options->on_audit = on_line;
    options->audit_user = log;
}

gbx_status gbx_security_log_check(gbx_security_log *log, gbx_error *reterr)
{
    if (log->error == 0 || log->is_reported)
        return GBX_OK;
    log->is_reported = true;
    return fail(reterr, "write", log->name, log->error);
}

gbx_status gbx_security_log_close(gbx_security_log *log, gbx_error *reterr)
{
    gbx_status status;

    if (log->is_open && log->fd != STDERR_FILENO && close(log->fd) != 0 &&
        log->error == 0)
        log->error = errno;
    if (log->is_open)
        (void)pthread_mutex_destroy(&log->lock);
    log->is_open = false;
    status = gbx_security_log_check(log, reterr);
    free(log->name);
    log->name = NULL;
    return status;
}
