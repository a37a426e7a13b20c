"""What every door shares: the commands as functions, the folders that they leave, and work in processes of its own."""
