"""What engines report, read over HTTP and turned into readings."""
