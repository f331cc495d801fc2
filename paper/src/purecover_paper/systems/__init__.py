"""Estimators of alpha and beta from the literature, registered when this module is imported."""
