"""Chat models behind one door."""
