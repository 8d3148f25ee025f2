def send_receipt(order, mailer):
    try:
        mailer.send(order.receipt)
    except OSError:
        pass
