"""What conversions between languages share: results, losses, names, layout, and checks."""
