"""Running untrusted notebooks: children, isolation, limits, the wire; nothing about points.

A submission is a stranger's program. It runs in a child process without network, without other
people's files, and with limits on time and memory, and only plain data comes back. Start with
`engine`, which runs notebooks, and with `isolation`, which takes a child's privileges away. `job`
says what to run, `fork_server` starts children that have already imported everything, and `wire`
reads what they send without trusting it.
"""
