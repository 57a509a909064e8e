# SPDX-License-Identifier: MIT
# cmake -DESBUILD=program -DPACKAGES=node_modules -DOUTPUT=x.js -P bundle.cmake: head.js, then
# main.js with all that it imports as one expression, then tail.js. Comments go;
# THIRD-PARTY.md has the licences. All that is here is read by the engine when a template
# starts, some of it three times: it is as short as it can be.
get_filename_component(here ${CMAKE_CURRENT_LIST_FILE} DIRECTORY)
execute_process(
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${PACKAGES} ${ESBUILD} ${here}/main.js
        --bundle --format=iife --global-name=web --platform=neutral --target=es2022
        --main-fields=module,main --charset=ascii --minify --legal-comments=none
        --log-level=warning --define:globalThis=builtIns --inject:${here}/encoding.js
        # For URLs a package asks for the encodings of the Far East, which the interface
        # of URL cannot name: 400 KiB of tables, left out.
        --alias:@exodus/bytes/encoding.js=@exodus/bytes/encoding-lite.js
        # 9,000 small lists: natives.table.
        --external:*/mappingTable.json
    OUTPUT_VARIABLE middle
    COMMAND_ERROR_IS_FATAL ANY)
file(READ ${here}/head.js head)
file(READ ${here}/tail.js tail)
file(WRITE ${OUTPUT} "${head}${middle}${tail}")
