"""Links that carry frames in batches, numbered at one end and put in order at the other."""
