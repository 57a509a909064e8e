# SPDX-License-Identifier: MIT
# Everything comes from the distribution but the grammar, which comes from npm at a
# version and hash fixed in tools/npm/package-lock.json. tools/install-deps installs
# all of it and says why each is needed.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JSC REQUIRED IMPORTED_TARGET javascriptcoregtk-4.1)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET libevent_core libevent_pthreads)
pkg_check_modules(TREE_SITTER REQUIRED IMPORTED_TARGET tree-sitter)

set(GLOVEBOX_GRAMMARS ${PROJECT_SOURCE_DIR}/tools/npm/node_modules CACHE PATH
    "Where npm has put tree-sitter-javascript")
if(NOT EXISTS ${GLOVEBOX_GRAMMARS}/tree-sitter-javascript/src/parser.c)
    message(FATAL_ERROR "the JavaScript grammar is missing: run tools/install-deps")
endif()
