/* SPDX-License-Identifier: MIT */
/*
 * worker - what the files of the worker program share. The command uses the victims of
 * the attack mode.
 */
#ifndef GBX_WORKER_WORKER_H
#define GBX_WORKER_WORKER_H

#include "realm/realm.h"
#include "seal/seal.h"
#include "wire/messages.h"
#include "worker/attack_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- attack.c ------------------------------------------------------------ */

/*
 * Assume breach: a process sealed as a worker turns on its seal.
 *
 * Only the attack mode of the worker program calls it, and no worker that serves calls
 * is ever started in that mode.
 */

/* Try attack number index, or with GBX_ATTACK_SWEEP + N system call N; leave a line on
 * the channel and end the process with a GBX_ATTACK_EXIT status. */
_Noreturn void gbx_attack_run(uint32_t index);

/* ---- attack_try.c -------------------------------------------------------- */

/*
 * What the attacks are made of. They run raw system calls, in a process
 * that may have all layers, one, or none.
 */

typedef enum gbx_attack_verdict {
    GBX_REFUSED = GBX_ATTACK_EXIT_REFUSED,
    GBX_BREACH = GBX_ATTACK_EXIT_BREACH,
    GBX_ABSENT = GBX_ATTACK_EXIT_ABSENT,
} gbx_attack_verdict;

/* Where an attack says what it saw last. */
typedef struct gbx_attack {
    char note[GBX_ATTACK_NOTE_SIZE];
} gbx_attack;

/* A raw system call of up to six arguments, given as longs or pointers; notes its
 * name and how it ended. Returns -1 with errno set on failure. */
#define GBX_TRY(a, call, ...) gbx_try(a, #call, SYS_##call, (long[6]){__VA_ARGS__})
#define GBX_P(pointer)        ((long)(intptr_t)(pointer))
long gbx_try(gbx_attack *a, const char *name, long number, const long args[6]);

/* For a call whose success alone is the breach. */
gbx_attack_verdict gbx_attack_verdict_of(long result);

/* For a call that is given wrong arguments on purpose: any error but those that a
 * missing permission gives says that it would have been done. */
gbx_attack_verdict gbx_attack_verdict_of_permission(long result);

/* The next pid above after of a process that is neither ours nor the template's and
 * is there, may it be touched or not; 0 if there is none. */
long gbx_next_outside(long after);

/* A page of code that returns 42, writable; NULL if memory cannot be had. */
unsigned char *gbx_make_code(void);
bool gbx_code_runs(const void *code);

#define XX(function, id, topic, name, layers, note) \
    gbx_attack_verdict gbx_attack_##function(gbx_attack *a);
GBX_ATTACK_MAP(XX)
#undef XX

/* ---- attack_victims.c ---------------------------------------------------- */

/*
 * What the host puts out for attacks to reach for: an abstract socket
 * that listens, a System V segment, a message queue. Each world-accessible and empty
 * of anything worth having. Without them a namespace that was not made would look like
 * one that was, since there would be nothing to find.
 */

typedef struct gbx_attack_victims {
    int listener;
    int segment;
    int queue;
} gbx_attack_victims;

/* What cannot be made (no such feature; another run has it) is -1: not a failure. */
void gbx_attack_victims_open(gbx_attack_victims *ret);
void gbx_attack_victims_close(gbx_attack_victims *victims);

/* ---- channel.c ----------------------------------------------------------- */

/*
 * Whole frames over a blocking stream socket, as template and worker need
 * them: their peer is the host, which they trust. One thread.
 */

/* Read what there is, up to len bytes: 0 at the end of the stream, -1 on an error. */
ssize_t gbx_channel_read_some(int fd, void *data, size_t len);

/* Read exactly len bytes; false at the end of the stream or on an error. */
bool gbx_channel_read(int fd, void *data, size_t len);

/* Write all of it. */
bool gbx_channel_write(int fd, const void *data, size_t len);

/* Read a header; false at the end of the stream or if it is malformed. */
bool gbx_channel_read_header(int fd, gbx_header *ret);

/* The same, taking one descriptor that may come with it; *ret_fd is -1 if none. */
bool gbx_channel_read_header_fd(int fd, gbx_header *ret, int *ret_fd);

