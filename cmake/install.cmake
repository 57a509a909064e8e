# SPDX-License-Identifier: MIT
# What `make install` puts where. The command looks for the worker beside itself, so
# both are programs; the library looks where it was installed.
include(CMakePackageConfigHelpers)

install(TARGETS glovebox-command glovebox-worker glovebox-keeper
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS glovebox
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The runner for tests of embedders finds the library beside itself, and the library finds
# the runner there, whatever program it is linked into. So it is in the build folder: CMake
# would make room for the path with colons, and what is between two is the current folder.
set_target_properties(glovebox glovebox-runner-memory PROPERTIES
    INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS glovebox-runner-memory
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET glovebox-runner-nats)
    install(TARGETS glovebox-runner-nats LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS glovebox_static
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/glovebox/glovebox.h include/glovebox/status.h
    include/glovebox/drive.h include/glovebox/fetch.h include/glovebox/host.h include/glovebox/policy.h include/glovebox/preload.h
    include/glovebox/record.h include/glovebox/relay.h include/glovebox/runner.h
    ${PROJECT_BINARY_DIR}/include/glovebox/version.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/glovebox)

# pkg-config: relocatable, the prefix is found from the file itself.
file(RELATIVE_PATH GLOVEBOX_PC_TO_PREFIX
    /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" GLOVEBOX_PC_TO_PREFIX "${GLOVEBOX_PC_TO_PREFIX}")
configure_file(cmake/glovebox.pc.in glovebox.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/glovebox.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# find_package(Glovebox): one imported target, written out, since what the library rests
# on is inside it.
set(GLOVEBOX_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Glovebox)
configure_package_config_file(cmake/GloveboxConfig.cmake.in GloveboxConfig.cmake
    INSTALL_DESTINATION ${GLOVEBOX_PACKAGE_DIR}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(GloveboxConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/GloveboxConfig.cmake
    ${PROJECT_BINARY_DIR}/GloveboxConfigVersion.cmake
    DESTINATION ${GLOVEBOX_PACKAGE_DIR})

install(FILES completions/glovebox.bash RENAME glovebox
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_glovebox
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES share/policy.schema.json share/mcp.schema.json share/container-seccomp.json
    share/glovebox-runner.service share/nats-two-tenants.conf
    DESTINATION ${CMAKE_INSTALL_DATADIR}/glovebox)
install(FILES LICENSE THIRD-PARTY.md README.md SECURITY.md ARCHITECTURE.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN man EXCLUDE)

find_program(GLOVEBOX_SCDOC scdoc)
if(GLOVEBOX_SCDOC)
    set(pages)
    foreach(page glovebox.1 glovebox-run.1 glovebox-replay.1 glovebox-mcp.1 glovebox-runner.1 glovebox.3)
        set(source ${PROJECT_SOURCE_DIR}/docs/man/${page}.scd)
        set(output ${PROJECT_BINARY_DIR}/man/${page})
        add_custom_command(OUTPUT ${output} DEPENDS ${source} VERBATIM
            COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
            COMMAND sh -c "'${GLOVEBOX_SCDOC}' < '${source}' > '${output}.new' && mv '${output}.new' '${output}'")
        list(APPEND pages ${output})
        string(REGEX REPLACE "^.*\\." "" section ${page})
        install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endforeach()
    add_custom_target(man ALL DEPENDS ${pages})
else()
    message(STATUS "scdoc was not found: no man pages")
endif()
