"""Hooks for the programs that agents run in, such as Claude Code."""
