"""A snapshot of the virtual machine, and the widget that shows it in a notebook."""
