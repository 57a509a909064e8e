/* SPDX-License-Identifier: MIT */
/*
 * nats_ledger - calls of two caller processes on three runners over a real nats-server, while
 * runners, workers, callers and the server are killed and links are cut and held, each at a
 * message of a certain type. A host function of the callers notes each effect. Afterwards no
 * call has had two, each call of a living caller has one answer, and it is true.
 *
 * And once more in a network namespace for each process, whose links part, too; and delay, lose
 * and reorder packets, where the kernel can do that.
 *
 * GLOVEBOX_CALLS calls (default 160, and 60 in namespaces); GLOVEBOX_SEED chooses what happens.
 */
#include "nats_ledger.h"
#include "nats_proxy.h"
#include "nats_server.h"
#include "proc.h"
#include "remote/frames.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNNERS    3u
#define PROCESSES  5u /* and the two callers: one lives, one is killed now and then */
#define LIVING     3u
#define MORTAL     4u
#define NEVER_MS   1e300
#define FOREVER_MS 120000 /* for the end of a process, on a loaded machine */

typedef enum deed {
    CUT,
    HOLD,
    KILL_WORKER,
    KILL_RUNNER,
    DRAIN_RUNNER,
    KILL_CALLER,
    KILL_SERVER,
    DEEDS,
} deed;

/* What happens at the next frame of a type: before or after it is passed on. */
typedef struct strike {
    bool is_armed;
    uint8_t type;
    bool is_passed;
    deed deed;
    unsigned runner, hold_ms;
} strike;

typedef struct process {
    pid_t pid; /* 0: not running */
    bool was_struck;
    double start_ms; /* again, not before */
} process;

static nats_server server;
static nats_proxy *proxy;
static pid_t holders[PROCESSES];  /* of their namespaces, or 0 */
static double part_ms[PROCESSES]; /* until then the link is down; 0: it is up */
static process processes[PROCESSES];
static char self[4096]; /* this program */
static unsigned callers, calls, restarts;
static unsigned done[DEEDS];
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of pids, and the next strike */
static strike next;

static unsigned draw(unsigned below)
{
    return (unsigned)random() % below;
}

/* ---- what happens -------------------------------------------------------------------- */

static void end_process(unsigned i, int signal)
{
    if (processes[i].pid == 0)
        return;
    processes[i].was_struck = true;
    (void)kill(processes[i].pid, signal);
}

static void kill_worker(unsigned runner)
{
    static proc_tree tree;

    if (processes[runner].pid == 0)
        return;
    proc_look(processes[runner].pid, &tree);
    processes[runner].was_struck = true;
    if (tree.count > 0)
        (void)kill(tree.pids[next.hold_ms % tree.count], SIGKILL);
}

static proxy_verdict on_frame(void *user, unsigned link, uint8_t type, bool is_passed,
                              unsigned *hold_ms)
{
    proxy_verdict verdict = PROXY_PASS;

    (void)pthread_mutex_lock(&lock);
    if (next.is_armed && next.type == type && next.is_passed == is_passed) {
        unsigned runner = link < RUNNERS ? link : next.runner;

        next.is_armed = false;
        done[next.deed]++;
        *hold_ms = next.hold_ms;
        switch (next.deed) {
        case CUT: verdict = PROXY_CUT; break;
        case HOLD: verdict = PROXY_HOLD; break;
        case KILL_WORKER: kill_worker(runner); break;
        case KILL_RUNNER: end_process(runner, SIGKILL); break;
        case DRAIN_RUNNER: end_process(runner, SIGTERM); break;
        case KILL_CALLER: end_process(MORTAL, SIGKILL); break;
        case KILL_SERVER:
        case DEEDS:
            if (server.pid > 0)
                (void)kill(server.pid, SIGKILL);
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return verdict;
}

static void arm(void)
{
    static const deed deeds[] = {CUT,         CUT,         CUT,          HOLD,
                                 HOLD,        HOLD,        KILL_WORKER,  KILL_WORKER,
                                 KILL_WORKER, KILL_WORKER, KILL_RUNNER,  KILL_RUNNER,
                                 KILL_RUNNER, KILL_CALLER, DRAIN_RUNNER, KILL_SERVER};
    static const uint8_t types[] = {GBX_REMOTE_WANT,  GBX_REMOTE_GRANT,
                                    GBX_REMOTE_GRANT, GBX_REMOTE_REFUSE,
                                    GBX_REMOTE_BLOB,  GBX_REMOTE_FETCH,
                                    GBX_REMOTE_DATA,  GBX_REMOTE_DATA,
                                    GBX_REMOTE_DATA,  GBX_REMOTE_CANCEL,
                                    GBX_REMOTE_END,   GBX_REMOTE_END};

    (void)pthread_mutex_lock(&lock);
    next = (strike){.is_armed = true,
                    .type = types[draw(sizeof types)],
                    .is_passed = draw(2) == 0,
                    .deed = deeds[draw(sizeof deeds / sizeof *deeds)],
                    .runner = draw(RUNNERS),
                    .hold_ms = draw(8) == 0 ? 4000 : draw(300)};
    (void)pthread_mutex_unlock(&lock);
}

/* ---- links ---------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static bool does(const char *format, ...)
{
    char command[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command) == 0;
}

/* A process that does nothing, in a namespace of its own which so exists. */
static pid_t hold_namespace(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) == 0)
            (void)pause();
        _exit(1);
    }
    return pid;
}

