"""What nature would have called a variable, by all the places where people chose alike."""
