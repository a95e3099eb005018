"""Record real sessions: stand between a client and a server, change nothing, write a trace."""
