"""A format of trial lists from outside of the package: one stimulus a line."""

from designstudio.lab.formats import AbstractFormat, register_format


@register_format
class Lines(AbstractFormat):
    """Stimuli, and nothing else."""

    name, suffix, about = "lines", ".txt", "one stimulus a line, for a program that knows no more"

    def write_list(self, schedule, trials):
        return "".join(f"{trial.stimulus}\n" for trial in trials.trials)
