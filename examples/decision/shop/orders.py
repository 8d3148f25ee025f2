"""Orders of a small shop: one handler is fine, one drops an error, and about one people may disagree."""

import json
import logging


def read_order(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        raise SystemExit(f"{path} is no order: {error}") from error


def pay(order, bank):
    try:
        bank.charge(order["total"])
    except ConnectionError:
        pass
    return order


def notify(order, mailer):
    try:
        mailer.send(order["email"], "Thank you!")
    except OSError:
        logging.debug("no mail for %s", order)
