"""From a corpus of hand histories to a trained, published opponent model."""
