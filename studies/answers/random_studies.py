"""500 random studies: what does the studio say to questions that nobody thought of?

    python studies/answers/random_studies.py            about a quarter of an hour on two cores
    python studies/answers/random_studies.py --num 10   a few, to see that it runs
    python studies/answers/random_studies.py --first 320   goes on after 320, and adds to the table of those

Costs, levels, trials, stimuli, populations (also such that no fit could represent), known parameters, quantities and goals
are drawn by `tests/helpers/random_questions.py`. Counted are the statuses of all designs, questions that were refused with a
sentence, and faults: a nan in a sentence, a table or JSON, and a design that is called `told apart` although the fits keep
more than half of the prior's variance of the cost's parameter. A crash would end the script.
"""

import argparse
from collections import Counter
from pathlib import Path

import jax

from designstudio.core.tables import read_csv, write_csv
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
    parser.add_argument("--first", type=int, default=0, help="how many were asked before, and are in the table")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    before = read_before(options.out, options.first)
    answers: dict[str, list[Answer]] = {cost: [] for cost in PAPER_COST_NAMES}
    for seed in range(options.first, options.num):
        if seed % PERIOD == 0:
            # Hundreds of shapes: compiled programs would use up the pieces of memory that a process may have.
            jax.clear_caches()
            write_table(options.out, answers, before)
        study = make_question(seed)
        answer = answer_question(study)
        answers[study.cost].append(answer)
        for fault in answer.faults:
            print(f"{seed}: {fault}", flush=True)
    write_table(options.out, answers, before)


def read_before(folder: Path, first: int) -> dict[str, Counter[str]]:
    """What the table counts of the questions before the first one: of each cost, and of all."""
    rows = read_csv(folder / TABLE) if first else []
    before = {row.pop("cost"): Counter({name: int(text) for name, text in row.items()}) for row in rows}
    num = before["all"]["studies"] if before else 0
    if num != first:
        raise SystemExit(f"The table has {num} studies, not {first}: say --first {num}, or leave --first out to begin anew.")
    return before


def write_table(folder: Path, answers: dict[str, list[Answer]], before: dict[str, Counter[str]]) -> None:
    """All answers so far: a row for each cost, and one for all."""
    given = {**answers, "all": [answer for one in answers.values() for answer in one]}
    rows = []
    for cost, some in given.items():
        counts = count(some)
        rows.append({"cost": cost, **{name: number + before.get(cost, Counter())[name] for name, number in counts.items()}})
    write_csv(folder / TABLE, rows)


def count(answers: list[Answer]) -> dict[str, int]:
    """The numbers in one row of the table."""
    statuses = Counter(status for answer in answers for status in answer.status)
    return {
        "studies": len(answers),
        "refused": sum(bool(answer.refusal) for answer in answers),
        "designs": statuses.total(),
        **{status: statuses[status] for status in STATUSES},
        "faults": sum(len(answer.faults) for answer in answers),
    }


if __name__ == "__main__":
    main()
