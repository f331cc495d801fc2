"""How sure we are: intervals and bands, each saying what was varied."""
