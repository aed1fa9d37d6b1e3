"""What `memrepo.actions.review` answers, in words."""

from __future__ import annotations

from memrepo.faces.text.takeback import revert as accept
from memrepo.faces.text.write import written as resolve

__all__ = ("accept", "resolve")
