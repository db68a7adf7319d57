console.log('ready')
