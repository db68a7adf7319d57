// Your program printed nothing.
export default 'Hello, World!'
