"""What of a graph is kept from run to run: what templates captured, and the nodes, each read when it is asked for."""
