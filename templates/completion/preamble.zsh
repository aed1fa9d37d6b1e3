_memrepo_memories() {
  local -a found
  found=(${(f)"$(git ls-files -- ':(top)*memories/*.md' 2>/dev/null | sed -nE 's|.*/(.*)-([0-9a-f]{6})\.md$|mem-\2:\1|p')"})
  _describe memory found
}
_memrepo_runs() {
  local -a found
  found=(${(f)"$(git ls-files -- ':(top)*runs/*.json' 2>/dev/null | sed -nE 's|.*/([0-9]{8}T[^./]*)\.json$|\1|p'; git for-each-ref --format='%(refname:lstrip=3)' refs/heads/run 2>/dev/null)"})
  _describe run found
}
_memrepo_both() {
  _memrepo_runs
  _memrepo_memories
}