/* Write all of it with descriptors attached to the first byte. */
bool gbx_channel_write_fds(int fd, const void *data, size_t len, const int *fds,
                           size_t fd_count);

/* ---- children.c ---------------------------------------------------------- */

/* Which process is which worker, and how each ended. */

#define GBX_CHILDREN_MAX 1100 /* over the host's most, for those it has killed */

typedef struct gbx_children {
    size_t count;
    struct gbx_child {
        pid_t pid;
        uint64_t worker_id;
    } list[GBX_CHILDREN_MAX];
} gbx_children;

bool gbx_children_full(const gbx_children *children);
void gbx_children_add(gbx_children *children, pid_t pid, uint64_t worker_id);

/* Reap one child that has ended; false if there is none. */
bool gbx_children_reap(gbx_children *children, gbx_msg_exited *ret);

/* ---- fast_fmod.c --------------------------------------------------------- */

/*
 * JavaScript's % of numbers that are not both small integers.
 *
 * The engine asks fmod() of the C library for it, which until its version 2.38 divides bit
 * by bit: some 60 ns where the code around it takes one. The program answers fmod() itself.
 */

/* What is left of x divided by y, with the sign of x and without rounding; NaN if either
 * is, if x is infinite, if y is zero. */
double gbx_modulo(double x, double y);

/* ---- freeze.c ------------------------------------------------------------ */

/*
 * What calls leave alone becomes a file's, which a fork need not map.
 *
 * A fork copies an entry for each page that a process has of its own, and takes it away
 * again when the child ends: of the 1,100 that a template has in its heap and the data of
 * its libraries, a small call touches 100. The same contents as a private mapping of a file
 * in memory are found by who needs them, sixteen pages a fault, and inherited by nobody; of
 * a library that no call touches, the fork copies no page table either. Only what a
 * rehearsal touches is made the template's own again.
 *
 * A matter of speed: where something here cannot be done, forks are slower and nothing
 * else. In the template, single-threaded, while there is a /proc.
 */

/* run is what a worker does. Leaves a descriptor open for gbx_freeze_end(). */
void gbx_freeze(bool (*run)(void *user), void *user);

/* When the template is sealed: what it has read of the file since is unmapped again, or
 * forks would copy those entries, too. */
void gbx_freeze_end(void);

/* ---- heap.c -------------------------------------------------------------- */

/*
 * Room that workers grow into: reserved once in the template, never touched
 * there, and asked to be of huge pages.
 *
 * A sealed worker cannot advise the kernel about its memory, and a fault for each
 * 4 KiB of a large input costs more than reading it. The room counts as data of the
 * template, so the memory limit of a worker is lowered by it: what it grows into is
 * what it may have, and no more.
 */

/* In the template, before anything large is allocated: what the engine allocates once is
 * part of the heap, not a mapping each that every fork has to copy. */
void gbx_heap_keep_together(void);

/* In the template, when its own heap has its size. Returns the bytes of room there are
 * now, at most `bytes` and 0 if there are none. */
uint64_t gbx_heap_reserve(uint64_t bytes);

/* In the template: take every free block below the top of the heap, so that what a
 * worker allocates lies side by side in few pages, and not where something old was
 * freed. What is taken is never given back. */
void gbx_heap_close_holes(void);

/* Where the heap begins, found while there is a /proc and known from then on; where what
 * is in use of it ends; and where its huge pages begin, or all of it ends. Of whole pages.
 * NULL: not known. */
char *gbx_heap_begin(void);
char *gbx_heap_used_end(void);
char *gbx_heap_small_end(void);

/* In a sealed worker, before something large is allocated: what follows comes from the
 * part of the room that is of huge pages. The rest stays taken, untouched. */
void gbx_heap_skip_small(void);

/* In a sealed worker, for a call that may have less: take up to `bytes` out of the room,
 * the huge pages first. Returns what was taken. */
uint64_t gbx_heap_lower(uint64_t bytes);

/* ---- hugepage_text.c ----------------------------------------------------- */

