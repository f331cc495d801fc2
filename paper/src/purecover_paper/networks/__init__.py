"""The classifier of the paper: bagged networks trained by resilient propagation."""

from purecover_paper.networks.bagging import BaggedNetworks
from purecover_paper.networks.many import bagged_scores_many

__all__ = ["BaggedNetworks", "bagged_scores_many"]