/* Between 10.37.I.1 here and 10.37.I.2 there. */
static bool make_link(unsigned i)
{
    pid_t pid = holders[i] = hold_namespace();

    return does(
        "until ip link add l%u type veth peer name e netns %d 2>/dev/null &&"
        " nsenter --net=/proc/%d/ns/net ip link show e >/dev/null 2>&1; do"
        " ip link del l%u 2>/dev/null; sleep 0.1; done;"
        "ip addr add 10.37.%u.1/30 dev l%u && ip link set l%u up &&"
        "nsenter --net=/proc/%d/ns/net sh -c 'ip addr add 10.37.%u.2/30 dev e &&"
        " ip link set lo up && ip link set e up'",
        i, pid, pid, i, i, i, i, pid, i);
}

/* This process is in a new namespace then. */
static bool make_links(void)
{
    bool is_made = unshare(CLONE_NEWNET) == 0 && does("ip link set lo up");

    for (unsigned i = 0; is_made && i < PROCESSES; i++)
        is_made = make_link(i);
    for (unsigned i = 0; is_made && i < PROCESSES; i++)
        if (!does(
                "tc qdisc add dev l%u root netem delay 1ms 1ms loss 0.5%% reorder 5%% "
                "2>/dev/null",
                i)) {
            print_message("no netem: links part, but lose nothing\n");
            break;
        }
    return is_made;
}

static void part_links(void)
{
    unsigned i = draw(4 * PROCESSES);

    if (i < PROCESSES && holders[i] != 0 && part_ms[i] == 0) {
        assert_true(does("ip link set l%u down", i));
        part_ms[i] = now_ms() + (draw(6) == 0 ? 4000 : draw(400));
    }
}

static void join_links(void)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        if (part_ms[i] != 0 && part_ms[i] < now_ms()) {
            assert_true(does("ip link set l%u up", i));
            part_ms[i] = 0;
        }
}

/* ---- processes ------------------------------------------------------------------------ */

