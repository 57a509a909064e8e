/* SPDX-License-Identifier: MIT */
/* What is done to the template so that its forks are cheap changes nothing they do. */
#include "realm/realm.h"
#include "support/realm_call.h"
#include "test.h"
#include "worker/worker.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glovebox/glovebox.h>

static gbx_realm *realm;

static bool maps_name(const char *name)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        found = found || strstr(line, name) != NULL;
    if (f != NULL)
        fclose(f);
    return found;
}

static unsigned long pages_of_self(int field)
{
    unsigned long pages[7] = {0};
    FILE *f = fopen("/proc/self/statm", "r");

    for (size_t i = 0; f != NULL && i < 7; i++)
        if (fscanf(f, "%lu", &pages[i]) != 1)
            break;
    if (f != NULL)
        fclose(f);
    return pages[field];
}

/* The exit status of a child that does this. */
static int in_child(int (*does)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(does());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- tests ------------------------------------------------------------------ */

static bool had_libraries;

static bool has_libraries(void)
{
    return maps_name("/libgio-2.0.so") || maps_name("/libsystemd.so");
}

TEST(drop_libraries__leaves_none_of_an_object_system)
{
    assert_true(had_libraries);
    assert_false(has_libraries());
}

static void ignore_log(void *user, const gbx_msg_log *line)
{
}

static int run_all_kinds(void)
{
    static const char *const kinds[] = {
        /* containers of the C++ library, which looks up its own symbols late */
        "() => { const b = new ArrayBuffer(8, { maxByteLength: 1e6 }); b.resize(9e5) }",
        "() => { throw new Error('a trace of the stack') }",
        "() => new Intl.NumberFormat('de').format(1.5) + 'b'.localeCompare('a')",
        "() => { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; return s }",
        "() => /(?<=a)b+/u.exec('abb')[0] + (2n ** 200n) + new Date(0)",
    };

    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        gbx_msg_call call = {
            .output_bytes = 4096,
            .first_line = 1,
            .first_column = 1,
            .code = {(const uint8_t *)kinds[i], strlen(kinds[i])},
        };
        gbx_realm_host host = {.log = ignore_log};
        gbx_realm_outcome outcome;

        gbx_realm_run(realm, &call, &host, &outcome);
        if (outcome.ok == (strstr(kinds[i], "throw") != NULL))
            return (int)i + 1;
    }
    return gbx_realm_prove(realm) ? 0 : 100;
}

TEST(drop_libraries__the_engine_does_not_miss_them)
{
    assert_int_equal(in_child(run_all_kinds), 0);
}

static bool is_copy(
    const gbx_mapping *m) /* into a file in memory, or (6.1) into none */
{
    return (m->prot & PROT_WRITE) == 0 && m->to - m->from >= GBX_MIB(2) &&
           (m->file == 0 || strncmp(m->name, "memfd:text", 10) == 0);
}

static size_t count_copies(void)
{
    gbx_maps maps = gbx_maps_read(false);
    size_t count = 0;

    for (size_t i = 0; i < maps.count; i++)
        count += (maps.list[i].prot & PROT_EXEC) != 0 && is_copy(&maps.list[i]);
    gbx_maps_free(&maps);
    return count;
}

/* A sum over all that is mapped of the engine's file or in its place. */
static uint64_t sum_of(const char *from, const char *to)
{
    uint64_t sum = 0;

    for (const char *at = from; at < to; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        sum = sum * 31 + word;
    }
    return sum;
}

static bool prove(void *user)
{
    return gbx_realm_prove(realm);
}

static bool may_be_huge(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[64] = "";
    bool may = f != NULL && fgets(line, sizeof line, f) != NULL &&
               strstr(line, "[never]") == NULL;

    if (f != NULL)
        fclose(f);
    return may;
}

static bool fails(void *user)
{
    return false;
}

