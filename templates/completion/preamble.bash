_memrepo_memories() {
  compgen -W "$(git ls-files -- ':(top)*memories/*.md' 2>/dev/null | sed -nE 's|.*/(.*)-([0-9a-f]{6})\.md$|mem-\2 \1-\2|p')" -- "$1"
}
_memrepo_runs() {
  compgen -W "$(git ls-files -- ':(top)*runs/*.json' 2>/dev/null | sed -nE 's|.*/([0-9]{8}T[^./]*)\.json$|\1|p'; git for-each-ref --format='%(refname:lstrip=3)' refs/heads/run 2>/dev/null)" -- "$1"
}
_memrepo_both() {
  _memrepo_runs "$1"
  _memrepo_memories "$1"
}
