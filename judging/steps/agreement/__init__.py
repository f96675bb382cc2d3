"""The parts of the agree step: who graded what, and each comparison that is shown of it."""
