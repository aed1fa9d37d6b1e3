"""The labelled statements, without their texts, and the training of the model in `memrepo.read`."""
