"""Files, data frames and databases, read to a table with its labels."""
