"""What lies on the shelves, and what is set aside."""

import itertools
from dataclasses import dataclass, field


class OutOfStock(Exception):
    """There is less on the shelf than was asked for."""

    def __init__(self, article):
        super().__init__(article)
        self.article = article


@dataclass
class Reservation:
    """Goods that wait for their buyer."""

    article: str
    amount: int
    owner: str


@dataclass
class Store:
    """Amounts by article; a reservation takes from the shelf at once."""

    shelf: dict = field(default_factory=dict)
    reserved: dict = field(default_factory=dict)
    _numbers: itertools.count = field(default_factory=itertools.count)

    def restock(self, article, amount):
        """Add a delivery."""
        if amount <= 0:
            raise ValueError("a delivery holds at least one piece")
        self.shelf[article] = self.shelf.get(article, 0) + amount

    def reserve(self, article, amount, owner):
        """Take pieces off the shelf and return the number of the reservation."""
        if self.shelf.get(article, 0) < amount:
            raise OutOfStock(article)
        self.shelf[article] -= amount
        number = next(self._numbers)
        self.reserved[number] = Reservation(article, amount, owner)
        return number

    def release(self, number):
        """Undo a reservation."""
        gone = self.reserved.pop(number)
        self.shelf[gone.article] += gone.amount

    def levels(self):
        """Return the free pieces of each article, by name."""
        return dict(sorted(self.shelf.items()))
