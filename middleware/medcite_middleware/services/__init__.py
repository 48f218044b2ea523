"""What the endpoints and the command line call: one method per thing a user can ask for."""
