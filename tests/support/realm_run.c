/* SPDX-License-Identifier: MIT */
/*
 * realm_run - one call in a realm without seal or host, and its outcome in one line.
 *
 * For tests only: nothing here is sealed. Waits are real unless the clock is fixed.
 *
 *   realm_run [option=value ...] CODE     ("-": code from standard input)
 *
 *   form=function|execute|body|script  input=JSON  bindings=JSON  data.NAME=JSON
 *   globals=standard|minimal  console=0|1  timers=0|1  now=MS  seed=N  output=BYTES
 *   capabilities=BITS  withheld=BITS  entropy=32 characters  env=JSON  preload=FILE
 *   log=BYTES  line=N  column=N  last=N (1 + offset of the last expression)
 *   repeat=N (that many forks of a warm realm; prints the time of each)
 */
#include "support/realm_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    realm_call call = REALM_CALL_INIT;
    unsigned repeat = 0;

    realm_environment(argv);
    for (int i = 1; i < argc - 1; i++)
        if (strncmp(argv[i], "repeat=", 7) == 0)
            repeat = (unsigned)strtoul(argv[i] + 7, NULL, 10);
        else if (!realm_call_option(&call, argv[i])) {
            fprintf(stderr, "realm_run: no such option: %s\n", argv[i]);
            return 64;
        }
    if (argc < 2) {
        fputs("usage: realm_run [option=value ...] CODE\n", stderr);
        return 64;
    }
    call.code =
        strcmp(argv[argc - 1], "-") == 0 ? realm_read_all(stdin) : argv[argc - 1];
    call.code_len = strlen(call.code);
    if (repeat > 0)
        return realm_measure(&call, repeat);

    char *text = realm_outcome(&call, 0);

    puts(text);
    free(text);
    return 0;
}
