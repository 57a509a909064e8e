/* SPDX-License-Identifier: MIT */
/* security_log - what is lost where there is no room, and what is not. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct world {
    char path[64];
    gbx_security_log log;
    gbx_options options;
} world;

static void setup(world *w, gbx_log_patience patience)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_error err = {0};

    *w = (world){.path = "/tmp/gbx-security-log-XXXXXX"};
    fd = mkstemp(w->path);
    assert_true(fd >= 0);
    assert_int_equal(gbx_security_log_open(&w->log, w->path, patience, &err), GBX_OK);
    gbx_security_log_use(&w->log, &w->options);
    /* A file that is too long is an error of write(), as a full disk is. */
    (void)signal(SIGXFSZ, SIG_IGN);
}

static void have_room(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void write_line(const world *w, const char *line)
{
    w->options.on_audit(w->options.audit_user, line, strlen(line));
}

static void assert_file(const char *path, const char *wanted)
{
    char text[200] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    assert_string_equal(text, wanted);
}

TEST(security_log__ends_a_line_of_which_a_part_was_written)
{
    gbx_error err = {0};
    world w;

    setup(&w, GBX_LOG_WAITS);
    have_room(12);
    write_line(&w, "{\"n\":1}\n");
    write_line(&w, "{\"n\":2}\n");
    write_line(&w, "{\"n\":3}\n");
    have_room(RLIM_INFINITY);
    write_line(&w, "{\"n\":4}\n");
    write_line(&w, "{\"n\":5}\n");

    assert_file(w.path, "{\"n\":1}\n{\"n\"\n{\"n\":4}\n{\"n\":5}\n");
    assert_int_equal(gbx_security_log_close(&w.log, &err), GBX_E_OS);
    assert_non_null(strstr(err.message, "File too large"));
    (void)unlink(w.path);
}

TEST(security_log__names_the_client_where_a_line_stays_whole_in_a_pipe)
{
    static const struct {
        int len;
        bool is_named;
    } rows[] = {{100, true}, {4080, true}, {4081, false}, {4096, false}};

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char line[4097];
        char text[4200] = "";
        FILE *file;
        world w;

        (void)snprintf(line, sizeof line, "{\"n\":\"%0*d\"}\n", rows[i].len - 9, 0);
        assert_int_equal(strlen(line), rows[i].len);
        setup(&w, GBX_LOG_WAITS);
        w.log.client = "ada";
        write_line(&w, line);
        file = fopen(w.path, "r");
        assert_non_null(file);
        (void)!fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
        assert_true(strlen(text) <= 4096);
        assert_int_equal(strstr(text, ",\"client\":\"ada\"}\n") != NULL,
                         rows[i].is_named);
        assert_int_equal(gbx_security_log_close(&w.log, NULL), GBX_OK);
        (void)unlink(w.path);
    }
}

TEST(security_log__has_no_empty_line_where_nothing_was_written)
{
    gbx_error err = {0};
    world w;

    setup(&w, GBX_LOG_WAITS);
    have_room(8);
    write_line(&w, "{\"n\":1}\n");
    write_line(&w, "{\"n\":2}\n");
    have_room(RLIM_INFINITY);
    write_line(&w, "{\"n\":3}\n");

    assert_file(w.path, "{\"n\":1}\n{\"n\":3}\n");
    assert_int_equal(gbx_security_log_close(&w.log, &err), GBX_E_OS);
    (void)unlink(w.path);
}

TEST_MAIN(NULL, NULL)
