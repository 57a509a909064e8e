/* SPDX-License-Identifier: MIT */
/*
 * worker - the interfaces between the files of the worker program. The command also
 * uses the victims of the attack mode.
 */
#ifndef GBX_WORKER_WORKER_H
#define GBX_WORKER_WORKER_H

#include "realm/realm.h"
#include "seal/seal.h"
#include "wire/messages.h"
#include "wire/wire.h"
#include "worker/attack_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- attack.c ------------------------------------------------------------ */

/*
 * Assume breach: a process sealed as a worker attacks its seal.
 *
 * Only the attack mode of the worker program calls it. A worker that serves calls is
 * never started in that mode.
 */

/* Try attack number index, or with GBX_ATTACK_SWEEP + N system call N; leave a line on
 * the channel and end the process with a GBX_ATTACK_EXIT status. */
_Noreturn void gbx_attack_run(uint32_t index);

/*
 * The building blocks of the attacks. They run raw system calls, in a process that may
 * have all layers, one, or none.
 */

typedef enum gbx_attack_verdict {
    GBX_REFUSED = GBX_ATTACK_EXIT_REFUSED,
    GBX_BREACH = GBX_ATTACK_EXIT_BREACH,
    GBX_ABSENT = GBX_ATTACK_EXIT_ABSENT,
} gbx_attack_verdict;

/* An attack's note: what it saw last. */
typedef struct gbx_attack {
    char note[GBX_ATTACK_NOTE_SIZE];
} gbx_attack;

/* A raw system call of up to six arguments, given as longs or pointers; records its
 * name and how it ended. Returns -1 with errno set on failure. */
#define TRY(call, ...) gbx_try(a, #call, SYS_##call, (long[6]){__VA_ARGS__})
#define P(...)         ((long)(intptr_t)(__VA_ARGS__))
long gbx_try(gbx_attack *a, const char *name, long number, const long args[6]);

/* For a call whose success alone is the breach. */
#define DOES(...) gbx_attack_done(TRY(__VA_ARGS__))
gbx_attack_verdict gbx_attack_done(long result);

/* Each runs line *index of its part of the table. If the part is shorter, it lowers
 * *index by the number of its lines and returns false. */
bool gbx_attack_files(gbx_attack *a, uint32_t *index, gbx_attack_verdict *ret);
bool gbx_attack_processes(gbx_attack *a, uint32_t *index, gbx_attack_verdict *ret);
bool gbx_attack_network(gbx_attack *a, uint32_t *index, gbx_attack_verdict *ret);
bool gbx_attack_kernel(gbx_attack *a, uint32_t *index, gbx_attack_verdict *ret);

#define GBX_ATTACK_LINES(function, lines)                                  \
    bool function(gbx_attack *a, uint32_t *index, gbx_attack_verdict *ret) \
    {                                                                      \
        lines(GBX_ATTACK_LINE) return false;                               \
    }
#define GBX_ATTACK_LINE(id, topic, name, layers, note, run) \
    if ((*index)-- == 0) {                                  \
        *ret = run;                                         \
        return true;                                        \
    }

/* ---- attack_table.c ------------------------------------------------------ */

/*
 * Targets that the host provides for attacks: a listening abstract socket, a System V
 * segment, a message queue. Each is world-accessible and contains nothing of value.
 * Without them a missing namespace would look like a working one, since nothing could
 * be found.
 */

typedef struct gbx_attack_victims {
    int listener;
    int segment;
    int queue;
} gbx_attack_victims;

/* A target that cannot be made (no such feature; another run has it) is -1: not a
 * failure. */
void gbx_attack_victims_open(gbx_attack_victims *ret);
void gbx_attack_victims_close(gbx_attack_victims *victims);

/* ---- channel.c ----------------------------------------------------------- */

/*
 * Whole frames over a blocking stream socket, for template and worker: their peer is
 * the host, which they trust. One thread.
 */

/* Read what is available, up to len bytes: 0 at the end of the stream, -1 on an
 * error. */
ssize_t gbx_channel_read_some(int fd, void *data, size_t len);

/* Read exactly len bytes; false at the end of the stream or on an error. */
bool gbx_channel_read(int fd, void *data, size_t len);

/* Write all of it. */
bool gbx_channel_write(int fd, const void *data, size_t len);

/* Read a header; false at the end of the stream or if it is malformed. */
bool gbx_channel_read_header(int fd, gbx_header *ret);

