from purecover.models.best_scorer import BestScorer as BestScorer
from purecover.models.best_scorer import CandidateScore as CandidateScore
from purecover.models.best_scorer import NearestLabeled as NearestLabeled
from purecover.models.calibrated import PUCalibratedClassifier as PUCalibratedClassifier
from purecover.models.cross_fit import cross_fit_scores as cross_fit_scores
