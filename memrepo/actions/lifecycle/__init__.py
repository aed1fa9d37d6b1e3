"""Actions for sessions, tiers and ageing."""
