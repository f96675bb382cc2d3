from tests.fuzz.fuzz_formats import fuzz
from tests.fuzz.seeds import SEEDS


def test_damaged_files_of_every_kind_give_errors_of_the_user_only(tmp_path):
    outcomes, faults = fuzz(300, 20260131, tmp_path)
    assert faults == []
    assert outcomes.total() == 300 >= 10 * len(SEEDS)
