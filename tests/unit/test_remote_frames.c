/* SPDX-License-Identifier: MIT */
/* remote_frames - each message between machines as bytes with a legend: what is sent, what
 * is accepted, and that nothing near it is. And the windows of their streams. */
#include "remote/frames.h"
#include "test.h"

#define HASH "0123456789abcdef0123456789abcdef"
#define NUMBER                                         \
    {                                                  \
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11 \
    }
#define TEXT(s)                             \
    {                                       \
        (const uint8_t *)(s), sizeof(s) - 1 \
    }
#define KEY                                                                         \
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f', \
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
#define U32(n) (n) & 255, (n) >> 8 & 255, (n) >> 16 & 255, (n) >> 24
#define U64(n) U32(n), 0, 0, 0, 0

/* ---- golden messages ----------------------------------------------------------------- */

static const uint8_t want_body[] = {
    U32(1),  U32(GBX_WIRE_VERSION), /* version, wire version */
    U32(3),  '0',
    '.',     '1', /* library */
    U32(32), KEY, /* key */
    U32(77),      /* bytes of the setup */
    U32(2),  'c',
    '1', /* caller */
    U32(3),  'l',
    'i',     'm',    /* limits */
    U32(3),  U64(5), /* capabilities, bytes of the call */
};
static const gbx_remote_want want = {.version = 1,
                                     .wire_version = GBX_WIRE_VERSION,
                                     .library = TEXT("0.1"),
                                     .key = TEXT(HASH),
                                     .setup_bytes = 77,
                                     .caller = TEXT("c1"),
                                     .limits = TEXT("lim"),
                                     .capabilities = 3,
                                     .call_bytes = 5};

static const uint8_t grant_body[] = {
    U64(9), U32(2), 'm', '1', U32(2), 'r', '1', U32(1), 'J', /* seat, machine ... */
};
static const gbx_remote_grant grant = {9, TEXT("m1"), TEXT("r1"), TEXT("J")};

static const uint8_t refuse_body[] = {GBX_WHY_CONTENTS, U32(3), U32(7),
                                      U32(2),           'n',    'o'};
static const gbx_remote_refuse refuse = {GBX_WHY_CONTENTS, 3, 7, TEXT("no")};

static const uint8_t fetch_body[] = {U32(2), 'r',      '1',     U32(32),
                                     KEY,    U64(500), U32(100)};
static const gbx_remote_fetch fetch = {TEXT("r1"), TEXT(HASH), 500, 100};

static const uint8_t blob_body[] = {U32(32), KEY, U64(500), U32(1), 'z'};
static const gbx_remote_blob blob = {TEXT(HASH), 500, TEXT("z")};

static const uint8_t data_body[] = {U32(4), U32(131072), U32(3), 'a', 'b', 'c'};
static const gbx_remote_data data = {4, 131072, TEXT("abc")};

static const uint8_t end_body[] = {
    GBX_ENDING_DIED, U32(9),   2,        /* how, wait status, shortage */
    U64(100),        U64(200), U64(400), /* cpu, growth, group */
    U32(1),          'r',      U32(6),   U32(2), 'e', 'n', /* reason, seq, last bytes */
};
static const gbx_remote_end end = {GBX_ENDING_DIED, 9, 2,         100, 200, 400,
                                   TEXT("r"),       6, TEXT("en")};

static const uint8_t cancel_body[] = {0};
static const gbx_remote_cancel cancel = {0};

