# ruff: noqa: D100, D103 -- a program in a Pod, shipped without its comments
# Holds a leaving engine in service until it has nothing in flight.
# Arguments: SETTLE INTERVAL DEADLINE URL EXPECTED ALSO. Seconds first; DEADLINE counts from the start of the program.
# Then two space-separated lists of gauges: EXPECTED ones must be in every body, ALSO ones count where they are exposed.
# Exits 0 on the second idle read in a row, when nobody listens, or at DEADLINE.
import ssl
import sys
import time
from http.client import HTTPException
from urllib import error, request

READ_SECONDS = 1
BODY_BYTES = 1 << 24


def body(opener: request.OpenerDirector, url: str) -> str:
    # A server that trickles must not stretch the read beyond the last of its waits.
    until = time.monotonic() + READ_SECONDS
    chunks = b""
    with opener.open(url, timeout=READ_SECONDS) as answer:
        while time.monotonic() < until and len(chunks) < BODY_BYTES:
            chunk = answer.read1(65536)
            if not chunk:
                return chunks.decode()
            chunks += chunk
    raise TimeoutError(url)


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
