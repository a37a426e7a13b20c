"""A finished fit: costs compared, one subject, all subjects. Figures are drawn when somebody looks at them."""

import holoviews as hv
import panel as pn
import param
import xarray as xr

from designstudio.dashboard.parts.downloads import download_table
from designstudio.dashboard.parts.fit_tables import (
    tabulate_comparison,
    tabulate_estimates,
    tabulate_subjects,
    write_comparison,
    write_conditions,
    write_group,
    write_subject,
    write_warnings,
)
from designstudio.dashboard.parts.paper_figure import PaperFigure
from designstudio.dashboard.theme import card, html, side_by_side
from designstudio.errors import StudioError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.plan import choose_cost
from designstudio.model.costs import get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameter_entries import split_label
from designstudio.viz.families import name_cost
from designstudio.viz.fits import (
    draw_fit_costs,
    draw_fit_predictive,
    draw_fit_prior_means,
    draw_fit_shrinkage,
    draw_fit_subjects,
)
from designstudio.viz.model_comparison import draw_model_comparison, draw_subject_winners
from designstudio.viz.posteriors import compute_marginals, draw_fit_pair, draw_fit_posterior

COSTS, SUBJECT, GROUP, NEXT = range(4)
NOTHING = "There is no fit yet."


class FitResults(pn.viewable.Viewer):
    """Tabs about one fit; `plan` is the last of them."""

    def __init__(self, plan: pn.viewable.Viewable) -> None:
        super().__init__()
        self.fit: EmpiricalFit | None = None
        self._summary = xr.Dataset()
        self._stale: set[int] = set()
        self._is_syncing = False
        self._looks = html("")
        self._make_choices()
        self._make_figures()
        self._comparison, self._doubts, self._estimates, self._group = html(""), html(""), html(""), html("")
        self.tabs = pn.Tabs(
            ("Costs compared", self._lay_out_costs()),
            ("One subject", self._lay_out_subject()),
            ("All subjects", self._lay_out_group()),
            ("Next experiment", plan),
            dynamic=True, visible=False, sizing_mode="stretch_width", margin=(6, 6),
        )  # fmt: skip
        self.tabs.param.watch(lambda event: self._fill(event.new), "active")

    def _make_choices(self) -> None:
        self.subject = pn.widgets.Select(name="subject", width=220)
        self.cost = pn.widgets.Select(name="cost", width=220)
        self.group_cost = pn.widgets.Select(name="cost", width=220)
        self.across = pn.widgets.Select(name="across", width=150)
        self.up = pn.widgets.Select(name="up", width=150)
        self.subject.param.watch(self._change_subject, "value")
        self.cost.param.watch(self._change_subject, "value")
        self.group_cost.param.watch(lambda _: self._mark(GROUP), "value")
        for widget in (self.across, self.up):
            widget.param.watch(self._change_pair, "value")

    def _make_figures(self) -> None:
        self.compared = PaperFigure(
            "Costs", "How far each cost is behind the best, and how often it wins.", "comparison", self._draw_comparison
        )
        self.winners = PaperFigure(
            "Subjects", "How far each cost is behind each subject's best one (★).", "winners", self._draw_winners
        )
        self.posterior = PaperFigure(
            "Posterior", "What the data say about each parameter, beside the prior.", "posterior",
            lambda: draw_fit_posterior(self._get(), self.cost.value, self.subject.value),
        )  # fmt: skip
        self.pair = PaperFigure(
            "Two parameters", "A long ridge: the data cannot tell them apart.", "pair",
            lambda: draw_fit_pair(self._get(), self.cost.value, self.subject.value, (self.across.value, self.up.value)),
            pn.Row(self.across, self.up, margin=0),
        )  # fmt: skip
        self.predictive = PaperFigure(
            "Predictive check", "Responses that were given, over those that the fit expects.", "predictive",
            lambda: draw_fit_predictive(self._get(), self.cost.value, self.subject.value),
        )  # fmt: skip
        self.functions = PaperFigure(
            "Inferred costs", "What it costs this subject to respond with more or less than the stimulus, if each cost were "
            "right.", "costs", lambda: draw_fit_costs(self._get(), self.subject.value),
        )  # fmt: skip
        self.subjects = PaperFigure(
            "Estimates of all subjects", "Mean and 94 % interval.", "subjects",
            lambda: draw_fit_subjects(self._get(), self.group_cost.value), self._looks,
        )  # fmt: skip
        self.shrinkage = PaperFigure(
            "What pooling does", "Estimates on their own, and drawn towards the group.", "shrinkage",
            lambda: draw_fit_shrinkage(self._get(), self.group_cost.value),
        )  # fmt: skip
        self.prior_means = PaperFigure(
            "Prior means", "What subjects expect, as each cost has it.", "prior_means",
            lambda: draw_fit_prior_means(self._get()),
        )  # fmt: skip

    # What is shown.

    def show(self, fit: EmpiricalFit) -> None:
        """Show another fit."""
        self.fit, self._summary = fit, fit.summarize()
        costs = {name_cost(cost): cost for cost in fit.posteriors}
        try:
            best = choose_cost(fit)
        except StudioError:
            best = next(iter(fit.posteriors))
        self._is_syncing = True
        try:
            for widget in (self.cost, self.group_cost):
                widget.param.update(options=costs, value=best)
            self.subject.param.update(options=fit.subjects, value=fit.subjects[0])
            self._offer_pairs()
        finally:
            self._is_syncing = False
        self._comparison.object, self._doubts.object = write_comparison(fit), write_warnings(fit)
        for figure in (self.compared, self.winners):
            figure.hide(fit.comparison is None)
        self.prior_means.hide(any(DEFAULT_FAMILY.prior_location.name not in model.free for model in fit.models.values()))
        self.tabs.visible = True
        self._stale = {COSTS, SUBJECT, GROUP}
        self._fill(self.tabs.active)

    def clear(self) -> None:
        """Show nothing."""
        self.fit, self.tabs.visible = None, False

    def _mark(self, tab: int) -> None:
        if not self._is_syncing:
            self._stale.add(tab)
            self._fill(self.tabs.active)

    def _fill(self, tab: int) -> None:
        """Draw what is not up to date."""
        if self.fit is None or tab not in self._stale:
            return
        self._stale.discard(tab)
        figures: tuple[PaperFigure, ...] = ()
        if tab == COSTS and self.fit.comparison is not None:
            figures = (self.compared, self.winners)
        elif tab == SUBJECT:
            self._estimates.object = write_subject(self.fit, self._summary, self.cost.value, self.subject.value)
            figures = (self.posterior, self.pair, self.predictive, self.functions)
        elif tab == GROUP:
            is_pooled = self.group_cost.value in self.fit.pooled
            self._group.object = write_group(self.fit, self.group_cost.value)
            self._group.visible = is_pooled
            has_several = bool(self.fit.models[self.group_cost.value].per_condition)
            self._looks.object = write_conditions(self.fit) if has_several else ""
            self.shrinkage.hide(not is_pooled)
            figures = (self.subjects, *([self.shrinkage] if is_pooled else []), self.prior_means)
        for figure in figures:
            figure.draw()

    def _change_subject(self, _: param.parameterized.Event) -> None:
        if self._is_syncing:
            return
        self._is_syncing = True
        try:
            self._offer_pairs()
        finally:
            self._is_syncing = False
        self._mark(SUBJECT)

    def _change_pair(self, _: param.parameterized.Event) -> None:
        if not self._is_syncing:
            self.pair.draw()

    def _offer_pairs(self) -> None:
        """Prior and cost, if there are both; what was chosen stays if it can."""
        names = list(compute_marginals(self._get(), self.cost.value, self.subject.value))
        own = [p.name for p in get_cost(self.cost.value).parameters]
        prior = [name for name in names if split_label(name)[0] == DEFAULT_FAMILY.prior_location.name]
        cost = [name for name in names if split_label(name)[0] in own]
        first = (prior or names)[0]
        second = next((name for name in (*cost, *names) if name != first), first)
        for widget, wanted in ((self.across, first), (self.up, second)):
            value = widget.value if widget.value in names else wanted
            widget.param.update(options=names, value=value)

    def _get(self) -> EmpiricalFit:
        if self.fit is None:
            raise StudioError(NOTHING)
        return self.fit

    def _draw_comparison(self) -> hv.Layout:
        fit = self._get()
        if fit.comparison is None:
            raise StudioError(NOTHING)
        return draw_model_comparison(fit.comparison, title=f"{fit.name}: costs compared")

    def _draw_winners(self) -> hv.Layout:
        fit = self._get()
        if fit.comparison is None:
            raise StudioError(NOTHING)
        return draw_subject_winners(fit.comparison, title=f"{fit.name}: best cost of each subject")

    def _lay_out_costs(self) -> pn.Column:
        buttons = pn.Row(
            download_table(lambda: tabulate_comparison(self._get()), "comparison"),
            pn.widgets.StaticText(value="each subject:", margin=(8, 4)),
            download_table(lambda: tabulate_subjects(self._get()), "comparison_of_subjects"),
            margin=0,
        )
        table = card(html("<h2>Which cost predicts best?</h2>"), self._comparison, buttons, self._doubts)
        return pn.Column(table, self.compared, self.winners, sizing_mode="stretch_width", margin=0)

    def _lay_out_subject(self) -> pn.Column:
        buttons = download_table(lambda: tabulate_estimates(self._summary), "estimates")
        table = card(html("<h2>Estimates</h2>"), self._estimates, buttons)
        return pn.Column(
            pn.Row(self.subject, self.cost, margin=0), side_by_side(table, self.pair.__panel__()), self.posterior,
            self.predictive, self.functions, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    def _lay_out_group(self) -> pn.Column:
        table = card(html("<h2>All subjects</h2>"), self._group, pn.Row(
            self.group_cost, download_table(lambda: tabulate_estimates(self._summary), "estimates"), margin=0))  # fmt: skip
        return pn.Column(table, self.subjects, self.shrinkage, self.prior_means, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.tabs
