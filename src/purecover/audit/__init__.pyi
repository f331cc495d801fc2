from purecover.audit.answers import combine as combine
from purecover.audit.designs import JudgedRows as JudgedRows
from purecover.audit.hidden import judge_hidden as judge_hidden
from purecover.audit.notebook import judge as judge
from purecover.audit.sizes import draw as draw
from purecover.audit.sizes import plan as plan
