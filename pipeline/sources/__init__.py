"""Hand-history formats, one a file; `detect` tells them apart and `records` says what they hand over."""
