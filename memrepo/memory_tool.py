"""Public import path of the memory tool: `from memrepo.memory_tool import MemoryTool`."""

from memrepo.faces.memory_tool import MemoryTool

__all__ = ("MemoryTool",)