static pid_t spawn(unsigned i, char *const *words)
{
    posix_spawn_file_actions_t actions;
    char *argv[16] = {"nsenter"};
    char namespace[64];
    char log[16];
    size_t count = 2;
    pid_t pid;

    (void)snprintf(namespace, sizeof namespace, "--net=/proc/%d/ns/net",
                   (int)holders[i]);
    (void)snprintf(log, sizeof log, "log-%u", i);
    argv[1] = namespace;
    while (*words != NULL)
        argv[count++] = *words++;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, scratch_path(log),
                                           O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)posix_spawn_file_actions_adddup2(&actions, 1, 2);
    words = holders[i] != 0 ? argv : argv + 2;
    assert_int_equal(posix_spawnp(&pid, words[0], &actions, NULL, words, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void start_process(unsigned i)
{
    char host[32];
    char address[64];
    char caller[16];
    char left[16];
    unsigned begun = 0;
    static ledger l;

    (void)snprintf(host, sizeof host, holders[i] != 0 ? "10.37.%u.1" : "127.0.0.1", i);
    (void)snprintf(address, sizeof address, "nats://%s:%d", host,
                   nats_proxy_port(proxy, i));
    if (i < RUNNERS) {
        char *words[] = {GLOVEBOX_COMMAND,
                         "runner",
                         "--nats",
                         address,
                         "--max-workers",
                         "6",
                         "--datasets",
                         (char *)(uintptr_t)scratch_path("kept"),
                         NULL};

        if (i != 0) /* one has a folder */
            words[6] = NULL;
        processes[i].pid = spawn(i, words);
        return;
    }
    if (i == MORTAL) {
        ledger_read(&l, scratch_path("ledger"));
        for (unsigned c = 1; c < LEDGER_CALLERS; c++)
            begun += l.begun[c];
        ledger_free(&l);
    }
    (void)snprintf(caller, sizeof caller, "%u", i == LIVING ? 0 : ++callers);
    (void)snprintf(left, sizeof left, "%u", begun < calls / 2 ? calls / 2 - begun : 0);
    processes[i].pid =
        spawn(i, (char *[]){self, (char *)(uintptr_t)scratch_path("ledger"), address,
                            caller, left, NULL});
}

static void show_log(unsigned i)
{
    char log[16];
    char line[512];
    FILE *file;

    (void)snprintf(log, sizeof log, "log-%u", i);
    file = fopen(scratch_path(log), "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        print_message("%u: %s", i, line);
    if (file != NULL)
        (void)fclose(file);
}

/* Each ends as it was struck, or well. A runner that starts without a server says so, and one
 * whose first worker is killed. */
static void check_end(unsigned i, int status, bool was_struck)
{
    int exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool is_well =
        exit == 0 || (i < RUNNERS && (exit == 69 || (exit == 71 && was_struck)));
    bool was_killed = WIFSIGNALED(status) &&
                      (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);

    if (!is_well && !(was_killed && was_struck)) {
        show_log(i);
        fail_msg("process %u ended with status %x", i, (unsigned)status);
    }
}

/* Take all ends, of strangers that we have inherited too. */
static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        unsigned i = 0;
        bool was_struck = false;

        (void)pthread_mutex_lock(&lock);
        if (pid == server.pid)
            server.pid = 0;
        while (i < PROCESSES && processes[i].pid != pid)
            i++;
        if (i < PROCESSES) {
            was_struck = processes[i].was_struck;
            processes[i] = (process){.start_ms = now_ms() + draw(300)};
            if (i >= RUNNERS && WIFEXITED(status)) /* it is done */
                processes[i].start_ms = NEVER_MS;
        }
        (void)pthread_mutex_unlock(&lock);
        if (i < PROCESSES)
            check_end(i, status, was_struck);
    }
}

static void restart(void)
{
    if (server.pid == 0) {
        nats_server at = server;

        nats_server_restart(&at); /* without our lock: the proxy goes on */
        (void)pthread_mutex_lock(&lock);
        server = at;
        (void)pthread_mutex_unlock(&lock);
        restarts++;
    }
    (void)pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < PROCESSES; i++)
        if (processes[i].pid == 0 && processes[i].start_ms < now_ms()) {
            start_process(i);
            restarts++;
        }
    (void)pthread_mutex_unlock(&lock);
}

static bool has_ended(void *user)
{
    reap();
    return processes[*(unsigned *)user].pid == 0;
}

static bool is_alone(void *user)
{
    reap();
    /* The server, and who holds namespaces. */
    return proc_descendants() == 1u + (holders[0] != 0 ? PROCESSES : 0);
}

/* Nothing but what we know; datasets are for their user alone. */
static void check_files(void)
{
    DIR *folder = opendir(scratch_path("temporary"));
    const struct dirent *e;
    struct stat st;

    while ((e = readdir(folder)) != NULL)
        if (e->d_name[0] != '.')
            fail_msg("'%s' is left", e->d_name);
    (void)closedir(folder);
    folder = opendir(scratch_path("kept"));
    while (folder != NULL && (e = readdir(folder)) != NULL)
        if (e->d_name[0] != '.' &&
            (fstatat(dirfd(folder), e->d_name, &st, 0) != 0 ||
             strlen(e->d_name) != 64 || (st.st_mode & 07777) != 0600))
            fail_msg("'%s' is kept", e->d_name);
    if (folder != NULL)
        (void)closedir(folder);
}

