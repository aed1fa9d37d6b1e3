"""Take in sources and distil them."""
