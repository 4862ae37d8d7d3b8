"""Access tokens as an app's own server makes them: JWTs signed with HS256."""

import base64
import hashlib
import hmac
import json


def part(value):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def token(claims, key, algorithm="HS256"):
    text = part({"alg": algorithm, "typ": "JWT"}) + b"." + part(claims)
    signature = hmac.new(key.encode(), text, hashlib.sha256).digest() if algorithm == "HS256" else b""
    return (text + b"." + part(signature)).decode()
