/* SPDX-License-Identifier: MIT */
/* blocked_names - both tables are sorted by name; a test says so if they are not. */
#include "guard/internal.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <glovebox/glovebox.h>

#include <stdlib.h>
#include <string.h>

#define NO_MODULES "cannot load modules: there are none"
#define NO_FILES   "is not available: code has no files"
#define NO_SYNC    "is not available: nothing here waits for a file"
#define NO_NETWORK "is not available: code has no network"
#define OFF_FETCH  "is off: the policy allows no requests"
#define OFF_FILE   "is off: the policy allows no files"
#define OFF_CRYPTO "is off: the policy does not allow it"
#define OFF_ENV    "is off: the policy allows no variables"
#define NO_SHELL   "is not available: no program can be started"
#define NO_HOST \
    "is not available: this is not Node.js, and nothing of the host is visible"
#define NO_EVAL "cannot make code from a string: that is switched off"

#define ALLOW_FETCH                                                                   \
    "allow it with --allow fetch=HOST, or make the request outside and give what it " \
    "returned as the input"
#define ALLOW_FILE \
    "allow it with --allow file=DIRECTORY, or give the data to the code as its input"
#define ALLOW_CRYPTO \
    "allow it with --allow crypto, or compute the hash outside and give it as the input"
#define ALLOW_ENV \
    "allow it with --allow env=NAME, or give the value to the code as its input"
#define USE_FETCH  "use fetch(url), which needs no module"
#define USE_FILE   "use await fs.readFile(path), which needs no module"
#define USE_CRYPTO "use crypto.createHash(name), which needs no module"
#define USE_ENV    "use env.NAME, which has the values that the policy lists"

#define DO_INPUT   "give the data to the code as its input instead"
#define DO_REQUEST "make the request outside and give what it returned as the input"
#define DO_BUILTIN \
    "use what JavaScript itself has: Array, Map, Set, JSON, Math, Intl, RegExp"
#define DO_WRITE "write the code out, or choose among functions by a key of an object"

