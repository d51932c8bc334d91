"""Routes of the back office."""

import json

from api.auth import Denied, check_token
from inventory.store import OutOfStock, Store

ROUTES = {}


def route(method, path):
    """Register a handler for a method and a path."""

    def register(handler):
        ROUTES[method, path] = handler
        return handler

    return register


class Server:
    """Turns requests into answers; one store for all of them."""

    def __init__(self, store: Store, secret: bytes):
        self.store = store
        self.secret = secret

    def handle(self, method, path, headers, body):
        """Answer one request as (status, text)."""
        handler = ROUTES.get((method, path))
        if handler is None:
            return 404, "no such page"
        try:
            user = check_token(headers.get("Authorization", ""), self.secret)
            payload = json.loads(body) if body else {}
            return 200, json.dumps(handler(self, user, payload))
        except Denied as error:
            return 401, str(error)
        except OutOfStock as error:
            return 409, f"not enough of {error.article}"
        except (KeyError, ValueError):
            return 400, "malformed request"


@route("POST", "/reservations")
def create_reservation(server, user, payload):
    """Set goods aside for a customer."""
    number = server.store.reserve(payload["article"], int(payload["amount"]), user)
    return {"reservation": number}


@route("DELETE", "/reservations")
def cancel_reservation(server, user, payload):
    """Put what was set aside back on the shelf."""
    server.store.release(payload["reservation"])
    return {}


@route("GET", "/stock")
def list_stock(server, user, payload):
    """Tell how much of each article can still be sold."""
    return server.store.levels()
