"""The playground in a browser, served on loopback."""
