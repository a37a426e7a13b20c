"""Actors: from belief to action. `exact` solves the decision problem, `amortized` has learnt the solution."""

from designstudio.model.actors.accuracy import Accuracy, measure_accuracy
from designstudio.model.actors.amortized import AmortizedActor
from designstudio.model.actors.base import AbstractActor
from designstudio.model.actors.decide import Actions, choose_actions
from designstudio.model.actors.exact import ExactActor
from designstudio.model.actors.paper import PaperActor
from designstudio.model.actors.training import make_recipe, train_actor
from designstudio.model.actors.zoo import load_actor, read_card, save_actor, zoo_paths

__all__ = [
    "AbstractActor",
    "Accuracy",
    "Actions",
    "AmortizedActor",
    "ExactActor",
    "PaperActor",
    "choose_actions",
    "load_actor",
    "make_recipe",
    "measure_accuracy",
    "read_card",
    "save_actor",
    "train_actor",
    "zoo_paths",
]
