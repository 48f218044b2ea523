"""Reading: PubMed bytes to records, records to chunks, chunks to vectors, all into an index."""
