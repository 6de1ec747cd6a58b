"""Planning, pure: `plan` takes what is remembered, read and declared, and answers a vector with its reasons."""
