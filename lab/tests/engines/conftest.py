"""Fixtures of the lab's tests."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from modeldeployment.lab.engines import EngineServer


@pytest.fixture
async def server() -> AsyncIterator[EngineServer]:
    """Return what opens fake engines."""
    async with EngineServer() as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """Return a session to ask them with."""
    async with aiohttp.ClientSession() as session:
        yield session
