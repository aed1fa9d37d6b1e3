"""Sessions, tiers and ageing."""
