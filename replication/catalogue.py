"""Everything of every paper by its key: tables and figures, checks, readings.

    print(join_printed(TABLES["2-table-2"]))     # printed, as published by us, sound, each with its standard error
    print(run_check("2-stopping").verdict)

A key begins with the number of its paper: 1 Wang, Xu & He 2019, 2 Su et al. 2019, 3 Wang et al. 2018, 4 Mathematics
2023, 5 Dong et al. 2022. The papers' modules import nothing from here.
"""

from __future__ import annotations

from pathlib import Path

from privcov.core import checks
from replication import wang2018, wang2018_readings, wang2019
from replication.base import REPRODUCED, Table
from replication.checks import Check
from replication.dong2022 import checks as dong_checks
from replication.dong2022 import figures as dong
from replication.dong2022 import readings as dong_readings
from replication.mdpi2023 import checks as mdpi_checks
from replication.mdpi2023 import readings as mdpi_readings
from replication.mdpi2023 import tables as mdpi
from replication.readings import Result, result
from replication.su2019 import checks as su_checks
from replication.su2019 import figures as su_figures
from replication.su2019 import readings as su_readings
from replication.su2019 import tables as su_tables
from replication.theorems import bounds

DRAWN = (*wang2019.TABLES, *su_figures.TABLES, *dong.TABLES)
FIGURES = tuple(table.key for table in DRAWN)
TITLES = su_figures.TITLES | dong.TITLES  # of panels, by the names they have in the papers
VIEWS = wang2019.VIEWS | su_figures.VIEWS | dong.VIEWS


def tables() -> dict[str, Table]:
    """Return every table, in the order of the papers, every figure, rows needed, other readings, and bounds."""
    needed = (wang2019.NEEDED, su_tables.NEEDED, wang2018.NEEDED, mdpi.NEEDED)
    more = (su_readings, wang2018_readings, mdpi_readings, dong_readings)
    read = [table for part in more for table in part.TABLES]
    return {
        t.key: t for t in (*su_tables.TABLES, *wang2018.TABLES, *mdpi.TABLES, *DRAWN, *needed, *read, *bounds.TABLES)
    }


TABLES = tables()
CHECKS = {
    question.key: question
    for part in (wang2019, su_checks, wang2018, mdpi_checks, mdpi_readings, dong_checks)
    for question in part.CHECKS
}
READINGS = {
    reading.key: reading
    for part in (su_readings, wang2018_readings, mdpi_readings, dong_readings)
    for reading in part.READINGS
}


def results_of(table: str, folder: Path = REPRODUCED) -> list[Result]:
    """Return what every reading of a table gives, as far as it was computed."""
    found = (result(reading, TABLES[table], folder) for reading in READINGS.values() if table in reading.tables)
    return [one for one in found if one is not None]


def checks_of(table: str, folder: Path = REPRODUCED) -> list[Check]:
    """Return the answer of every check about a table, in the order in which they are written."""
    return [question(folder) for question in CHECKS.values() if table in question.tables]


def run_check(key: str, folder: Path = REPRODUCED) -> Check:
    """Return the answer of one check."""
    return CHECKS[checks.one_of("key", key, tuple(CHECKS))](folder)
