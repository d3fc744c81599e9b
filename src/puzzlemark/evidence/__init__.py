"""What an owner fixes before he publishes, so that others can check it afterwards."""
