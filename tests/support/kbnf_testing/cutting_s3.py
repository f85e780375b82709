"""An S3 on this machine that cuts the connection in the middle of some uploads."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

BUCKET = "artifacts"

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def _cutting(application: Application, every: int) -> Application:
    uploads = count(1)

    def run(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        if environ["REQUEST_METHOD"] != "PUT" or not size or next(uploads) % every:
            return application(environ, start)
        environ["wsgi.input"].read(size // 2)
        connection: socket.socket = environ["werkzeug.socket"]
        connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionError("cut on purpose")

    return run


def _serve(to_parent: Connection, every: int) -> None:
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    application = _cutting(DomainDispatcherApplication(create_backend_app), every)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    to_parent.send(server.server_port)
    server.serve_forever()


@contextmanager
def cutting_s3(every: int) -> Iterator[str]:
    """Run the server in a process, with an empty bucket; yields what to set as its address.

    ``every``: the number of uploads of which one is cut.
    """
    import s3fs

    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(theirs, every), daemon=True)
    process.start()
    try:
        address = f"http://127.0.0.1:{ours.recv()}"
        keys = {"key": CREDENTIALS["AWS_ACCESS_KEY_ID"], "secret": "testing-secret"}
        s3fs.S3FileSystem(endpoint_url=address, **keys).mkdir(BUCKET)
        yield address
    finally:
        process.kill()
        process.join()
