from purecover.simulate.worlds import Sample as Sample
from purecover.simulate.worlds import World as World
from purecover.simulate.worlds import beta as beta
from purecover.simulate.worlds import binormal as binormal
from purecover.simulate.worlds import histogram as histogram
from purecover.simulate.worlds import laplace as laplace
