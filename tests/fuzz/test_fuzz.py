import pytest

from tests.fuzz import fuzz_imports
from tests.fuzz.fuzz_formats import fuzz
from tests.fuzz.seeds import SEEDS


def test_damaged_files_of_every_kind_give_errors_of_the_user_only(tmp_path):
    outcomes, faults = fuzz(300, 20260131, tmp_path)
    assert faults == []
    assert outcomes.total() == 300 >= 10 * len(SEEDS)


@pytest.mark.django_db
def test_an_import_of_a_damaged_file_leaves_everything_as_it_was(tmp_path):
    counts, faults = fuzz_imports.fuzz(150, 20260131, tmp_path)
    assert faults == []
    assert counts.total() == 150 >= 10 * len(fuzz_imports.IMPORTED)
