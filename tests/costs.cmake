# SPDX-License-Identifier: MIT
# Seconds that a test takes, where they are many. CTest starts the longest first, so that
# no long one is left to run alone at the end.
set_property(GLOBAL PROPERTY gbx_test_costs
    node_package 60
    node_types-user 50
    mcp_conformance 35
    mcp_shortage 35
    cli_command 35
    test_mcp_upstream_care 30
    mcp_codemode 30
    mcp_artifacts 30
    mcp_crowd 30
    mcp_gate 30
    mcp_longcode 30
    mcp_upstreams 30
    mcp_web 30
    node_engine-input 30
    node_engine-life 30
    node_forge 30
    node_engine-hostile 30
    node_engine-load 30
    test_mcp_upstream_odd 25
    mcp_orphans 25
    mcp_life 25
    test_bombs_1 25
    test_bombs_2 25
    test_bombs_3 25
    test_bombs_4 25
    test_corpus_1 25
    test_corpus_2 25
    test_corpus_3 25
    test_corpus_4 25
    test_mcp_upstream 20
    test_preloads 20
    test_mcp_upstream_sdk 20
    mcp_compute 20
    mcp_effects 20
    mcp_flood 20
    mcp_held 20
    mcp_hostile 20
    node_codemode 20
    node_engine-host 20
    node_syntax 20
    test_failing_calls 20
    test_large_datasets 20
    test_scarcity 20
    test_pool_load 20
    test_guard_bounds 20
    mcp_datasets 15
    mcp_inspector 15
    mcp_policy 15
    mcp_watch 15
    node_docs 15
    node_engine-abort 15
    test_datasets 15
    test_host 15
    test_hostile_calls 15
    test_zygote 15
    test_nomem_engine 15
    test_data_rows 15
    test_attacks 10
    test_attacks_as_nobody 10
    test_hostile_template 10
    test_engine_life 10
    test_mcp_secrets 10
    test_ordinary_1 10
    test_ordinary_2 10
    installed 10
    mcp_changes 10
    mcp_declarations 10
    mcp_resume 10
    cli_signals 10
    node_codemode-runs 10
    style 10
    test_audit_bounds 10
    test_fetch_hostile 10
    test_host_functions 10
    test_hostile_hangs 10
    test_mcp_servers 10
    test_mcp_upstream_hostile 10
    test_recycling 10
    test_steps 10
    cli_replay 10
    )

function(gbx_test_cost name)
    get_property(costs GLOBAL PROPERTY gbx_test_costs)
    list(FIND costs ${name} at)
    if(at GREATER_EQUAL 0)
        math(EXPR at "${at} + 1")
        list(GET costs ${at} seconds)
        set_tests_properties(${name} PROPERTIES COST ${seconds})
    endif()
endfunction()
