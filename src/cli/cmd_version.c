/* SPDX-License-Identifier: MIT */
/* cmd_version - `glovebox version`: one line that a script can read. */
#include "base/cleanup.h"
#include "cli/cli.h"

static const gbx_opt_table *const tables[] = {&gbx_common_table};

static int version_main(const gbx_command *self, int argc, char **argv)
{
    gbx_common_args common = {0};
    void *const into[] = {&common};
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 0)
        return gbx_command_misuse(self, false, "version takes no argument");
    (void)printf("glovebox %s\n", gbx_version());
    return gbx_cli_finish(0);
}

/* ---- public to other modules -------------------------------------------- */

const gbx_command gbx_command_version = {
    .name = "version",
    .summary = "print the version",
    .usage = "version",
    .description =
        "Prints the version. The versions of the engine and of what else is\n"
        "used are in 'glovebox doctor'.",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = version_main,
};
