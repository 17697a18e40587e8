"""The survey from state to state."""

from deptriad.paper.item import Work
from deptriad.paper.states import Survey


def test_five_states_are_known_and_nine_are_not(library):
    survey = Survey.of(Work("figure-9", library))
    assert sorted(survey.known) == [15, 16, 31, 35, 54]
    assert len(survey.others()) == 9
    assert not set(survey.known) & set(survey.others())
