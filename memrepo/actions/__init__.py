"""One verb a file: load, call pure code, hand the plan to the store, show the result."""
