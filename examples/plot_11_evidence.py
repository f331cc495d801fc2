"""
How strong is the evidence of a score?
======================================

Variants known to be pathogenic are labeled, those of the population are not. From both and alpha
follows how much likelier a score is for a pathogenic than for a benign variant, and from which
score on that is supporting, moderate, strong or very strong evidence.
"""

import purecover as pu
from purecover.displays import EvidenceDisplay
from purecover.intervals import evidence_thresholds

sample = pu.simulate.binormal(2.5).sample(4000, 20_000, alpha=0.0441, random_state=0)
found = evidence_thresholds(sample.counts, sample.proportions, n_resamples=200, random_state=0)
print(found)

# %%
# Dashed lines are the odds that each strength asks for; colored areas the scores that have it with
# a one-sided bound of 95 %.

EvidenceDisplay(found).plot()

# %%
# More: :doc:`/howto/evidence`.
