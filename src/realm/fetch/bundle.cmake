# SPDX-License-Identifier: MIT
# cmake -DESBUILD=program -DPACKAGES=node_modules -DOUTPUT=folder -P bundle.cmake: fetch.js
# and encodings.js, each head.js, then a file with all that it imports as one expression, then
# the end. Comments go; THIRD-PARTY.md has the licences. The engine reads fetch.js when a
# template starts: it is as short as it can be.
get_filename_component(here ${CMAKE_CURRENT_LIST_FILE} DIRECTORY)
file(READ ${here}/head.js head)

function(bundle name file tail)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${PACKAGES} ${ESBUILD} ${file}
            --bundle --format=iife --global-name=web --platform=neutral --target=es2022
            --main-fields=module,main --charset=ascii --minify --legal-comments=none
            --log-level=warning --define:globalThis=builtIns
        OUTPUT_VARIABLE middle
        COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE ${OUTPUT}/${name}.js "${head}${middle}${tail}")
endfunction()

bundle(fetch ${here}/fetch.js "return web.default(host);\n})\n")
bundle(encodings ${here}/../helpers/encodings.js "return web;\n})\n")
