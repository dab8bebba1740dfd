"""What runs beside JupyterHub while a course is on."""
