"""The parts of the quality page: what one LLM said of a pool, how far to trust it, and what would mend it."""
