/* SPDX-License-Identifier: MIT */
/* nats_runner - see nats_runner.h. */
#include "nats_runner.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 32

/* The words are arguments of this program. */
static pid_t start_program(const char *program, const char *words, int out)
{
    char text[2048];
    char *argv[WORDS_MAX + 2] = {(char *)(uintptr_t)program};
    char *rest = text;
    size_t count = 1;
    posix_spawn_file_actions_t actions;
    pid_t pid;

    (void)snprintf(text, sizeof text, "%s", words);
    while (rest != NULL && count < WORDS_MAX)
        argv[count++] = strsep(&rest, " ");
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, out, 1);
    (void)posix_spawn_file_actions_adddup2(&actions, out, 2);
    assert_int_equal(posix_spawnp(&pid, program, &actions, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static pid_t start(const char *words, int out)
{
    return start_program(GLOVEBOX_COMMAND, words, out);
}

static int wait_for_exit(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int glovebox_run(const char *words, char *output, size_t size)
{
    int ends[2];
    size_t len = 0;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = start(words, ends[1]);
    (void)close(ends[1]);
    while (len + 1 < size && (n = read(ends[0], output + len, size - len - 1)) > 0)
        len += (size_t)n;
    output[len] = '\0';
    (void)close(ends[0]);
    return wait_for_exit(pid);
}

static bool is_listed(void *user)
{
    const nats_runner *runner = user;
    char words[600];
    char output[8192];

    (void)snprintf(words, sizeof words, "runners --nats %s", runner->lister);
    return glovebox_run(words, output, sizeof output) == 0 &&
           strstr(output, "serving") != NULL;
}

void nats_runner_start(nats_runner *runner, const char *address, const char *options)
{
    nats_runner_start_as(runner, address, options, address);
}

static void begin(nats_runner *runner, const char *program, const char *words,
                  const char *lister)
{
    int out;

    *runner = (nats_runner){0};
    (void)snprintf(runner->lister, sizeof runner->lister, "%s", lister);
    out = open(scratch_path("runner.log"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
               0600);
    assert_true(out >= 0);
    runner->pid = start_program(program, words, out);
    (void)close(out);
    assert_true(until(is_listed, runner, 30000));
}

void nats_runner_start_as(nats_runner *runner, const char *address, const char *options,
                          const char *lister)
{
    char words[1024];

    (void)snprintf(words, sizeof words, "runner --nats %s%s%s", address,
                   *options != '\0' ? " " : "", options);
    begin(runner, GLOVEBOX_COMMAND, words, lister);
}

/* As root without a namespace of users, as then fewer layers of the seal stand. */
static const char *unshare_options(void)
{
    return geteuid() == 0 ? "-Tf --kill-child" : "-UrTf --kill-child";
}

bool nats_runner_may_start_in(void)
{
    char words[128];
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid;

    (void)snprintf(words, sizeof words, "%s --monotonic 1 true", unshare_options());
    pid = start_program("unshare", words, out);
    (void)close(out);
    return wait_for_exit(pid) == 0;
}

void nats_runner_start_in(nats_runner *runner, const char *address,
                          const char *namespace)
{
    char words[1024];

    (void)snprintf(words, sizeof words, "%s %s %s runner --nats %s", unshare_options(),
                   namespace, GLOVEBOX_COMMAND, address);
    begin(runner, "unshare", words, address);
}

void nats_runner_signal(nats_runner *runner, int signal)
{
    assert_int_equal(kill(runner->pid, signal), 0);
}

static bool has_ended(void *user)
{
    nats_runner *runner = user;

    return waitpid(runner->pid, &runner->status, WNOHANG) == runner->pid;
}

void nats_runner_await_end(nats_runner *runner)
{
    assert_true(until(has_ended, runner, 20000));
    runner->pid = 0;
}

void nats_runner_stop(nats_runner *runner)
{
    if (runner->pid == 0)
        return;
    (void)kill(runner->pid, SIGKILL);
    (void)waitpid(runner->pid, &runner->status, 0);
    runner->pid = 0;
}
