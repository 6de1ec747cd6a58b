"""What is observed, turned into what should be written next."""
