// Read from process.stdin.
