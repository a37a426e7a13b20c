"""What is asked: who is simulated, what a fit assumes, which designs compete, and what they should achieve."""

from designstudio.study.analysis import Analysis, Known
from designstudio.study.factor import Factor
from designstudio.study.file import format_study, parse_study, read_study, write_study
from designstudio.study.goals import Goal
from designstudio.study.groups import Group
from designstudio.study.objectives import Constraint, Objective
from designstudio.study.population import Population
from designstudio.study.quantities import Quantity
from designstudio.study.schema.entry import StudyFileError
from designstudio.study.search_plan import SearchPlan
from designstudio.study.space import Choice, Range, Space
from designstudio.study.study import FIDELITIES, Study

__all__ = [
    "FIDELITIES",
    "Analysis",
    "Choice",
    "Constraint",
    "Factor",
    "Goal",
    "Group",
    "Known",
    "Objective",
    "Population",
    "Quantity",
    "Range",
    "SearchPlan",
    "Space",
    "Study",
    "StudyFileError",
    "format_study",
    "parse_study",
    "read_study",
    "write_study",
]
