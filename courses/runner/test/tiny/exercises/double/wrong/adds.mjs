// is wrong
export default (number) => number + 2
