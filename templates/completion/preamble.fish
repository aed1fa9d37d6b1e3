function __memrepo_memories
  git ls-files -- ':(top)*memories/*.md' 2>/dev/null | sed -nE 's|.*/(.*)-([0-9a-f]{6})\.md$|mem-\2	\1|p'
end
function __memrepo_runs
  git ls-files -- ':(top)*runs/*.json' 2>/dev/null | sed -nE 's|.*/([0-9]{8}T[^./]*)\.json$|\1|p'; git for-each-ref --format='%(refname:lstrip=3)' refs/heads/run 2>/dev/null
end
function __memrepo_both
  __memrepo_runs
  __memrepo_memories
end
