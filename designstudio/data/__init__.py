"""Data: behaviour that was measured, read from the files in which it is kept, with a report on every row left out.

loaded = read_data("force.csv", where=["keep == 1"], unit="N")
print(*loaded.report.sentences(), sep="\\n")
scale = choose_scale(loaded.trials)
fits = ...  # of scale.apply(loaded.trials); scale.restore brings parameters back to newtons
"""

from designstudio.data.example import example_path
from designstudio.data.load import LoadedData, read_data
from designstudio.data.report import LoadReport
from designstudio.data.scale import Scale, choose_scale

__all__ = ["LoadReport", "LoadedData", "Scale", "choose_scale", "example_path", "read_data"]
