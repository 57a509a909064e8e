# SPDX-License-Identifier: MIT
# Datasets of `glovebox mcp`.
add_library(gbx_sources STATIC unit/sources.c)
target_include_directories(gbx_sources PUBLIC unit)
target_link_libraries(gbx_sources PUBLIC gbx_mcp_sets gbx_engine gbx_table)
gbx_unit_test(data_source gbx_sources)
add_executable(test_data_rows unit/test_data_rows.c)
target_link_libraries(test_data_rows PRIVATE gbx_sources gbx_attack_table gbx_steps
    ${SQLITE_LIBRARIES})
gbx_test(test_data_rows unit 600 test_data_rows unit/data/rows.txt)
target_compile_definitions(test_data_rows PRIVATE HOSTILE_PROGRAM="$<TARGET_FILE:hostile-worker>")
add_dependencies(test_data_rows hostile-worker)
gbx_unit_test(data_loader gbx_sources gbx_mcp_data gbx_mcp_code gbx_engine)
gbx_unit_test(sqlite_damage gbx_base)
target_sources(test_sqlite_damage PRIVATE unit/sqlite_reader.c)
target_link_libraries(test_sqlite_damage PRIVATE ${SQLITE_LIBRARIES} ${CMAKE_DL_LIBS})
