"""What a search may choose, what it is for, and how long it may take."""

import html as escaping
import math

import panel as pn
import param

from designstudio.dashboard.state.search_choice import (
    DESIGNS_BUDGET,
    FRONT,
    INFORMATION,
    LOWEST,
    MINUTES_BUDGET,
    MOST_TRIALS,
    RMSE,
    SearchChoice,
)
from designstudio.dashboard.theme import card, html
from designstudio.study.stimuli import LOG_UNIFORM, UNIFORM

# Where trials begin to vary as soon as time becomes an aim.
FEW, MANY = 30, 180
AIMS = {
    "learn most about prior and cost (information)": INFORMATION,
    "smallest error of parameters (RMSE)": RMSE,
    "error against session minutes (Pareto front)": FRONT,
}
WIDE = {"sizing_mode": "stretch_width"}


class SearchForm(pn.viewable.Viewer):
    """Widgets of a `SearchChoice`."""

    def __init__(self, choice: SearchChoice) -> None:
        super().__init__()
        self._choice = choice
        of = choice.param
        self._about = html("")
        self.levels = pn.widgets.IntRangeSlider.from_param(of.levels, name="number of uncertainty levels", **WIDE)
        self.sigma = pn.widgets.RangeSlider.from_param(of.sigma, name="σ of levels (log units)", step=0.005, **WIDE)
        self.low_share = pn.widgets.RangeSlider.from_param(
            of.low_share, name="share of trials at the lowest level", step=0.05, **WIDE
        )
        self.trials = pn.widgets.IntRangeSlider.from_param(
            of.trials, name="trials of a participant", step=5, start=5, end=MOST_TRIALS, **WIDE
        )
        self.low = pn.widgets.RangeSlider.from_param(
            of.low, name="smallest stimulus", start=LOWEST, end=3.0, step=0.05, **WIDE
        )
        self.high = pn.widgets.RangeSlider.from_param(
            of.high, name="largest stimulus", start=1.0, end=7.0, step=0.05, **WIDE
        )
        choice.design.param.watch(self._name_unit, ["unit", "factor"])
        self._name_unit()
        self.distributions = pn.widgets.CheckBoxGroup.from_param(
            of.distributions, name="spacing of stimuli", options=[UNIFORM, LOG_UNIFORM], inline=True
        )
        self.objective = pn.widgets.RadioBoxGroup.from_param(of.objective, name="aim", options=AIMS)
        self.quantities = pn.widgets.CheckButtonGroup(
            name="of", options=choice.list_quantities(), value=choice.quantities, button_type="light"
        )
        self.most_minutes = pn.widgets.FloatInput.from_param(
            of.most_minutes, name="longest session (minutes)", start=0.1, step=1.0, **WIDE
        )
        self.budget = pn.widgets.RadioButtonGroup.from_param(
            of.budget,
            name="search for",
            options={"number of designs": DESIGNS_BUDGET, "minutes": MINUTES_BUDGET},
            button_type="light",
        )
        self.num_designs = pn.widgets.IntInput.from_param(of.num_designs, name="designs to try", step=20, **WIDE)
        self.minutes = pn.widgets.FloatInput.from_param(of.minutes, name="minutes to search", step=5.0, **WIDE)
        self.workers = pn.widgets.IntInput.from_param(of.workers, name="workers", **WIDE)
        self.datasets = pn.widgets.IntInput.from_param(of.num_datasets, name="data sets a design", step=16, **WIDE)
        self.screened = pn.widgets.IntInput.from_param(of.num_screened, name="designs to screen first", step=64, **WIDE)
        self.verify = pn.widgets.Select.from_param(of.verify_fidelity, name="check finalists by", **WIDE)
        self.fresh = pn.widgets.IntInput.from_param(of.num_fresh, name="fresh data sets", step=50, **WIDE)
        self.quantities.param.watch(lambda event: choice.param.update(quantities=list(event.new)), "value")
        choice.param.watch(self._show, ["objective", "budget", "quantities"])
        choice.param.watch(self._free_trials, ["objective"])
        names = [name for name in choice.design.param if name != "name"]
        choice.design.param.watch(self._follow, names)
        self._show()

    def _name_unit(self, *_: param.parameterized.Event) -> None:
        """Stimuli from where to where, in which unit."""
        design, size = self._choice.design, float(self._choice.design.factor)
        for slider, words, low, high in ((self.low, "smallest", LOWEST, 3.0), (self.high, "largest", 1.0, 7.0)):
            unit = f" ({design.unit})" if design.unit else ""
            slider.param.update(name=f"{words} stimulus{unit}", start=low * size, end=high * size, step=0.05 * size)

    def _follow(self, *_: param.parameterized.Event) -> None:
        """Another cost has other parameters."""
        self._choice.follow_cost()
        self._show()

    def _free_trials(self, event: param.parameterized.Event) -> None:
        """Sessions that all take the same time make no front."""
        if event.new == FRONT and self._choice.trials[0] == self._choice.trials[1]:
            longest = self._choice.most_minutes
            seconds = float(self._choice.design.seconds_per_trial)
            most = MANY if longest is None else min(MANY, math.floor(longest * 60 / seconds))
            if most > FEW:
                self._choice.trials = (FEW, most)

    def _show(self, *_: param.parameterized.Event) -> None:
        choice = self._choice
        options = choice.list_quantities()
        if self.quantities.options != options:
            self.quantities.param.update(options=options, value=list(choice.quantities))
        else:
            self.quantities.value = list(choice.quantities)
        self.quantities.visible = choice.objective != INFORMATION
        self.num_designs.visible = choice.budget == DESIGNS_BUDGET
        self.minutes.visible = choice.budget == MINUTES_BUDGET
        design = choice.design
        levels = " / ".join(f"{sigma:g}" for sigma in sorted(design.sigmas))
        self._about.object = (
            f'<p class="muted">Cost ({escaping.escape(design.cost)}), participants and analysis are those of the Design '
            f"page; its design ({sum(design.trials)} trials at σ {levels}) is what the search has to beat. "
            "A range whose ends are the same is a fixed value.</p>"
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            card(html("<h2>Designs to choose from</h2>"), self._about, self.levels, self.sigma, self.low_share,
                 self.trials, self.low, self.high, self.distributions),
            card(html("<h2>Aim</h2>"), self.objective, self.quantities, self.most_minutes),
            card(html("<h2>Effort</h2>"), self.budget, pn.Row(self.num_designs, self.minutes, self.workers, margin=0),
                 pn.Row(self.screened, self.datasets, margin=0), pn.Row(self.verify, self.fresh, margin=0)),
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
