from purecover.simulate.families import WORLDS as WORLDS
from purecover.simulate.families import beta as beta
from purecover.simulate.families import binormal as binormal
from purecover.simulate.families import histogram as histogram
from purecover.simulate.families import laplace as laplace
from purecover.simulate.families import nonconcave as nonconcave
from purecover.simulate.worlds import Sample as Sample
from purecover.simulate.worlds import World as World
