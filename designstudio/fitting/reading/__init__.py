"""Data: behaviour that was measured, read from the files in which it is kept, with a report on every row left out.

loaded = read_data("force.csv", where=["keep == 1"], unit="N")
print(*loaded.report.sentences(), sep="\\n")
scale = choose_scale(loaded.trials)
fits = ...  # of scale.apply(loaded.trials); scale.restore brings parameters back to newtons
"""

from designstudio.fitting.reading.example import example_path
from designstudio.fitting.reading.load import LoadedData, read_data
from designstudio.fitting.reading.load_report import LoadReport
from designstudio.fitting.reading.scale import choose_scale

__all__ = ["LoadReport", "LoadedData", "choose_scale", "example_path", "read_data"]
