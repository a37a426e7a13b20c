"""Paragraphs for the methods section of a paper, made from the settings of a run. Each is one block of whole sentences."""

from designstudio.report.methods.evaluation import write_evaluation as write_evaluation
from designstudio.report.methods.evaluation import write_sweep as write_sweep
from designstudio.report.methods.fit import write_fit as write_fit
from designstudio.report.methods.search import write_search as write_search
