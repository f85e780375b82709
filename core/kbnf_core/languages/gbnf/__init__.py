"""llama.cpp's GBNF, read and written."""
