"""What every long run needs: files that are whole, a journal, ranks, where numbers come from."""
