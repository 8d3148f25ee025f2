def send_receipt(order, mailer):
    try:
        mailer.send(order.receipt)
    except OSError as error:
        raise ReceiptError(order.number) from error
