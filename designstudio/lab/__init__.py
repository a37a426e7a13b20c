"""From a study to the laboratory and back: trial lists to run, and a record of the plan that data are held against."""
