"""How objects are pickled: by reference, by value, by file."""
