"""The picture of a machine, and the widget that shows the picture in a notebook."""
