"""Mistakes in study files: each is named with its line, its key, what was given and what is allowed."""

import pytest

from designstudio.study.file import parse_study
from designstudio.study.schema.entry import StudyFileError
from tests.study.texts import FULL, MINIMAL


def parse(text):
    return parse_study(text, "study.toml")


def break_full(old, new):
    """The full study with one thing wrong, and the number of the line."""
    assert FULL.count(old) == 1, old
    return FULL.replace(old, new), FULL[: FULL.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "key", "sentence"),
    [
        ("seed = 7", "seeds = 7", "seeds", "Unknown key 'seeds': did you mean 'seed'? Allowed: title, cost,"),
        ("seed = 7", "seed = true", "seed", "This must be a whole number of 0 or more, but true was given."),
        ("seed = 7", "seed = -1", "seed", "whole number from 0 to 2147483647, but -1 was given."),
        ("seed = 7", "seed = 0x" + "f" * 5000, "seed", "but a very large number was given."),
        ("seed = 7", "seed = 1979-05-27", "seed", "but a date or time was given."),
        ("datasets = 20", "datasets = 5", "datasets", "A study needs at least 10 data sets, but 5 was given."),
        ("interval = 0.9", "interval = 2", "interval", "This must be a number from 0 to 1, but 2 was given."),
        ("interval = 0.9", "interval = nan", "interval", "but nan was given."),
        (
            "interval = 0.9",
            "interval = 0.999",
            "interval",
            "must be at most 0.99, but it is 0.999: the ends of wider ones are",
        ),
        ("interval = 0.9", "interval = 0.3", "interval", "must be at least 0.5 and below 1, but it is 0.3."),
        ('cost = "quadratic_effort"', 'cost = "quadratic_efort"', "cost", "did you mean 'quadratic_effort'? Available:"),
        ('fidelity = "nuts"', 'fidelity = "mcmc"', "fidelity", "Unknown fidelity 'mcmc'. Available: information,"),
        ('["quadratic", ', '["cubic", ', "candidates[0]", "Unknown cost 'cubic'. Available: absolute,"),
        ('["quadratic", "quadratic_effort"]', '"linex"', "candidates", "a list of costs, but 'linex' was given."),
        ('"All that can be said"', "3", "title", 'This must be text in "quotes", but 3 was given.'),
        ('"All that can be said"', '"a\\nb"', "title", "This must be one line of plain text"),
        ("mu_0 = 1.5", "mu0 = 1.5", "population.mu0", "did you mean 'mu_0'? Allowed: mu_0, sigma_0,"),
        ("mu_0 = 1.5", "seed = 1", "population.seed", "move it to the top of the file"),
        ("mu_0 = 1.5", "mu_0 = '1.5'", "population.mu_0", "must be a number, { uniform = [0.1, 0.25] }, {"),
        ("mu_0 = 1.5", "mu_0 = -1.5", "population.mu_0", "mu_0 must be a positive number, but -1.5 was given."),
        ("mu_0 = 1.5", "mu_0 = 1e300", "population.mu_0", "mu_0 must be from 1e-09 to 1e+09, but 1e+300 was given"),
        ("mu_0 = 1.5", "mu_0 = inf", "population.mu_0", "This must be a number, but inf was given."),
        ("mu_0 = 1.5", "mu_0 = {}", "population.mu_0", "needs one of uniform, half_normal, log_normal, but none was"),
        ("[0.1, 0.25]", "[0.25, 0.1]", "population.sigma_0.uniform", "low < high, but low is 0.25 and high is 0.1."),
        ("[0.1, 0.25]", "[0.1]", "population.sigma_0.uniform", "takes two numbers, such as [0.1, 0.25], but 1 were given."),
        ("[0.1, 0.25]", "[-1, 2]", "population.sigma_0", "sigma_0 must be 0 or more, but this prior reaches -1:"),
        ("half_normal = 0.25", "halfnormal = 1", "population.sigma_r.halfnormal", "did you mean 'half_normal'?"),
        ("half_normal = 0.25", "half_normal = 0", "population.sigma_r.half_normal", "a number above 0, but 0 was given."),
        ("low = 0.01, high = 0.5", "low = 9, high = 8", "population.sigma_r", "low is 9 and high is 8."),
        (
            "low = 0.01, high = 0.5",
            "low = 90, high = 99",
            "population.sigma_r",
            "this prior lies from 3.13e-07 to 1.22: choose them",
        ),
        ("low = 0.5, high = 1.0", "low = 0.5", "population.beta", "beta must be from 0 to 1, but this prior reaches"),
        ("median = 0.9", "mean = 0.9", "population.beta.log_normal.mean", "Allowed: median, sigma."),
        ("lapse_rate = 0.02", "lapse_rate = 2", "population.lapse_rate", "a number from 0 to 1, but 2 was given."),
        ('["sigma_r"]', '"sigma_r"', "analysis.per_condition", 'a list of names in "quotes", but'),
        ('["sigma_r"]', '["sigmar"]', "analysis.per_condition[0]", "Unknown parameter 'sigmar': did you mean 'sigma_r'?"),
        ("{ uniform = [0.1, 5] }", "3", "analysis.priors.mu_0", "A fit needs a range here"),
        ('sigma = "truth"', 'sigma = "true"', "analysis.known.sigma", '"truth", a number, or { factor = 1.5 }, but'),
        ('sigma = "truth"', "sigma = true", "analysis.known.sigma", "a number, but true was given."),
        ("factor = 1.5", "factor = 0", "analysis.known.sigma_0.factor", "a number above 0, but 0 was given."),
        ("mu_0 = 0.8", "mu_0 = -1.8", "analysis.known.mu_0", "mu_0 must be a positive number, but -1.8 was given."),
        ('"sigma_0 / sigma[0]"', '"sigma_0 / sgma"', "quantities.ratio", "Unknown parameter 'sgma': did you mean 'sigma'?"),
        ('"sigma_0 / sigma[0]"', '"open(mu_0)"', "quantities.ratio", "contains 'open(mu_0)', but only"),
        ('"sigma_0 / sigma[0]"', '"' + "-" * 5000 + '1"', "quantities.ratio", "A formula takes up to 300 characters"),
        ("ratio = ", "mu_0 = ", "quantities.mu_0", "'mu_0' is a parameter already"),
        ('kind = "narrower"', 'kind = "narrow"', "goals[1].kind", "Unknown kind of goal 'narrow': did you mean 'narrower'?"),
        (
            'quantity = "ratio"',
            'quantity = "ration"',
            "goals[1].quantity",
            "Unknown quantity 'ration': did you mean 'ratio'?",
        ),
        ("width = 0.5", "width = -1", "goals[1].width", "a number above 0, but -1 was given."),
        ("beta = 0.7, mu_0", "alpha = 0.7, mu_0", "goals[2].group.alpha", "Unknown key 'alpha'. Allowed: mu_0,"),
        ("num_values = 5", "num_values = 5.0", "stimuli.num_values", "a whole number of 2 or more, but 5.0 was given."),
        ('distribution = "grid"', 'distribution = "girdle"', "stimuli.distribution", "Unknown distribution of stimuli"),
        ('name = "two-levels"', "name = 2", "designs[0].name", 'text in "quotes", but 2 was given.'),
        ("participants = 20", "participants = 0", "designs[0].participants", "from 1 to 2147483647, but 0 was given."),
        (
            "trials = 45",
            "trials = 45.0",
            "designs[0].conditions[0].trials",
            "whole number of 1 or more, but 45.0 was given.",
        ),
        ("trials = 30, sigma", "sigma", "designs[0].conditions[1]", "The key 'trials' is missing. Allowed: name, trials,"),
        ("trials = 30, sigma", "trials = 30, sgma", "designs[0].conditions[1].sgma", "did you mean 'sigma'?"),
        ("sigma = 0.2", "sigma = 100", "designs[0].conditions[1].sigma", "sigma must be from 1e-09 to 5, but 100 was given"),
        ("sigma = 0.2", "sigma = 0", "designs[0].conditions[1].sigma", "sigma must be a positive number, but 0 was given."),
        ("low = 1, high = 2", "low = 3, high = 2", "designs[0].conditions[1].stimuli", "0 < low < high, but low is 3"),
        (
            "[1, 2.5]",
            "[1, 1e300]",
            "designs[1].stimuli",
            "Stimuli must be from 1e-09 to 1e+09, but 1e+300 was given: choose",
        ),
        ("[1, 2.5]", "[1, -2.5]", "designs[1].stimuli.values[1]", "a number above 0, but -2.5 was given."),
        ("[{ trials = 10 }]", "[]", "designs[1].conditions", "A design needs at least one condition"),
        ("[{ trials = 10 }]", "[10]", "designs[1].conditions[0]", "a table such as { trials = 45 }, but 10 was given."),
        ('"paper-two-levels"', '"paper-levels"', "designs[2].preset", "did you mean 'paper-two-levels'? Available: paper-"),
        ("participants = 3", "conditions = []", "designs[2].conditions", "Unknown key 'conditions'"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(old, new, key, sentence):
    text, line = break_full(old, new)
    with pytest.raises(StudyFileError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"study.toml, line {line}, {key}: ")
    assert sentence in message
    assert len(message) < 350


@pytest.mark.parametrize(
    ("old", "new", "section", "sentence"),
    [
        ("value = 1.0\n", "width = 1.0\n", "goals[0]", "The goal 'excludes' takes no width."),
        ('"beta"\nvalue = 1.0\n', '"mu_0"\n', "goals[0]", "mu_0 has no neutral value to exclude: add value"),
        ("num_values = 5\n", "", "stimuli", "The distribution 'grid' needs num_values."),
        ('name = "own-stimuli"', 'name = "two-levels"', "designs", "The design 'two-levels' appears twice"),
        (
            "[{ trials = 10 }]",
            "[{ trials = 10, sigma = 0.1 }, { trials = 20, sigma = 0.1 }]",
            "designs",
            "'level 1' and 'level 2' of design 'own-stimuli' differ in nothing but their names: give them different levels",
        ),
        ("mu_0 = 1.5", "mu_0 = { uniform = [1, 1e300] }", "population", "mu_0 must be from 1e-09 to 1e+09, but 1"),
        (
            "half_normal = 0.25, low = 0.01, high = 0.5",
            "half_normal = 1e-200",
            "population",
            "sigma_r must be from 1e-09 to 5",
        ),
        (
            "{ uniform = [0.1, 5] }",
            "{ uniform = [1, 1.00001] }",
            "analysis",
            "too narrow to be computed with: what is known so",
        ),
        (
            "num_values = 5",
            "num_values = 2000000000",
            "stimuli",
            "A grid takes up to 100,000 values, but num_values is 2,000,",
        ),
        (", sigma = 0.1 }", "}", "designs[0]", "sets 'sigma' in some conditions but not in 'low'"),
        ('name = "two-levels"\n', "", "designs[0]", "The key 'name' is missing."),
        ('cost = "absolute_effort"\n', 'cost = "quadratic"\n', "population.beta", "Unknown key 'beta'"),
    ],
)
def test_what_the_study_itself_refuses_is_named_with_its_section(old, new, section, sentence):
    assert FULL.count(old) == 1
    with pytest.raises(StudyFileError) as caught:
        parse(FULL.replace(old, new))
    place, message = str(caught.value).split(": ", 1)
    source, line, key = place.split(", ")
    assert (source, key) == ("study.toml", section)
    assert line.removeprefix("line ").isdigit()
    assert sentence in message


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"study\.toml: The key 'cost' is missing"),
        (MINIMAL.replace("[[designs]]", "[designs]"), r"line 2, designs: There may be several: write \[\[designs\]\]"),
        ("goals = 3\n" + MINIMAL, r"goals: This must be a list of tables: sections that start with \[\[goals\]\], but 3"),
        ("population = 3\n" + MINIMAL, "population: This must be a section of parameters, but 3 was given"),
        ("quantities = 3\n" + MINIMAL, "quantities: This must be a section of formulas"),
        (MINIMAL.replace("stimuli", "# stimuli"), r"designs\[0\]: No stimuli: give this design its own, or add a section"),
        (MINIMAL + '[quantities]\n"" = "mu_0"\n', "A quantity needs a name of one line"),
        (
            MINIMAL + '[population]\ncost = "linex"\n[analysis.known]\nbeta = "truth"\n',
            r"known\.beta: Unknown key 'beta'",
        ),
        (
            MINIMAL.replace('"quadratic"', '"linex"')
            + '[population]\ncost = "quadratic"\n[analysis.known]\nalpha = { factor = 2 }\n',
            r"line 9, analysis\.known\.alpha: Simulated participants have no alpha, because they minimise another cost",
        ),
    ],
)
def test_misplaced_and_missing_parts_are_explained(text, sentence):
    with pytest.raises(StudyFileError, match=sentence):
        parse(text)
