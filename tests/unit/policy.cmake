# SPDX-License-Identifier: MIT
# The policy: its text, its questions, and the schema that editors use.
gbx_host_test(policy_sites)
gbx_host_test(policy_allow)
gbx_host_test(policy_covers)
gbx_host_test(policy_json)
target_compile_definitions(test_policy_json PRIVATE
    POLICY_DOCUMENTS="${CMAKE_CURRENT_SOURCE_DIR}/unit/policy/documents.txt")
gbx_host_test(secret_forms)
gbx_host_test(secrets)
