"""Who is hidden where: draws of the share of positives in every group of scores."""
