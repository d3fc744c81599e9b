"""Get a pretrained model to train, or to have beside a suspicious one."""
