"""Pure rules: (state, ledger, now, rules) -> list[Change]."""
