"""Whether an address stays on this machine, where nobody on the way can listen."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str | None) -> bool:
    """Whether a host, as it is written in an address, is this machine alone.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("127.0.0.1.evil.org")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