/* The same, accepting one descriptor with it; *ret_fd is -1 if none came. */
bool gbx_channel_read_header_fd(int fd, gbx_header *ret, int *ret_fd);

/* Write all of it with descriptors attached to the first byte. */
bool gbx_channel_write_fds(int fd, const void *data, size_t len, const int *fds,
                           size_t fd_count);

/* ---- fast_fmod.c --------------------------------------------------------- */

/*
 * JavaScript's % for numbers that are not both small integers.
 *
 * The engine calls the C library's fmod() for it. Before version 2.38 that divides bit
 * by bit, in some 60 ns; the code around it takes one. The program overrides fmod().
 */

/* The remainder of x divided by y, with the sign of x and without rounding; NaN if
 * either is, if x is infinite, or if y is zero. */
double gbx_modulo(double x, double y);

/* ---- freeze.c ------------------------------------------------------------ */

/*
 * Moves memory that calls do not touch into a file, so that a fork need not map it.
 *
 * A fork copies an entry for each private page of a process and removes it again when
 * the child ends. A template has 1,100 of them in its heap and the data of its
 * libraries; a small call touches 100. As a private mapping of a file in memory, the
 * same contents are faulted in where they are needed, sixteen pages a fault, and no
 * fork inherits them. For a library that no call touches, the fork copies no page table
 * either. Pages that a rehearsal touches become the template's own again.
 *
 * This is only for speed: if a step here fails, forks are slower. Call in the template,
 * single-threaded, while /proc exists.
 */

/* run does what a worker does. Leaves a descriptor open for gbx_freeze_end(). */
void gbx_freeze(bool (*run)(void *user), void *user);

/* Call when the template is sealed: unmaps what it has read of the file since then,
 * or forks would copy those entries, too. */
void gbx_freeze_end(void);

/* An anonymous file in memory of size bytes, all holes. Returns its descriptor, or -1;
 * also -1 if it would exceed the process's file size limit, since trying would kill the
 * process. */
int gbx_memfile_new(const char *name, size_t size);

/* ---- heap.c -------------------------------------------------------------- */

/*
 * Room that workers grow into: reserved once in the template, never touched there, and
 * requested as huge pages.
 *
 * A sealed worker cannot advise the kernel about its memory, and a fault for each 4 KiB
 * of a large input costs more than reading it. The room counts as data of the template,
 * so a worker's memory limit is lowered by its size: a worker gets the room as part of
 * its limit, not in addition.
 */

/* Call in the template, before anything large is allocated: the engine's one-time
 * allocations then are part of the heap, not separate mappings that every fork has
 * to copy. */
void gbx_heap_keep_together(void);

/* Call in the template, when its own heap has its final size. Returns the size of the
 * room now: `bytes`, or 0. */
uint64_t gbx_heap_reserve(uint64_t bytes);

/* Call in the template: allocates every free block below the top of the heap, so
 * that a worker's allocations lie side by side in few pages, not in scattered old
 * holes. These blocks are never freed. */
void gbx_heap_close_holes(void);

/* Where the used part of the heap ends, rounded to whole pages. */
char *gbx_heap_used_end(void);

/* Call in a sealed worker, before something large is allocated: later allocations
 * come from the huge pages of the room. The rest stays allocated, untouched. */
void gbx_heap_skip_small(void);

/* Call in a sealed worker, for a call with a lower limit: allocates up to `bytes` of
 * the room, the huge pages first. Returns how much was allocated. */
uint64_t gbx_heap_lower(uint64_t bytes);

/* ---- hugepage_text.c ----------------------------------------------------- */

/*
 * Puts the engine's code that every call runs into huge pages.
 *
 * A fork inherits no page tables of a file's text: each piece of the engine that it
 * runs costs a fault, and each fault maps fifteen more pages, which must be unmapped
 * when the fork ends. A copy in a file in memory, made of huge pages, needs one entry a
 * piece. Forks do not inherit the entries of the copy either, but a worker maps all of
 * it by one call, and adjacent pieces are one mapping. If such a file cannot be made
 * (Linux 6.1), the copy is anonymous memory.
 *
 * A run in a child finds the pieces: its text is inaccessible, and each page is opened
 * at its first fault.
 *
 * This is only for speed: if a step here fails, workers are slower. Call in the
 * template, single-threaded, while /proc exists.
 */

/* run does what a worker does; count is the maximum number of huge pages. Returns
 * how many pieces were chosen. */
size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user);

/* Call in a worker, before it is sealed: maps what the template has enlarged. */
void gbx_text_claim(void);

