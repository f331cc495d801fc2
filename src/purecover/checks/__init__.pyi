from purecover.checks.base import CheckContext as CheckContext
from purecover.checks.catalog import CHECKS as CHECKS
from purecover.checks.catalog import list_checks as list_checks
from purecover.checks.catalog import run_checks as run_checks
