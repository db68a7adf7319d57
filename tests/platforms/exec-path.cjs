// The system cannot run the emulated Node by itself, so a program that starts another Node gets the script that can.
process.execPath = require('node:path').join(__dirname, 'node-arm64.sh')
