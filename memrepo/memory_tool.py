"""`from memrepo.memory_tool import MemoryTool`: the name under which programs know it."""

from memrepo.faces.memory_tool import MemoryTool

__all__ = ("MemoryTool",)
