"""Uploads from memory."""

from . import multipart as multipart
