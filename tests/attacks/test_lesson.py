"""What an attack has learnt, in sentences."""

from types import SimpleNamespace

from deptriad.attacks.lesson import lesson
from deptriad.attacks.score import Score


def attack(target="vote", accuracy=0.8, commonest=0.57, macro_f1=0.8, balanced=0.8, baseline=0.5):
    """The numbers of an attack, with intervals of 0.02 to both sides."""

    def score(f1, right):
        return Score(f1, right, (f1 - 0.02, f1 + 0.02), (right - 0.02, right + 0.02))

    return SimpleNamespace(
        target=target,
        score=score(macro_f1, accuracy),
        accuracy=accuracy,
        macro_f1=macro_f1,
        balanced=score(balanced, accuracy),
        majority=score(baseline, commonest),
        baseline=score(baseline, commonest),
    )


def test_what_was_learnt_is_said_in_people():
    (said,) = lesson([attack()])
    assert (
        "of 100 people the attacker is right about vote for 80 (the commonest answer: 57)." in said
    )


def test_a_small_difference_is_not_rounded_away():
    found = attack(accuracy=0.604, commonest=0.5999)
    found.score = Score(0.8, 0.604, (0.79, 0.81), (0.602, 0.606))
    (said,) = lesson([found])
    assert "right about vote for 60.4 (the commonest answer: 60.0)." in said


def test_the_largest_gain_comes_first_and_few_are_named():
    many = [attack(name, accuracy=0.7 + place / 100) for place, name in enumerate("abcdef")]
    (said,) = lesson(many)
    places = [said.index(f" {name} for") for name in "fedc"]
    assert places == sorted(places)
    assert said.endswith("and 2 more above.")


def test_an_attacker_below_the_baseline_is_explained():
    said = lesson([attack(accuracy=0.58, macro_f1=0.36, balanced=0.6)])
    assert (
        "about vote it is right no more often than the commonest answer, but tells rare values"
        in said[0]
    )
    assert said[1].startswith("Below the baseline, about vote: macro-F1 counts every value alike")
    assert len(said) == 2


def test_an_attacker_that_is_right_less_often_is_explained():
    said = lesson([attack(accuracy=0.55, macro_f1=0.49, balanced=0.5), attack("age")])
    assert "right about age for 80" in said[0]
    assert "about vote it has learnt nothing that chance does not explain." in said[0]
    assert said[2].startswith("Right less often than the commonest answer, about vote:")


def test_names_are_text():
    (said,) = lesson([attack("a\u202eb")])
    assert "a\\u202eb" in said
