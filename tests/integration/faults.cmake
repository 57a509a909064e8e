# SPDX-License-Identifier: MIT
# What the engine does when memory or the kernel refuses.
gbx_integration_test(nomem_engine)
target_sources(test_nomem_engine PRIVATE support/fault_session.c)
target_link_libraries(test_nomem_engine PRIVATE gbx_failing_malloc)
gbx_integration_test(failing_calls)
target_sources(test_failing_calls PRIVATE support/fault_session.c)
target_link_libraries(test_failing_calls PRIVATE gbx_failing_calls)
