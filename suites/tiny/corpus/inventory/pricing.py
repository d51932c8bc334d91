"""Prices in cents: discounts by amount, then tax."""

from decimal import ROUND_HALF_UP, Decimal

TAX = {"standard": Decimal("0.19"), "reduced": Decimal("0.07")}
STEPS = ((100, Decimal("0.15")), (20, Decimal("0.10")), (5, Decimal("0.03")))


def discount(amount: int) -> Decimal:
    """Return the share that is taken off when somebody buys this many."""
    for least, share in STEPS:
        if amount >= least:
            return share
    return Decimal(0)


def net_price(cents: int, amount: int) -> int:
    """Return the price of several pieces without tax."""
    return _round(cents * amount * (1 - discount(amount)))


def gross_price(cents: int, amount: int, kind: str = "standard") -> int:
    """Return what the customer pays."""
    return _round(net_price(cents, amount) * (1 + TAX[kind]))


def _round(value: Decimal) -> int:
    return int(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))
