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
        return gbx_attack_verdict_of(fd);
    return gbx_attack_verdict_of(GBX_TRY(a, read, fd, GBX_P(&byte), 1));
}

static gbx_attack_verdict read_path(gbx_attack *a, const char *path)
{
    return read_byte(a, GBX_TRY(a, openat, AT_FDCWD, GBX_P(path), O_RDONLY));
}

/* ---- attacks ---------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_open_file(gbx_attack *a)
{
#ifdef SYS_open
    return read_byte(a, GBX_TRY(a, open, GBX_P(VICTIM), O_RDONLY));
#else
    return read_path(a, VICTIM);
#endif
}

gbx_attack_verdict gbx_attack_openat_file(gbx_attack *a)
{
    return read_path(a, VICTIM);
}

gbx_attack_verdict gbx_attack_openat2_file(gbx_attack *a)
{
    struct open_how how = {.flags = O_RDONLY};

    return read_byte(a, GBX_TRY(a, openat2, AT_FDCWD, GBX_P(VICTIM), GBX_P(&how),
                                sizeof how));
}

gbx_attack_verdict gbx_attack_creat_file(gbx_attack *a)
{
    long fd = GBX_TRY(a, openat, AT_FDCWD, GBX_P(TRACE), O_CREAT | O_WRONLY, 0600);

    if (fd >= 0)
        (void)unlink(TRACE);
    return gbx_attack_verdict_of(fd);
}

gbx_attack_verdict gbx_attack_make_directory(gbx_attack *a)
{
    long result = GBX_TRY(a, mkdirat, AT_FDCWD, GBX_P(TRACE "-dir"), 0700);

    if (result == 0)
        (void)rmdir(TRACE "-dir");
    return gbx_attack_verdict_of(result);
}

gbx_attack_verdict gbx_attack_make_link(gbx_attack *a)
{
    long result = GBX_TRY(a, symlinkat, GBX_P("/"), AT_FDCWD, GBX_P(TRACE "-link"));

    if (result == 0)
        (void)unlink(TRACE "-link");
    return gbx_attack_verdict_of(result);
}

gbx_attack_verdict gbx_attack_stat_file(gbx_attack *a)
{
    struct statx info;

    return gbx_attack_verdict_of(
        GBX_TRY(a, statx, AT_FDCWD, GBX_P(VICTIM), 0, STATX_BASIC_STATS, GBX_P(&info)));
}

/* A breach is any entry besides "." and "..". */
gbx_attack_verdict gbx_attack_list_root(gbx_attack *a)
{
    char entries[1024];
    long fd = GBX_TRY(a, openat, AT_FDCWD, GBX_P("/"), O_RDONLY | O_DIRECTORY);
    long len;

    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    len = GBX_TRY(a, getdents64, fd, GBX_P(entries), sizeof entries);
    return len > 48 ? GBX_BREACH : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_read_link(gbx_attack *a)
{
    char target[256];

    return gbx_attack_verdict_of(GBX_TRY(a, readlinkat, AT_FDCWD,
                                         GBX_P("/proc/self/exe"), GBX_P(target),
                                         sizeof target));
}

gbx_attack_verdict gbx_attack_change_directory(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, chdir, GBX_P("/etc")));
}

/* A handle needs no path walk: it can open what a private root hides. */
gbx_attack_verdict gbx_attack_open_handle(gbx_attack *a)
{
    union {
        struct file_handle handle;
        char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } u = {0};
    int mount_id = 0;
    long root;

    u.handle.handle_bytes = MAX_HANDLE_SZ;
    if (GBX_TRY(a, name_to_handle_at, AT_FDCWD, GBX_P(VICTIM), GBX_P(&u),
                GBX_P(&mount_id), 0) < 0)
        return gbx_attack_verdict_of(-1);
    root = GBX_TRY(a, openat, AT_FDCWD, GBX_P("/etc"), O_RDONLY | O_DIRECTORY);
    if (root < 0)
        return gbx_attack_verdict_of(root);
    return read_byte(a, GBX_TRY(a, open_by_handle_at, root, GBX_P(&u), O_RDONLY));
}

gbx_attack_verdict gbx_attack_read_environ(gbx_attack *a)
{
    return read_path(a, "/proc/self/environ");
}

gbx_attack_verdict gbx_attack_read_maps(gbx_attack *a)
{
    return read_path(a, "/proc/self/maps");
}

/* The only way to overwrite code that is mapped read-only. */
gbx_attack_verdict gbx_attack_write_self_mem(gbx_attack *a)
{
    static const volatile char target = 1;
    char byte = 2;
    long fd = GBX_TRY(a, openat, AT_FDCWD, GBX_P("/proc/self/mem"), O_RDWR);

    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    (void)GBX_TRY(a, pwrite64, fd, GBX_P(&byte), 1, GBX_P(&target));
    return target == 2 ? GBX_BREACH : GBX_REFUSED;
}

/* A path below our own root would be the host's. */
gbx_attack_verdict gbx_attack_read_cgroup(gbx_attack *a)
{
    char text[4096] = "";
    long fd = GBX_TRY(a, openat, AT_FDCWD, GBX_P("/proc/self/cgroup"), O_RDONLY);

    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    (void)GBX_TRY(a, read, fd, GBX_P(text), sizeof text - 1);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *path = strrchr(line, ':');

        if (path != NULL && strcmp(path, ":/") != 0)
            return GBX_BREACH;
    }
    /* The host may be at its root itself: then nothing is revealed. */
    (void)snprintf(a->note, sizeof a->note, "no path but /");
    return GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_watch_file(gbx_attack *a)
{
    long fd = GBX_TRY(a, inotify_init1, 0);

    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    return gbx_attack_verdict_of(GBX_TRY(a, inotify_add_watch, fd, GBX_P("/etc"), 2));
}

/* Success executes another program, whose exit status is 1: a breach. */
gbx_attack_verdict gbx_attack_execute_file(gbx_attack *a)
{
    const char *argv[] = {"false", NULL};
    const char *envp[] = {NULL};
    long result = GBX_TRY(a, execve, GBX_P("/bin/false"), GBX_P(argv), GBX_P(envp));

    return gbx_attack_verdict_of(result);
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

gbx_attack_verdict gbx_attack_execute_memory(gbx_attack *a)
{
    const char *argv[] = {"program", NULL};
    const char *envp[] = {NULL};
    unsigned char program[512];
    size_t size = make_program(program);
    long fd = GBX_TRY(a, memfd_create, GBX_P("program"), 0);

    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    if (GBX_TRY(a, write, fd, GBX_P(program), (long)size) < 0)
        return GBX_BREACH;
    return gbx_attack_verdict_of(
        GBX_TRY(a, execveat, fd, GBX_P(""), GBX_P(argv), GBX_P(envp), AT_EMPTY_PATH));
}
