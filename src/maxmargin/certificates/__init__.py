"""How it is proven. Nothing here knows a solver: only the data and the claimed numbers."""
