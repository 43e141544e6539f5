"""Futures: pykka's, with results that are pushed, and awaitable in handlers and on asyncio loops."""

import asyncio
import functools
import queue
import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import Any, TypeVar, cast

import pykka

from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.delivery import deliver, deliver_first
from showcaller.actors.runtime.derivation import Derivation
from showcaller.actors.runtime.envelope import Envelope
from showcaller.actors.runtime.errors import ReplyOverdue
from showcaller.actors.runtime.waits import owner_of
