# ruff: noqa: D100, D103 -- a program in a Pod, shipped without its comments
# Holds a leaving engine in service until it has nothing in flight.
# Arguments: SETTLE INTERVAL DEADLINE URL EXPECTED ALSO. Seconds first; DEADLINE counts from the start of the program.
# Then two space-separated lists of gauges: EXPECTED ones must be in every body, ALSO ones count where they are exposed.
# Exits 0 on the second idle read in a row, when nobody listens, or at DEADLINE.
import signal
import ssl
import sys
import time
from http.client import HTTPException
from urllib import error, request

READ_SECONDS = 2
BODY_BYTES = 1 << 24


def late(*_: object) -> None:
    raise TimeoutError


def body(opener: request.OpenerDirector, url: str) -> str:
    # One alarm for all of it: a server that trickles, headers too, must not stretch the last read.
    signal.setitimer(signal.ITIMER_REAL, READ_SECONDS)
    try:
        with opener.open(url) as answer:
            text: bytes = answer.read(BODY_BYTES + 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if len(text) > BODY_BYTES:
        raise ValueError(url)
    return text.decode()


def idle(text: str, expected: set[str], also: set[str]) -> bool:
    # A gauge that is not in the body has not been measured as zero.
    seen = set()
    for line in text.splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in expected or name in also:
            seen.add(name)
            if float(line[len(name) :].rpartition("}")[2].split()[0]) != 0:
                return False
    return expected <= seen


def main(settle: str, interval: str, deadline: str, url: str, expected: str, also: str) -> None:
    until = time.monotonic() + float(deadline)
    # Loopback is never behind a proxy, whatever the environment says, and its certificate names another host.
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    opener = request.build_opener(request.ProxyHandler({}), request.HTTPSHandler(context=tls))
    signal.signal(signal.SIGALRM, late)
    time.sleep(float(settle))
    quiet = 0
    while time.monotonic() < until:
        try:
            calm = idle(body(opener, url), set(expected.split()), set(also.split()))
        except error.HTTPError:
            return
        except OSError as failed:
            cause = failed.reason if isinstance(failed, error.URLError) else failed
            if isinstance(cause, (ConnectionRefusedError, ssl.SSLError)):
                return
            calm = False
        except (HTTPException, ValueError, IndexError):
            calm = False
        quiet = quiet + 1 if calm else 0
        if quiet == 2:
            return
        time.sleep(max(0, min(float(interval), until - time.monotonic())))


main(*sys.argv[1:])
