"""What scikit-learn users see."""
