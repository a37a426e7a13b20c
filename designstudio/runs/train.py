"""`train`: learn the optimal actions of a cost."""

import dataclasses
from pathlib import Path

from designstudio.core.files import check_file
from designstudio.core.progress import ProgressCallback
from designstudio.errors import StudioError
from designstudio.model.actors import make_recipe, save_actor, train_actor
from designstudio.model.actors.training import Recipe, TrainingResult
from designstudio.model.costs import get_cost
from designstudio.runs.folder import Notify, ignore, use_cost_file


@dataclasses.dataclass(frozen=True)
class TrainRequest:
    """What is to be learnt.

    Attributes:
        cost: by its name.
        out: the actor file; by default COST.actor in this folder.
        architecture: `coefficients` or `paper`.
        method: of training; by default the architecture's.
        num_steps: updates at most; by default the architecture's.
        target_median: training stops when the median relative error is this small ...
        target_p99: ... and its 99 % quantile this small.
        seed: of weights and examples.
        num_measured: fresh decisions on which the accuracy of the result is measured.
        is_fresh: whether a checkpoint of an interrupted training is thrown away.
        cost_file: a user's file of costs, which is executed.
    """

    cost: str
    out: Path | None = None
    architecture: str = "coefficients"
    method: str | None = None
    num_steps: int | None = None
    target_median: float = 1e-5
    target_p99: float = 1e-4
    seed: int = 0
    num_measured: int = 20_000
    is_fresh: bool = False
    cost_file: Path | None = None

    def __post_init__(self) -> None:
        if self.num_measured < 1:
            raise StudioError(f"Errors are measured on at least 1 decision, but {self.num_measured} was given.")

    @property
    def path(self) -> Path:
        """The actor file."""
        return Path(f"{self.cost}.actor") if self.out is None else self.out

    @property
    def recipe(self) -> Recipe:
        """How the actor is trained."""
        changes = {"method": self.method, "num_steps": self.num_steps}
        return make_recipe(
            self.architecture,
            target_median=self.target_median,
            target_p99=self.target_p99,
            seed=self.seed,
            **{name: value for name, value in changes.items() if value is not None},
        )


def run_train(request: TrainRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore) -> TrainingResult:
    """Train an actor and write its file; an interrupted training goes on when the same is asked again."""
    use_cost_file(request.cost_file)
    cost = get_cost(request.cost)
    check_file(request.path)
    recipe = request.recipe
    checkpoint = request.path.with_name(f"{request.path.name}.checkpoint")
    if request.is_fresh:
        checkpoint.unlink(missing_ok=True)
    if checkpoint.exists():
        notify(f"Continuing from {checkpoint.name}.")
    result = train_actor(cost, recipe, checkpoint=checkpoint, progress=progress, num_measured=request.num_measured)
    save_actor(request.path, result)
    return result
