"""All case tables; each module holds the rows of one table of facts admission §9, or of our own."""

from collections.abc import Sequence
from typing import Final

import admission_table_a_names
import admission_table_b_owned
import admission_table_c_dtype
import admission_table_d_resources
import admission_table_e_offers
import admission_table_f_zero
import admission_table_g_pair
import admission_table_h_defaults
import admission_table_i_freeze
import admission_table_j_elastic
import admission_table_k_router
import admission_table_l_volumes
import admission_table_m_balancing
import admission_table_own_degrees
import admission_table_own_encode
import admission_table_own_fabric
import admission_table_own_fence
import admission_table_own_fence_attacks
import admission_table_own_freeze
import admission_table_own_host
import admission_table_own_names
import admission_table_own_owned
import admission_table_own_resources
import admission_table_own_scaler_algorithm
import admission_table_own_scaler_ratios
import admission_table_own_scaler_target
import admission_table_own_serving
from admission_case import Case

TABLES: Final[tuple[Sequence[Case], ...]] = (
    admission_table_a_names.TABLE,
    admission_table_d_resources.TABLE,
    admission_table_e_offers.TABLE,
    admission_table_f_zero.TABLE,
    admission_table_g_pair.TABLE,
    admission_table_h_defaults.TABLE,
    admission_table_i_freeze.TABLE,
    admission_table_j_elastic.TABLE,
    admission_table_own_names.TABLE,
    admission_table_own_freeze.TABLE,
    admission_table_own_resources.TABLE,
    admission_table_own_fabric.TABLE,
    admission_table_b_owned.TABLE,
    admission_table_c_dtype.TABLE,
    admission_table_k_router.TABLE,
    admission_table_l_volumes.TABLE,
    admission_table_m_balancing.TABLE,
    admission_table_own_degrees.TABLE,
    admission_table_own_encode.TABLE,
    admission_table_own_host.TABLE,
    admission_table_own_owned.TABLE,
    admission_table_own_serving.TABLE,
    admission_table_own_fence.TABLE,
    admission_table_own_fence_attacks.TABLE,
    admission_table_own_scaler_ratios.TABLE,
    admission_table_own_scaler_algorithm.TABLE,
    admission_table_own_scaler_target.TABLE,
)