TEST(enlarge__does_nothing_where_the_run_fails)
{
    assert_int_equal(gbx_text_enlarge(3, fails, NULL), 0);
    assert_int_equal(in_child(run_all_kinds), 0);
}

TEST(enlarge__the_engines_code_is_what_it_was)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long from = 0;
    unsigned long to = 0;
    char line[512];
    uint64_t before;

    while (fgets(line, sizeof line, f) != NULL)
        if (strstr(line, " r-xp ") != NULL && strstr(line, "javascriptcore") != NULL)
            assert_int_equal(sscanf(line, "%lx-%lx", &from, &to), 2);
    fclose(f);
    assert_true(to > from);
    before = sum_of((const char *)from, (const char *)to);

    assert_int_equal(gbx_text_enlarge(3, prove, NULL), may_be_huge() ? 3 : 0);

    assert_true((count_copies() > 0) == may_be_huge());
    assert_true(sum_of((const char *)from, (const char *)to) == before);
    gbx_text_claim();
    assert_true(sum_of((const char *)from, (const char *)to) == before);
    assert_int_equal(in_child(run_all_kinds), 0);
}

#define BLOCKS 400

static unsigned char *blocks[BLOCKS];

static void fill_blocks(int with)
{
    for (int i = 0; i < BLOCKS; i++)
        memset(blocks[i], (i * 7 + with) & 0xff, 4096);
}

static bool are_filled(int with)
{
    for (int i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < 4096; k++)
            if (blocks[i][k] != ((i * 7 + with) & 0xff))
                return false;
    return true;
}

static bool prove_and_write(void *user)
{
    blocks[5][0] = blocks[5][0];
    return gbx_realm_prove(realm);
}

static int read_then_write(void)
{
    if (!are_filled(1))
        return 1;
    fill_blocks(2);
    return are_filled(2) ? run_all_kinds() : 2;
}

TEST(freeze__does_nothing_where_the_run_fails)
{
    assert_false(maps_name("/memfd:frozen"));

    gbx_freeze(fails, NULL);
    gbx_freeze_end();

    assert_false(maps_name("/memfd:frozen"));
}

