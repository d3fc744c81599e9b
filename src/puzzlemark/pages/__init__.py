"""HTML pages and SVG pictures from plain data; each is one file that opens offline."""
