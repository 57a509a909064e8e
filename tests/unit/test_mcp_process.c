/* SPDX-License-Identifier: MIT */
/* Servers as processes: what they say, how they end, and that nothing of them is left. */
#include "mcp/upstream/internal.h"
#include "test.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "marked.h"
#include "until.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that forks twice, takes a session of its own and ignores what it can. */
#define DAEMON \
    "(trap '' HUP TERM INT; setsid sh -c 'trap \"\" HUP TERM; sleep 600; :' &) &"

typedef struct world {
    gbx_mcp_loop *loop;
    gbx_yard yard;
    gbx_link *process;
    char mark[64];
    gbx_mcp_upstream_config config;
    gbx_mcp_variable env;
    char lines[4][128];
    unsigned line_count;
    unsigned wanted; /* lines, then the loop stops; 0: never */
    unsigned long_lines;
    char errors[128]; /* the last line */
    unsigned error_count;
    char why[1024];
    bool has_ended;
    bool is_lasting;
} world;

static world its;
static world *const w = &its;

static void on_line(void *user, const char *line, size_t len, int64_t about)
{
    (void)snprintf(w->lines[w->line_count++ % 4], 128, "%.*s", (int)len, line);
    if (w->line_count == w->wanted)
        (void)event_base_loopbreak(gbx_mcp_loop_base(w->loop));
}

static void on_long_line(void *user)
{
    w->long_lines++;
}

static void on_error_line(void *user, const char *line)
{
    w->error_count++;
    (void)snprintf(w->errors, sizeof w->errors, "%s", line);
}

static void on_deaf(void *user, uint64_t written, const char *why)
{
}

static void on_ended(void *user, const char *why, bool is_lasting)
{
    w->has_ended = true;
    w->is_lasting = is_lasting;
    (void)snprintf(w->why, sizeof w->why, "%s", why);
    w->process = NULL;
    (void)event_base_loopbreak(gbx_mcp_loop_base(w->loop));
}

static gbx_status try_start(const char *program, const char *script,
                            const char *directory)
{
    char option[] = "-c";
    char text[1024];
    char *args[] = {option, text, NULL};
    gbx_error error;
    gbx_link_options options = {
        .loop = w->loop,
        .yard = &w->yard,
        .config = &w->config,
        .hooks = {.user = w,
                  .message = on_line,
                  .too_long = on_long_line,
                  .log = on_error_line,
                  .deaf = on_deaf,
                  .lost = on_ended},
    };

    (void)snprintf(text, sizeof text, "%s", script);
    memcpy(&w->config.command, &program, sizeof program);
    memcpy(&w->config.cwd, &directory, sizeof directory);
    w->config.args = args;
    w->config.arg_count = 2;
    return gbx_link_stdio(&options, &w->process, &error);
}

static void start(const char *script)
{
    assert_int_equal(try_start("sh", script, NULL), GBX_OK);
}

static void run(void)
{
    (void)event_base_loop(gbx_mcp_loop_base(w->loop), EVLOOP_NO_EXIT_ON_EMPTY);
}

static int set_up(void **state)
{
    *w = (world){0};
    (void)signal(SIGPIPE, SIG_IGN);
    w->loop = gbx_mcp_loop_new();
    assert_non_null(w->loop);
    marked_name(w->mark, sizeof w->mark);
    w->env.name = strdup(w->mark);
    w->env.value = strchr(w->env.name, '=') + 1;
    w->env.value[-1] = 0;
    w->config.env = &w->env;
    w->config.env_count = 1;
    return 0;
}

static int set_up_plain(void **state)
{
    int result = set_up(state);

    w->yard.is_plain = true;
    return result;
}

static int tear_down(void **state)
{
    gbx_yard_clear(&w->yard, 50);
    assert_int_equal(marked_count(w->mark), 0);
    gbx_mcp_loop_free(w->loop);
    free(w->env.name);
    return 0;
}

#define BEST(name) TEST_WITH(set_up, tear_down, name)

/* The same where no namespace is to be had, too. */
#define BOTH(name)                                                              \
    static void test_##name(void **state);                                      \
    __attribute__((constructor)) static void add_plain_##name(void)             \
    {                                                                           \
        test_add((struct CMUnitTest){"plain " #name, test_##name, set_up_plain, \
                                     tear_down, NULL});                         \
    }                                                                           \
    BEST(name)

