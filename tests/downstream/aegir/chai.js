import { expect, use } from 'chai'
import chaiAsPromised from 'chai-as-promised'
import chaiParentheses from 'chai-parentheses'

use(chaiAsPromised)
use(chaiParentheses)

export { expect }