static const struct {
    gbx_remote_type type;
    const void *msg;
    const uint8_t *body;
    size_t len;
} golden[] = {
#define XX(NAME, name, number) \
    {GBX_REMOTE_##NAME, &name, name##_body, sizeof name##_body},
    GBX_REMOTE_MAP(XX)
#undef XX
};
#define EACH(i) for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)

/* ---- a bus that keeps the last message ------------------------------------------------ */

static gbx_buf sent;
static char sent_to[32];

static bool publish(gbx_bus *bus, const char *subject, const char *reply, gbx_span head,
                    gbx_span tail)
{
    (void)snprintf(sent_to, sizeof sent_to, "%s", subject);
    gbx_buf_cleanup(&sent);
    gbx_buf_init(&sent, GBX_MIB(1));
    return gbx_buf_append(&sent, head.data, head.len) &&
           gbx_buf_append(&sent, tail.data, tail.len);
}

static const gbx_bus_ops ops = {.publish = publish};
static gbx_bus bus = {.ops = &ops, .chunk = GBX_REMOTE_CHUNK_MAX};

static void fill_header(uint8_t *header, unsigned type, size_t len)
{
    static const uint8_t number[] = NUMBER;

    memset(header, 0, GBX_FRAME_HEADER_SIZE);
    for (size_t i = 0; i < 4; i++)
        header[i] = (uint8_t)(len >> (8 * i));
    header[4] = (uint8_t)type;
    memcpy(header + 8, number, sizeof number);
}

/* A whole frame in memory of its own, with so many bytes of the body; free() it. */
static uint8_t *frame_of(size_t i, size_t len)
{
    uint8_t *frame = malloc(GBX_FRAME_HEADER_SIZE + len);

    assert_non_null(frame);
    fill_header(frame, golden[i].type, len);
    if (golden[i].len > 0)
        memcpy(frame + GBX_FRAME_HEADER_SIZE, golden[i].body,
               len < golden[i].len ? len : golden[i].len);
    return frame;
}

static bool reads(const uint8_t *frame, size_t len)
{
    gbx_remote_any any;

    return gbx_remote_read((gbx_span){frame, len}, &any);
}

/* ---- messages ------------------------------------------------------------------------- */

TEST(messages__are_the_golden_bytes)
{
    EACH(i)
    {
        uint8_t *frame = frame_of(i, golden[i].len);

        assert_true(gbx_remote_send(&bus, "to", NULL, UINT64_C(0x1122334455667788),
                                    golden[i].type, golden[i].msg));
        assert_string_equal(sent_to, "to");
        assert_int_equal(sent.len, GBX_FRAME_HEADER_SIZE + golden[i].len);
        assert_memory_equal(sent.data, frame, sent.len);
        free(frame);
    }
}

TEST(golden_bytes__are_read_with_every_field)
{
    EACH(i)
    {
        uint8_t *frame = frame_of(i, golden[i].len);
        size_t len = GBX_FRAME_HEADER_SIZE + golden[i].len;
        gbx_remote_any any;

        memset(&any, 0xA5, sizeof any);
        assert_true(gbx_remote_read((gbx_span){frame, len}, &any));
        assert_int_equal(any.type, golden[i].type);
        assert_true(any.number == UINT64_C(0x1122334455667788));
        assert_true(gbx_remote_send(&bus, "to", NULL, any.number, any.type, &any.want));
        assert_int_equal(sent.len, len);
        assert_memory_equal(sent.data, frame, len);
        free(frame);
    }
}

TEST(every_truncation__is_refused)
{
    EACH(i)
    for (size_t len = 0; len < golden[i].len; len++) {
        uint8_t *honest = frame_of(i, len); /* the header tells of the cut */

        assert_false(reads(honest, GBX_FRAME_HEADER_SIZE + len));
        fill_header(honest, golden[i].type, golden[i].len);
        assert_false(reads(honest, GBX_FRAME_HEADER_SIZE + len));
        free(honest);
    }
    for (size_t len = 0; len < GBX_FRAME_HEADER_SIZE; len++) {
        uint8_t *header = calloc(1, len + 1);

        assert_false(reads(header, len));
        free(header);
    }
}

TEST(trailing_bytes__are_refused)
{
    EACH(i)
    {
        uint8_t *frame = frame_of(i, golden[i].len + 1);

        frame[GBX_FRAME_HEADER_SIZE + golden[i].len] = 0;
        assert_false(reads(frame, GBX_FRAME_HEADER_SIZE + golden[i].len + 1));
        fill_header(frame, golden[i].type, golden[i].len);
        assert_false(reads(frame, GBX_FRAME_HEADER_SIZE + golden[i].len + 1));
        free(frame);
    }
}

TEST(unknown_types__and_reserved_bytes_are_refused)
{
    uint8_t frame[GBX_FRAME_HEADER_SIZE + 1] = {0}; /* of a CANCEL */

    for (unsigned type = 0; type < 256; type++) {
        fill_header(frame, type, 1);
        assert_int_equal(reads(frame, sizeof frame), type == GBX_REMOTE_CANCEL);
    }
    for (size_t at = 5; at < 8; at++) {
        fill_header(frame, GBX_REMOTE_CANCEL, 1);
        frame[at] = 1;
        assert_false(reads(frame, sizeof frame));
    }
}

/* A number out of its range, or a text beyond its limit. */
static bool reads_back(gbx_remote_type type, const void *msg)
{
    assert_true(gbx_remote_send(&bus, "to", NULL, 1, type, msg));
    return reads(sent.data, sent.len);
}

#define READS(name, NAME, ...) \
    reads_back(GBX_REMOTE_##NAME, &(gbx_remote_##name){__VA_ARGS__})

TEST(ranges__hold_at_their_ends)
{
    static uint8_t zeros[GBX_REMOTE_CHUNK_MAX + 1];
    gbx_span chunk = {zeros, GBX_REMOTE_CHUNK_MAX};
    gbx_span more = {zeros, GBX_REMOTE_CHUNK_MAX + 1};
    gbx_span text = {zeros, GBX_REMOTE_TEXT_MAX};
    gbx_span longer = {zeros, GBX_REMOTE_TEXT_MAX + 1};
    gbx_span hash = {zeros, 32}, short_hash = {zeros, 31}, text_1 = {zeros, 1};

    gbx_remote_want w = want;

    assert_true(READS(data, DATA, 1, 0, chunk));
    assert_false(READS(data, DATA, 1, 0, more));
    assert_false(READS(refuse, REFUSE, 0, 0, 0, text));
    assert_true(READS(refuse, REFUSE, GBX_WHY_CONTENTS, 0, 0, text));
    assert_false(READS(refuse, REFUSE, GBX_WHY_CONTENTS, 0, 0, longer));
    assert_false(READS(refuse, REFUSE, GBX_WHY_CONTENTS + 1, 0, 0, text));
    assert_true(READS(fetch, FETCH, text_1, hash, 0, 1));
    assert_false(READS(fetch, FETCH, text_1, hash, 0, 0));
    assert_false(READS(fetch, FETCH, text_1, hash, 0, GBX_REMOTE_CHUNK_MAX + 1));
    assert_false(READS(fetch, FETCH, text_1, short_hash, 0, 1));
    assert_false(READS(fetch, FETCH, {0}, hash, 0, 1));
    assert_true(READS(grant, GRANT, 1, {0}, text_1, {0}));
    assert_false(READS(grant, GRANT, 0, {0}, text_1, {0}));
    assert_false(READS(grant, GRANT, 1, {0}, {0}, {0}));
    assert_false(READS(cancel, CANCEL, 1));
    w.setup_bytes = 0;
    assert_false(reads_back(GBX_REMOTE_WANT, &w));
    w.setup_bytes = GBX_REMOTE_SETUP_MAX;
    assert_true(reads_back(GBX_REMOTE_WANT, &w));
    w.setup_bytes = GBX_REMOTE_SETUP_MAX + 1;
    assert_false(reads_back(GBX_REMOTE_WANT, &w));
}

/* ---- what an engine must have ----------------------------------------------------------- */

TEST(setup__is_read_as_it_was_written)
{
    gbx_content content[2] = {{.kind = 1, .format = 2, .name = "rows", .size = 1000},
                              {.name = "more"}};
    gbx_contents contents = {.globals = 1,
                             .jit = 2,
                             .capabilities = 3,
                             .memory_bytes = 4,
                             .cpu_ms = 5,
                             .functions = "a\nb",
                             .items = content,
                             .count = 2};
    gbx_contents read;
    gbx_content *items;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

    gbx_buf_init(&bytes, 4096);
    memcpy(content[0].sha256, HASH, 32);
    assert_true(gbx_remote_put_setup(&bytes, &contents));
    assert_true(gbx_remote_get_setup((gbx_span){bytes.data, bytes.len}, &read, &items));
    assert_int_equal(read.memory_bytes, 4);
    assert_string_equal(read.functions, "a\nb");
    assert_int_equal(items[0].size, 1000);
    assert_memory_equal(items[0].sha256, HASH, 32);
    assert_string_equal(items[1].name, "more");
    free(items);
    for (size_t len = 0; len < bytes.len; len++) {
        uint8_t *cut = malloc(len + 1);

        memcpy(cut, bytes.data, len);
        assert_false(gbx_remote_get_setup((gbx_span){cut, len}, &read, &items));
        free(cut);
    }
    assert_true(gbx_buf_append(&bytes, "", 1));
    assert_false(
        gbx_remote_get_setup((gbx_span){bytes.data, bytes.len}, &read, &items));
}

/* ---- windows ----------------------------------------------------------------------------- */

TEST(window__bounds_what_is_sent)
{
    static uint8_t bytes[GBX_LEASE_WINDOW + 1];
    gbx_flow f;

    gbx_flow_init(&f);
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, bytes, sizeof bytes, false),
                     GBX_LEASE_WINDOW);
    assert_int_equal(f.out_seq, GBX_LEASE_WINDOW / GBX_REMOTE_CHUNK_MAX);
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, bytes, 1, false), 0);
    assert_false(
        gbx_flow_take(&f, 0, 0, GBX_LEASE_WINDOW + 1)); /* more than was sent */
    assert_true(gbx_flow_take(&f, 0, 0, 100));
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, bytes, 1000, false), 100);
}

