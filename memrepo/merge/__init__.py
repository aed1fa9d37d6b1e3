"""Pure functions to merge states, revert operations and enforce rejections."""
