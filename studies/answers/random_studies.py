"""500 random studies: what does the studio say to questions that nobody thought of?

    python studies/answers/random_studies.py            about a quarter of an hour on two cores
    python studies/answers/random_studies.py --num 10   a few, to see that it runs

Costs, levels, trials, stimuli, populations (also such that no fit could represent), known parameters, quantities and goals
are drawn by `tests/helpers/random_questions.py`. Counted are the statuses of all designs, questions that were refused with a
sentence, and faults: a nan in a sentence, a table or JSON, and a design that is called `told apart` although the fits keep
more than half of the prior's variance of the cost's parameter. A crash would end the script.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import jax

from designstudio.core.tables import write_csv
from designstudio.evaluate.status import STATUSES
from designstudio.model.costs import PAPER_COST_NAMES
from tests.helpers.random_questions import Answer, answer_question, make_question

HERE = Path(__file__).parent
NUM_STUDIES = 500
# Studies between two looks at the table.
PERIOD = 20
TABLE = "random_studies.csv"


def main() -> None:
    """Ask all questions and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num", type=int, default=NUM_STUDIES, help="how many studies")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    answers: dict[str, list[Answer]] = {cost: [] for cost in PAPER_COST_NAMES}
    for seed in range(options.num):
        if seed % PERIOD == 0:
            # Hundreds of shapes: compiled programs would use up the pieces of memory that a process may have.
            jax.clear_caches()
            write_table(options.out, answers)
        study = make_question(seed)
        answer = answer_question(study)
        answers[study.cost].append(answer)
        for fault in answer.faults:
            print(f"{seed}: {fault}")
    write_table(options.out, answers)


def write_table(folder: Path, answers: dict[str, list[Answer]]) -> None:
    """All answers so far: a row for each cost, and one for all."""
    rows = [count(cost, given) for cost, given in answers.items()]
    rows.append(count("all", [answer for given in answers.values() for answer in given]))
    write_csv(folder / TABLE, rows)


def count(cost: str, answers: list[Answer]) -> dict[str, Any]:
    """One row of the table."""
    statuses = Counter(status for answer in answers for status in answer.status)
    return {
        "cost": cost,
        "studies": len(answers),
        "refused": sum(bool(answer.refusal) for answer in answers),
        "designs": statuses.total(),
        **{status: statuses[status] for status in STATUSES},
        "faults": sum(len(answer.faults) for answer in answers),
    }


if __name__ == "__main__":
    main()
