"""Running untrusted notebooks: children, isolation, limits, the wire; nothing about points.

A submission is a stranger's program. It runs in a child process without network, without other
people's files, and with limits on time and memory, and only plain data comes back. Start with
`job`, which says what goes in and what comes out, and with `engine`, which runs it on this
machine or on a cluster. `fork_server` forks children that have imported everything already,
`isolation` takes a child's rights away, `limits` says what it may use, and `wire` carries the
messages.
"""
