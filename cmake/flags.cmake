# SPDX-License-Identifier: MIT
# What every target of ours is compiled with. -Werror lives in the presets: a
# packager's compiler may be newer than ours.
add_library(gbx_flags INTERFACE)
target_compile_features(gbx_flags INTERFACE c_std_17)
target_compile_definitions(gbx_flags INTERFACE _GNU_SOURCE)
target_include_directories(gbx_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(gbx_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wformat=2 -Wimplicit-fallthrough
    -Wswitch-enum -fvisibility=hidden -fno-common
    -Wno-unused-parameter) # of a callback: its type is its caller's
# The texts of asserts name files of the sources, wherever those lie: builds are repeatable.
target_compile_options(gbx_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
set(CMAKE_C_EXTENSIONS OFF)

# asserts stay on in release builds: they are part of the design.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# -DGLOVEBOX_SANITIZE=address,undefined (or thread): the host side only. The worker
# cannot run under a sanitizer: its seal kills what the sanitizer's runtime does.
set(GLOVEBOX_SANITIZE "" CACHE STRING "Sanitizers for the host side")

add_library(gbx_harden INTERFACE)
target_compile_options(gbx_harden INTERFACE -fstack-protector-strong
    -fstack-clash-protection -fcf-protection)
target_link_options(gbx_harden INTERFACE -Wl,-z,relro -Wl,-z,now)
if(NOT GLOVEBOX_SANITIZE)
    target_compile_options(gbx_harden INTERFACE
        $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()

add_library(gbx_sanitize INTERFACE)
if(GLOVEBOX_SANITIZE)
    target_compile_options(gbx_sanitize INTERFACE -fsanitize=${GLOVEBOX_SANITIZE}
        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(gbx_sanitize INTERFACE -fsanitize=${GLOVEBOX_SANITIZE})
endif()

# A module of the host side, or one of the worker's side.
function(gbx_module name)
    cmake_parse_arguments(M "" "" "SOURCES;DEPENDS" ${ARGN})
    add_library(${name} STATIC ${M_SOURCES})
    target_link_libraries(${name} PUBLIC gbx_flags gbx_harden ${M_DEPENDS})
endfunction()

# A module that both sides have. The worker's is NAME_plain: the same one, unless sanitizers
# look at the host's. Of its DEPENDS, SHARED are such modules.
function(gbx_shared_module name)
    cmake_parse_arguments(M "" "" "SOURCES;SHARED;DEPENDS" ${ARGN})
    gbx_module(${name} SOURCES ${M_SOURCES} DEPENDS ${M_SHARED} ${M_DEPENDS})
    if(GLOVEBOX_SANITIZE)
        target_link_libraries(${name} PUBLIC gbx_sanitize)
        list(TRANSFORM M_SHARED APPEND _plain)
        gbx_module(${name}_plain SOURCES ${M_SOURCES} DEPENDS ${M_SHARED} ${M_DEPENDS})
    else()
        add_library(${name}_plain ALIAS ${name})
    endif()
endfunction()
