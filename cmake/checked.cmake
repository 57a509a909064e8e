# SPDX-License-Identifier: MIT
# The modules of the host's side once more, for tests and for fuzzing: with what fuzzing
# needs, and with what is the worker's alone (crypto, analysis), which is built without sanitizers, since
# its seal would kill what they do.
if(TARGET gbx_checked)
    return()
endif()

add_library(gbx_checked STATIC)
foreach(module gbx_base gbx_wire gbx_crypto gbx_policy gbx_file gbx_audit gbx_fetch
    gbx_syntax gbx_guard gbx_analysis gbx_replay gbx_cgroup gbx_engine)
    get_target_property(folder ${module} SOURCE_DIR)
    get_target_property(sources ${module} SOURCES)
    get_target_property(definitions ${module} COMPILE_DEFINITIONS)
    list(TRANSFORM sources PREPEND ${folder}/)
    target_sources(gbx_checked PRIVATE ${sources})
    if(definitions)
        target_compile_definitions(gbx_checked PRIVATE ${definitions})
    endif()
endforeach()
target_link_libraries(gbx_checked PUBLIC gbx_flags gbx_sanitize gbx_grammar gbx_grammar_types
    PkgConfig::EVENT
    Threads::Threads ${CMAKE_DL_LIBS} m)
if(GLOVEBOX_FUZZ)
    target_compile_options(gbx_checked PUBLIC -fsanitize=fuzzer-no-link)
endif()
