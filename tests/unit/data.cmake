# SPDX-License-Identifier: MIT
# Datasets of `glovebox mcp`.
gbx_unit_test(data_csv gbx_mcp_sets)
gbx_unit_test(data_sensitive gbx_mcp_sets)
gbx_unit_test(data_source gbx_mcp_sets)
gbx_unit_test(data_describe gbx_mcp_sets)
