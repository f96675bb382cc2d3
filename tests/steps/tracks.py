"""What a step may be given to tell how far it is."""

from __future__ import annotations


class InterruptedAfter:
    """Ends the loop after some items, as Ctrl-C would."""

    def __init__(self, items: int) -> None:
        self.items = items

    def __call__(self, items, total, what):
        for done, item in enumerate(items):
            if done == self.items:
                raise KeyboardInterrupt
            yield item
