"""Documents of results as plain headlines and sections, for writers of text and of pages."""
