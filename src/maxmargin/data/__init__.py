"""What comes in: tables, labels and files, checked once and never written to."""
