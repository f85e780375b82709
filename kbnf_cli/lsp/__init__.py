"""The language server: diagnostics, navigation and help in editors, over stdio."""
