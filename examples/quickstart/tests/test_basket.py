from shop.basket import total


def test_total_is_the_exact_sum():
    assert total([(3, 199), (1, 5)]) == 602


def test_an_empty_basket_costs_nothing():
    assert total([]) == 0
