"""What the built-in adapters share: passages of files, programs, vectors."""
