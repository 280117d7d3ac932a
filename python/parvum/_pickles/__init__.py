"""Pickles objects: by reference, by value, or by the name of a file."""
