// Print the line here.
