"""A server on a real port and a real headless Chromium, for the tests that need them."""

import contextlib
import shutil
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from timelike.explore.server import application, configuration

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",  # WebGL in software
    "--enable-unsafe-swiftshader",
]
#: Milliseconds; the processor may be busy for a while.
PATIENCE = 120_000


def chromium() -> str | None:
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


NEEDS_BROWSER = [
    pytest.mark.long,
    pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium"),
]


class Served(uvicorn.Server):
    """A server in a thread, at `address`, until `stop`."""

    def __init__(self, models):
        super().__init__(configuration(application(models)))
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        self.thread = threading.Thread(target=self.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.should_exit = True
        self.thread.join()
        self.socket.close()


@contextlib.contextmanager
def serving(models) -> Iterator[Served]:
    server = Served(models)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def browsing() -> Iterator:
    """A fresh browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=PATIENCE)
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
            context.set_default_timeout(PATIENCE)
            yield context
        finally:
            browser.close()


def opened(context, address: str):
    """A page that is ready; `page.problems` collects its errors."""
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    return page
