"""Speed and memory, as ratios to something else that was measured in the same minutes on the same machine."""
