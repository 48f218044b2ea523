"""`python -m medcite`, for where the `medcite` script is not on the path."""

from medcite.main import run

run()
