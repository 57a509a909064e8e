/* SPDX-License-Identifier: MIT */
/* attack_files - attacks on the file system, and new programs from it. */
#include "worker/worker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VICTIM "/etc/passwd"
#define TRACE  "/tmp/glovebox-attack"

/* A byte that was read is a breach. */
static gbx_attack_verdict read_byte(gbx_attack *a, long fd)
{
    char byte;

    if (fd < 0)
        return gbx_attack_done(fd);
    return gbx_attack_done(TRY(read, fd, P(&byte), 1));
}

static gbx_attack_verdict read_path(gbx_attack *a, const char *path)
{
    return read_byte(a, TRY(openat, AT_FDCWD, P(path), O_RDONLY));
}

/* ---- attacks ---------------------------------------------------------------- */

#ifdef SYS_open
#    define OPEN_FILE TRY(open, P(VICTIM), O_RDONLY)
#else
#    define OPEN_FILE TRY(openat, AT_FDCWD, P(VICTIM), O_RDONLY)
#endif

/* Remove what the attack has made. */
static gbx_attack_verdict undone(long result, const char *path)
{
    if (result >= 0)
        (void)remove(path);
    return gbx_attack_done(result);
}

/* A breach is any entry besides "." and "..". */
static gbx_attack_verdict list_root(gbx_attack *a)
{
    char entries[1024];
    long fd = TRY(openat, AT_FDCWD, P("/"), O_RDONLY | O_DIRECTORY);
    long len;

    if (fd < 0)
        return gbx_attack_done(fd);
    len = TRY(getdents64, fd, P(entries), sizeof entries);
    return len > 48 ? GBX_BREACH : GBX_REFUSED;
}

/* A handle needs no path walk: it can open what a private root hides. */
static gbx_attack_verdict open_handle(gbx_attack *a)
{
    union {
        struct file_handle handle;
        char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } u = {0};
    int mount_id = 0;
    long root;

    u.handle.handle_bytes = MAX_HANDLE_SZ;
    if (TRY(name_to_handle_at, AT_FDCWD, P(VICTIM), P(&u), P(&mount_id), 0) < 0)
        return gbx_attack_done(-1);
    root = TRY(openat, AT_FDCWD, P("/etc"), O_RDONLY | O_DIRECTORY);
    if (root < 0)
        return gbx_attack_done(root);
    return read_byte(a, TRY(open_by_handle_at, root, P(&u), O_RDONLY));
}

/* The only way to overwrite code that is mapped read-only. */
static gbx_attack_verdict write_self_mem(gbx_attack *a)
{
    static const volatile char target = 1;
    char byte = 2;
    long fd = TRY(openat, AT_FDCWD, P("/proc/self/mem"), O_RDWR);

    if (fd < 0)
        return gbx_attack_done(fd);
    (void)TRY(pwrite64, fd, P(&byte), 1, P(&target));
    return target == 2 ? GBX_BREACH : GBX_REFUSED;
}

/* A path below our own root would be the host's. */
static gbx_attack_verdict read_cgroup(gbx_attack *a)
{
    char text[4096] = "";
    long fd = TRY(openat, AT_FDCWD, P("/proc/self/cgroup"), O_RDONLY);

    if (fd < 0)
        return gbx_attack_done(fd);
    (void)TRY(read, fd, P(text), sizeof text - 1);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *path = strrchr(line, ':');

        if (path != NULL && strcmp(path, ":/") != 0)
            return GBX_BREACH;
    }
    /* The host may itself be at the root: then nothing is revealed. */
    (void)snprintf(a->note, sizeof a->note, "no path but /");
    return GBX_REFUSED;
}

static gbx_attack_verdict watch_file(gbx_attack *a)
{
    long fd = TRY(inotify_init1, 0);

    if (fd < 0)
        return gbx_attack_done(fd);
    return gbx_attack_done(TRY(inotify_add_watch, fd, P("/etc"), 2));
}

/* Success executes another program, whose exit status is 1: a breach. */
static gbx_attack_verdict execute_file(gbx_attack *a)
{
    const char *argv[] = {"false", NULL};
    const char *envp[] = {NULL};
    long result = TRY(execve, P("/bin/false"), P(argv), P(envp));

    return gbx_attack_done(result);
}

#if defined(__x86_64__)

/* The smallest possible program: it calls exit_group(1), which shows a breach. The
 * kernel gets it only from memory, without an interpreter that a layer could refuse. */
static size_t make_program(unsigned char *to)
{
    static const unsigned char code[] = {0x31, 0xff, 0xff, 0xc7, 0xb8, 0xe7,
                                         0,    0,    0,    0x0f, 0x05};
    const uint64_t base = 0x400000;
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                                     ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_entry = base + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
                         .e_phoff = sizeof header,
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1};
    size_t size = sizeof header + sizeof(Elf64_Phdr) + sizeof code;
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_vaddr = base,
                          .p_filesz = size,
                          .p_memsz = size,
                          .p_align = 4096};

    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, &segment, sizeof segment);
    memcpy(to + sizeof header + sizeof segment, code, sizeof code);
    return size;
}

#else

static size_t make_program(unsigned char *to)
{
    static const char script[] = "#!/bin/false\n";

    memcpy(to, script, sizeof script - 1);
    return sizeof script - 1;
}

#endif

static gbx_attack_verdict execute_memory(gbx_attack *a)
{
    const char *argv[] = {"program", NULL};
    const char *envp[] = {NULL};
    unsigned char program[512];
    size_t size = make_program(program);
    long fd = TRY(memfd_create, P("program"), 0);

    if (fd < 0)
        return gbx_attack_done(fd);
    if (TRY(write, fd, P(program), (long)size) < 0)
        return GBX_BREACH;
    return gbx_attack_done(TRY(execveat, fd, P(""), P(argv), P(envp), AT_EMPTY_PATH));
}

GBX_ATTACK_LINES(gbx_attack_files, GBX_ATTACKS_ON_FILES)