/*
 * The engine's code in huge pages, where every call runs it.
 *
 * A fork inherits no page tables of a file's text: each piece of the engine that it runs
 * costs a fault, and each fault maps fifteen pages more that its end has to take apart. Of
 * a copy in a file in memory, made of huge pages, an entry is a piece. The copy is not
 * inherited mapped either, but a worker maps all of it by one call; and pieces side by side
 * are one mapping. Where a file cannot be made so (Linux 6.1) the copy is anonymous memory.
 *
 * Which these are is found out by a run in a child whose text is closed and then opened
 * page by page, at each page's first fault.
 *
 * A matter of speed: where something here cannot be done, workers are slower and nothing
 * else. In the template, single-threaded, while there is a /proc.
 */

/* run is what a worker does; count the most huge pages that may be used. Returns how many
 * pieces were chosen. */
size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user);

/* In a worker, before it is sealed: map what the template has enlarged. */
void gbx_text_claim(void);

/* ---- launch.c ------------------------------------------------------------ */

/*
 * From the exec of this program to the process that becomes the template.
 *
 * The host executes this program with the host's own identity and nothing else of its:
 * identity and namespaces are taken here, in an image that never held the host's memory.
 *
 *   1. A helper process makes a user namespace. This process writes its id maps, a root
 *      host's to a user that is not root's, and enters it. If it fails, this process is as
 *      it was and goes on without.
 *   2. This process makes the other namespaces.
 *   3. It forks the template, pid 1 of the new pid namespace and a child of the host.
 *   4. The template opens what only the old identity may, then takes the new one.
 *
 * Single-threaded, before the engine is started.
 */

typedef struct gbx_launch {
    uint32_t layers_off; /* gbx_layer bits that were not to be made */
    uint32_t made; /* gbx_layer bits of the namespaces, and of the control group */
    gbx_identity identity; /* taken already if there is a user namespace */
} gbx_launch;

/* argv as the host gives it (wire/start.h). Returns in the template; what fails is said on
 * the error output and ends the process. */
void gbx_launch_template(char **argv, int argc, gbx_launch *ret);

/* The same in a fork of the zygote, which has no arguments. */
void gbx_launch_fork(uint32_t layers_off, bool is_grouped, const char *uids,
                     gbx_launch *ret);

/* Ends the process if the library is of another version. */
void gbx_launch_check_version(char **argv, int argc, int index, int count);

/* ---- maps.c -------------------------------------------------------------- */

/*
 * What this process has mapped, as the kernel lists it.
 *
 * The list is read to its end before anything is done with it: what is read must not move
 * under the reader. While there is a /proc; single-threaded.
 */

#define GBX_MAPPING_NAME_MAX 48

typedef struct gbx_mapping {
    uintptr_t from;
    uintptr_t to;
    uint64_t offset; /* in its file, bytes */
    uint64_t file;   /* its number; 0: of no file */
    uint64_t own;    /* KiB that are no file's; only if they were asked for */
    int prot;        /* as mprotect() takes it */
    bool is_private;
    char name[GBX_MAPPING_NAME_MAX]; /* without the folder; longer ones are cut */
} gbx_mapping;

typedef struct gbx_maps {
    size_t count;
    gbx_mapping *list; /* by address */
} gbx_maps;

/* with_own takes the kernel a look at every page. Without a /proc or memory the list ends
 * early. Release with gbx_maps_free(). */
gbx_maps gbx_maps_read(bool with_own);
void gbx_maps_free(gbx_maps *maps);

/* Open /proc/self/pagemap, once, with the identity of the host: a process that may not be
 * traced, or that is another user, may not. */
void gbx_pagemap_open(void);

/* Its descriptor, -1 if it could not be opened. */
int gbx_pagemap(void);
void gbx_pagemap_close(void);

/* ---- memfile.c ----------------------------------------------------------- */

/* A file in memory, of no folder. */

/* A file of so many bytes, all holes. Returns its descriptor, or -1: also where a process may
 * not make a file as large, since to try would be the end of it. */
int gbx_memfile_new(const char *name, size_t size);

/* ---- page_probe.c -------------------------------------------------------- */