BEST(process__answers_line_by_line)
{
    w->wanted = 2;
    start("while read -r line; do echo \"<$line>\"; done");
    assert_true(
        w->process->ops->send(w->process,
                              &(gbx_link_message){.text = "one\ntwo\n", .len = 8}));
    run();

    assert_string_equal(w->lines[0], "<one>");
    assert_string_equal(w->lines[1], "<two>");
}

BOTH(process__is_contained_or_says_that_it_is_not)
{
    const char *how;

    w->wanted = 1;
    start("echo $$; read -r line");
    run();

    how = w->process->ops->containment(w->process);
    assert_non_null(strstr(how, w->yard.is_plain ? "no namespace" : "pid namespace"));
    if (!w->yard.is_plain)
        assert_string_equal(w->lines[0], "2");
}

/* As an ordinary user, too: who they are and what is theirs is as it was. */
BEST(process__reads_and_writes_files_as_we_do)
{
    char expected[64];

    w->wanted = 2;
    (void)snprintf(expected, sizeof expected, "%u %u", geteuid(), geteuid());
    start("f=$(mktemp) && chmod 600 \"$f\" && echo ok >\"$f\" && cat \"$f\" && "
          "echo $(id -u) $(stat -c %u \"$f\"); rm -f \"$f\"; read -r line");
    run();

    assert_string_equal(w->lines[0], "ok");
    assert_string_equal(w->lines[1], expected);
}

BOTH(process__has_none_of_our_descriptors)
{
    int kept = open("/dev/null", O_RDONLY); /* not closed at exec by itself */

    assert_true(kept > 2);
    w->wanted = 1;
    start("echo $(ls /proc/self/fd | wc -l); read -r line");
    run();

    /* Its three, and the one that ls reads the folder by. */
    assert_string_equal(w->lines[0], "4");
    (void)close(kept);
}

BOTH(process__end_is_told_with_status_and_last_words)
{
    start("echo first >&2; echo 'no \033[31mtoken' >&2; exit 3");
    run();

    assert_true(w->has_ended);
    assert_false(w->is_lasting);
    assert_string_equal(w->why, "it ended with status 3; its last words: "
                                "first | no \\u{1b}[31mtoken");
}

BEST(process__killed_by_a_signal_is_said_so)
{
    start("kill -9 $$");
    run();

    assert_non_null(strstr(w->why, "it was killed by signal 9"));
}

BEST(process__what_it_said_before_its_end_is_read)
{
    start("echo last");
    run();

    assert_string_equal(w->lines[0], "last");
}

BEST(process__without_command_or_directory_says_why)
{
    assert_int_equal(try_start("/no/such/command", "", NULL), GBX_OK);
    run();
    assert_non_null(strstr(w->why, "its command '/no/such/command' cannot be executed: "
                                   "No such file"));
    assert_true(w->is_lasting);

    assert_int_equal(try_start("sh", ":", "/no/such/directory"), GBX_OK);
    run();
    assert_non_null(strstr(w->why, "its directory '/no/such/directory' cannot be "
                                   "entered: No such file"));
    assert_true(w->is_lasting);
}

BEST(process__flood_of_errors_is_bounded_and_does_no_harm)
{
    w->wanted = 1;
    start("i=0; while [ $i -lt 40000 ]; do echo \"flood $i flood flood\"; "
          "i=$((i+1)); done >&2; echo done; read -r line");
    run();

    assert_string_equal(w->lines[0], "done");
    assert_true(w->error_count > 0 && w->error_count < 5000);
}

BEST(process__line_too_long_is_skipped)
{
    w->wanted = 1;
    start("head -c 34000000 /dev/zero | tr '\\0' x; echo; echo next; read -r line");
    run();

    assert_int_equal(w->long_lines, 1);
    assert_string_equal(w->lines[0], "next");
}

BOTH(process__left_ends_with_its_input)
{
    w->wanted = 1;
    start("echo up; while read -r line; do :; done");
    run();
    w->process->ops->leave(w->process, false);
    while (!LIST_EMPTY(&w->yard.processes))
        (void)event_base_loop(gbx_mcp_loop_base(w->loop), EVLOOP_ONCE);

    assert_false(w->has_ended);
}

