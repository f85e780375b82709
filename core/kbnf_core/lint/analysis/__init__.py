"""What several lints ask of a grammar."""
