"""Study files that the tests change."""

FULL = """\
title = "All that can be said"
cost = "quadratic_effort"
actor = "exact"
fidelity = "nuts"
datasets = 20
interval = 0.9
seed = 7
candidates = ["quadratic", "quadratic_effort"]
[population]
mu_0 = 1.5
sigma_0 = { uniform = [0.1, 0.25] }
sigma_r = { half_normal = 0.25, low = 0.01, high = 0.5 }
beta = { log_normal = { median = 0.9, sigma = 0.05 }, low = 0.5, high = 1.0 }
cost = "absolute_effort"
lapse_rate = 0.02
outlier_rate = 0.01
outlier_scale = 2
[analysis]
per_condition = ["sigma_r"]
shared = ["beta"]
[analysis.priors]
mu_0 = { uniform = [0.1, 5] }
[analysis.known]
sigma = "truth"
sigma_0 = { factor = 1.5 }
mu_0 = 0.8
[quantities]
ratio = "sigma_0 / sigma[0]"
[[goals]]
kind = "excludes"
quantity = "beta"
value = 1.0
margin = 0.01
[[goals]]
kind = "narrower"
quantity = "ratio"
width = 0.5
[[goals]]
kind = "groups-differ"
quantity = "beta"
group = { beta = 0.7, mu_0 = { uniform = [1, 2] } }
[stimuli]
distribution = "grid"
low = 0.25
high = 5.0
num_values = 5
[[designs]]
name = "two-levels"
seconds_per_trial = 4
participants = 20
conditions = [
  { name = "low", trials = 45, sigma = 0.1 },
  { trials = 30, sigma = 0.2, mu_0 = { uniform = [2, 3] }, stimuli = { low = 1, high = 2 } },
]
[[designs]]
name = "own-stimuli"
stimuli = { distribution = "list", values = [1, 2.5] }
conditions = [{ trials = 10 }]
[[designs]]
preset = "paper-two-levels"
name = "published"
participants = 3
"""

MINIMAL = """\
cost = "quadratic"
[[designs]]
name = "a"
stimuli = { low = 1, high = 2 }
conditions = [{ trials = 10 }]
"""
