// What of a Rust source the compiler sees of names: comments, strings and the code of tests are blanked out, line by line.

const blank = (text) => text.replace(/[^\n]/g, ' ')

/** Comments, strings and characters. Block comments nest, so `endOfBlockComment` finds their end. */
const LITERAL =
  /\/\/[^\n]*|\/\*|\b(?:b|c)?r(#*)"[\s\S]*?"\1|(?:\b[bc])?"(?:\\[\s\S]|[^"\\])*"|(?:\bb)?'(?:\\(?:u\{[^}]*\}|x[\da-fA-F]{2}|[\s\S])|[^\\'\n])'/g

function endOfBlockComment(text, start) {
  const mark = /\/\*|\*\//g
  mark.lastIndex = start
  let depth = 0
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth === 0) return mark.lastIndex
  }
  return text.length
}

/** `source` with blanks for comments, strings and characters. Offsets and lines stay. */
export function withoutLiterals(source) {
  const parts = []
  let end = 0
  LITERAL.lastIndex = 0
  for (let match = LITERAL.exec(source); match !== null; match = LITERAL.exec(source)) {
    if (match[0] === '/*') LITERAL.lastIndex = endOfBlockComment(source, match.index)
    parts.push(source.slice(end, match.index), blank(source.slice(match.index, LITERAL.lastIndex)))
    end = LITERAL.lastIndex
  }
  return parts.join('') + source.slice(end)
}

/** The offset after the bracket that closes the one at `open`. */
export function endOfBracket(code, open) {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    if ('([{'.includes(code[at])) depth += 1
    if (')]}'.includes(code[at])) depth -= 1
    if (depth === 0) return at + 1
  }
  return code.length
}

/** Splits at the commas outside brackets. */
function splitAtCommas(code) {
  const parts = ['']
  for (let at = 0; at < code.length; at += 1) {
    const end = '([{'.includes(code[at]) ? endOfBracket(code, at) : at + 1
    if (code[at] === ',') parts.push('')
    else parts[parts.length - 1] += code.slice(at, end)
    at = end - 1
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** Whether a condition of `cfg` holds outside tests: true, false, or undefined where it depends on something else. */
function holdsOutsideTests(condition) {
  if (condition === 'test') return false
  const [, name, inner] = condition.match(/^(all|any|not)\s*\(([\s\S]*)\)$/) ?? []
  if (name === undefined) return undefined
  const values = splitAtCommas(inner).map(holdsOutsideTests)
  if (name === 'not') return values[0] === undefined ? undefined : !values[0]
  const deciding = name === 'any'
  if (values.includes(deciding)) return deciding
  return values.includes(undefined) ? undefined : !deciding
}

const ITEM =
  /^(?:pub(?:\s*\([^)]*\))?\s+)?(?:unsafe\s+|async\s+|default\s+|extern\s+)*(?:const|static|fn|struct|enum|union|trait|impl|mod|use|type|extern|macro_rules!)\b/

/** The offset after the item, field, variant, arm or statement that begins at `start`. */
function endOfItem(code, start) {
  const endsAtComma = !ITEM.test(code.slice(start))
  const isUse = /^(?:pub(?:\s*\([^)]*\))?\s+)?use\b/.test(code.slice(start))
  for (let at = start; at < code.length; at += 1) {
    if (code[at] === ';' || (endsAtComma && code[at] === ',')) return at + 1
    if (')]}'.includes(code[at])) return at
    if (!'([{'.includes(code[at])) continue
    const end = endOfBracket(code, at)
    if (code[at] === '{' && !isUse) return end
    at = end - 1
  }
  return code.length
}

/** `code` (without literals) with blanks for what only tests compile. */
export function withoutTests(code) {
  const attribute = /#(!?)\s*\[\s*cfg\s*\(/g
  let result = code
  for (let match = attribute.exec(result); match !== null; match = attribute.exec(result)) {
    const open = attribute.lastIndex - 1
    const close = endOfBracket(result, open)
    if (holdsOutsideTests(result.slice(open + 1, close - 1).trim()) !== false) continue
    if (match[1] === '!') return blank(code)
    let start = result.indexOf(']', close) + 1
    for (
      let next = /^\s*(#\s*\[)?/.exec(result.slice(start));
      ;
      next = /^\s*(#\s*\[)?/.exec(result.slice(start))
    ) {
      start += next[0].length
      if (next[1] === undefined) break
      start = endOfBracket(result, start - 1)
    }
    const end = endOfItem(result, start)
    result = result.slice(0, match.index) + blank(result.slice(match.index, end)) + result.slice(end)
  }
  return result
}
