"""Other engines' Python surfaces over this one."""
