"""A certificate for servers of a test on this machine."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that nobody signed but itself, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    options = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost")
    names = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    command = ("openssl", "req", *options, *names, "-out", str(cert), "-keyout", str(key))
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """TLS for a server that shows the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context
