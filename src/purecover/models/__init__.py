"""From features to scores: models of labeled against unlabeled rows."""