/*
 * Which pages of some ranges a child touches, found by faults.
 *
 * A fork runs with the ranges closed, and each page's first fault opens that page. Closed
 * for reading as for writing it tells what is used; closed for writing alone, what is
 * written. It needs no /proc: a sealed template can still ask.
 */

#define GBX_RANGES_MAX 64

typedef struct gbx_range {
    uintptr_t from;
    uintptr_t to;
    int prot;     /* what it is opened to */
    size_t first; /* number of its first page among those of all ranges */
} gbx_range;

typedef struct gbx_ranges {
    size_t count;
    size_t pages; /* of all */
    gbx_range list[GBX_RANGES_MAX];
} gbx_ranges;

/* Of whole pages; none of this program, of the C library, of a stack: the handler runs
 * there. More than fit are left out, and so is what begins at 0: not known. */
void gbx_ranges_add(gbx_ranges *ranges, uintptr_t from, uintptr_t to, int prot);

/* Fork, let run(user) do what every worker does with the ranges closed to `closed`, and
 * give a byte for each of ranges->pages: not 0 if that page was touched. NULL: nothing is
 * known. To be released with gbx_page_probe_free(). */
uint8_t *gbx_page_probe_learn(const gbx_ranges *ranges, int closed,
                              bool (*run)(void *user), void *user);
void gbx_page_probe_free(uint8_t *touched, const gbx_ranges *ranges);

/* ---- pages.c ------------------------------------------------------------- */

/*
 * Which pages every worker writes, so that it has its copies from the start.
 *
 * A fork shares all memory with the template until it writes: a small call writes
 * some 95 pages, always the same, and each costs a fault. A page that is pinned in the
 * template is copied by the fork itself, for a third less; where nothing may be pinned, a
 * worker asks for its copies in runs. This is a matter of speed alone: a page too many or
 * too few does no harm.
 */

#define GBX_PAGE_RUNS_MAX 256

typedef struct gbx_pages {
    size_t count;
    size_t lasting; /* of them: found while there was a /proc */
    bool may_pin;
    struct gbx_page_run {
        char *start;
        size_t len; /* bytes */
        bool of_file;
        bool pinned;
    } runs[GBX_PAGE_RUNS_MAX];
} gbx_pages;

/* In the template, while there is a /proc: fork, let run(user) do what every worker
 * does, and see what it wrote. On any trouble nothing is learnt. */
void gbx_pages_learn(gbx_pages *pages, bool (*run)(void *user), void *user);

/* The same for the heap alone, in a sealed template: its pages from begin to end. What was
 * found the first time stays, and what was found like this before is forgotten. */
void gbx_pages_learn_heap(gbx_pages *pages, char *begin, const char *end,
                          bool (*run)(void *user), void *user);

/* In the template: from now on forks copy what can be pinned.
 * Leaves one descriptor open, which must not reach a worker's code. */
void gbx_pages_pin(gbx_pages *pages);

/* In a worker, before it is sealed. */
void gbx_pages_claim(const gbx_pages *pages);

/* ---- preloads.c ---------------------------------------------------------- */

/*
 * The host's own scripts on their way into the realm: taken from the control
 * channel, mapped, and run against a limit of processor time.
 *
 * In the template alone, between CONFIG and HELLO. The host is trusted, its scripts are
 * not expected to end: one that loops must be said to loop, by name.
 */

typedef struct gbx_preloads {
    gbx_realm_preload items[GBX_PRELOADS_MAX]; /* their spans are mapped */
    size_t count;
} gbx_preloads;

/* Take count PRELOADs from the channel. False if it ends or brings anything else. */
bool gbx_preloads_read(gbx_preloads *preloads, int control, uint32_t count);

/* From now on the process's time is counted; when it is up, HELLO with a failure that
 * names the preload goes out, and the process ends. */
void gbx_preloads_watch(const gbx_preloads *preloads, int control);

/* The one at index is about to run. user is the gbx_preloads. */
void gbx_preloads_begin(void *user, size_t index);

/* All have run, or one has failed: stop counting. */
void gbx_preloads_unwatch(void);

/* hello->preload and its place, if one has failed. */
void gbx_preloads_report(const gbx_preloads *preloads, gbx_msg_hello *hello);