static const gbx_word words[] = {
    {"Buffer", GBX_USE_ANY, "buffer", NO_HOST, "use strings, arrays or Uint8Array", 0,
     false},
    {"Bun", GBX_USE_ANY, "runtime", NO_HOST, DO_INPUT, 0, false},
    {"Deno", GBX_USE_ANY, "runtime", NO_HOST, DO_INPUT, 0, false},
    {"EventSource", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH,
     false},
    {"Function", GBX_USE_CALL, "function", NO_EVAL, DO_WRITE, 0, false},
    {"SharedArrayBuffer", GBX_USE_ANY, "shared-memory",
     "is not available: there is one thread", "use ArrayBuffer", 0, false},
    {"WebAssembly", GBX_USE_ANY, "wasm", "is not available", "write it in JavaScript",
     0, false},
    {"WebSocket", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH, false},
    {"XMLHttpRequest", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH,
     false},
    {"__dirname", GBX_USE_ANY, "path", NO_FILES, DO_INPUT, 0, false},
    {"__filename", GBX_USE_ANY, "path", NO_FILES, DO_INPUT, 0, false},
    {"axios", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH, false},
    {"child_process", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT, 0, false},
    {"crypto", GBX_USE_HOST, "crypto", OFF_CRYPTO, ALLOW_CRYPTO, GBX_CAP_CRYPTO, true},
    {"dgram", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, 0, false},
    {"dns", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, 0, false},
    {"env", GBX_USE_HOST, "env", OFF_ENV, ALLOW_ENV, GBX_CAP_ENV, true},
    {"eval", GBX_USE_ANY, "eval", NO_EVAL, DO_WRITE, 0, false},
    {"execFileSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT, 0, false},
    {"execSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT, 0, false},
    {"fetch", GBX_USE_HOST, "network", OFF_FETCH, ALLOW_FETCH, GBX_CAP_FETCH, true},
    {"fs", GBX_USE_HOST, "file", OFF_FILE, ALLOW_FILE, GBX_CAP_FILE, true},
    {"fsPromises", GBX_USE_HOST, "file", NO_FILES, DO_INPUT, GBX_CAP_FILE, false},
    {"global", GBX_USE_ANY, "global", NO_HOST, "use local variables, or globalThis", 0,
     false},
    {"http", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH, false},
    {"https", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, GBX_CAP_FETCH, false},
    {"import", GBX_USE_KEYWORD, "import", NO_MODULES, DO_BUILTIN, 0, false},
    {"net", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, 0, false},
    {"process", GBX_USE_ANY, "process", NO_HOST,
     "give what the code needs to know (settings, arguments) as its input", GBX_CAP_ENV,
     false},
    {"readFileSync", GBX_USE_ANY, "file", NO_SYNC, DO_INPUT, GBX_CAP_FILE, false},
    {"require", GBX_USE_ANY, "require", NO_MODULES, DO_BUILTIN, 0, false},
    {"spawnSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT, 0, false},
    {"tls", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST, 0, false},
    {"writeFileSync", GBX_USE_ANY, "file", NO_FILES, GBX_WRITE_HINT, 0, false},
};

_Static_assert(GBX_COUNTOF(words) < GBX_WORDS_MAX, "a set of words is 64 bits");

/* Advice to use a capability, or to switch it on. */
static const struct advice {
    uint32_t capability;
    const char *on;
    const char *off;
} advices[] = {
    {GBX_CAP_FETCH, USE_FETCH, ALLOW_FETCH},
    {GBX_CAP_FILE, USE_FILE, ALLOW_FILE},
    {GBX_CAP_CRYPTO, USE_CRYPTO, ALLOW_CRYPTO},
    {GBX_CAP_ENV, USE_ENV, DO_INPUT},
};

static const struct module {
    const char *name;
    const char *hint; /* NULL: the capability's own hint */
    uint32_t capability;
} modules[] = {
    {"axios", NULL, GBX_CAP_FETCH},
    {"buffer", "use strings, arrays or Uint8Array", 0},
    {"child_process", "no program can be started from here; " DO_INPUT, 0},
    {"cluster", "there is one process and one thread; do the work in it", 0},
    {"crypto", NULL, GBX_CAP_CRYPTO},
    {"dgram", DO_REQUEST, 0},
    {"dns", DO_REQUEST, 0},
    {"fs", NULL, GBX_CAP_FILE},
    {"fs/promises", NULL, GBX_CAP_FILE},
    {"http", NULL, GBX_CAP_FETCH},
    {"http2", NULL, GBX_CAP_FETCH},
    {"https", NULL, GBX_CAP_FETCH},
    {"lodash", "Array methods, Object.groupBy and Map do what lodash does", 0},
    {"moment", "use Date and Intl.DateTimeFormat; the time zone is UTC", 0},
    {"net", DO_REQUEST, 0},
    {"node-fetch", NULL, GBX_CAP_FETCH},
    {"os", "nothing of the host is visible; " DO_INPUT, 0},
    {"path", "code has no files; take paths apart with split('/')", 0},
    {"process", "nothing of the host is visible; " DO_INPUT, GBX_CAP_ENV},
    {"tls", DO_REQUEST, 0},
    {"undici", NULL, GBX_CAP_FETCH},
    {"util", "console.log shows nested values by itself", 0},
    {"vm", DO_WRITE, 0},
    {"worker_threads", "there is one process and one thread; do the work in it", 0},
};

static int order(const char *name, size_t len, const char *with)
{
    size_t with_len = strlen(with);
    int o = memcmp(name, with, len < with_len ? len : with_len);

    return o != 0 ? o : len == with_len ? 0 : len < with_len ? -1 : 1;
}

struct text {
    const char *name;
    size_t len;
};

static int order_of(const void *text, const void *word)
{
    const struct text *t = text;

    return order(t->name, t->len, ((const gbx_word *)word)->name);
}

static size_t find_plain(const char *name, size_t len)
{
    const gbx_word *found = bsearch(&(struct text){name, len}, words,
                                    GBX_COUNTOF(words), sizeof *words, order_of);

    return found != NULL ? (size_t)(found - words) : GBX_NO_WORD;
}

/*
 * Decode one \uXXXX or \u{X...} at name[*at] and step over it. Words of the table are
 * ASCII: any other character becomes 0, which matches none.
 */
static char unescape(const char *name, size_t len, size_t *at)
{
    size_t i = *at + 2;
    bool braced = i < len && name[i] == '{';
    size_t most = braced ? len : i + 4;
    uint32_t point = 0;

    i += braced;
    for (; i < len && i < most && gbx_hex_digit((uint8_t)name[i]) >= 0; i++)
        point = point > 0x7F ? 0x80
                             : point << 4 | (uint32_t)gbx_hex_digit((uint8_t)name[i]);
    if (braced && i < len)
        i++;
    *at = i;
    if (point > 0x7F)
        return '\0';
    return (char)point;
}

static const char *advice_on(uint32_t capability, uint32_t capabilities)
{
    for (size_t i = 0; i < GBX_COUNTOF(advices); i++)
        if (advices[i].capability == capability)
            return (capabilities & capability) != 0 ? advices[i].on : advices[i].off;
    return "";
}

size_t gbx_word_find(const char *name, size_t len)
{
    char plain[32];
    size_t n = 0;

    if (memchr(name, '\\', len) == NULL)
        return find_plain(name, len);
    for (size_t i = 0; i < len && n < sizeof plain; n++) {
        if (name[i] == '\\')
            plain[n] = unescape(name, len, &i);
        else
            plain[n] = name[i++];
    }
    return find_plain(plain, n);
}

const gbx_word *gbx_word_get(size_t index)
{
    return &words[index];
}

const char *gbx_word_hint(const gbx_word *word, uint32_t capabilities)
{
    return (capabilities & word->capability) != 0
               ? advice_on(word->capability, capabilities)
               : word->hint;
}

bool gbx_word_is_write(const char *name, size_t len)
{
    static const char *const verbs[] = {
        "appendFile", "chmod",   "chown",    "copyFile",  "cp",     "createWriteStream",
        "fchmod",     "fchown",  "fsync",    "ftruncate", "lchmod", "lchown",
        "link",       "lutimes", "mkdir",    "mkdtemp",   "rename", "rm",
        "rmdir",      "symlink", "truncate", "unlink",    "utimes", "write",
        "writeFile",  "writev",
    };

    if (len > 4 && memcmp(name + len - 4, "Sync", 4) == 0)
        len -= 4;
    for (size_t i = 0; i < GBX_COUNTOF(verbs); i++)
        if (order(name, len, verbs[i]) == 0)
            return true;
    return false;
}

const char *gbx_module_hint(const char *name, size_t len, uint32_t capabilities)
{
    if (len > 5 && memcmp(name, "node:", 5) == 0) {
        name += 5;
        len -= 5;
    }
    for (size_t i = 0; i < GBX_COUNTOF(modules); i++) {
        const struct module *m = &modules[i];

        if (order(name, len, m->name) != 0)
            continue;
        return m->hint != NULL && (capabilities & m->capability) == 0
                   ? m->hint
                   : advice_on(m->capability, capabilities);
    }
    return NULL;
}
