export default function double(number) {
  return number * 2
}
