# SPDX-License-Identifier: MIT
# Seconds that a test takes, where they are many. CTest starts the longest first, so that
# no long one is left to run alone at the end.
set_property(GLOBAL PROPERTY gbx_test_costs
    bundle_made 60
    node_types-user 30
    mcp_access 30
    mcp_questions 20
    mcp_console 30
    mcp_conformance 30
    test_mcp_upstream_care 30
    test_nats_trouble 40
    test_nats_hostile_caller 30
    test_nats_ledger 20
    mcp_codemode 30
    mcp_upstreams 30
    mcp_web 30
    mcp_traces 45
    node_engine-hostile 30
    cli_command 25
    audit 30
    mcp_artifacts 25
    mcp_gate 25
    mcp_longcode 25
    node_engine-load 25
    test_mcp_upstream_odd 25
    test_bombs_1 25
    test_bombs_2 25
    test_bombs_3 25
    test_bombs_4 25
    test_corpus_1 25
    test_corpus_2 25
    test_corpus_3 25
    test_corpus_4 25
    mcp_compute 25
    bundle 20
    node_package 20
    node_docs 25
    mcp_crowd 20
    node_engine-life 20
    mcp_life 20
    test_mcp_upstream 20
    test_preloads 20
    test_mcp_upstream_sdk 20
    node_codemode 20
    test_failing_calls 20
    test_large_datasets 20
    test_scarcity 20
    test_pool_load 20
    test_guard_bounds 20
    mcp_policy 20
    node_engine-input 15
    mcp_orphans 15
    mcp_effects 15
    mcp_hostile 15
    mcp_datasets 15
    mcp_inspector 15
    mcp_watch 15
    test_datasets 15
    test_host 15
    test_hostile_calls 15
    test_zygote 15
    test_nomem_engine 15
    test_data_rows 15
    mcp_import 22
    mcp_together 15
    node_examples 15
    mcp_flood 10
    mcp_held 10
    test_attacks 10
    test_attacks_as_nobody 10
    test_hostile_template 10
    test_engine_life 10
    test_mcp_secrets 10
    test_ordinary_1 10
    test_ordinary_2 10
    mcp_changes 10
    mcp_declarations 10
    mcp_resume 10
    cli_signals 10
    node_codemode-runs 10
    test_audit_bounds 10
    test_fetch_hostile 10
    test_host_functions 10
    test_hostile_hangs 10
    test_mcp_upstream_hostile 10
    test_recycling 10
    test_steps 10
    node_types 10)

function(gbx_test_cost name)
    get_property(costs GLOBAL PROPERTY gbx_test_costs)
    list(FIND costs ${name} at)
    if(at GREATER_EQUAL 0)
        math(EXPR at "${at} + 1")
        list(GET costs ${at} seconds)
        set_tests_properties(${name} PROPERTIES COST ${seconds})
    endif()
endfunction()
