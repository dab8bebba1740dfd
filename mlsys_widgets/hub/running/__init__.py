"""The processes of a hub, their settings and their environment."""
