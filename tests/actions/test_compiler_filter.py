"""`--compiler`: versions with an operator, and patterns of folders."""

import pytest

from neuron_top.actions.planners.compiler_filter import compiler_filter


@pytest.mark.parametrize("specifier", ["<2.", "<=2a", ">", "==inductor-2"])
def test_an_operator_needs_a_version(specifier: str) -> None:
    with pytest.raises(ValueError, match="expected an operator and a version"):
        compiler_filter(specifier)


@pytest.mark.parametrize(
    ("specifier", "compiler", "matches"),
    [
        ("<2.20", "neuronxcc-2.19.8089.0+8ab9f450", True),
        ("<2.20", "neuronxcc-2.20.9961.0+0acef03a", False),
        ("2", "neuronxcc-2.20.9961.0+0acef03a", True),
        ("2a*", "2a-compiler", True),
        ("2a", "neuronxcc-2.20.9961.0+0acef03a", False),
        ("inductor-*", "inductor-2.13.0", True),
    ],
)
def test_what_is_no_version_is_a_pattern_of_folders(specifier: str, compiler: str, matches: bool) -> None:
    assert compiler_filter(specifier)(compiler) is matches
