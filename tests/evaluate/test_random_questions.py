"""Whatever is asked, the answer is a sentence: no crash, no nan, and nothing is told apart that was not learned."""

import pytest

from tests.helpers.random_questions import answer_question, make_question

# Programs depend on these; `studies/answers/random_studies.py` asks with all others.
KINDS = (("quadratic_effort", 1), ("quadratic_effort", 2))
NUM_EACH = 6


@pytest.mark.parametrize(("cost", "num_levels"), KINDS)
def test_random_questions_get_an_answer_without_nan_that_claims_no_more_than_was_learned(cost, num_levels):
    answers = []
    for seed in range(NUM_EACH):
        study = make_question(seed, cost=cost, num_levels=num_levels, knows_sigma=True)
        answers.append(answer_question(study))
        assert not answers[-1].faults, (seed, answers[-1].faults)
    # Most questions are answered, not refused.
    assert sum(not answer.refusal for answer in answers) > NUM_EACH / 2
