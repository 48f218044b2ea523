"""HTTP: read the request, call one service method, shape the reply."""
