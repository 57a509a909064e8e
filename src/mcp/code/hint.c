/* SPDX-License-Identifier: MIT */
/* hint - what only who runs the server could follow is said as what it means here. */
#include "mcp/code/hint.h"

#include <stddef.h>
#include <string.h>

/* In order: the particular before the general. */
static const struct {
    const char *part;
    const char *told;
} words[] = {
    {"--allow fetch=SITE", "ask a site that is allowed, or do without this request"},
    {"--allow fetch", "fetch is off here: use the tools and data that there are"},
    {"--allow file", "files are off here: use the tools and data that there are"},
    {"--allow crypto", "hashing is off here: do without it"},
    {"--allow env", "variables are off here: write the value into the code"},
    {"or load the data as a dataset", "give the code less data at once"},
    {"raise the memory limit",
     "use less memory: work on the data in smaller pieces, and keep only what is needed"},
    {"loop that does not end", "look for a loop that does not end, or do less at once"},
    {"or raise the limit", "the host did not answer in time: try again"},
    {"run fewer calls at once",
     "the server is busy: run fewer calls at once, or try later"},
};

const char *gbx_hint_for_model(const char *hint)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(hint, words[i].part) != NULL)
            return words[i].told;
    return hint;
}
