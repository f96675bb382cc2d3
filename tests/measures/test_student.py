import pytest
import scipy.stats

from judging.measures.student import t_quantile, t_within


@pytest.mark.parametrize(("degrees", "printed"), [(1, 12.706), (2, 4.303), (14, 2.145), (24, 2.064), (120, 1.980)])
def test_the_quantiles_are_those_of_the_printed_tables(degrees, printed):
    assert round(t_quantile(degrees), 3) == printed


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 6, 13, 24, 101, 1000, 5001])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_quantiles_are_those_of_scipy(degrees, level):
    assert t_quantile(degrees, level) == pytest.approx(scipy.stats.t.ppf((1 + level) / 2, degrees), rel=1e-10)
    assert t_within(t_quantile(degrees, level), degrees) == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize(("degrees", "level"), [(0, 0.95), (-1, 0.95), (5, 0.0), (5, 1.0)])
def test_without_a_degree_of_freedom_or_a_level_there_is_no_quantile(degrees, level):
    with pytest.raises(ValueError, match="degree of freedom"):
        t_quantile(degrees, level)
