"""The local page: drop a file, choose its columns, see the report that the command line makes.

A server bound to this machine alone. It reads no data itself: worker processes do, which are
started with a command that the caller names. Needs the extra ``app``.
"""
