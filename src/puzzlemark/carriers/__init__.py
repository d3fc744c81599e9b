"""From features to carriers: who may carry a mark (paper, section 4.2.2)."""
