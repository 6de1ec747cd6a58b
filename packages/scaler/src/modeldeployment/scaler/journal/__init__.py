"""What passes of planning were given and answered, line by line, so that each can be told and repeated."""
