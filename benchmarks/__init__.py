"""Side by side with other engines: same machine, same run, same vocabulary, equal masks."""