TEST(window__bounds_what_comes)
{
    gbx_flow f;

    gbx_flow_init(&f);
    assert_false(gbx_flow_take(&f, 1, 1, 0)); /* the first one is missing */
    assert_true(gbx_flow_take(&f, 0, 1, 0));
    assert_false(gbx_flow_take(&f, 0, 1, 0)); /* twice */
    assert_false(gbx_flow_take(&f, 1, GBX_LEASE_WINDOW, 0));
    assert_true(gbx_flow_take(&f, 1, GBX_LEASE_WINDOW - 1, 0));
    assert_true(gbx_flow_take(&f, 2, 0, 0));
    assert_false(gbx_flow_take(&f, 3, 1, 0));
    f.in_taken = GBX_LEASE_WINDOW / 2 - 1; /* too little to speak of */
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, NULL, 0, false), 0);
    assert_int_equal(f.out_seq, 0);
    f.in_taken++;
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, NULL, 0, false), 0);
    assert_int_equal(f.out_seq, 1);
    assert_true(gbx_flow_take(&f, 3, GBX_LEASE_WINDOW / 2, 0));
    assert_false(gbx_flow_take(&f, 4, 1, 0));
}

TEST(beat__is_sent_whatever_there_is)
{
    gbx_flow f;

    gbx_flow_init(&f);
    f.in_taken = 5;
    assert_int_equal(gbx_flow_send(&f, &bus, "to", 1, NULL, 0, true), 0);
    assert_int_equal(f.out_seq, 1);
    assert_int_equal(f.in_taken, 0);
}

TEST_MAIN(NULL, NULL)
