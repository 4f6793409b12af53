"""The version of this package: here, so that a file that is written can name it without loading the public names."""

__version__ = "0.1.0.dev0"