BOTH(process__left_is_killed_if_it_ignores_everything)
{
    w->wanted = 1;
    start(DAEMON " trap '' TERM HUP INT; echo up; while :; do sleep 100; done");
    run();
    w->process->ops->leave(w->process, false);
    while (!LIST_EMPTY(&w->yard.processes))
        (void)event_base_loop(gbx_mcp_loop_base(w->loop), EVLOOP_ONCE);

    assert_int_equal(marked_count(w->mark), 0);
}

/* The first process is the server: what it leaves behind serves nobody. */
BOTH(process__end_takes_its_daemons_along)
{
    start(DAEMON " echo up; sleep 0.2");
    run();

    assert_true(w->has_ended);
    assert_int_equal(marked_count(w->mark), 0);
}

BEST(process__closed_output_is_its_end)
{
    start("exec >&-; while :; do sleep 100; done");
    run();

    assert_true(w->has_ended);
}

BOTH(yard__clears_many_in_bounded_time)
{
    int64_t start_ns;

    w->wanted = 8;
    for (int i = 0; i < 8; i++)
        start(DAEMON " trap '' TERM HUP INT; echo up; while :; do sleep 100; done");
    run();
    start_ns = gbx_clock_now_ns();
    gbx_yard_clear(&w->yard,
                   1000); /* a busy machine needs long to end what is killed */

    assert_true(LIST_EMPTY(&w->yard.processes));
    assert_int_equal(marked_count(w->mark), 0);
    assert_true(gbx_clock_now_ns() - start_ns < 30000 * GBX_NS_PER_MS);
}

/* The owner of a server with daemons of its own is killed; nothing of it is left. */
static void kill_owner(const char *script)
{
    pid_t owner = fork();

    assert_true(owner >= 0);
    if (owner == 0) {
        w->wanted = 0;
        if (try_start("sh", script, NULL) == GBX_OK)
            run();
        _exit(1);
    }
    assert_true(until(marked_some, w->mark, 60000));
    (void)usleep(100000); /* its daemons are about to be born */
    (void)kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);

    assert_true(until(marked_none, w->mark, 60000));
}

BOTH(orphans__die_with_an_owner_that_is_killed)
{
    kill_owner("sh -c 'sleep 600; :' & wait");
}

BOTH(orphans__that_forked_twice_die_with_it)
{
    kill_owner(DAEMON " " DAEMON " trap '' HUP TERM; sleep 600 & wait; sleep 600");
}

/* Our end of the socket is gone, and we are not: no death signal is sent. */
BOTH(orphans__die_with_our_end_of_the_socket)
{
    char *args[] = {(char[]){"-c"}, (char[]){DAEMON " sleep 600; :"}, NULL};
    gbx_spawned_server at;
    gbx_error error;

    w->config.command = (char[]){"sh"};
    w->config.args = args;
    w->config.arg_count = 2;
    assert_int_equal(gbx_server_spawn(&w->config, &w->yard, &at, &error), GBX_OK);
    assert_true(until(marked_some, w->mark, 60000));
    (void)usleep(100000); /* its daemon is born, or will die with its parents */
    gbx_fd_close(&at.fds[GBX_KEEPER_FD]);

    assert_true(until(marked_none, w->mark, 60000));
    (void)waitid((idtype_t)3 /* P_PIDFD */, (id_t)at.pidfd, NULL, WEXITED);
    gbx_spawned_server_close(&at);
}

/* None of them runs: the kernel kills whom death signals and the namespace say. */
BEST(orphans__die_though_all_of_them_are_stopped)
{
    int ends[2], status;
    char up = 0;
    pid_t owner;

    assert_int_equal(pipe(ends), 0);
    owner = fork();
    if (owner == 0) {
        w->wanted = 1; /* when it speaks, all is set up */
        if (try_start("sh", "echo up; sleep 600; :", NULL) == GBX_OK) {
            run();
            (void)!write(ends[1], "!", 1);
            run();
        }
        _exit(1);
    }
    assert_int_equal(read(ends[0], &up, 1), 1);
    marked_signal(w->mark, SIGSTOP); /* no word is heard any more */
    (void)kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_true(WIFSIGNALED(status));

    assert_true(until(marked_none, w->mark, 60000));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

TEST_MAIN(NULL, NULL)
