# SPDX-License-Identifier: MIT
# Everything comes from the distribution but the parser and its grammar, which come from
# npm at versions and hashes fixed in tools/npm/package-lock.json. Debian 12 has the
# parser too, but its 0.20.7 counts the children of a node in 16 bits and corrupts the
# heap on 65,535 open brackets. tools/install-deps installs all of it and says why.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JSC REQUIRED IMPORTED_TARGET javascriptcoregtk-4.1)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET libevent_core libevent_extra)
# Headers alone: the library is loaded where hashes are allowed, and linked by nobody.
pkg_check_modules(OPENSSL REQUIRED libcrypto>=3.0)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
# Headers alone, too. 7.87: CURLOPT_QUICK_EXIT, which a library may lack that has 7.85's.
pkg_check_modules(CURL REQUIRED libcurl>=7.87)
# And again, in the worker. 3.38: sqlite3_error_offset().
pkg_check_modules(SQLITE REQUIRED sqlite3>=3.38)

# And in the command.
pkg_check_modules(CJOSE REQUIRED cjose)

# The runner on NATS is built where its library is; nobody else needs it.
pkg_check_modules(NATS IMPORTED_TARGET libnats>=3.4)

set(GLOVEBOX_GRAMMARS ${PROJECT_SOURCE_DIR}/tools/npm/node_modules CACHE PATH
    "Where npm has put the packages of tools/npm")
foreach(source tree-sitter/vendor/tree-sitter/lib/src/parser.c
        tree-sitter-javascript/src/parser.c
        tree-sitter-typescript/typescript/src/parser.c)
    if(NOT EXISTS ${GLOVEBOX_GRAMMARS}/${source})
        message(FATAL_ERROR "a parser is missing: run tools/install-deps")
    endif()
endforeach()

# Of the web's interfaces for the box, and of packages of npm, esbuild makes scripts.
find_program(GLOVEBOX_ESBUILD esbuild)
foreach(package @babel/parser @exodus/bytes fflate jsonc-parser smol-toml)
    if(NOT GLOVEBOX_ESBUILD OR NOT EXISTS ${GLOVEBOX_GRAMMARS}/${package}/package.json)
        message(FATAL_ERROR "esbuild or what it bundles is missing: run tools/install-deps")
    endif()
endforeach()
