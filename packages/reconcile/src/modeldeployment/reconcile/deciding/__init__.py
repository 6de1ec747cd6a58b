"""The pure half: plain data in, decisions out. Importing a client, a clock or randomness here fails `make lint`."""
