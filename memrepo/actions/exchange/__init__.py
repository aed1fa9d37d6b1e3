"""Actions that import and export other programs' formats."""
