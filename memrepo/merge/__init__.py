"""Pure functions that merge states, revert operations and enforce rejections."""
