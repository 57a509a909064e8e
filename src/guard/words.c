/* SPDX-License-Identifier: MIT */
/* words - both tables are sorted by name; a test says so if they are not. */
#include "guard/words.h"

#include "base/cleanup.h"
#include "guard/text.h"

#include <stdint.h>
#include <string.h>

#define NO_MODULES "cannot load modules: there are none"
#define NO_FILES   "is not available: there are no files"
#define NO_NETWORK "is not available: there is no network"
#define NO_SHELL   "is not available: no program can be started"
#define NO_HOST \
    "is not available: this is not Node.js, and nothing of the host is visible"
#define NO_EVAL "cannot make code from a string: that is switched off"

#define DO_INPUT   "give the data to the code as its input instead"
#define DO_REQUEST "make the request outside and give what it returned as the input"
#define DO_BUILTIN \
    "use what JavaScript itself has: Array, Map, Set, JSON, Math, Intl, RegExp"
#define DO_RETURN "return the text instead, and write it outside"
#define DO_FORM \
    "leave the word out: the code is found by its form, not by what it exports"
#define DO_WRITE "write the code out, or choose among functions by a key of an object"

static const gbx_word words[] = {
    {"Buffer", GBX_USE_ANY, "buffer", NO_HOST, "use strings, arrays or Uint8Array"},
    {"Bun", GBX_USE_ANY, "runtime", NO_HOST, DO_INPUT},
    {"Deno", GBX_USE_ANY, "runtime", NO_HOST, DO_INPUT},
    {"EventSource", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST},
    {"Function", GBX_USE_CALL, "function", NO_EVAL, DO_WRITE},
    {"SharedArrayBuffer", GBX_USE_ANY, "shared-memory",
     "is not available: there is one thread", "use ArrayBuffer"},
    {"WebAssembly", GBX_USE_ANY, "wasm", "is not available", "write it in JavaScript"},
    {"WebSocket", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST},
    {"XMLHttpRequest", GBX_USE_ANY, "network", NO_NETWORK, DO_REQUEST},
    {"__dirname", GBX_USE_ANY, "path", NO_FILES, DO_INPUT},
    {"__filename", GBX_USE_ANY, "path", NO_FILES, DO_INPUT},
    {"axios", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"child_process", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT},
    {"dgram", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"dns", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"eval", GBX_USE_ANY, "eval", NO_EVAL, DO_WRITE},
    {"execFileSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT},
    {"execSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT},
    {"export", GBX_USE_KEYWORD, "export", "is not possible: the code is no module",
     DO_FORM},
    {"exports", GBX_USE_HOST, "export", "does not exist: the code is no module",
     DO_FORM},
    {"fetch", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"fs", GBX_USE_HOST, "file", NO_FILES, DO_INPUT},
    {"fsPromises", GBX_USE_HOST, "file", NO_FILES, DO_INPUT},
    {"global", GBX_USE_ANY, "global", NO_HOST, "use local variables, or globalThis"},
    {"http", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"https", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"import", GBX_USE_KEYWORD, "import", NO_MODULES, DO_BUILTIN},
    {"module", GBX_USE_HOST, "export", "does not exist: the code is no module",
     DO_FORM},
    {"net", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"process", GBX_USE_ANY, "process", NO_HOST,
     "give what the code needs to know (settings, arguments) as its input"},
    {"readFileSync", GBX_USE_ANY, "file", NO_FILES, DO_INPUT},
    {"require", GBX_USE_ANY, "require", NO_MODULES, DO_BUILTIN},
    {"spawnSync", GBX_USE_ANY, "shell", NO_SHELL, DO_INPUT},
    {"tls", GBX_USE_HOST, "network", NO_NETWORK, DO_REQUEST},
    {"writeFileSync", GBX_USE_ANY, "file", NO_FILES, DO_RETURN},
};

_Static_assert(GBX_COUNTOF(words) < GBX_WORDS_MAX, "a set of words is 64 bits");

static const struct module {
    const char *name;
    const char *hint;
} modules[] = {
    {"axios", DO_REQUEST},
    {"buffer", "use strings, arrays or Uint8Array"},
    {"child_process", "no program can be started from here; " DO_INPUT},
    {"cluster", "there is one process and one thread; do the work in it"},
    {"crypto", "compute the hash or key outside and give it as the input"},
    {"dgram", DO_REQUEST},
    {"dns", DO_REQUEST},
    {"fs", "there are no files; " DO_INPUT},
    {"fs/promises", "there are no files; " DO_INPUT},
    {"http", DO_REQUEST},
    {"http2", DO_REQUEST},
    {"https", DO_REQUEST},
    {"lodash", "Array methods, Object.groupBy and Map do what lodash does"},
    {"moment", "use Date and Intl.DateTimeFormat; the time zone is UTC"},
    {"net", DO_REQUEST},
    {"node-fetch", DO_REQUEST},
    {"os", "nothing of the host is visible; " DO_INPUT},
    {"path", "there are no files; take paths apart with split('/')"},
    {"process", "nothing of the host is visible; " DO_INPUT},
    {"tls", DO_REQUEST},
    {"undici", DO_REQUEST},
    {"util", "console.log shows nested values by itself"},
    {"vm", DO_WRITE},
    {"worker_threads", "there is one process and one thread; do the work in it"},
};

static int order(const char *name, size_t len, const char *with)
{
    size_t with_len = strlen(with);
    int o = memcmp(name, with, len < with_len ? len : with_len);

    return o != 0 ? o : len == with_len ? 0 : len < with_len ? -1 : 1;
}

static size_t find_plain(const char *name, size_t len)
{
    size_t low = 0;
    size_t high = GBX_COUNTOF(words);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int o = order(name, len, words[middle].name);

        if (o == 0)
            return middle;
        if (o < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return GBX_NO_WORD;
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c == '\0' ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)((at - digits) % 16);
}

/*
 * One \uXXXX or \u{X...} at name[*at], stepped over. Only ASCII can be part of a word
 * of ours: anything else becomes 0, which is part of none.
 */
static char unescape(const char *name, size_t len, size_t *at)
{
    size_t i = *at + 2;
    bool braced = i < len && name[i] == '{';
    size_t most = braced ? len : i + 4;
    uint32_t point = 0;

    i += braced;
    for (; i < len && i < most && hex(name[i]) >= 0; i++)
        point = point > 0x7F ? 0x80 : point << 4 | (uint32_t)hex(name[i]);
    if (braced && i < len)
        i++;
    *at = i;
    if (point > 0x7F)
        return '\0';
    return (char)point;
}

/* ---- public to other modules -------------------------------------------- */

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

bool gbx_words_occur(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t start = i;

        while (i < len && gbx_text_is_name((unsigned char)text[i]))
            i++;
        if (i > start && find_plain(text + start, i - start) != GBX_NO_WORD)
            return true;
        if (i == start) {
            if (text[i] == '\\' && i + 1 < len && text[i + 1] == 'u')
                return true; /* a name may be spelt with escapes */
            i++;
        }
    }
    return false;
}

const char *gbx_module_hint(const char *name, size_t len)
{
    if (len > 5 && memcmp(name, "node:", 5) == 0) {
        name += 5;
        len -= 5;
    }
    for (size_t i = 0; i < GBX_COUNTOF(modules); i++)
        if (order(name, len, modules[i].name) == 0)
            return modules[i].hint;
    return NULL;
}
