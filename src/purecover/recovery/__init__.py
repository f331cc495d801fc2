"""From observed curves to true ones: the recovery theorem and what follows from it."""
