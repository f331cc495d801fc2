"""Reproduce the study of Jain, White & Radivojac (2017), and the systems that it compares."""
