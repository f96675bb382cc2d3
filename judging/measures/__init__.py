"""Numbers: ranking measures, agreement between judges, and how sure of them one can be. Plain numpy."""
