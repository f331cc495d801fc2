"""Audits: some unlabeled examples judged by hand, what they tell, and how many it takes."""