TEST(freeze__nothing_is_lost_and_forks_write_to_their_own)
{
    for (int i = 0; i < BLOCKS; i++)
        assert_non_null(blocks[i] = malloc(4096));
    fill_blocks(1);

    gbx_freeze(prove_and_write, NULL);

    assert_true(maps_name("/memfd:frozen"));
    assert_true(are_filled(1));
    memset(blocks[9], 99, 4096); /* written since: must outlive the unmapping */
    gbx_freeze_end();
    assert_int_equal(blocks[9][17], 99);
    memset(blocks[9], (9 * 7 + 1) & 0xff, 4096);
    assert_true(are_filled(1));
    assert_int_equal(in_child(read_then_write), 0);
    assert_true(are_filled(1)); /* what the child wrote is the child's */
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

TEST(close_holes__what_is_allocated_next_is_new)
{
    void *freed[100];
    void *kept[100];
    char *top;

    for (size_t i = 0; i < GBX_COUNTOF(freed); i++) {
        freed[i] = malloc(i * 40 + 24);
        kept[i] = malloc(24); /* keeps the neighbours apart */
    }
    for (size_t i = 0; i < GBX_COUNTOF(freed); i++)
        free(freed[i]);

    gbx_heap_close_holes();

    top = (char *)sbrk(0) - mallinfo2().keepcost - GBX_KIB(64);
    for (size_t i = 0; i < GBX_COUNTOF(freed); i++) {
        freed[i] = malloc(i * 40 + 24);
        assert_true((char *)freed[i] >= top);
    }
    for (size_t i = 0; i < GBX_COUNTOF(freed); i++) {
        free(freed[i]);
        free(kept[i]);
    }
}

TEST(reserve__makes_room_though_a_hole_fits_what_it_asks_for)
{
    char *hole = malloc(GBX_KIB(100));
    void *kept = malloc(24);
    const char *before;

    while (mallinfo2().keepcost >= GBX_KIB(64))
        assert_non_null(malloc(GBX_KIB(32))); /* lost: it is the top's */
    free(hole);
    before = sbrk(0);

    assert_int_equal(gbx_heap_reserve(GBX_MIB(64)), GBX_MIB(64));

    assert_true((const char *)sbrk(0) >= before + GBX_MIB(64));
    free(kept);
}

TEST(reserve__once_is_enough)
{
    const char *before;

    assert_int_equal(gbx_heap_reserve(GBX_MIB(64)), GBX_MIB(64));
    before = sbrk(0);

    assert_int_equal(gbx_heap_reserve(GBX_MIB(64)), GBX_MIB(64));

    assert_ptr_equal(sbrk(0), before);
}

/* What a child has done to its room; its exit status says what was wrong. */
static int lower_by_a_third(void)
{
    size_t before;
    size_t lost;

    gbx_heap_close_holes();
    before = mallinfo2().fordblks;
    if (gbx_heap_lower(before / 3) != before / 3)
        return 1;
    lost = before - mallinfo2().fordblks;
    return lost >= before / 3 && lost <= before / 3 + GBX_KIB(64) ? 0 : 2;
}

/* Of the room, all but the small pages, whatever is asked for; and in one block: the head
 * of each would be a page of its own, and a huge one. */
static int lower_by_all(void)
{
    unsigned long resident = pages_of_self(1);
    char *next;

    gbx_heap_close_holes();
    if (gbx_heap_lower(GBX_MIB(1024)) >= GBX_MIB(1024))
        return 1;
    if (mallinfo2().fordblks > GBX_MIB(5))
        return 2;
    next = malloc(GBX_KIB(100)); /* where it would have been */
    if (next == NULL || next >= (char *)sbrk(0) - GBX_MIB(32))
        return 3;
    resident = pages_of_self(1) - resident;
    return resident * (unsigned long)getpagesize() < GBX_MIB(4) ? 0 : 4;
}

TEST(lower__leaves_that_much_less_to_take)
{
    assert_true(gbx_heap_reserve(GBX_MIB(64)) > 0);

    assert_int_equal(in_child(lower_by_a_third), 0);
    if (may_be_huge())
        assert_int_equal(in_child(lower_by_all), 0);
}

/* Is what lies there asked to be of huge pages? */
static bool is_huge(uintptr_t at)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    bool is_here = false;
    bool is = false;
    char line[512];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned long from;
        unsigned long to;

        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_here = at >= from && at < to;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            is = strstr(line, " hg") != NULL;
    }
    if (f != NULL)
        fclose(f);
    return is;
}

static int allocate_small_then_large(void)
{
    char *small;
    char *large;

    gbx_heap_close_holes();
    small = malloc(GBX_KIB(100));
    gbx_heap_skip_small();
    large = malloc(GBX_MIB(1));
    return small == NULL || large == NULL || is_huge((uintptr_t)small) ||
           !is_huge((uintptr_t)large);
}

TEST(skip_small__what_is_large_comes_from_huge_pages)
{
    if (!may_be_huge()) {
        print_message("skipped: this kernel has no huge pages\n");
        skip();
    }
    assert_int_equal(gbx_heap_reserve(GBX_MIB(64)), GBX_MIB(64));

    assert_int_equal(in_child(allocate_small_then_large), 0);
}

static int make_realm(void **state)
{
    const char *reason;

    realm = gbx_realm_new(&(gbx_realm_setup){.globals = GBX_GLOBALS_STANDARD}, &reason);
    if (realm == NULL)
        return -1;
    had_libraries = has_libraries();
    gbx_libs_drop();
    return 0;
}

int main(int argc, char **argv)
{
    int failed;

    realm_environment(argv);
    gbx_realm_forbid_threads();
    failed = tests_run(make_realm, NULL);
    (void)fflush(NULL);
    _exit(failed != 0); /* the ends of libraries that are gone cannot be run */
}
