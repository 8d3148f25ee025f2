"""A basket of lines; all amounts are integers of cents."""


def total(lines: list[tuple[int, int]]) -> int:
    """The sum of ``quantity × unit price`` over all lines."""
    return sum(quantity * price for quantity, price in lines)


def place_order(basket: list[tuple[int, int]], send) -> bool:
    # TODO retry when the shop is closed
    try:
        send(total(basket))
    except:
        return False
    return True
