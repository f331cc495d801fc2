"""Doors to other people's systems; each imports the other side only when used."""
