"""When the owner is asked before an agent's call is carried out, what an *Allow* covers, what a card says."""
