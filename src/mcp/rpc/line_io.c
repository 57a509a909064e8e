/* SPDX-License-Identifier: MIT */
/* line_io - splits input into lines, and queues output for a pipe. */
#include "mcp/rpc/rpc.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lines in: only `part` grows, up to the longest line allowed ------------- */

/* Memory that is kept after a long line; more is freed. */
#define PART_KEPT_BYTES ((size_t)64 * 1024)

static void drop_part(gbx_mcp_line_reader *lines)
{
    if (lines->part.capacity > PART_KEPT_BYTES || lines->part.failed)
        gbx_buf_cleanup(&lines->part);
    gbx_buf_consume(&lines->part, lines->part.len);
    lines->given = false;
}

/* The length of a byte order mark, which some programs write first. */
static size_t mark_len(const char *line, size_t len)
{
    return len >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool is_blank(const char *line, size_t len)
{
    size_t mark = mark_len(line, len);

    line += mark;
    len -= mark;
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static gbx_mcp_line_kind give(const char *line, size_t len, const char **ret_line,
                              size_t *ret_len)
{
    size_t mark = mark_len(line, len);

    if (len > 0 && line[len - 1] == '\r')
        len--;
    *ret_line = line + mark;
    *ret_len = len - mark;
    return GBX_MCP_LINE;
}

void gbx_mcp_line_reader_init(gbx_mcp_line_reader *lines, size_t line_max)
{
    *lines = (gbx_mcp_line_reader){0};
    gbx_buf_init_secret(&lines->part,
                        line_max); /* a server's answer may hold a secret */
}

void gbx_mcp_line_reader_cleanup(gbx_mcp_line_reader *lines)
{
    gbx_buf_cleanup(&lines->part);
}

void gbx_mcp_line_reader_feed(gbx_mcp_line_reader *lines, const char *chunk, size_t len)
{
    lines->chunk = chunk;
    lines->left = len;
}

gbx_mcp_line_kind gbx_mcp_line_reader_next(gbx_mcp_line_reader *lines,
                                           const char **ret_line, size_t *ret_len)
{
    if (lines->given)
        drop_part(lines);
    while (lines->left > 0) {
        const char *newline = memchr(lines->chunk, '\n', lines->left);
        size_t n = newline != NULL ? (size_t)(newline - lines->chunk) : lines->left;
        const char *at = lines->chunk;

        lines->chunk += n + (newline != NULL);
        lines->left -= n + (newline != NULL);
        if (lines->skipping) {
            lines->skipping = newline == NULL;
            continue;
        }
        if (newline != NULL && lines->part.len == 0 && n <= lines->part.ceiling) {
            if (!is_blank(at, n))
                return give(at, n, ret_line, ret_len);
            continue;
        }
        if (n > 0 && !gbx_buf_append(&lines->part, at, n)) {
            lines->given = true;
            lines->skipping = newline == NULL;
            *ret_line = lines->part.len > 0 ? (const char *)lines->part.data : at;
            *ret_len = lines->part.len > 0 ? lines->part.len : n;
            return GBX_MCP_LINE_TOO_LONG;
        }
        if (newline == NULL)
            break;
        lines->given = true;
        if (!is_blank((const char *)lines->part.data, lines->part.len))
            return give((const char *)lines->part.data, lines->part.len, ret_line,
                        ret_len);
        drop_part(lines);
    }
    return GBX_MCP_LINE_NONE;
}

gbx_mcp_line_kind gbx_mcp_line_reader_end(gbx_mcp_line_reader *lines,
                                          const char **ret_line, size_t *ret_len)
{
    if (lines->part.len == 0 || lines->given ||
        is_blank((const char *)lines->part.data, lines->part.len))
        return GBX_MCP_LINE_NONE;
    lines->given = true;
    return give((const char *)lines->part.data, lines->part.len, ret_line, ret_len);
}

/* ---- lines out --------------------------------------------------------------
 *
 * One buffer with a start offset: written bytes are removed in big steps, so that many
 * small messages to a slow reader are not moved in quadratic time.
 */

/* Memory that an emptied buffer keeps, and the limit of one write. */
#define QUEUE_KEPT_BYTES ((size_t)256 * 1024)
#define WRITE_BYTES      ((size_t)1024 * 1024)

/* How long a part waits for the reader to read everything before it, and how often
 * that is checked. */
#define PART_NS      (50 * GBX_NS_PER_MS)
#define PART_LOOK_MS 1

struct gbx_mcp_output {
    int fd;
    int flags; /* fd's flags before ours, or -1: unchanged */
    gbx_mcp_output_hooks hooks;
    struct event *writable; /* NULL: writing never has to wait (files, terminals) */
    struct event *gone;     /* the reader is gone; or NULL */
    int gone_fd;            /* an epoll set that is then readable, or -1 */
    gbx_mcp_timer due;      /* writes what was sent in this turn of the loop */
    gbx_buf queue;
    size_t start; /* of the unwritten bytes */
    uint64_t written;
    gbx_buf parts;            /* uint64_t offsets in the stream where parts begin */
    int64_t part_ns;          /* when the first part began to wait, or 0 */
    unsigned long ask_unread; /* request for ioctl(), or 0: not available */
    int os_errno;             /* why it is broken, or 0 */
    bool is_told;             /* broken was called */
    bool was_full;            /* drained has not been called since */
};

static void forget_written(gbx_mcp_output *out)
{
    bool is_all = out->start == out->queue.len;

    if (is_all && out->queue.capacity > QUEUE_KEPT_BYTES)
        gbx_buf_cleanup(&out->queue);
    else if (is_all || out->start > out->queue.len / 2)
        gbx_buf_consume(&out->queue, out->start);
    else
        return;
    out->start = 0;
}

static void break_off(gbx_mcp_output *out, int os_errno)
{
    out->os_errno = os_errno;
    out->start = out->queue.len;
    forget_written(out);
    if (out->writable != NULL)
        (void)event_del(out->writable);
    if (out->gone != NULL)
        (void)event_del(out->gone);
    gbx_mcp_timer_fire(&out->due);
}

/* The number of bytes that may be written now: up to the next part that must wait. */
static size_t writable_bytes(gbx_mcp_output *out)
{
    uint64_t begins;
    bool is_unread; /* the pipe holds bytes that its reader has not read */
    int bytes;

    while (out->parts.len > 0) {
        memcpy(&begins, out->parts.data, sizeof begins);
        if (begins > out->written)
            return (size_t)(begins - out->written);
        if (out->part_ns == 0)
            out->part_ns = gbx_clock_now_ns();
        bytes = 0;
        is_unread = ioctl(out->fd, out->ask_unread, &bytes) == 0 && bytes > 0;
        if (is_unread && gbx_clock_now_ns() - out->part_ns < PART_NS) {
            gbx_mcp_timer_set(&out->due, PART_LOOK_MS);
            return 0;
        }
        out->part_ns = 0;
        gbx_buf_consume(&out->parts, sizeof begins);
    }
    return out->queue.len - out->start;
}

static void flush_queue(gbx_mcp_output *out)
{
    size_t n;

    while (out->os_errno == 0 && out->start < out->queue.len &&
           (n = writable_bytes(out)) > 0) {
        ssize_t done = write(out->fd, out->queue.data + out->start,
                             n < WRITE_BYTES ? n : WRITE_BYTES);

        if (done >= 0) {
            out->start += (size_t)done;
            out->written += (size_t)done;
        } else if (errno == EAGAIN && out->writable != NULL) {
            (void)event_add(out->writable, NULL);
            break;
        } else if (errno != EINTR) {
            break_off(out, errno);
        }
    }
    forget_written(out);
}

/* Called at the end of a turn of the loop with output, and to check a part that waits.
 * The hooks may free the queue. */
static void on_due(void *user)
{
    gbx_mcp_output *out = user;
    bool was_told = out->is_told;

    flush_queue(out);
    out->is_told = out->os_errno != 0;
    if (out->is_told) {
        if (!was_told && out->hooks.broken != NULL)
            out->hooks.broken(out->hooks.user, out->os_errno);
    } else if (out->was_full && !gbx_mcp_output_is_full(out)) {
        out->was_full = false;
        if (out->hooks.drained != NULL)
            out->hooks.drained(out->hooks.user);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    on_due(arg);
}

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    gbx_mcp_output *out = arg;

    if (out->os_errno == 0)
        break_off(out, EPIPE);
}

/* Only for pipes and sockets: a terminal's flags belong to the whole session. */
static void stop_blocking(gbx_mcp_output *out)
{
    struct stat st;
    int flags;

    out->flags = -1;
    if (fstat(out->fd, &st) < 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
        return;
    /* For a socket, FIONREAD would count what we could read. */
    out->ask_unread = S_ISFIFO(st.st_mode) ? FIONREAD : TIOCOUTQ;
    flags = fcntl(out->fd, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0)
        return;
    if (fcntl(out->fd, F_SETFL, flags | O_NONBLOCK) == 0)
        out->flags = flags;
}

gbx_mcp_output *gbx_mcp_output_new(gbx_mcp_loop *loop, int fd, size_t ceiling,
                                   const gbx_mcp_output_hooks *hooks)
{
    struct event_base *base = gbx_mcp_loop_base(loop);
    gbx_mcp_output *out = gbx_need(calloc(1, sizeof *out));
    int flags;

    out->fd = fd;
    out->gone_fd = -1;
    out->hooks = *hooks;
    gbx_buf_init_secret(&out->queue, ceiling); /* messages to a server may hold
                                                * secrets */
    gbx_buf_init(&out->parts, ceiling);
    stop_blocking(out);
    gbx_mcp_timer_init(&out->due, loop, on_due, out);
    flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) != 0)
        out->writable = gbx_need(event_new(base, fd, EV_WRITE, on_writable, out));
    return out;
}

void gbx_mcp_output_free(gbx_mcp_output *out)
{
    if (out == NULL)
        return;
    if (gbx_mcp_timer_is_set(&out->due))
        flush_queue(out); /* write what was sent before it was closed */
    gbx_mcp_timer_cleanup(&out->due);
    if (out->writable != NULL)
        event_free(out->writable);
    if (out->gone != NULL)
        event_free(out->gone);
    gbx_fd_close(&out->gone_fd);
    if (out->flags >= 0)
        (void)fcntl(out->fd, F_SETFL, out->flags);
    gbx_buf_cleanup(&out->queue);
    gbx_buf_cleanup(&out->parts);
    free(out);
}

/* libevent cannot watch for errors and hang-ups alone. An epoll set of our own
 * with no requested events can. A descriptor that epoll rejects has no reader that
 * could go away. */
bool gbx_mcp_output_watch(gbx_mcp_output *out, gbx_mcp_loop *loop)
{
    struct epoll_event nothing = {.events = 0};

    out->gone_fd = epoll_create1(EPOLL_CLOEXEC);
    if (out->gone_fd < 0)
        return false;
    if (epoll_ctl(out->gone_fd, EPOLL_CTL_ADD, out->fd, &nothing) < 0)
        return errno == EPERM;
    out->gone = gbx_need(
        event_new(gbx_mcp_loop_base(loop), out->gone_fd, EV_READ, on_gone, out));
    return event_add(out->gone, NULL) == 0;
}

bool gbx_mcp_output_send(gbx_mcp_output *out, const void *data, size_t len)
{
    bool is_idle = out->start == out->queue.len;

    if (out->os_errno != 0 || len > out->queue.ceiling - gbx_mcp_output_waiting(out))
        return false;
    if (len > out->queue.ceiling - out->queue.len) {
        gbx_buf_consume(&out->queue, out->start);
        out->start = 0;
    }
    if (!gbx_buf_append(&out->queue, data, len)) {
        out->queue.failed = false; /* the next message may get memory */
        return false;
    }
    /* If bytes are already queued, the pipe is full: do not try again. */
    if (is_idle)
        gbx_mcp_timer_fire(&out->due);
    out->was_full = out->was_full || gbx_mcp_output_is_full(out);
    return true;
}

void gbx_mcp_output_part(gbx_mcp_output *out)
{
    uint64_t begins = out->written + gbx_mcp_output_waiting(out);

    if (out->ask_unread == 0 || out->os_errno != 0)
        return;
    if (!gbx_buf_append(&out->parts, &begins, sizeof begins))
        out->parts.failed = false; /* then both may be read together */
}

bool gbx_mcp_output_is_full(const gbx_mcp_output *out)
{
    return gbx_mcp_output_waiting(out) > out->queue.ceiling / 16;
}

size_t gbx_mcp_output_waiting(const gbx_mcp_output *out)
{
    return out->queue.len - out->start;
}

uint64_t gbx_mcp_output_written(const gbx_mcp_output *out)
{
    return out->written;
}

int gbx_mcp_output_errno(const gbx_mcp_output *out)
{
    return out->os_errno;
}

/* ---- warnings ---------------------------------------------------------------- */

#define WARNING_BYTES 4096

void gbx_mcp_warn(const char *format, ...)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = GBX_MIB(1)};
    va_list args;

    (void)gbx_buf_puts(&line, "glovebox: ");
    va_start(args, format);
    (void)gbx_buf_vprintf(&line, format, args);
    va_end(args);
    line.len = line.len < WARNING_BYTES ? line.len : WARNING_BYTES - 1;
    if (gbx_buf_puts(&line, "\n"))
        (void)gbx_fd_offer(STDERR_FILENO, line.data, line.len, 0);
}
