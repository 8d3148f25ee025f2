def list_orders():
    # TODO page through them
    return []
