"""The metasyntaxes: grammar texts to spanned trees, and back."""
