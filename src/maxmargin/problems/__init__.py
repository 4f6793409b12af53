"""What is asked, and the form of an answer."""
