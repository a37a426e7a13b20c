"""One page about one run: everything that a reader, a reviewer or a rerun needs, in a single HTML file."""