static void print_counts(const ledger *l, double ms)
{
    print_message(
        "%u value, %u lost, %u unavailable, %u aborted, %u timeout, %u crashed, "
        "%u effects, %.1f s\n",
        l->by_code[0], l->by_code[13], l->by_code[7], l->by_code[8], l->by_code[1],
        l->by_code[10], l->effects, ms / 1000);
    print_message("%u cuts, %u holds; killed: %u workers, %u runners, %u callers, %u "
                  "servers; %u drains\n",
                  done[CUT], done[HOLD], done[KILL_WORKER], done[KILL_RUNNER],
                  done[KILL_CALLER], done[KILL_SERVER], done[DRAIN_RUNNER]);
}

static unsigned count_values(void)
{
    static ledger l;
    unsigned count;

    ledger_read(&l, scratch_path("ledger"));
    count = l.by_code[GBX_CODE_VALUE];
    ledger_free(&l);
    return count;
}

/* Let all happen until the callers are done. A call has a value between two strikes: on a slow
 * machine too, runners live long enough to be struck at work. */
static void let_happen(void)
{
    unsigned values = 0;
    unsigned pause_ms =
        calls > 1000 ? 100 : 20; /* a long run has more calls for each */
    double from = now_ms();
    double strike_ms = from;

    while (processes[LIVING].start_ms < NEVER_MS ||
           processes[MORTAL].start_ms < NEVER_MS) {
        reap();
        restart();
        join_links();
        if (strike_ms < now_ms() && count_values() > values) {
            values = count_values();
            arm();
            part_links();
            strike_ms = now_ms() + pause_ms + draw(8 * pause_ms);
        }
        (void)usleep(5000);
        if (now_ms() - from > FOREVER_MS + 20.0 * calls)
            fail_msg("the callers do not come to an end");
    }
    next.is_armed = false;
}

/* Runners end well, and leave no process and no file. */
static void end_runners(void)
{
    for (unsigned i = 0; i < RUNNERS; i++) {
        end_process(i, SIGTERM);
        if (!until(has_ended, &i, 30000)) {
            show_log(i);
            fail_msg("runner %u does not end", i);
        }
    }
    assert_true(until(is_alone, NULL, 20000));
    check_files();
}

/* share: of the calls that are asked for. */
static void keep_ledger(unsigned standard, unsigned share)
{
    const char *given = getenv("GLOVEBOX_CALLS");
    const char *seed = getenv("GLOVEBOX_SEED");
    double from = now_ms();
    static ledger l;

    calls = given != NULL ? (unsigned)strtoul(given, NULL, 10) / share : standard;
    srandom(seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : 1);
    nats_server_start(&server, "");
    proxy = nats_proxy_start(server.port, PROCESSES, on_frame, NULL);
    let_happen();
    end_runners();
    ledger_read(&l, scratch_path("ledger"));
    print_counts(&l, now_ms() - from);
    ledger_check(&l);
    assert_true(l.begun[0] == calls / 2 && l.by_code[GBX_CODE_VALUE] > calls / 20);
    assert_true(l.fds[1] <= l.fds[0] + 2);
    assert_true(l.rss_kib[1] < l.rss_kib[0] + 16 * 1024);
    ledger_free(&l);
}

TEST(every_call__is_told_the_truth)
{
    keep_ledger(160, 1);
}

TEST(every_call__is_told_the_truth_over_links_that_part)
{
    if (!make_links()) {
        print_message("skipped: no network namespaces for this user\n");
        skip();
    }
    keep_ledger(60, 10);
}

static int begin(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    scratch_folder("temporary");
    (void)setenv("TMPDIR", scratch_path("temporary"), 1);
    memset(processes, 0, sizeof processes);
    memset(done, 0, sizeof done);
    callers = 0;
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int end(void **state)
{
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (processes[i].pid != 0) {
            (void)kill(processes[i].pid, SIGKILL);
            (void)waitpid(processes[i].pid, NULL, 0);
        }
        if (holders[i] != 0) {
            (void)kill(holders[i], SIGKILL);
            (void)waitpid(holders[i], NULL, 0);
        }
    }
    nats_proxy_stop(proxy);
    proxy = NULL;
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

int main(int argc, char **argv)
{
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    if (argc == 5)
        return ledger_caller(argv[1], argv[2], (unsigned)strtoul(argv[3], NULL, 10),
                             (unsigned)strtoul(argv[4], NULL, 10));
    nats_server_need();
    assert_true(len > 0);
    tests_each(begin, end);
    return tests_run(NULL, NULL);
}