/* ---- launch.c ------------------------------------------------------------ */

/*
 * From the exec of this program to the process that becomes the template.
 *
 * The host executes this program with the host's identity, but nothing else of the
 * host. Identity and namespaces are changed here, in an image that never held the
 * host's memory.
 *
 *   1. A helper process makes a user namespace. This process writes its id maps (a
 *      root host's map to a user that is not root) and enters it. If that fails, this
 *      process is unchanged and continues without one.
 *   2. This process makes the other namespaces.
 *   3. It forks the template, pid 1 of the new pid namespace and a child of the host.
 *   4. The template opens what only the old identity may open, then takes the new one.
 *
 * Single-threaded. In an executed program, before the engine starts.
 */

typedef struct gbx_launch {
    uint32_t layers_off; /* gbx_layer bits to leave out */
    uint32_t made; /* gbx_layer bits of the namespaces, and of the control group */
    bool is_spare; /* no engine has asked for it yet */
    gbx_identity identity; /* already in effect if there is a user namespace */
} gbx_launch;

/* ---- maps.c -------------------------------------------------------------- */

/*
 * This process's mappings, as the kernel lists them.
 *
 * The whole list is read before it is used: it must not change while it is read. Needs
 * /proc; single-threaded.
 */

#define GBX_MAPPING_NAME_MAX 48

typedef struct gbx_mapping {
    uintptr_t from;
    uintptr_t to;
    uint64_t file; /* inode number of its file; 0: none */
    uint64_t own;  /* KiB of private pages; only if requested */
    int prot;      /* in the form of mprotect() */
    bool is_private;
    char name[GBX_MAPPING_NAME_MAX]; /* without the folder; longer ones are cut */
} gbx_mapping;

typedef struct gbx_maps {
    size_t count;
    gbx_mapping *list; /* by address */
} gbx_maps;

/* with_own makes the kernel check every page. Without /proc or memory the list ends
 * early. Release with gbx_maps_free(). */
gbx_maps gbx_maps_read(bool with_own);
void gbx_maps_free(gbx_maps *maps);

/* Open /proc/self/pagemap, once, with the identity of the host: an untraceable
 * process, or one of another user, may not open it. */
void gbx_pagemap_open(void);

/* Its descriptor, -1 if it could not be opened. */
int gbx_pagemap(void);
void gbx_pagemap_close(void);

/*
 * Finds which pages of some ranges a child touches: it runs with the ranges
 * inaccessible, and each page's first fault opens that page.
 */

#define GBX_RANGES_MAX 64

typedef struct gbx_range {
    uintptr_t from;
    uintptr_t to;
    int prot;     /* of its pages once they are opened */
    size_t first; /* number of its first page among those of all ranges */
} gbx_range;

typedef struct gbx_ranges {
    size_t count;
    size_t pages; /* of all */
    gbx_range list[GBX_RANGES_MAX];
} gbx_ranges;

/* Add whole pages, but not of this program, the C library, or a stack: the fault
 * handler uses those. Ranges beyond the table's size are ignored, and so is one that
 * begins at 0 (unknown). */
void gbx_ranges_add(gbx_ranges *ranges, uintptr_t from, uintptr_t to, int prot);

/* Fork a child in which run(user) does what every worker does, with the ranges
 * inaccessible. Returns a byte for each of ranges->pages, not 0 if that page was
 * touched; NULL if unknown. Release with gbx_page_probe_free(). */
uint8_t *gbx_page_probe_learn(const gbx_ranges *ranges, bool (*run)(void *user),
                              void *user);
void gbx_page_probe_free(uint8_t *touched, const gbx_ranges *ranges);

/*
 * Unmap the libraries that the engine's library links only for other programs: a fork
 * copies every mapping of the template, and its end removes every one. The loader still
 * lists them: from here on no symbol may be searched for by name, and the process must
 * end by _exit(), since their destructors can no longer run. Only for speed. In the
 * template, single-threaded, while /proc exists.
 */
void gbx_libs_drop(void);

/* ---- pages.c ------------------------------------------------------------- */

/*
 * Finds the pages that every worker writes, so that a worker has copies from the start.
 *
 * A fork shares all memory with the template until it writes. A small call writes some
 * 95 pages, always the same, and each costs a fault. If a page is pinned in the
 * template, the fork itself copies it, for a third less. Where pages cannot be pinned,
 * a worker requests its copies in runs. This is only for speed: a page too many or too
 * few does no harm.
 */

#define GBX_PAGE_RUNS_MAX 256

