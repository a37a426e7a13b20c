"""`python -m designstudio`: the command line."""

from designstudio.cli import main

main()
