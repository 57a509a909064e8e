/* SPDX-License-Identifier: MIT */
/* loader - what its threads find out, and who has it in the end. */
#include "base/cleanup.h"
#include "mcp/data/data.h"
#include "scratch.h"
#include "sources.h"
#include "test.h"

/* Only a sanitizer sees it. */
TEST(loader__gives_back_what_the_loop_never_came_to)
{
    static const gbx_mcp_server_options about = {.name = "glovebox", .version = "1"};
    const char *spec = write_file("a.json", "[1]", 3);
    gbx_mcp_loop *loop = gbx_mcp_loop_new();
    gbx_mcp_server *server = NULL;
    gbx_mcp_data *data = NULL;
    gbx_shown shown = {0};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_error error = {0};

    options.worker_path = "/nowhere/glovebox-worker"; /* that too is found out */
    server = gbx_mcp_server_new(loop, &about);
    assert_int_equal(gbx_mcp_data_new(loop, server, &spec, 1, &options, &shown, NULL,
                                      &data, &error),
                     GBX_OK);

    gbx_mcp_data_free(data);
    gbx_mcp_server_free(server);
    gbx_mcp_loop_free(loop);
}

TEST_MAIN_EACH(scratch_begin, scratch_end)
