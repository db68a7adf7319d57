export const text = process.argv[2]
