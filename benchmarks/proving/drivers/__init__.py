"""Programs that ask a peer; each runs in the environment of its peer, never in ours."""