/* Give the mappings back: nothing in the realm needs them. */
void gbx_preloads_cleanup(gbx_preloads *preloads);

/* ---- serve_call.c -------------------------------------------------------- */

/* The life of one worker, from its fork to its one result. */

typedef enum gbx_session_proof {
    GBX_SESSION_PROVES, /* run something first: the true call finds its pages touched */
    GBX_SESSION_HURRIES, /* a call is waiting: READY as soon as sealed */
} gbx_session_proof;

/* Seal this process, say READY, serve one CALL. Ends the process. */
_Noreturn void gbx_session_run(gbx_realm *realm, const gbx_seal *seal, int channel,
                               gbx_session_proof proof);

/* ---- heap.c ------------------------------------------------------------- */

/*
 * The engine takes every word on the stack for a reference to what lies where it
 * points, and never frees that. Functions that have returned, the loader's above all, leave
 * words there that point to nothing, until a large array of a call is put in that place.
 */

/* Forget what functions that the caller has called have left: 32 KiB. */
void gbx_stack_clear(void);

/* ---- zygote_main.c ------------------------------------------------------- */

/*
 * The engine and a warm realm, made once for all engines of a host process: each
 * template is a fork of this process.
 *
 * It has the host's identity and nothing of an engine: no policy, preload, dataset or
 * code. Its control socket brings one datagram for each template (wire/start.h), with the
 * descriptors that an executed program would have got. The fork is a child of the host,
 * and launches itself as an executed program does (launch.h).
 */

/* What a template finds made. */
typedef struct gbx_prepared {
    gbx_realm *realm; /* begun and warm */
    char time_zones[64];
} gbx_prepared;

/* ---- what it and an executed template do (template_main.c) ---------------------- */

/* NULL with a reason. time_zones becomes their version. */
gbx_realm *gbx_template_begin_realm(char time_zones[static 64],
                                    const char **ret_reason);

/* The program begins with all signals blocked. Requests to end, which a terminal or a
 * service manager sends to every process of the host, stay blocked here and in all that is
 * forked: the host decides what becomes of a call, and ends it by SIGKILL. Signals that stop
 * stay as they are: host and workers then stop, and go on, together. */
void gbx_template_block_signals(void);

/* The engine handles faults of its own compiled code, which it does not need as we run
 * it. In a worker a handler could not return: a fault must end the process, at once
 * and as what it is. */
void gbx_template_forget_handlers(void);

/* Little to copy, little to fault in, little to take apart: for this process is about
 * to be forked many times. */
void gbx_template_make_light(gbx_realm *realm, size_t huge_pages);

/* ---- the process ------------------------------------------------------------------ */

/* argv as the host gives it (wire/start.h). Returns the exit status of the process: of the
 * zygote when its socket closes, of a template in a fork. */
int gbx_zygote_serve(char **argv, int argc);

/* ---- template_main.c ----------------------------------------------------- */

/*
 * The process that has everything a call needs but the call: it forks
 * workers and reports their ends. It never sees a call's code. One thread, checked.
 */

/* Serve the control socket until it closes; the exit status of the program. What is
 * prepared is taken, and completed. */
int gbx_template_serve(const gbx_launch *launch, const gbx_prepared *prepared);

/* ---- unload_libs.c ------------------------------------------------------- */

/*
 * The libraries that forks inherit, made cheap to inherit.
 *
 * A fork copies every mapping of the template and its end takes every one apart. A
 * matter of speed: where something here cannot be done, workers are slower and nothing
 * else.
 *
 * In the template, single-threaded, while there is a /proc.
 */

/* Unmap the libraries that the engine's library is linked with for other programs' sake.
 * What the loader knows of them stays: from here on nothing may be searched for by name,
 * and the process ends by _exit(), since their own ends can no longer be run. */
void gbx_libs_drop_libraries(void);

/* Make the constants of a library, before and behind its code in one file, one mapping with
 * it. They become executable by that, and nothing becomes writable. Only where the engine has
 * memory for compiled code, which is both: whoever could jump to them has that to jump to. */
void gbx_libs_join(void);

#endif
