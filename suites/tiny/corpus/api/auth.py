"""Who may call us: signed tokens that expire."""

import hashlib
import hmac
import time

LIFETIME = 3600


class Denied(Exception):
    """The caller may not do this."""


def issue_token(user: str, secret: bytes, now: float | None = None) -> str:
    """Return a token for a user that is good for an hour."""
    expires = int((now or time.time()) + LIFETIME)
    return f"{user}.{expires}.{_sign(user, expires, secret)}"


def check_token(token: str, secret: bytes, now: float | None = None) -> str:
    """Return the user of a token, or raise Denied."""
    try:
        user, expires, signature = token.removeprefix("Bearer ").split(".")
        moment = int(expires)
    except ValueError:
        raise Denied("malformed token") from None
    if not hmac.compare_digest(signature, _sign(user, moment, secret)):
        raise Denied("wrong signature")
    if moment < (now or time.time()):
        raise Denied("the session is over, sign in again")
    return user


def _sign(user: str, expires: int, secret: bytes) -> str:
    return hmac.new(secret, f"{user}.{expires}".encode(), hashlib.sha256).hexdigest()
