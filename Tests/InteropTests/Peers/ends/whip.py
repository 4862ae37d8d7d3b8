"""WHIP and WHEP as a client speaks them: one session, by HTTP requests."""

import urllib.error
import urllib.request
from urllib.parse import urljoin

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


def request(method, url, body=None, **headers):
    """Status, headers and text of an answer; raises `Refused` where it is no success."""
    data = body.encode() if body is not None else None
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, data, fields, method=method), timeout=10) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read().decode()) from None


class Session:
    """What an offer has made."""

    def __init__(self, url, offer):
        self.status, headers, self.answer = request("POST", url, offer, Content_Type=SDP)
        self.url = urljoin(url, headers["Location"])
        self.tag = headers["ETag"]
        self.links = headers.get_all("Link") or []

    def trickle(self, fragment, tag=None):
        """Status and text of what a fragment is answered with."""
        status, headers, text = request(
            "PATCH", self.url, fragment, Content_Type=FRAGMENT, If_Match=tag or self.tag)
        self.tag = headers["ETag"] or self.tag
        return status, text

    def end(self):
        return request("DELETE", self.url)[0]


def fragment(sdp, candidates=()):
    """The credentials of a description, and candidate lines."""
    lines = sdp.splitlines()
    first = next(line for line in lines if line.startswith("m="))
    wanted = [next(line for line in lines if line.startswith(key)) for key in ("a=ice-ufrag:", "a=ice-pwd:")]
    mid = next(line for line in lines if line.startswith("a=mid:"))
    return "\r\n".join([*wanted, first, mid, *(f"a={line}" for line in candidates), ""])
