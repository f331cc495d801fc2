from purecover.report.compare import ScoreComparison as ScoreComparison
from purecover.report.compare import compare_scores as compare_scores
from purecover.report.evaluation import evaluate as evaluate
from purecover.report.evaluation import evaluate_model as evaluate_model
from purecover.report.many import ManyReports as ManyReports
from purecover.report.many import ManyRow as ManyRow
from purecover.report.many import evaluate_many as evaluate_many
from purecover.report.results import PUReport as PUReport
