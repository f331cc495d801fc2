"""Estimating alpha and beta from scores."""
