# SPDX-License-Identifier: MIT
# Datasets of `glovebox mcp`.
gbx_unit_test(data_csv gbx_mcp_data)
