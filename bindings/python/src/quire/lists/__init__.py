"""Live lists: sections, changes, snapshots, composites."""
