"""All case tables; each module holds the rows of one table of facts admission §9, or of our own."""

from collections.abc import Sequence
from typing import Final

import admission_table_a_names
import admission_table_d_resources
import admission_table_e_offers
import admission_table_f_zero
import admission_table_g_pair
import admission_table_h_defaults
import admission_table_i_freeze
import admission_table_j_elastic
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
)
