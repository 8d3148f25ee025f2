from src.api.orders import list_orders


def test_no_orders_at_first():
    assert list_orders() == []
