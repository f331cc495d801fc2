"""Results as pages of one file: text, tables, figures, and scripts that load nothing."""
