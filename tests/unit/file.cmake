# SPDX-License-Identifier: MIT
# Reading files for code in the box.
add_library(gbx_file_tree STATIC support/file_tree.c)
target_include_directories(gbx_file_tree PUBLIC support)
target_link_libraries(gbx_file_tree PUBLIC ${host_modules} gbx_table)

gbx_host_test(file_paths gbx_file_tree)
gbx_host_test(file gbx_file_tree gbx_support)

gbx_host_test(file_steps gbx_file_tree)
target_link_options(test_file_steps PRIVATE -Wl,--wrap=syscall,--wrap=open,--wrap=read)

gbx_host_test(file_race gbx_file_tree)
