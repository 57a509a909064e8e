# SPDX-License-Identifier: MIT
# Test data that several tests share.
add_library(gbx_golden STATIC unit/golden.c)
target_include_directories(gbx_golden PUBLIC unit)
target_link_libraries(gbx_golden PUBLIC gbx_wire gbx_flags gbx_sanitize)

gbx_unit_test(cleanup gbx_base)
gbx_unit_test(fail gbx_base)
gbx_unit_test(buf gbx_base)
gbx_unit_test(reader gbx_wire)
gbx_unit_test(messages gbx_golden)
gbx_unit_test(message_ranges gbx_golden)
gbx_unit_test(utf8 gbx_base)
gbx_unit_test(json gbx_base)
gbx_unit_test(json_check gbx_base)