typedef struct gbx_pages {
    size_t count;
    bool may_pin;
    struct gbx_page_run {
        char *start;
        size_t len; /* bytes */
        bool of_file;
        bool pinned;
    } runs[GBX_PAGE_RUNS_MAX];
} gbx_pages;

/* In the template, while /proc exists: fork, let run(user) do what every worker
 * does, and see what it wrote. On any failure nothing is learnt. */
void gbx_pages_learn(gbx_pages *pages, bool (*run)(void *user), void *user);

/* In the template: from now on forks copy what can be pinned. Leaves one descriptor
 * open, which must not reach a worker's code. */
void gbx_pages_pin(gbx_pages *pages);

/* In a worker, before it is sealed. */
void gbx_pages_claim(const gbx_pages *pages);

/* ---- serve_call.c -------------------------------------------------------- */

/* The life of one worker, from its fork to its one result. */

typedef enum gbx_session_proof {
    GBX_SESSION_PROVES,  /* run something first: the real call finds its pages
                            touched */
    GBX_SESSION_HURRIES, /* a call is waiting: READY as soon as sealed */
} gbx_session_proof;

/* Seal this process, send READY, serve one CALL. Ends the process. */
_Noreturn void gbx_session_run(gbx_realm *realm, const gbx_seal *seal, int channel,
                               gbx_session_proof proof);

/* ---- heap.c ------------------------------------------------------------- */

/*
 * The engine treats every word on the stack as a possible reference, and never frees
 * what it points to. Functions that have returned, above all the loader's, leave stale
 * words there, which later may point into a large array of a call.
 */

/* Clear 32 KiB of stack that called functions have left behind. */
void gbx_stack_clear(void);

/* ---- launch.c: the zygote ------------------------------------------------ */

/*
 * The engine and a warm realm, made once for all engines of a host process: each
 * template is a fork of this process.
 *
 * It has the host's identity and nothing of an engine: no policy, preload, dataset or
 * code. Its control socket receives one datagram for each template (wire/wire.h), with
 * the descriptors that an executed program would get. The fork is a child of the host,
 * and launches itself as an executed program does.
 */

/* What the zygote has made for a template. */
typedef struct gbx_prepared {
    gbx_realm *realm; /* begun and warm */
    gbx_pages pages;  /* not pinned yet */
    char time_zones[64];
} gbx_prepared;

/* ---- template_main.c: shared with the zygote ------------------------------ */

/* NULL with a reason. time_zones receives the time zones' version. */
gbx_realm *gbx_template_begin_realm(char time_zones[static 64],
                                    const char **ret_reason);

/* The program begins with all signals blocked. Requests to end, which a terminal or
 * a service manager sends to every process of the host, stay blocked here and in all
 * forks: the host decides about a call, and ends it by SIGKILL. Stop signals are not
 * blocked: host and workers then stop and continue together. */
void gbx_template_block_signals(void);

/* The engine handles faults of its own compiled code, which our configuration does
 * not need. In a worker a handler could not return: a fault must end the process, at
 * once and with its own signal. */
void gbx_template_forget_handlers(void);

/* Reduce what a fork has to copy, fault in or free: this process is about to be forked
 * many times. ret_pages receives the pages that each worker writes. */
void gbx_template_make_light(gbx_realm *realm, size_t huge_pages, gbx_pages *ret_pages);

/* ---- template_main.c ----------------------------------------------------- */

/*
 * The process that has everything a call needs except the call: it forks workers and
 * reports their ends. It never sees a call's code. One thread, checked.
 */

/* Serve the control socket until it closes; returns the program's exit status.
 * prepared is taken over and completed. */
int gbx_template_serve(const gbx_launch *launch, const gbx_prepared *prepared);

/* ---- read_sqlite.c: the reader of a database (wire/wire.h) ------------------- */

/* Serve one request, in the process that gbx_launch_fork() has made. Returns the exit
 * status. */
int gbx_sqlite_serve(const gbx_launch *launch);

/* ---- sqlite_vfs.c ---------------------------------------------------------- */

/* Before the seal: map the files and lock them for as long as this process lives. DONE,
 * BUSY, MEMORY, or UNREADABLE if the database is not a file. *ret_is_locked: false if
 * other processes may still write them. */
gbx_sqlite_outcome gbx_sqlite_open_files(bool *ret_is_locked);

/* Opens these files, under any name of the database. */
extern struct sqlite3_vfs gbx_sqlite_vfs;

#endif
